r"""Hotelling's T² of an embedding, squared errors of what it leaves over, and shares of inputs.

Rows of a period that was in control give, of embeddings z (k numbers) and standardised inputs s (d
numbers), the means z0 and s0, the covariance S of z, and the regression of s on z::

    B = S^+ cov(z, s),     e = (s - s0) - (z - z0) B.

**T².**  ``T2 = (z - z0) S^+ (z - z0)^T``; directions in which z does not vary do not count.

**SPE.**  An embedding keeps what tells about the target.  Its residuals hold all else, the common
movements of the inputs included, so their plain sum of squares is large and hardly moves where
inputs stop moving together.  With V the variances of the residuals and R their correlations, they
are weighted::

    SPE = ||e W||^2,     W = V^{-1/2} R^{-1/2}     (R^{-1/2} symmetric),

which has the mean d in control.  Of fewer than ten rows for each input, R is shrunk towards the
identity by the share that sampling makes of it (Schäfer and Strimmer, 2005, with the variance
(1 - r²)²/n of normal rows), so that it can be inverted.  Not weighted, W is the identity: the plain
squared error.

**Contributions to SPE** are the squares of ``e W``, one for each input: none is negative, and they
add up to SPE.

**Contributions to T².**  With c_i(s) what input i adds to z on the way from the mean row to s
(:mod:`okspca.features.attribution`) and c0_i the mean of that over the rows in control, then
``z - z0`` is the sum of ``c_i(s) - c0_i``, so that ::

    a_i = (z - z0) S^+ (c_i(s) - c0_i)^T

add up to T².  They have signs: an input may make up for another.

**Trends.**  A small change that stays is seen sooner in a mean of rows than in any row (Lowry and
others, 1992).  With ``v`` any of z - z0, e and c - c0, and the weight w of a row::

    m = m + h (w v - m),     h = 0.1,

and T² and SPE of the means m, with their contributions, are two more statistics.  A row beyond a
limit has ``w = sqrt(limit / statistic)``, so that a single row, however far out, is no trend.
"""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import gram, product
from okspca.numerics.symmetric import diagonalise

#: Variances below this share of the largest are rounding.
ROUNDING = 1e-12
#: Of fewer rows for each input, correlations are shrunk.
FEW = 10
#: Standardised inputs, and targets, whose residuals vary by less than this do not vary.
STILL = 1e-9


class Residuals(NamedTuple):
    """How something is reconstructed from an embedding, and how its residuals are weighted.

    Attributes
    ----------
    means : ndarray of shape (d,)
        Its means in control.
    slopes : ndarray of shape (k, d)
        B.
    weights : ndarray of shape (d, d)
        W.
    """

    means: Floats
    slopes: Floats
    weights: Floats

    def errors(self, apart: Floats, values: Floats) -> Floats:
        """What an embedding, given apart from its mean, leaves over of values.

        Examples
        --------
        >>> residuals = Residuals(np.zeros(2), np.array([[1.0, 0.0]]), np.eye(2))
        >>> residuals.errors(np.array([[2.0]]), np.array([[3.0, 4.0]])).tolist()
        [[1.0, 4.0]]
        """
        found: Floats = values - self.means - product(apart, self.slopes)
        return found

    def parts(self, errors: Floats) -> Floats:
        """Weighted squares, which add up to SPE."""
        found: Floats = product(errors, self.weights) ** 2
        return found


class Reference(NamedTuple):
    """What rows in control are like.

    Attributes
    ----------
    centre : ndarray of shape (k,)
        z0.
    whitener : ndarray of shape (k, k)
        Such that ``(z - z0) whitener`` has the covariance 1, or 0 where z does not vary.
    added : ndarray of shape (k, d)
        Mean of what each input adds to each component, c0.
    inputs : Residuals
        Of the standardised inputs.
    """

    centre: Floats
    whitener: Floats
    added: Floats
    inputs: Residuals

    def t2(self, apart: Floats) -> Floats:
        """Hotelling's T² of embeddings, given apart from their mean."""
        found: Floats = (product(apart, self.whitener) ** 2).sum(axis=1)
        return found

    def t2_parts(self, apart: Floats, added: Floats) -> Floats:
        """What each input contributes to T², given ``c_i(s) - c0_i`` (rows x k x d)."""
        scaled = product(product(apart, self.whitener), self.whitener.T)
        parts = np.zeros((len(apart), added.shape[2]))
        for component in range(apart.shape[1]):
            parts += scaled[:, component, np.newaxis] * added[:, component]
        return parts


