r"""A second opinion on the classes of rows: logistic regression on the scores of discriminants.

Where classes are not Gaussian, no single slope makes their discriminants right.  With the scores s
of a row, the log likelihoods that discriminants claim for each class, centred and in units of the
mean spread::

    p = softmax(log shares + A^T s + b),

where A and b are fitted to rows that were scored before they were learned
(:mod:`okspca.numerics.softmax`), each time discriminants are frozen.  Of these rows the last 2,048
are kept; of those that were predicted with a probability above 0.99, one in eight, which counts for
eight.  What is claimed is bounded by the number of rows, as everywhere.

Scores are linear in the features, so those by other discriminants follow from them as well as the
covariance of the features tells.  In this way the scores kept are renewed when discriminants are
frozen, and rows of today, scored by the discriminants of today, get the scores that A and b are
for.  (A new ridge can change both the length and the direction of all discriminants at once.)

How much it counts beside the first opinion q is told by the same rows: for nine weights w from 0 to
1 the logarithms of ``w p + (1 - w) q`` are added up, and the mean of w is used, each counting as
its rows are likely; until they tell, the first opinion counts more.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax

from okspca.moments.class_discriminants import Translation
from okspca.moments.opinions import BLENDS, blend_weight, second_rows
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.softmax import Examples, fitted_softmax

MOST_ROWS, MOST_CLASSES = 2048, 64
#: Rows predicted with more than this are thinned out: one in so many is kept.
SURE, THINNED = 0.99, 8
_TINY = float(np.finfo(np.float64).tiny)


class Seen(NamedTuple):
    """Rows that are not learned yet: scores, classes, weights, numbers, and both opinions."""

    scores: Floats
    labels: Integers
    weights: Floats
    numbers: Integers
    log_p: Floats
    log_q: Floats


class SecondOpinion(NamedTuple):
    """Scored rows, and what was fitted to them.

    Attributes
    ----------
    scores, labels, weights : ndarray of shape (n, n_classes), (n,) and (n,)
        The rows kept.
    coefficients : ndarray of shape (n_classes + 1, n_classes)
        A and, in the last row, b.
    losses : ndarray of shape (9,)
        Negative log likelihoods of the blends.

    Examples
    --------
    >>> opinion = SecondOpinion.none(2)
    >>> np.exp(opinion.log_p(np.zeros((1, 2)), np.array([0.75, 0.25]), 100.0)).round(2).tolist()
    [[0.75, 0.25]]
    """

    scores: Floats
    labels: Floats
    weights: Floats
    coefficients: Floats
    losses: Floats

    @classmethod
    def none(cls, n_classes: int) -> "SecondOpinion":
        """Know nothing about so many classes."""
        n = n_classes if 1 < n_classes <= MOST_CLASSES else 0
        empty = np.zeros(0)
        return cls(np.zeros((0, n)), empty, empty, np.zeros((n + 1, n)), np.zeros(len(BLENDS)))

    @property
    def n_classes(self) -> int:
        """Number of classes it is about; none where there are too many."""
        return int(self.scores.shape[1])

    def log_p(self, scores: Floats, shares: Floats, n_rows: float) -> Floats:
        """Logarithms of the probabilities of classes, by so many rows."""
        scores, A = np.ascontiguousarray(scores), np.ascontiguousarray(self.coefficients)
        return second_rows(scores, A, np.ascontiguousarray(shares), float(n_rows))

    def weight(self, unit: float) -> float:
        """How much it counts beside the first opinion; ``unit`` is a row's weight."""
        return blend_weight(self.losses, float(unit))

    def scored(self, seen: Seen) -> "SecondOpinion":
        """Count the losses of rows, and keep them."""
        own = np.arange(len(seen.labels)), seen.labels
        p, q = np.exp(seen.log_p[own]), np.exp(log_softmax(seen.log_q, axis=1)[own])
        likelihoods = np.outer(p, BLENDS) + np.outer(q, 1.0 - BLENDS)
        losses = -(seen.weights[:, np.newaxis] * np.log(np.maximum(likelihoods, _TINY))).sum(axis=0)
        is_sure = p > SURE
        kept = ~is_sure | (seen.numbers % THINNED == 0)
        weights = np.where(is_sure, THINNED, 1.0) * seen.weights
        more = seen.scores[kept], seen.labels[kept].astype(np.float64), weights[kept]
        scores, labels, weights = _joined(self[:3], more, MOST_ROWS)
        return SecondOpinion(scores, labels, weights, self.coefficients, self.losses + losses)

    def fitted(self, shares: Floats, unit: float) -> "SecondOpinion":
        """Fit the coefficients to the rows kept; ``unit`` is the mean weight of a row."""
        if not self.n_classes or not len(self.labels):
            return self
        labels, weights = self.labels.astype(np.int64), self.weights / max(unit, _TINY)
        rows = Examples(_with_ones(self.scores), np.log(shares), labels, weights)
        return self._replace(coefficients=fitted_softmax(rows, self.coefficients))

    def translated(self, translation: Translation) -> "SecondOpinion":
        """Turn the scores kept into those by other discriminants."""
        return self._replace(scores=translation.of(self.scores))

    def faded(self, factor: float) -> "SecondOpinion":
        """Count what was scored so far less."""
        return self._replace(weights=factor * self.weights, losses=factor * self.losses)

    def merged(self, other: "SecondOpinion") -> "SecondOpinion":
        """Keep rows of both, if they are about the same classes; coefficients stay."""
        if not len(self.labels) or not len(other.labels):
            return self if len(self.labels) else other
        if self.n_classes != other.n_classes:
            return SecondOpinion.none(0)
        half = MOST_ROWS // 2
        mine, theirs = ([part[-half:] for part in one[:3]] for one in (self, other))
        scores, labels, weights = _joined(mine, theirs, MOST_ROWS)
        losses = self.losses + other.losses
        return SecondOpinion(scores, labels, weights, self.coefficients, losses)


def _joined(first: Sequence[Floats], then: Sequence[Floats], most: int) -> list[Floats]:
    """Rows and then others; of too many, the last."""
    return [np.concatenate(pair)[-most:] for pair in zip(first, then, strict=True)]


def _with_ones(scores: Floats) -> Floats:
    """Scores with a column for the shifts."""
    return np.concatenate([scores, np.ones((len(scores), 1))], axis=1)


_NOBODY = np.zeros(0, dtype=np.int64), np.zeros(0)
