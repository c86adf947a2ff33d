r"""Linear discriminants of the classes, from the moments of features or of an embedding.

With the class shares p_c, the distances m_c of the class means from the mean in an embedding and
the covariance S of that embedding, discriminants are those of Gaussian classes with one covariance
(:mod:`okspca.numerics.discriminants`).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from okspca.moments.opinions import ClaimNumbers, ScoreNumbers, claim_rows
from okspca.numerics.arrays import Floats
from okspca.numerics.discriminants import discriminants
from okspca.numerics.matrix import product
from okspca.numerics.whitening import regression_along

_TINY = float(np.finfo(np.float64).tiny)


class LinearScores(NamedTuple):
    """Scores of classes as functions of features: weights (D x n_classes), values at the mean."""

    weights: Floats
    at_mean: Floats

    def told_by(self, known: "LinearScores", images: Callable[[Floats], Floats]) -> "Translation":
        """How other scores of the same rows tell these, by the covariance of the features.

        ``images`` multiplies columns by that covariance.
        """
        image = images(known.weights)
        covariances = product(self.weights.T, image)
        M = regression_along(product(known.weights.T, image), covariances)
        M = np.ascontiguousarray(M.T)
        return Translation(M, self.at_mean - product(known.at_mean, M))


class Translation(NamedTuple):
    """From scores by some discriminants to those by others: ``s M + shift``."""

    M: Floats
    shift: Floats

    def of(self, scores: Floats) -> Floats:
        """Translate scores."""
        return product(scores, self.M) + self.shift


class Discriminants(NamedTuple):
    """Linear functions of an embedding or of features, one for each class.

    Attributes
    ----------
    weights, offset : ndarray of shape (n, n_classes) and (n_classes,)
        Their values are log posteriors, up to a constant.
    shares : ndarray of shape (n_classes,)
        Shares of the classes.
    spreads : ndarray of shape (n_classes,)
        Distance of each class from the rest, in standard deviations within classes.
    """

    weights: Floats
    offset: Floats
    shares: Floats
    spreads: Floats

    @classmethod
    def none(cls, n_features: int) -> "Discriminants":
        """No discriminants of any class."""
        return cls(np.zeros((n_features, 0)), np.zeros(0), np.zeros(0), np.zeros(0))

    @classmethod
    def of_shares(cls, n_features: int, shares: Floats) -> "Discriminants":
        """Discriminants that know nothing but the shares of the classes."""
        weights = np.zeros((n_features, len(shares)))
        return cls(weights, np.log(shares), shares, np.ones(len(shares)))

    def of(self, Z: Floats) -> Floats:
        """Log posteriors up to a constant, one column per class."""
        return product(Z, self.weights) + self.offset

    def scores(self, values: Floats) -> Floats:
        """Claimed log likelihoods of the values of rows, centred, in units of the mean spread."""
        return self._in_units(values - np.log(self.shares))

    def linear_scores(self, mean: Floats) -> LinearScores:
        """The scores as functions of what the weights are for, which has this mean."""
        values = product(mean, self.weights) + self.offset
        return LinearScores(
            self._in_units(self.weights), self._in_units(values - np.log(self.shares))
        )

    def _in_units(self, values: Floats) -> Floats:
        """Centre values over classes, and divide by the mean spread."""
        centred = values - values.mean(axis=-1, keepdims=True)
        return np.asarray(centred / self._mean_spread())

    def _mean_spread(self) -> float:
        """Root mean square of the spreads."""
        return float(np.sqrt((self.spreads**2).mean()))

    def claims(self, values: Floats) -> Floats:
        """Claimed log likelihood ratios of the values of rows, on the scale of the grid."""
        found = np.array(values, dtype=np.float64, order="C")
        claim_rows(found, self.claim_numbers())
        return found

    def claim_numbers(self) -> ClaimNumbers:
        """What kernels need for the claims."""
        return ClaimNumbers(log_odds_of(self.shares), self.spreads)

    def score_numbers(self, translation: Translation | None) -> ScoreNumbers:
        """What kernels need for the scores, and for those they are translated to."""
        into = translation or Translation(np.zeros((0, 0)), np.zeros(0))
        M = np.ascontiguousarray(into.M)
        return ScoreNumbers(np.log(self.shares), self._mean_spread(), M, into.shift)


def class_discriminants(
    W: Floats, Ct: Floats, shares: Floats, images: Callable[[Floats], Floats], inflation: float
) -> Discriminants:
    """Discriminants of the classes in the centred embedding of weights W.

    ``Ct`` holds C̄ transposed, one row per class; ``images`` multiplies columns by the covariance of
    the features.
    Columns of zeros are allowed, but not all may be.
    """
    # Columns beyond the rank are zeros and tell nothing.
    used = W.any(axis=0)
    weights = np.zeros((W.shape[1], len(shares)))
    W = W[:, used]
    distances = product(Ct / shares[:, np.newaxis], W)
    variances = product(W.T, images(W))
    weights[used], offset = discriminants(distances, variances, shares, inflation)
    squares = product(distances, weights[used]).diagonal()
    # From the mean of the others, which is further away than that of all.
    spreads = np.sqrt(np.maximum(squares, 1e-12)) / np.maximum(1.0 - shares, 1e-12)
    return Discriminants(weights, offset, shares, spreads)


def log_odds_of(shares: Floats) -> Floats:
    """Log odds of shares, finite also for those of none or all."""
    return np.asarray(logit(np.clip(shares, _TINY, 1.0 - 1e-16)))
