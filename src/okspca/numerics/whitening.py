r"""Coordinates in which a covariance is the identity, by one triangular factor.

For a covariance S and a ridge l > 0 let ``S + l I = R^T R`` with R upper triangular.  Then::

    R^-T C = Q (S + l I)^-1/2 C,        Q = R^-T (S + l I)^1/2 orthogonal,

so ``R^-T C`` has the singular values of ``(S + l I)^-1/2 C``, and its left singular vectors V are Q
times U, those of the symmetric root.  In the original coordinates both are the same directions::

    W = R^-1 V = (S + l I)^-1/2 U.

A triangular factor takes a thirtieth of the work of the symmetric root.

Ridges are given in units of the mean variance, ``trace(S) / D``.
"""

import numpy as np
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.blas import dsymm

from okspca.errors import NumericalError
from okspca.numerics.arrays import Floats

#: Below this multiple of the mean variance, rounding could make the sum indefinite.
SMALLEST_RIDGE = 1e-10


def ridge_factor(upper: Floats, ridge: float) -> Floats:
    """Upper triangular R with ``R^T R = S + l I``; only the upper triangle of S is read.

    Examples
    --------
    >>> ridge_factor(np.eye(2) * 3.0, ridge=1.0 / 3.0).diagonal().tolist()
    [2.0, 2.0]
    """
    D = upper.shape[0]
    unit = float(np.trace(upper)) / D
    shifted = upper.copy()
    shifted.flat[:: D + 1] += ridge * (unit if unit > 0.0 else 1.0)
    try:
        return np.asarray(cholesky(shifted, lower=False, overwrite_a=True))
    except (LinAlgError, ValueError) as failure:
        message = f"The covariance of the features could not be factored ({failure})."
        raise NumericalError(message) from failure


def whitened_rows(R: Floats, Ct: Floats) -> Floats:
    """Rows ``Ct R^-1``: C, given transposed, in whitened coordinates."""
    return np.ascontiguousarray(solve_triangular(R, Ct.T, trans="T").T)


def unwhitened(R: Floats, V: Floats) -> Floats:
    """Columns ``R^-1 V``: directions of whitened coordinates as weights of the features."""
    return np.ascontiguousarray(solve_triangular(R, V))


def ridge_coefficients(R: Floats, Ct: Floats) -> Floats:
    """Coefficients of the ridge regression, transposed: ``Ct (S + l I)^-1``."""
    return np.ascontiguousarray(unwhitened(R, whitened_rows(R, Ct).T).T)


def reduced_coefficients(S: Floats, Ct: Floats, ridge: float, rank: int) -> Floats:
    """Regression on the leading ``rank`` whitened directions, transposed (width x D).

    The directions W are those of the ridge; the regression on ``W^T phi`` itself has none.  Only
    the upper triangle of S is read.
    """
    factor = ridge_factor(S, ridge)
    V = np.linalg.svd(whitened_rows(factor, Ct), full_matrices=False)[2][:rank].T
    W = unwhitened(factor, V)
    return regression_on(S, Ct, W) @ W.T


def regression_on(S: Floats, Ct: Floats, W: Floats) -> Floats:
    """Coefficients of the regression of the targets on ``W^T phi`` (width x columns of W).

    Columns of W that do not vary take no part.
    """
    SW = dsymm(1.0, S.T, W, lower=1)
    return np.asarray(Ct @ W @ np.linalg.pinv(W.T @ SW, rcond=1e-12, hermitian=True))
