r"""Input maps on trial: how well their features predict rows that were held back.

A ridge regression of the targets on the features of the first three quarters of the pilot rows
predicts the last quarter; the ridge is the best of a grid.  With the share e of the variance that
is not predicted, what counts are the odds (1 - e) / e.

The same rows are predicted by all maps, so two of them are compared row by row: their difference in
squared error has a standard error, below which it tells nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from okspca.features.cosines import CosineMap
from okspca.features.relevance import FEATURES
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import gram, product
from okspca.numerics.scratch import lent
from okspca.numerics.whitening import ridge_coefficients, ridge_factor

LEARNED_SHARE = 0.75
#: In units of the mean variance of the features.
RIDGES = tuple(float(10.0**power) for power in range(-6, 3))
_SMALLEST = 1e-3
#: A column that varies by less than this multiple of its largest value is constant.
ROUNDING = 16.0 * float(np.finfo(np.float64).eps)


class Pilot(NamedTuple):
    """Standardised rows: inputs, targets and weights; the first ``learn`` are fitted to.

    Examples
    --------
    >>> Pilot(np.zeros((8, 2)), np.zeros((8, 1)), np.ones(8)).learn
    6
    """

    Z: Floats
    T: Floats
    weights: Floats

    @property
    def learn(self) -> int:
        """Number of rows that are fitted to; the others are predicted."""
        return n_learned(len(self.Z))


class Trial(NamedTuple):
    """One map on trial: odds, ridge and coefficients of its prediction, and its squared errors.

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> Z = np.random.RandomState(0).normal(size=(400, 1))
    >>> pilot = Pilot(Z, np.sin(Z), np.ones(400))
    >>> bool(tried(FourierMap.sample(1, 32, bandwidth=1.0), pilot).odds > 100.0)
    True
    """

    odds: float
    ridge: float
    feature_map: CosineMap
    B: Floats
    errors: Floats

    @property
    def near_ridges(self) -> list[float]:
        """The ridges of the grid around the one that served best."""
        return [ridge for ridge in RIDGES if 0.05 < ridge / self.ridge < 20.0]

    def standard_errors_below(self, other: "Trial") -> float:
        """By how many standard errors its error is below that of another trial of these rows."""
        gains = other.errors - self.errors
        spread = float(np.sqrt(gains.size) * gains.std())
        return float(gains.sum()) / spread if spread > 0.0 else 0.0


def n_learned(n: int) -> int:
    """Of ``n`` rows, the number that are fitted to."""
    return int(LEARNED_SHARE * n)


def varies(columns: Floats) -> bool:
    """Whether any column varies by more than rounding of its values.

    Examples
    --------
    >>> varies(np.full((3, 1), 0.1)), varies(np.array([[1.0], [2.0]]))
    (False, True)
    """
    largest = np.abs(columns).max(axis=0, initial=0.0)
    spread = columns.max(axis=0, initial=-np.inf) - columns.min(axis=0, initial=np.inf)
    return bool((spread > ROUNDING * largest).any())


def tried(feature_map: CosineMap, pilot: Pilot, ridges: Sequence[float] = RIDGES) -> Trial:
    """Fit the first rows with every ridge, predict the last ones, and keep the best."""
    (Z, T, weights), learn = pilot, pilot.learn
    share = weights[:learn] / weights[:learn].sum()
    Phi = feature_map.fill(Z, lent(FEATURES, (len(Z), feature_map.n_features)))
    right_mean, root = product(share, T[:learn]), np.sqrt(share)[:, np.newaxis]
    # In place: these are the large arrays, and new ones would cost as much as the arithmetic.
    Phi -= product(share, Phi[:learn])
    left, ahead = Phi[:learn], Phi[learn:]
    left *= root
    S, Ct = gram(left), product((root * (T[:learn] - right_mean)).T, left)
    actual, later = T[learn:] - right_mean, weights[learn:]
    total = float((later * (actual**2).sum(axis=1)).sum())
    found = [ridge_coefficients(ridge_factor(S, ridge), Ct) for ridge in ridges]
    # One product for all ridges: the rows ahead are copied once.
    predicted = product(ahead, np.concatenate(found).T)
    fits = []
    for i, (ridge, Bt) in enumerate(zip(ridges, found, strict=True)):
        mine = np.ascontiguousarray(predicted[:, i * len(Bt) : (i + 1) * len(Bt)])
        errors = later * ((actual - mine) ** 2).sum(axis=1)
        fits.append((float(errors.sum()), ridge, Bt, errors))
    error, ridge, Bt, errors = min(fits, key=lambda fit: fit[0])
    return Trial(odds(error, total), ridge, feature_map, Bt.T, errors)


def odds(error: float, total: float) -> float:
    """Odds of explained to unexplained variance, from a sum of squares and what is left of it.

    Examples
    --------
    >>> odds(1.0, 4.0)
    3.0
    """
    if total <= 0.0:
        return 0.0
    return max(total - error, _SMALLEST * total) / max(error, 1e-12 * total)
