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
from okspca.numerics.matrix import multiply_into, product


class Past(NamedTuple):
    """What a covariance must know of the moment before a change: mean and weight, after fading."""

    mean: Floats
    weight: float
    fade: float


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
        rows = np.empty((Phi.shape[0] + 1, Phi.shape[1]))
        np.subtract(Phi, mean, out=rows[:-1])
        rows[:-1] *= np.sqrt(weights)[:, np.newaxis]
        # The distance of the means is one more square, so one product does it all.
        rows[-1] = _between(past, mean, total)
        self._accumulate(rows, past.fade)

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
        multiply_into(rows.T, rows, self.sums, 1.0, fade, True)


def _between(past: Past, mean: Floats, weight: float) -> Floats:
    """Row whose square is what pooling two parts adds for the distance of their means."""
    together = past.weight + weight
    share = 0.0 if together <= 0.0 else past.weight * weight / together
    return np.sqrt(share) * (mean - past.mean)
