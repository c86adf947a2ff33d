"""Memory that every block uses again.

Fresh memory of a megabyte costs a page fault for every four kilobytes of it, which can take as long
as the arithmetic.  Each thread keeps one array per purpose; it grows to the largest block seen.
What would be too large to keep is lent for a piece of work that asks for it many times.
"""

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from okspca.numerics.arrays import Floats

_kept = threading.local()
_LENT = "what is lent"


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


def lent(purpose: str, shape: tuple[int, ...]) -> Floats:
    """Return an array with arbitrary contents: where memory is :func:`reused`, that of the purpose.

    Examples
    --------
    >>> with reused():
    ...     np.shares_memory(lent("an example", (2, 3)), lent("an example", (4,)))
    True
    >>> np.shares_memory(lent("an example", (2, 3)), lent("an example", (4,)))
    False
    """
    size, arrays = math.prod(shape), getattr(_kept, _LENT, None)
    found: Floats | None = None if arrays is None else arrays.get(purpose)
    if found is None or found.size < size:
        found = np.empty(size)
        if arrays is not None:
            arrays[purpose] = found
    return found[:size].reshape(shape)


@contextmanager
def reused() -> Iterator[None]:
    """Let what is :func:`lent` to this thread be used again, until this ends."""
    before = getattr(_kept, _LENT, None)
    setattr(_kept, _LENT, {})
    try:
        yield
    finally:
        setattr(_kept, _LENT, before)
