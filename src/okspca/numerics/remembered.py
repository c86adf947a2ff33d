"""Arrays that are dear to compute and may be computed again: those used last, in bounded memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from okspca.numerics.arrays import Floats

Arrays = tuple[Floats, ...]


class Remembered:
    """Arrays by key; the ones that were not asked for longest are forgotten first.

    Bounded by bytes, not by number: where arrays are small, many are kept.  The last one is kept
    whatever its size.  Threads may share it.

    Parameters
    ----------
    most_bytes : int
        What all arrays together may take.

    Examples
    --------
    >>> import numpy as np
    >>> known = Remembered(most_bytes=100)
    >>> for key in "ab":
    ...     one = known.get(key, lambda: (np.zeros(10),))
    >>> known.keys(), known.n_bytes
    (['b'], 80)
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._arrays: OrderedDict[Hashable, Arrays] = OrderedDict()
        self._lock = threading.Lock()
        #: What the arrays take.
        self.n_bytes = 0

    def get(self, key: Hashable, make: Callable[[], Arrays]) -> Arrays:
        """Return the arrays of a key, made where they are not known."""
        with self._lock:
            known = self._arrays.get(key)
            if known is not None:
                self._arrays.move_to_end(key)
                return known
        made = make()
        with self._lock:
            self._keep(key, made)
        return made

    def keys(self) -> list[Hashable]:
        """Return what is known, the one used last at the end."""
        with self._lock:
            return list(self._arrays)

    def _keep(self, key: Hashable, arrays: Arrays) -> None:
        """Remember, and forget others until there is room."""
        self.n_bytes += _size(arrays) - _size(self._arrays.pop(key, ()))
        self._arrays[key] = arrays
        while self.n_bytes > self._most_bytes and len(self._arrays) > 1:
            self.n_bytes -= _size(self._arrays.popitem(last=False)[1])


def _size(arrays: Arrays) -> int:
    """Bytes of arrays."""
    return sum(array.nbytes for array in arrays)
