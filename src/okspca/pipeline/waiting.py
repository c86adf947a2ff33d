"""Rows that were standardised and wait to be folded into a moment.

A block of rows is added to a moment by matrix products, and how those round depends on which rows
are taken together.  Where something is *decided* from the sums (a ridge, whether a compression
pays), rounding must not depend on how the stream was cut into calls.  So rows wait here until a row
number that is fixed by rule (:func:`okspca.pipeline.schedule.next_fold`), and are then folded
together, always the same rows at once.

Whoever asks in between is answered from a copy in which the waiting rows are folded too, or
followed (:mod:`okspca.pipeline.ahead`): a pure function of the state, and so again the same
whatever the cuts were.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from okspca.numerics.arrays import Floats
from okspca.numerics.sparse import stacked


class StandardizedRows(NamedTuple):
    """Rows as the past made them; nothing about them will change any more.

    Attributes
    ----------
    inputs, targets : ndarray of shape (n, d)
        Standardised, or columns of classes.
    linear_inputs, linear_targets : ndarray of shape (n, d) or None
        The same rows as deviations from an origin, in data units, for features that are linear.
    weights : ndarray of shape (n,)
        What the rows count.
    """

    inputs: Floats
    targets: Floats
    linear_inputs: Floats | None
    linear_targets: Floats | None
    weights: Floats

    def owned(self) -> "StandardizedRows":
        """Return a copy: what is not standardised is still the caller's, who may use it again."""
        parts: list[Any] = [None if part is None else part.copy() for part in self]
        return StandardizedRows(*parts)

    def between(self, start: int, stop: int) -> "StandardizedRows":
        """Return some of the rows."""
        parts: list[Any] = [None if part is None else part[start:stop] for part in self]
        return StandardizedRows(*parts)

    def __repr__(self) -> str:
        """Sizes instead of pages of numbers."""
        return f"StandardizedRows({len(self.weights)} rows)"


def n_rows(waiting: Sequence[StandardizedRows]) -> int:
    """Number of rows in all blocks."""
    return sum(len(rows.weights) for rows in waiting)


def joined(waiting: Sequence[StandardizedRows]) -> StandardizedRows:
    """All blocks as one, in their order."""
    if len(waiting) == 1:
        return waiting[0]
    parts: list[Any] = [
        None if part[0] is None else stacked(*part) for part in zip(*waiting, strict=True)
    ]
    return StandardizedRows(*parts)
