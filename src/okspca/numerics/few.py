r"""Triangular solves for a few right-hand sides, each a contiguous row.

:mod:`okspca.numerics.triangular` works in bands, with products of matrices, which pays for many.
For a few it is the factor that must be read, and here that happens once, row by row.  Bounds on
rounding are the same, as they hold for every order of the sums.
"""

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.sums import inner


@compiled
def solve_few_rows(R: Floats, X: Floats) -> None:
    """Replace every row x of X by ``x R^-1``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[4.0, 6.0]])
    >>> solve_few_rows(np.array([[2.0, 1.0], [0.0, 2.0]]), X)
    >>> X
    array([[2., 2.]])
    """
    for i in range(R.shape[0]):
        for r in range(X.shape[0]):
            X[r, i] /= R[i, i]
            _subtract(X[r, i + 1 :], R[i, i + 1 :], X[r, i])


@compiled
def solve_few_columns(R: Floats, X: Floats) -> None:
    """Replace every row x of X by the solution z of ``R z = x``.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[6.0, 4.0]])
    >>> solve_few_columns(np.array([[2.0, 1.0], [0.0, 2.0]]), X)
    >>> X
    array([[2., 2.]])
    """
    for i in range(R.shape[0] - 1, -1, -1):
        for r in range(X.shape[0]):
            X[r, i] = (X[r, i] - inner(R[i], X[r], i + 1)) / R[i, i]


@compiled
def _subtract(x: Floats, row: Floats, factor: float) -> None:
    """Subtract a multiple of a row."""
    for j in range(x.shape[0]):
        x[j] -= factor * row[j]
