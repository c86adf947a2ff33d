r"""Units of features that are linear in the data.

A feature that *is* an input (or a response) needs no scale while it is summed: multiplying a column
of the moment afterwards gives the same.  So such columns are summed in data units, as deviations
from an origin, and divided by their standard deviation when the moment is asked for.  The result
does not depend on the order of the rows, and no row counts more because it came early, when the
scale was not yet known.
"""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats


class SideUnits(NamedTuple):
    """What the features of one side are divided by when the moment is asked for.

    Attributes
    ----------
    divisor : ndarray of shape (n_features,)
        One for features that are already without a unit.
    square, spread : float
        Mean squared norm of the divided features, and of their deviations from the mean.

    Examples
    --------
    >>> SideUnits(np.array([2.0, 1.0]), 3.0, 2.0).divisor.tolist()
    [2.0, 1.0]
    """

    divisor: Floats
    square: float
    spread: float


class Units(NamedTuple):
    """Units of both sides of a moment; None where all features are without a unit."""

    left: SideUnits | None = None
    right: SideUnits | None = None

    @property
    def are_plain(self) -> bool:
        """Whether nothing has to be divided."""
        return self.left is None and self.right is None

    def of_left(self, rows: Floats) -> Floats:
        """Divide rows over the input features."""
        return rows if self.left is None else rows / self.left.divisor

    def of_right(self, rows: Floats) -> Floats:
        """Divide rows that stand for target features, one row each."""
        if self.right is None:
            return rows
        return rows / self.right.divisor.reshape(-1, *(1,) * (rows.ndim - 1))

    def of_square(self, matrix: Floats) -> Floats:
        """Divide a matrix over pairs of input features."""
        if self.left is None:
            return matrix
        return matrix / self.left.divisor / self.left.divisor[:, np.newaxis]


PLAIN = Units()
