r"""Signed reduced QR: the factorisation whose triangular diagonal is never negative.

``A = Q R`` with ``Q`` orthonormal.  Columns of ``Q`` (and rows of ``R``) are flipped where the
diagonal of ``R`` is negative; a zero diagonal counts as positive.  For full-rank ``A`` this makes
the factor unique.  Rank-deficient input is accepted: reflections complete the basis.

Two forms: :func:`signed_qr` for a matrix in the usual orientation, and the compiled
:func:`orthonormalise_rows`, which works in place on a basis stored as rows.
"""

import math

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import multiplied
from okspca.numerics.products import gram
from okspca.numerics.sums import inner, largest_magnitude

# Below this squared pivot of unit rows, reflections are needed for full accuracy.
SMALLEST_PIVOT = 1e-4
# Above this one, a single round of Gram-Schmidt by a Cholesky factor is as good as two.
GOOD_PIVOT = 0.9
# Rows below this squared length count as zero.
SMALLEST_SQUARE = 1e-280


def signed_qr(matrix: Floats) -> tuple[Floats, Floats]:
    """Return the reduced QR factors of ``matrix`` with a non-negative triangular diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> Q, R = signed_qr(np.array([[-2.0], [0.0]]))
    >>> Q.ravel().tolist(), R.ravel().tolist()
    ([-1.0, 0.0], [2.0])
    """
    Q, R = np.linalg.qr(matrix)
    signs = np.where(np.diagonal(R) < 0.0, -1.0, 1.0)
    return np.ascontiguousarray(Q * signs), np.ascontiguousarray(R * signs[:, np.newaxis])


@compiled
def orthonormalise_rows(A: Floats, R: Floats, V: Floats) -> None:
    """Replace the rows of ``A`` (q x D, q <= D) by the signed-QR basis of their span, in place.

    ``R`` (q x q) receives the triangular factor; ``V`` (q x D) is scratch for the reflectors.
    """
    q, D = A.shape
    # Plain loops here and in other kernels: slices cost seconds of compilation for their checks.
    for j in range(q):
        for i in range(q):
            R[j, i] = 0.0
        for c in range(D):
            V[j, c] = 0.0
    for j in range(q):
        _reflect_row(A, R, V, j)
    # Accumulate the reflectors backwards on the rows of the identity.
    for j in range(q - 1, -1, -1):
        for c in range(D):
            A[j, c] = 0.0
        A[j, j] = 1.0
        for i in range(j, q):
            _apply_reflector(V[j], A[i], j)
        if R[j, j] < 0.0:
            for c in range(D):
                A[j, c] = -A[j, c]
            for c in range(j, q):
                R[j, c] = -R[j, c]


@compiled
def _reflect_row(A: Floats, R: Floats, V: Floats, j: int) -> None:
    """Build reflector ``j`` (scaled so that H = I - v v^T) and apply it to the later rows."""
    q, D = A.shape
    unit = _unit_of(A[j], j)
    below = inner(A[j], A[j], j + 1)
    head = A[j, j]
    diagonal = head
    # Not finite counts as something to reflect, so that it spreads and cannot pass unnoticed.
    if below != 0.0 or not np.isfinite(head):
        norm = math.sqrt(head * head + below)
        diagonal = -norm if head >= 0.0 else norm
        first = head - diagonal
        # H = I - v v^T with v^T v = 2
        factor = math.sqrt(2.0 / (first * first + below))
        V[j, j] = first * factor
        for c in range(j + 1, D):
            V[j, c] = A[j, c] * factor
        for i in range(j + 1, q):
            _apply_reflector(V[j], A[i], j)
    for i in range(j):
        R[i, j] = A[j, i]
    R[j, j] = diagonal * unit


@compiled
def _unit_of(row: Floats, start: int) -> float:
    """Bring a row from ``start`` on to unit size where its squares would lose digits.

    Return what it was divided by; one, where it was left as it is.
    """
    if inner(row, row, start) > SMALLEST_SQUARE:
        return 1.0
    unit = 0.0
    for c in range(start, row.shape[0]):
        unit = max(unit, abs(row[c]))
    if not 0.0 < unit < 1.0:
        return 1.0
    for c in range(start, row.shape[0]):
        row[c] /= unit
    return unit


@compiled
def _apply_reflector(v: Floats, row: Floats, start: int) -> None:
    """Reflect ``row`` by ``I - v v^T`` on the coordinates from ``start`` on."""
    product = inner(v, row, start)
    for c in range(start, row.shape[0]):
        row[c] -= product * v[c]


@compiled
def orthonormalise_graded(A: Floats) -> None:
    """As :func:`orthonormalise_rows`, quicker for rows that are nearly orthogonal.

    Their lengths may differ by many orders of magnitude.  Up to two rounds of scaling to unit
    length and Gram-Schmidt by a Cholesky factor (one is enough where no pivot is small);
    reflections where the scaled rows are ill conditioned.
    """
    p, D = A.shape
    for _ in range(2):
        shortest = np.inf
        for i in range(p):
            shortest = min(shortest, inner(A[i], A[i], 0))
        if shortest > SMALLEST_SQUARE:
            for i in range(p):
                length = math.sqrt(inner(A[i], A[i], 0))
                for c in range(D):
                    A[i, c] /= length
        G = gram(A)
        # A row of zeros has no direction; reflections complete the basis there.
        pivot = _inverse_cholesky(G) if shortest > SMALLEST_SQUARE else 0.0
        if not pivot > SMALLEST_PIVOT:
            orthonormalise_rows(A, np.empty((p, p)), np.empty((p, D)))
            return
        turned = multiplied(G, A)
        for i in range(p):
            for c in range(D):
                A[i, c] = turned[i, c]
        if pivot > GOOD_PIVOT:
            return


@compiled
def _inverse_cholesky(G: Floats) -> float:
    """Replace ``G = L L^T`` by the inverse of L, in place; return the smallest squared pivot."""
    p = G.shape[0]
    smallest = np.inf
    for i in range(p):
        for j in range(i):
            share = G[i, j]
            for m in range(j):
                share -= G[i, m] * G[j, m]
            G[i, j] = share / G[j, j]
        pivot = G[i, i]
        for m in range(i):
            pivot -= G[i, m] * G[i, m]
        smallest = min(smallest, pivot)
        # Not positive, or NaN: G is left half done, and the caller turns to reflections.
        if not pivot > 0.0:
            return pivot
        G[i, i] = math.sqrt(pivot)
    # Column by column: what is right of column j is still L, so one array is enough.
    for j in range(p):
        G[j, j] = 1.0 / G[j, j]
        for i in range(j + 1, p):
            total = 0.0
            for m in range(j, i):
                total -= G[i, m] * G[m, j]
            G[i, j] = total / G[i, i]
        for i in range(j):
            G[i, j] = 0.0
    return smallest


@compiled
def fix_signs(rows: Floats) -> None:
    """Flip rows in place: the entry of largest magnitude is positive, ties go to the first.

    Magnitudes that agree to 1e-9 count as tied, so that rounding cannot decide a sign.
    """
    for i in range(rows.shape[0]):
        least = (1.0 - 1e-9) * largest_magnitude(rows[i])
        j = 0
        while abs(rows[i, j]) < least:
            j += 1
        if rows[i, j] < 0.0:
            for c in range(rows.shape[1]):
                rows[i, c] = -rows[i, c]


@compiled
def is_finite(rows: Floats) -> bool:
    """Tell whether every entry is finite."""
    # Counted to the end: a loop that may stop early is not vectorised.
    bad = 0
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            bad += not abs(rows[i, j]) < np.inf
    return bad == 0
