r"""Linear discriminants of the classes, from the moments of features or of an embedding.

With the class shares p_c, the distances m_c of the class means from the mean in an embedding and
the covariance S of that embedding, discriminants are those of Gaussian classes with one covariance
(:mod:`okspca.numerics.discriminants`).
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.moments.opinions import claim_rows, mean_spread
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.discriminants import discriminants_in
from okspca.numerics.matrix import multiplied, product
from okspca.numerics.symmetric import pseudo_inverse
from okspca.numerics.whitening import VARIES

_LEAST_SQUARE, _LEAST_REST = 1e-12, 1e-12


class Translation(NamedTuple):
    """From scores by some discriminants to those by others: ``s M + shift``."""

    M: Floats
    shift: Floats

    @classmethod
    def none(cls) -> "Translation":
        """Leave scores as they are."""
        return cls(np.zeros((0, 0)), np.zeros(0))

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

    def of(self, Z: Floats) -> Floats:
        """Log posteriors up to a constant, one column per class."""
        return product(Z, self.weights) + self.offset

    def claims_and_scores(self, values: Floats) -> tuple[Floats, Floats]:
        """What is claimed of rows that have these values.

        Claims are log likelihood ratios, class against the rest, on the scale of the grid; scores
        are log likelihoods, centred, in units of the mean spread.
        """
        values, shares = np.ascontiguousarray(values), np.ascontiguousarray(self.shares)
        return claim_rows(values, shares, np.ascontiguousarray(self.spreads))


class Found(NamedTuple):
    """Discriminants in an embedding, and the same as functions of the features.

    Attributes
    ----------
    n_used : int
        Columns of the embedding that vary; without any, the discriminants are the shares.
    weights, offset, spreads : ndarray
        As :class:`Discriminants` has them, for rows that are not centred.
    features, image : ndarray of shape (D, n_classes)
        Weights of the features, and the covariance of the features times them.
    """

    n_used: int
    weights: Floats
    offset: Floats
    spreads: Floats
    features: Floats
    image: Floats


def class_discriminants(
    W: Floats, image: Floats, Ct: Floats, shares: Floats, mean: Floats, inflation: float
) -> Found:
    """Discriminants of the classes in the embedding of weights W.

    ``image`` is the covariance of the features times W; ``Ct`` holds C̄ transposed, one row per
    class; ``mean`` is that of the features.  Columns of zeros are allowed.
    """
    W, image, Ct = (np.ascontiguousarray(part) for part in (W, image, Ct))
    return Found(*_FOUND.code((W, image), Ct, shares, mean, inflation))


def translation(
    known: Discriminants, wanted: Discriminants, means: tuple[Floats, Floats], image: Floats
) -> Translation:
    """How scores by some discriminants tell those by others, of the same rows.

    Both are functions of features, whose covariance times the weights of the known ones is
    ``image``; at ``means`` the features of either take their mean.  It is the best linear
    prediction, by the covariance of the features.
    """
    return Translation(*_TRANSLATED.code(known, wanted, means, image))


@compiled
def _found(
    matrices: tuple[Floats, Floats], Ct: Floats, shares: Floats, mean: Floats, inflation: float
) -> tuple[int, Floats, Floats, Floats, Floats, Floats]:
    """What is found, as plain arrays."""
    W, image = matrices
    used, n = _used(W), Ct.shape[0]
    weights, spreads = np.zeros((W.shape[1], n)), np.ones(n)
    if used.size == 0:
        nothing = np.zeros((W.shape[0], n))
        return 0, weights, np.log(shares), spreads, nothing, nothing.copy()
    # Columns beyond the rank are zeros and tell nothing.
    if used.size < W.shape[1]:
        W, image = _columns(W, used), _columns(image, used)
    distances = multiplied(Ct, W)
    for c in range(n):
        for j in range(used.size):
            distances[c, j] /= shares[c]
    own, offset = discriminants_in(distances, multiplied(W.T, image), shares, inflation)
    features = multiplied(W, own)
    for c in range(n):
        square = 0.0
        for j in range(used.size):
            weights[used[j], c] = own[j, c]
            square += distances[c, j] * own[j, c]
        # From the mean of the others, which is further away than that of all.
        rest = max(1.0 - shares[c], _LEAST_REST)
        spreads[c] = math.sqrt(max(square, _LEAST_SQUARE)) / rest
        for i in range(mean.shape[0]):
            offset[c] -= mean[i] * features[i, c]
    return used.size, weights, offset, spreads, features, multiplied(image, own)


@compiled
def _used(W: Floats) -> Integers:
    """Numbers of the columns that are not zeros."""
    varies = np.zeros(W.shape[1], dtype=np.int64)
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            varies[j] |= W[i, j] != 0.0
    return np.flatnonzero(varies)


@compiled
def _columns(A: Floats, chosen: Integers) -> Floats:
    """Some columns of a matrix."""
    found = np.empty((A.shape[0], chosen.size))
    for i in range(A.shape[0]):
        for j in range(chosen.size):
            found[i, j] = A[i, chosen[j]]
    return found


@compiled
def _translated(
    known: Discriminants, wanted: Discriminants, means: tuple[Floats, Floats], image: Floats
) -> tuple[Floats, Floats]:
    """M and the shift of a translation."""
    own = 1.0 / mean_spread(known.spreads), 1.0 / mean_spread(wanted.spreads)
    told, asked = _centred(known.weights, own[0]), _centred(wanted.weights, own[1])
    moved = _centred(image, own[0])
    inside = pseudo_inverse(multiplied(told.T, moved), VARIES)
    M = multiplied(inside, multiplied(moved.T, asked))
    shift, before = _at_mean(wanted, means[1], own[1]), _at_mean(known, means[0], own[0])
    for c in range(shift.shape[0]):
        for j in range(before.shape[0]):
            shift[c] -= before[j] * M[j, c]
    return M, shift


@compiled
def _centred(weights: Floats, factor: float) -> Floats:
    """Rows less their mean over the classes, times a factor."""
    rows, n = weights.shape
    found = np.empty((rows, n))
    for i in range(rows):
        mean = 0.0
        for c in range(n):
            mean += weights[i, c]
        mean /= n
        for c in range(n):
            found[i, c] = (weights[i, c] - mean) * factor
    return found


@compiled
def _at_mean(found: Discriminants, mean: Floats, factor: float) -> Floats:
    """Scores where the features take their mean."""
    values = np.log(found.shares)
    for c in range(values.size):
        values[c] = found.offset[c] - values[c]
        for i in range(mean.size):
            values[c] += mean[i] * found.weights[i, c]
    return _centred(values.reshape((1, values.size)), factor)[0]


_FOUND: BoundKernel[tuple[int, Floats, Floats, Floats, Floats, Floats]] = BoundKernel(_found)
_TRANSLATED: BoundKernel[tuple[Floats, Floats]] = BoundKernel(_translated)
