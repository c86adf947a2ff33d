r"""How well rows were predicted before they were learned.

Every block is predicted by the model as it was before the block, then learned.  So no row is
predicted by a model that has seen it, and yet none is held out.  The predictor is as old as its
block is long: blocks of one row give the classic test-then-train score at the cost of a solution
per row; longer blocks cost less and score a little lower while there is much to learn.

For a response the score is R²; of several outputs, their mean (an output that has not varied is
left out).  For classes it is the share of rows predicted right.
"""

from typing import NamedTuple, Self

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product


class PrequentialScore(NamedTuple):
    """Sums over the rows predicted so far, one entry per output.

    Attributes
    ----------
    weight : float
        Total weight of the rows.
    mean, squares : ndarray
        Mean of the actual values and sum of their squared deviations from it.
    errors : ndarray
        Sum of squared errors; for classes, weight of the rows predicted wrong.

    Examples
    --------
    >>> score = PrequentialScore.empty(1)
    >>> score = score.after(np.array([[1.0], [3.0]]), np.array([[0.5], [0.0]]), np.ones(2))
    >>> score.r2()
    0.75
    """

    weight: float
    mean: Floats
    squares: Floats
    errors: Floats

    @classmethod
    def empty(cls, n_outputs: int) -> Self:
        """No row predicted yet."""
        return cls(0.0, np.zeros(n_outputs), np.zeros(n_outputs), np.zeros(n_outputs))

    def after(self, actual: Floats, errors: Floats, weights: Floats) -> Self:
        """Add rows with their actual values and squared errors."""
        total = float(weights.sum())
        mean = product(weights / total, actual)
        squares = product(weights, (actual - mean) ** 2)
        return self.merged(type(self)(total, mean, squares, product(weights, errors)))

    def merged(self, other: Self) -> Self:
        """Add the rows of another score."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0.0 else 0.0
        apart = other.mean - self.mean
        return type(self)(
            weight,
            self.mean + share * apart,
            self.squares + other.squares + self.weight * share * apart**2,
            self.errors + other.errors,
        )

    def since(self, earlier: Self) -> Self:
        """The rows that were added after an earlier score: what it was merged with.

        Examples
        --------
        >>> one = PrequentialScore.empty(1).after(np.ones((3, 1)), np.ones((3, 1)), np.ones(3))
        >>> two = one.after(np.array([[1.0], [3.0]]), np.array([[0.5], [0.0]]), np.ones(2))
        >>> two.since(one).r2()
        0.75
        """
        weight = self.weight - earlier.weight
        mean = (self.weight * self.mean - earlier.weight * earlier.mean) / weight
        between = earlier.weight * (weight / self.weight) * (mean - earlier.mean) ** 2
        squares = (self.squares - earlier.squares - between).clip(0.0)
        return type(self)(weight, mean, squares, self.errors - earlier.errors)

    def r2(self) -> float:
        """Share of the variance that was predicted; not a number where nothing varied."""
        varies = self.squares > 0.0
        if not varies.any():
            return float("nan")
        return float(np.mean(1.0 - self.errors[varies] / self.squares[varies]))

    def accuracy(self) -> float:
        """Share of the rows predicted right."""
        return float(1.0 - self.errors[0] / self.weight)
