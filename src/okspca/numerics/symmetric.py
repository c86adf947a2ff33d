r"""Eigenvectors of small symmetric matrices, compiled: Jacobi rotations.

For matrices of a few rows, or nearly diagonal ones, rotations beat the reduction to tridiagonal
form that libraries use, need no workspace, and find small eigenvalues of graded matrices to high
relative accuracy.
"""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled

MOST_SWEEPS = 30
_EPS = float(np.finfo(np.float64).eps)


@compiled
def jacobi(A: Floats, rows: Floats) -> bool:
    """Diagonalise the symmetric ``A`` in place; leave eigenvectors in the rows of ``rows``.

    Afterwards the diagonal of ``A`` holds the eigenvalues in descending order.  False where it did
    not converge (non-finite input).
    """
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            rows[i, j] = 1.0 if i == j else 0.0
    for _ in range(MOST_SWEEPS):
        if not _sweep(A, rows):
            _sort(A, rows)
            return True
    return False


@compiled
def _sweep(A: Floats, rows: Floats) -> bool:
    """Rotate every pair whose coupling is above rounding; tell whether any was."""
    n = A.shape[0]
    rotated = False
    for i in range(n - 1):
        for j in range(i + 1, n):
            coupling = A[i, j]
            if abs(coupling) <= 0.5 * _EPS * np.sqrt(abs(A[i, i] * A[j, j])):
                continue
            rotated = True
            ratio = (A[j, j] - A[i, i]) / (2.0 * coupling)
            root = np.sqrt(1.0 + ratio * ratio)
            tangent = 1.0 / (ratio + root) if ratio >= 0.0 else 1.0 / (ratio - root)
            cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
            _rotate(A, rows, i, j, (cosine, tangent * cosine, tangent * coupling))
    return rotated


@compiled
def _rotate(A: Floats, rows: Floats, i: int, j: int, rotation: tuple[float, float, float]) -> None:
    """Apply one rotation to rows and columns ``i, j`` of ``A`` and to the eigenvector rows."""
    c, s, shift = rotation
    n = A.shape[0]
    first, second = A[i, i] - shift, A[j, j] + shift
    for m in range(n):
        a, b = A[i, m], A[j, m]
        A[i, m] = c * a - s * b
        A[j, m] = s * a + c * b
        a, b = rows[i, m], rows[j, m]
        rows[i, m] = c * a - s * b
        rows[j, m] = s * a + c * b
    for m in range(n):
        A[m, i] = A[i, m]
        A[m, j] = A[j, m]
    A[i, i], A[j, j] = first, second
    A[i, j] = 0.0
    A[j, i] = 0.0


@compiled
def _sort(A: Floats, rows: Floats) -> None:
    """Bring eigenvalues into descending order by selection."""
    n = A.shape[0]
    for i in range(n - 1):
        largest = i
        for j in range(i + 1, n):
            if A[j, j] > A[largest, largest]:
                largest = j
        if largest != i:
            A[i, i], A[largest, largest] = A[largest, largest], A[i, i]
            for m in range(n):
                rows[i, m], rows[largest, m] = rows[largest, m], rows[i, m]