def smoothed(before: Floats, rows: Floats, share: float) -> Floats:
    """Exponentially weighted means of rows, beginning with the one before them.

    Examples
    --------
    >>> smoothed(np.zeros(1), np.ones((3, 1)), 0.5).ravel().tolist()
    [0.5, 0.75, 0.875]
    """
    found, last = np.empty_like(rows), before
    for place, row in enumerate(rows):
        last = last + share * (row - last)
        found[place] = last
    return found


def reference_of(Z: Floats, S: Floats, added: Floats, *, weighted: bool = True) -> Reference:
    """Learn what embeddings Z and standardised inputs S are like, row by row those of one period.

    Examples
    --------
    >>> random = np.random.RandomState(0)
    >>> S = random.normal(size=(500, 3))
    >>> found = reference_of(S[:, :1], S, S[:, np.newaxis, :] * [1.0, 0.0, 0.0])
    >>> bool(abs(found.t2(S[:, :1] - found.centre).mean() - 1.0) < 0.01)
    True
    >>> found.inputs.slopes.round(1).tolist()
    [[1.0, -0.1, 0.0]]
    """
    centre = Z.mean(axis=0)
    apart = Z - centre
    whitener = _whitener(apart)
    inputs = residuals_of(apart, whitener, S, weighted=weighted)
    return Reference(centre, whitener, added, inputs)


def residuals_of(
    apart: Floats, whitener: Floats, values: Floats, *, weighted: bool = True
) -> Residuals:
    """Learn how values are reconstructed from an embedding, given apart from its mean."""
    means = values.mean(axis=0)
    scores = product(apart, whitener)
    slopes = product(whitener, product(scores.T, values - means)) / max(len(values) - 1, 1)
    errors = values - means - product(apart, slopes)
    weights = _weights(errors) if weighted else np.eye(values.shape[1])
    return Residuals(means, slopes, weights)


def _whitener(apart: Floats) -> Floats:
    """What gives rows the covariance 1 in every direction in which they vary."""
    variances, rows = _eigen(gram(apart) / max(len(apart) - 1, 1))
    varies = variances > ROUNDING * max(float(variances.max(initial=0.0)), STILL**2)
    roots = np.divide(1.0, np.sqrt(variances.clip(STILL**2)), out=np.zeros(len(rows)), where=varies)
    return rows.T * roots


def _weights(errors: Floats) -> Floats:
    """V^{-1/2} R^{-1/2} of residuals."""
    n = len(errors)
    spreads = np.maximum(np.sqrt((errors**2).sum(axis=0) / max(n - 1, 1)), STILL)
    R = gram(errors / spreads) / max(n - 1, 1)
    R = _shrunk(R, n) if n < FEW * len(R) else R
    values, rows = _eigen(R)
    # Inputs that are sums of others have residuals of rounding in that direction.
    floor = np.maximum(values, STILL * float(values.max(initial=1.0)))
    return product(rows.T / np.sqrt(floor), rows) / spreads[:, np.newaxis]


def _shrunk(R: Floats, n: int) -> Floats:
    """Correlations less what sampling makes of them."""
    off = ~np.eye(len(R), dtype=np.bool_)
    squares = float((R[off] ** 2).sum())
    chance = float(((1.0 - R[off] ** 2).clip(0.0) ** 2).sum()) / n
    share = 1.0 if squares <= chance else chance / squares
    return np.where(off, (1.0 - share) * R, R)


def _eigen(A: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, the largest first, and eigenvectors in rows."""
    values, rows = np.array(A, order="C"), np.zeros_like(A, order="C")
    if len(A):
        diagonalise(values, rows)
    return np.diag(values).clip(0.0), rows
