r"""Coordinates in which a covariance is the identity, by one triangular factor.

For a covariance S and a ridge l > 0 let ``S + l I = R^T R`` with R upper triangular.  Then::

    R^-T C = Q (S + l I)^-1/2 C,        Q = R^-T (S + l I)^1/2 orthogonal,

so ``R^-T C`` has the singular values of ``(S + l I)^-1/2 C``, and its left singular vectors V are Q
times U, those of the symmetric root.  In the original coordinates both are the same directions::

    W = R^-1 V = (S + l I)^-1/2 U.

A triangular factor takes a thirtieth of the work of the symmetric root.

Ridges are given in units of the mean variance, ``trace(S) / D``, which is rounded to a grid of four
steps a doubling where the ridge is to stay the same while rows come (:func:`steady`).

What rounding does to all this is bounded by :func:`factor_bounds`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from okspca.errors import NumericalError
from okspca.numerics.accurate import norm
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel
from okspca.numerics.matrix import mirror, product
from okspca.numerics.symmetric import pseudo_inverse
from okspca.numerics.thin_svd import MOST, thin_svd
from okspca.numerics.triangular import (
    cholesky,
    factor_in_place,
    inverse,
    solve_columns,
    solve_rows,
)

#: Below this multiple of the mean variance, rounding could make the sum indefinite.
SMALLEST_RIDGE = 1e-10
#: Columns whose variance is below this multiple of the largest do not vary.
VARIES = 1e-12
#: Where rounding may have changed whitened coordinates more than this, nothing is proven.
MOST_DISTORTION = 0.1
_EPS = float(np.finfo(np.float64).eps)
# Twice the smallest number: what an operation may lose to underflow.
_TINY = 1e-323
_INDEFINITE = "The covariance of the features could not be factored: it is not definite."


class FactorBounds(NamedTuple):
    """What is proven about a factor R of N = S + l I, where S is in exact arithmetic.

    Attributes
    ----------
    smallest : float
        Lower bound on the smallest eigenvalue of N, and of ``R^T R``.
    distortion : float
        Upper bound, below one, on the norm of ``R^-T N R^-1 - I``.
    slack : float
        Relative error, in the Frobenius norm and in whitened coordinates, that solving with R or
        its transpose may make.
    drift : float
        The same for rows that were not solved but have followed R (:mod:`okspca.numerics.
        updating`), beyond ``slack``.

    Examples
    --------
    >>> factor_bounds(np.diag([4.0, 1.0]), np.diag([2.0, 1.0])).smallest > 0.3
    True
    """

    smallest: float
    distortion: float
    slack: float
    drift: float = 0.0


def mean_variance(upper: Floats) -> float:
    """The unit of ridges: ``trace(S) / D``, or one for features that never varied.

    Examples
    --------
    >>> mean_variance(np.eye(2) * 3.0), mean_variance(np.zeros((2, 2)))
    (3.0, 1.0)
    """
    unit = float(np.trace(upper)) / upper.shape[0]
    # Any positive ridge makes the sum definite.
    return unit if unit > 0.0 else 1.0


def steady(unit: float) -> float:
    """The nearest number, by its ratio, on a grid of four steps a doubling.

    A unit that grows row by row then stays the same for many rows.  No whole number, and no power
    of two, lies half way between two steps.

    Examples
    --------
    >>> [round(steady(unit), 3) for unit in (1.0, 1.05, 1.1, 2.0)]
    [1.0, 1.0, 1.189, 2.0]
    """
    return float(2.0 ** (round(4.0 * math.log2(unit)) / 4.0))


def with_shift(upper: Floats, shift: float) -> Floats:
    """``S + shift I``; only the upper triangle of S is read.

    Examples
    --------
    >>> with_shift(np.eye(2) * 3.0, shift=1.0).diagonal().tolist()
    [4.0, 4.0]
    """
    shifted = upper.copy()
    shifted.flat[:: upper.shape[0] + 1] += shift
    return shifted


def factored(shifted: Floats) -> Floats:
    """Upper triangular R with ``R^T R`` the matrix whose upper triangle is given.

    Examples
    --------
    >>> factored(np.eye(2) * 4.0).diagonal().tolist()
    [2.0, 2.0]
    """
    R = cholesky(shifted)
    if R is None:
        raise NumericalError(_INDEFINITE)
    return R


def ridge_factor(upper: Floats, ridge: float) -> Floats:
    """Upper triangular R with ``R^T R = S + l I``; only the upper triangle of S is read."""
    R = with_shift(upper, ridge * mean_variance(upper))
    if not factor_in_place(R):
        raise NumericalError(_INDEFINITE)
    return R


def factor_bounds(shifted: Floats, R: Floats) -> FactorBounds | None:
    r"""Bound what rounding did to a factor; None where nothing is proven.

    A Cholesky factorisation that runs to its end is that of a matrix within ``g trace`` of the one
    it was given, ``g = (D + 1) eps / 2`` to first order; twice as much, and something for the few
    operations that made each entry of ``shifted`` from the stored sums, is allowed here.  So R
    belongs to a matrix within ``error`` of N, and if also ``shifted - m I`` can be factored, no
    eigenvalue of either is below ``m - 2 error``.  Nothing is assumed of S: sums of squares that
    were rounded many times need not be positive semi-definite.
    """
    D, trace = shifted.shape[0], float(np.trace(shifted))
    rounding = (D + 24.0) * _EPS
    error = rounding * trace + (D + 8.0) ** 2 * _TINY
    floor = _verified_shift(shifted, _smallest_estimate(R, trace / D)) - 2.0 * error
    if not (floor > 0.0 and error <= MOST_DISTORTION * floor):
        return None
    return FactorBounds(floor, error / floor, solving_slack(D, trace / floor))


def solving_slack(D: int, condition: float) -> float:
    """Relative error of solving with a factor whose squared norm is so often its least eigenvalue.

    Examples
    --------
    >>> solving_slack(100, 1e4) < 3e-12
    True
    """
    return (D + 24.0) * _EPS * math.sqrt(1.01 * condition)


def _smallest_estimate(R: Floats, unit: float) -> float:
    """About the smallest eigenvalue of ``R^T R``, from above, by three inverse iterations.

    ``unit``: a size that takes out units, so that squares are safe.
    """
    # A fixed start that is orthogonal to no eigenvector one would expect.
    v = np.cos(np.arange(1.0, R.shape[0] + 1.0) ** 2)
    growth = math.inf
    for _ in range(3):
        v /= norm(v)
        v = solve_columns(R, solve_rows(R, v[np.newaxis]).T)[:, 0] * unit
        growth = norm(v)
    return unit / growth if growth > 0.0 else 0.0


def _verified_shift(shifted: Floats, estimate: float) -> float:
    """A share of the estimate that can be taken off the diagonal; zero where none is found."""
    D = shifted.shape[0]
    # The estimate is from above, so only a share can be taken off; that it factors is the proof.
    for share in (0.6, 0.2, 0.02, 0.002):
        lowered = shifted.copy()
        lowered.flat[:: D + 1] -= share * estimate
        if factor_in_place(lowered):
            return share * estimate
    return 0.0


def whitened_rows(R: Floats, Ct: Floats) -> Floats:
    """Rows ``Ct R^-1``: C, given transposed, in whitened coordinates."""
    return solve_rows(R, Ct)


def unwhitened(R: Floats, V: Floats) -> Floats:
    """Columns ``R^-1 V``: directions of whitened coordinates as weights of the features."""
    return solve_columns(R, V)


def freedom(R: Floats, ridge: float) -> float:
    """Degrees of freedom of a ridge regression, the mean included, from its factor.

    Examples
    --------
    >>> round(freedom(np.eye(2) * np.sqrt(2.0), ridge=1.0), 9)
    2.0
    """
    # trace S (S + l I)^-1 = D - l trace (S + l I)^-1, and one for the mean.
    return 1.0 + len(R) - ridge * float((inverse(R) ** 2).sum())


def ridge_coefficients(R: Floats, Ct: Floats) -> Floats:
    """Coefficients of the ridge regression, transposed: ``Ct (S + l I)^-1``."""
    return np.ascontiguousarray(unwhitened(R, whitened_rows(R, Ct).T).T)


def reduced_coefficients(S: Floats, Ct: Floats, ridge: float, rank: int) -> Floats:
    """Regression on the leading ``rank`` whitened directions, transposed (width x D).

    The directions W are those of the ridge; the regression on ``W^T phi`` itself has none.  Only
    the upper triangle of S is read.
    """
    return reduced_path(S, Ct, [ridge], rank)[0]


def reduced_path(S: Floats, Ct: Floats, ridges: Sequence[float], rank: int) -> list[Floats]:
    """As :func:`reduced_coefficients`, for each of some ridges.

    Examples
    --------
    >>> S, Ct = np.diag([4.0, 1.0]), np.array([[2.0, 0.0]])
    >>> [B.round(6).tolist() for B in reduced_path(S, Ct, [0.001, 1.0], 1)]
    [[[0.5, 0.0]], [[0.5, 0.0]]]
    """
    return targets_and_path(S, Ct, ridges, rank)[1]


def targets_and_path(
    S: Floats, Ct: Floats, ridges: Sequence[float], rank: int
) -> tuple[list[Floats], list[Floats]]:
    """Leading target directions of each ridge (width x rank), and :func:`reduced_path`."""
    targets, directions = [], []
    for ridge in ridges:
        factor = ridge_factor(S, ridge)
        found = thin_svd(whitened_rows(factor, Ct))
        targets.append(np.ascontiguousarray(found.left[:, :rank]))
        directions.append(unwhitened(factor, found.right[:rank].T))
    regressions = _regressions(S, Ct, directions)
    return targets, [product(B, W.T) for B, W in zip(regressions, directions, strict=True)]


def regression_on(S: Floats, Ct: Floats, W: Floats) -> Floats:
    """Coefficients of the regression of the targets on ``W^T phi`` (width x columns of W).

    Columns of W that do not vary take no part.
    """
    return _regressions(S, Ct, [W])[0]


def _regressions(S: Floats, Ct: Floats, directions: list[Floats]) -> list[Floats]:
    """Regressions on the columns of matrices of one shape, each by itself."""
    whole = S.copy()
    mirror(whole)
    # One product with S, which is copied for each; a column is the same whatever the others are.
    images = np.split(product(whole, np.concatenate(directions, axis=1)), len(directions), axis=1)
    squares = np.array([product(W.T, SW) for W, SW in zip(directions, images, strict=True)])
    # All in one call: NumPy takes longer to prepare it than to invert.
    inverses = np.asarray(np.linalg.pinv(squares, rcond=VARIES, hermitian=True), dtype=np.float64)
    return [product(product(Ct, W), inside) for W, inside in zip(directions, inverses, strict=True)]


def regression_along(variances: Floats, covariances: Floats) -> Floats:
    """The regression, given what it needs to know of an embedding: ``W^T S W`` and ``C^T W``."""
    if len(variances) > MOST:
        inside = np.asarray(np.linalg.pinv(variances, rcond=VARIES, hermitian=True))
    else:
        inside = _PSEUDO_INVERSE.code(np.ascontiguousarray(variances), VARIES)
    return product(covariances, inside)


_PSEUDO_INVERSE: BoundKernel[Floats] = BoundKernel(pseudo_inverse)
