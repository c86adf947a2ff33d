"""What services say about their settings and states, so that files can hold them.

A service is a dataclass of settings, and its state one of arrays and counters.  Files read both by
their annotations (:mod:`okspca.state.annotations`): nothing else has to be told about a new one.
An annotation says what the type of an array does not, its shape and what its entries may be.
"""

from typing import Annotated, Literal, NamedTuple


class Stored(NamedTuple):
    """An array of a state: the letters of its lengths, and what its entries are.

    The letters are those of :meth:`okspca.services.Service.sizes`.  Entries are finite numbers,
    those of unit vectors, or scratch: overwritten before it is read, so it may hold what once
    broke.

    Examples
    --------
    >>> Stored(("k", "D"), "unit").lengths({"k": 2, "D": 8})
    (2, 8)
    """

    shape: tuple[str | int, ...]
    entries: Literal["finite", "unit", "scratch"] = "finite"

    def lengths(self, sizes: dict[str, int]) -> tuple[int, ...]:
        """The shape in numbers."""
        return tuple(sizes[part] if isinstance(part, str) else part for part in self.shape)


#: Seeds that NumPy takes.
SEEDS = range(1 << 32)
Seed = Annotated[int, SEEDS]
