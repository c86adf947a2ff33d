r"""Triangular solves for a few right-hand sides, each a contiguous row.

:mod:`okspca.numerics.triangular` works in bands, with products of matrices, which pays for many.
For a few it is the factor that must be read, and here that happens once: row by row, or four rows
at a time where the sums for two right-hand sides stay in registers.  Bounds on rounding are the
same, as they hold for every order of the sums.
"""

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled, reordered

#: Rows of the factor that are taken together.
_BAND = 4


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
    n, q = R.shape[0], X.shape[0]
    # Only the first band may be a narrow one: nothing comes after it.
    for start in range((n - 1) // _BAND * _BAND, -1, -_BAND):
        end = min(start + _BAND, n)
        if end < n:
            for r in range(0, q, 2):
                _subtract_products(R, start, X, r)
        for i in range(end - 1, start - 1, -1):
            for r in range(q):
                X[r, i] /= R[i, i]
                for j in range(start, i):
                    X[r, j] -= R[j, i] * X[r, i]


@compiled
def _subtract(x: Floats, row: Floats, factor: float) -> None:
    """Subtract a multiple of a row."""
    for j in range(x.shape[0]):
        x[j] -= factor * row[j]


@reordered
def _subtract_products(R: Floats, start: int, X: Floats, r: int) -> None:
    """Subtract products of four rows with what comes after in rows ``r, r + 1`` of X."""
    end, s = start + _BAND, min(r + 1, X.shape[0] - 1)
    a, b, c, d = R[start, end:], R[start + 1, end:], R[start + 2, end:], R[start + 3, end:]
    x, y = X[r, end:], X[s, end:]
    ax = bx = cx = dx = ay = by = cy = dy = 0.0
    for j in range(x.shape[0]):
        ax += a[j] * x[j]
        bx += b[j] * x[j]
        cx += c[j] * x[j]
        dx += d[j] * x[j]
        ay += a[j] * y[j]
        by += b[j] * y[j]
        cy += c[j] * y[j]
        dy += d[j] * y[j]
    X[r, start] -= ax
    X[r, start + 1] -= bx
    X[r, start + 2] -= cx
    X[r, start + 3] -= dx
    if s > r:
        X[s, start] -= ay
        X[s, start + 1] -= by
        X[s, start + 2] -= cy
        X[s, start + 3] -= dy
