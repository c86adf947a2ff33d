"""Numbers, texts and truth values as Python's own.

NumPy's scalars count in their own width (``np.uint8(250) + 8`` is 2), and a kernel compiled for one
of them is another kernel.  So whatever comes from outside is made plain before it is used.
"""

from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a scalar without the dress of NumPy or of an enumeration; all else as it is.

    Examples
    --------
    >>> import numpy as np
    >>> plain(np.uint8(2)), plain(np.str_("auto")), plain(np.bool_(True)), plain(None)
    (2, 'auto', True, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return value
    # A number of extended precision is no float of Python's, nor does ``item`` make it one.
    kinds = ((str, str.__str__), (int, int), (float, float), (np.floating, float))
    for kind, bare in kinds:
        if isinstance(value, kind):
            return bare(value)
    return value
