"""Memory that every block uses again.

Fresh memory of a megabyte costs a page fault for every four kilobytes of it, which can take as long
as the arithmetic.  Each thread keeps one array per purpose; it grows to the largest block seen.
"""

import math
import threading

import numpy as np

from okspca.numerics.arrays import Floats

_kept = threading.local()


def scratch(purpose: str, shape: tuple[int, ...]) -> Floats:
    """Return an array with arbitrary contents, valid until this thread asks for the purpose again.

    Examples
    --------
    >>> scratch("an example", (2, 3)).shape
    (2, 3)
    """
    size = math.prod(shape)
    array: Floats | None = getattr(_kept, purpose, None)
    if array is None or array.size < size:
        array = np.empty(size)
        setattr(_kept, purpose, array)
    return array[:size].reshape(shape)
