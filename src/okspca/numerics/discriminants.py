r"""Linear discriminants of classes, and how confident they may be.

With class shares p, distances d_c of the class means from the mean and a common covariance V within
classes, all in an embedding z, the logarithm of the posterior of class c is, up to a constant::

    l_c(z) = log p_c + d_c^T V^-1 (z - mean) - d_c^T V^-1 d_c / 2.

The embedding was fitted to the rows that V is taken from, which therefore lie too close to their
class means.  Leaving one row out at a time, a ridge regression of f degrees of freedom on n rows
has residuals larger by about 1 / (1 - f / n) (generalised cross-validation).  So V is inflated by
the square of that, in each direction at most to the covariance of all rows, where nothing is left
that tells classes apart.
"""

import math

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.matrix import multiplied
from okspca.numerics.posteriors import log_odds_row
from okspca.numerics.symmetric import diagonalise, pseudo_inverse
from okspca.numerics.triangular import factor_in_place, solve_columns_in_place, solve_rows_in_place
from okspca.numerics.whitening import freedom

#: What is added to the variances within classes, relative to their mean.
WITHIN_RIDGE = 1e-6
_TINY = float(np.finfo(np.float64).tiny)
_LEAST_LEFT = 1e-3
_ROUNDING, _LEAST = float(np.finfo(np.float64).eps), 1e-200


def discriminants(
    distances: Floats, total: Floats, shares: Floats, inflation: float = 1.0
) -> tuple[Floats, Floats]:
    """Return weights (columns x classes) and offsets for an embedding whose mean is zero.

    Parameters
    ----------
    distances : ndarray of shape (n_classes, q)
        Class means of the embedding, less the mean.
    total : ndarray of shape (q, q)
        Its covariance.
    shares : ndarray of shape (n_classes,)
        Shares of the classes, all positive.
    inflation : float
        Factor of the covariance within classes.

    Examples
    --------
    >>> w, b = discriminants(np.array([[-1.0], [1.0]]), np.array([[2.0]]), np.array([0.5, 0.5]))
    >>> (w[0, 1] - w[0, 0]).round(5)
    np.float64(2.0)
    """
    distances, total = (np.ascontiguousarray(part) for part in (distances, total))
    return _DISCRIMINANTS.code(distances, total, np.ascontiguousarray(shares), inflation)


@compiled
def discriminants_in(
    distances: Floats, total: Floats, shares: Floats, inflation: float
) -> tuple[Floats, Floats]:
    """Do so."""
    n, q = distances.shape
    weighted = np.empty((n, q))
    for c in range(n):
        for j in range(q):
            weighted[c, j] = distances[c, j] * shares[c]
    within = total - multiplied(weighted.T, distances)
    if inflation > 1.0:
        within = _inflated(within, total, inflation)
    # Where classes do not vary, what rounding leaves of the variance of all rows is the unit.
    unit = max(_trace(within), _ROUNDING * _trace(total), _LEAST) / q
    for j in range(q):
        within[j, j] += WITHIN_RIDGE * unit
    weights = _divided(within, distances)
    offset = np.empty(n)
    for c in range(n):
        square = 0.0
        for j in range(q):
            square += distances[c, j] * weights[j, c]
        offset[c] = math.log(shares[c]) - 0.5 * square
    return weights, offset


@compiled
def _divided(S: Floats, rows: Floats) -> Floats:
    """Columns ``S^-1 rows^T``, where S should be positive; rounding may have made it less so."""
    n, q = rows.shape
    factor, columns = S.copy(), np.empty((q, n))
    if not factor_in_place(factor):
        return multiplied(pseudo_inverse(S, q * _ROUNDING), rows.T)
    # S^-1 = R^-1 R^-T, the second of which acts on rows.
    turned = rows.copy()
    solve_rows_in_place(factor, turned, False)
    for c in range(n):
        for j in range(q):
            columns[j, c] = turned[c, j]
    solve_columns_in_place(factor, columns)
    return columns


@compiled
def _trace(A: Floats) -> float:
    """Sum of the diagonal."""
    total = 0.0
    for j in range(A.shape[0]):
        total += A[j, j]
    return total


def left_out_inflation(R: Floats, ridge: float, n_rows: float) -> float:
    """How much larger squared residuals are where a row is left out, from the ridge's factor.

    Examples
    --------
    >>> round(left_out_inflation(np.eye(2) * np.sqrt(2.0), ridge=1.0, n_rows=8.0), 3)
    1.778
    """
    return max(1.0 - freedom(R, ridge) / n_rows, _LEAST_LEFT) ** -2


def log_odds(values: Floats) -> Floats:
    """Logarithm of the odds of each class against all others, from log posteriors (rows x classes).

    Examples
    --------
    >>> log_odds(np.log([[0.5, 0.25, 0.25]])).round(4).tolist()
    [[0.0, -1.0986, -1.0986]]
    """
    found = np.array(values, dtype=np.float64, order="C")
    _log_odds_rows(found)
    return found


@compiled
def _log_odds_rows(values: Floats) -> None:
    """Replace log posteriors by log odds."""
    for i in range(values.shape[0]):
        log_odds_row(values[i], values[i])


@compiled
def _inflated(within: Floats, total: Floats, inflation: float) -> Floats:
    """Multiply a covariance within classes, nowhere beyond that of all rows.

    With ``total = R^T R`` the eigenvalues of ``R^-T within R^-1`` are the shares of the variance of
    all rows that are within classes, so at most one, and ``R^T`` times its eigenvectors what has
    them.
    """
    q = total.shape[0]
    factor, ridge = total.copy(), WITHIN_RIDGE * max(_trace(total) / q, _TINY)
    for j in range(q):
        factor[j, j] += ridge
    if not factor_in_place(factor):
        return within
    shares, directions = within.copy(), np.empty((q, q))
    solve_rows_in_place(factor, shares, False)
    other = shares.T.copy()
    solve_rows_in_place(factor, other, False)
    for i in range(q):
        for j in range(q):
            shares[i, j] = 0.5 * (other[i, j] + other[j, i])
    diagonalise(shares, directions)
    spread = multiplied(directions, factor)
    found = spread.copy()
    for r in range(q):
        share = min(inflation * max(shares[r, r], 0.0), 1.0)
        for j in range(q):
            found[r, j] *= share
    return multiplied(spread.T, found)


_DISCRIMINANTS: BoundKernel[tuple[Floats, Floats]] = BoundKernel(discriminants_in)
