r"""The centred second moment of the input features, kept beside the cross-moment.

With the weights and means of the cross-moment::

    S = sum_i w_i (phi_i - mu)(phi_i - mu)^T.

It is symmetric, so only its upper triangle is kept up to date.  Whatever changes it is a sum of
squares: a block adds the squares of its deviations from its own mean and one more, of the
distance between the means (Chan's formula).  Everything is one symmetric rank-k product, and
nothing is ever subtracted.
"""

from typing import NamedTuple, Self

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.crew import share_out
from okspca.numerics.matrix import TILES, multiply_into, product
from okspca.numerics.scratch import scratch

#: What is done to a number as it passes by, in multiplications with additions.
ELEMENTWISE = 8


class Past(NamedTuple):
    """What a covariance must know of the moment before a change: mean and weight, after fading."""

    mean: Floats
    weight: float
    fade: float


class Squares(NamedTuple):
    """Centred squares of a block, upper triangle, with its mean and weight."""

    sums: Floats
    mean: Floats
    weight: float


def squares_of(Phi: Floats, weights: Floats) -> Squares:
    """Sum the squares of a block by itself; its length must be a multiple of ``DEPTH``.

    Then :meth:`InputCovariance.add`, too, sums them before the distance of the means.
    """
    D, total = Phi.shape[1], float(weights.sum())
    mean = product(weights / total, Phi)
    rows, sums = scratch("squared rows", Phi.shape), np.zeros((D, D))
    _fill_deviations(rows, Phi, mean, weights)
    multiply_into(rows.T, rows, sums, 1.0, 1.0, True)
    return Squares(sums, mean, total)


class InputCovariance:
    """Centred sum of squares of the input features.

    Parameters
    ----------
    n_features : int
        Number of input features.

    Attributes
    ----------
    sums : ndarray of shape (n_features, n_features)
        S; only the upper triangle counts.

    Examples
    --------
    >>> covariance = InputCovariance(1)
    >>> covariance.add(np.array([[0.0], [2.0]]), np.ones(2), Past(np.zeros(1), 0.0, 1.0))
    >>> covariance.sums.tolist()
    [[2.0]]
    """

    def __init__(self, n_features: int) -> None:
        self.sums = np.zeros((n_features, n_features))

    def add(self, Phi: Floats, weights: Floats, past: Past) -> None:
        """Learn a block whose rows count ``weights``."""
        total = float(weights.sum())
        mean = product(weights / total, Phi)
        rows = scratch("squared rows", (len(Phi) + 1, len(mean)))
        _fill_deviations(rows, Phi, mean, weights)
        # The distance of the means is one more square, so one product does it all.
        rows[-1] = _between(past, mean, total)
        self._accumulate(rows, past.fade)

    def add_squares(self, squares: Squares, past: Past) -> None:
        """Learn a block whose squares are known, to the same bits as :meth:`add`."""
        if past.fade != 1.0:
            self.sums *= past.fade
        self.sums += squares.sums
        self._accumulate(_between(past, squares.mean, squares.weight)[np.newaxis], 1.0)

    def add_one(self, deviation: Floats, scale: float, fade: float) -> None:
        """Learn one row, given its deviation from the old mean as the cross-moment weighs it."""
        self._accumulate(np.sqrt(scale) * deviation[np.newaxis], fade)

    def merge(self, other: Self, past: Past, mean: Floats, weight: float) -> None:
        """Merge another covariance, of rows with this ``mean`` and total ``weight``."""
        self.sums += other.sums
        self._accumulate(_between(past, mean, weight)[np.newaxis], 1.0)

    def mean_square(self, weight: float) -> Floats:
        """Return the covariance (divisor: weight), of which only the upper triangle counts."""
        return self.sums / max(weight, np.finfo(np.float64).tiny)

    def _accumulate(self, rows: Floats, fade: float) -> None:
        """Apply ``S = fade S + rows^T rows`` in place, by one symmetric product."""

        def work(start: int, stop: int) -> None:
            some, sums = rows[:, start:stop], self.sums[:, start:stop]
            if start:
                multiply_into(rows.T[:start], some, sums[:start], 1.0, fade, False)
            multiply_into(some.T, some, sums[start:stop], 1.0, fade, True)

        D = rows.shape[1]
        share_out(work, D, rows.shape[0] * D * D / 2, step=TILES, triangle=True)


def _fill_deviations(rows: Floats, Phi: Floats, mean: Floats, weights: Floats) -> None:
    """Fill the first rows with weighted deviations from the mean."""
    roots = np.sqrt(weights)

    def work(start: int, stop: int) -> None:
        some = rows[start:stop]
        np.subtract(Phi[start:stop], mean, out=some)
        some *= roots[start:stop, np.newaxis]

    share_out(work, len(Phi), ELEMENTWISE * Phi.size)


def _between(past: Past, mean: Floats, weight: float) -> Floats:
    """Row whose square is what pooling two parts adds for the distance of their means."""
    together = past.weight + weight
    share = 0.0 if together <= 0.0 else past.weight * weight / together
    return np.sqrt(share) * (mean - past.mean)
