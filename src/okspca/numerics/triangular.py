r"""Triangular factors and what is solved with them, on one thread.

``N = R^T R`` with R upper triangular (Cholesky), rows ``X R = B``, columns ``R X = B``, and the
inverse of R.  All work in bands of BAND rows or columns: what earlier bands contribute is one
product (:mod:`okspca.numerics.matrix`), the rest follows the defining equations one by one.  No
inverse of a band is ever formed, so every result satisfies the equations up to the rounding of the
sums in them, and the usual bounds hold (Higham, *Accuracy and Stability of Numerical Algorithms*,
chapters 8 and 10): they are the same for every order of those sums.
"""

import math

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.elimination import COLUMNS, take_off
from okspca.numerics.matrix import multiply_into
from okspca.numerics.shared import nothing, read_rows, rows, shared, truth

BAND = 32


def cholesky(upper: Floats) -> Floats | None:
    """Upper triangular R with ``R^T R`` the matrix whose upper triangle is given.

    None where a pivot is not positive, or not a number.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [0.0, 5.0]]))
    array([[2., 1.],
           [0., 2.]])
    >>> cholesky(-np.eye(2)) is None
    True
    """
    R = np.array(upper, dtype=np.float64, order="C")
    return R if factor_in_place(R) else None


def solve_rows(R: Floats, B: Floats) -> Floats:
    """Rows ``X = B R^-1``.

    Examples
    --------
    >>> import numpy as np
    >>> solve_rows(np.array([[2.0, 1.0], [0.0, 2.0]]), np.array([[4.0, 6.0]]))
    array([[2., 2.]])
    """
    X = np.array(B, dtype=np.float64, order="C")
    solve_rows_in_place(np.ascontiguousarray(R), X, False)
    return X


def solve_columns(R: Floats, B: Floats) -> Floats:
    """Columns ``X = R^-1 B``.

    Examples
    --------
    >>> import numpy as np
    >>> solve_columns(np.array([[2.0, 1.0], [0.0, 2.0]]), np.array([[6.0], [4.0]]))
    array([[2.],
           [2.]])
    """
    X = np.array(B, dtype=np.float64, order="C")
    solve_columns_in_place(np.ascontiguousarray(R), X)
    return X


def inverse(R: Floats) -> Floats:
    """The inverse of R, upper triangular as well.

    Examples
    --------
    >>> import numpy as np
    >>> inverse(np.array([[2.0, 1.0], [0.0, 2.0]]))
    array([[ 0.5 , -0.25],
           [ 0.  ,  0.5 ]])
    """
    X = np.eye(R.shape[0])
    solve_rows_in_place(np.ascontiguousarray(R), X, True)
    return X


@shared(truth, rows)
def factor_in_place(A: Floats) -> bool:
    """Replace A, of which the upper triangle counts, by its factor; False where there is none."""
    n = A.shape[0]
    for start in range(0, n, BAND):
        end = min(start + BAND, n)
        above, band = A[:start, start:end], A[start:end, start:]
        multiply_into(above.T, A[:start, start:], band, -1.0, 1.0, True)
        # What lies below the diagonal is computed, too, where that is quicker, and cleared at once.
        whole = start + (n - start) // COLUMNS * COLUMNS
        for i in range(start, end):
            for j in range(start, whole, COLUMNS):
                take_off(A, start, i, j)
            for r in range(start, i):
                share = A[r, i]
                for j in range(whole, n):
                    A[i, j] -= share * A[r, j]
            pivot = A[i, i]
            # Written so that NaN ends it, too.
            if not 0.0 < pivot < np.inf:
                return False
            root = math.sqrt(pivot)
            for j in range(i):
                A[i, j] = 0.0
            A[i, i] = root
            for j in range(i + 1, n):
                A[i, j] /= root
    return True


@shared(nothing, read_rows, rows, truth)
def solve_rows_in_place(R: Floats, X: Floats, triangular: bool) -> None:
    """Replace rows X by ``X R^-1``; with ``triangular``, X is upper triangular before and after."""
    n = R.shape[0]
    for start in range(0, n, BAND):
        end = min(start + BAND, n)
        m = min(X.shape[0], end) if triangular else X.shape[0]
        multiply_into(X[:m, :start], R[:start, start:end], X[:m, start:end], -1.0, 1.0, False)
        for i in range(m):
            for j in range(start, end):
                X[i, j] /= R[j, j]
                share = X[i, j]
                for c in range(j + 1, end):
                    X[i, c] -= share * R[j, c]


@shared(nothing, read_rows, rows)
def solve_columns_in_place(R: Floats, X: Floats) -> None:
    """Replace columns X by ``R^-1 X``."""
    n, q = X.shape
    for end in range(n, 0, -BAND):
        start = max(end - BAND, 0)
        multiply_into(R[start:end, end:], X[end:], X[start:end], -1.0, 1.0, False)
        for i in range(end - 1, start - 1, -1):
            for c in range(q):
                X[i, c] /= R[i, i]
            for r in range(start, i):
                share = R[r, i]
                for c in range(q):
                    X[r, c] -= share * X[i, c]
