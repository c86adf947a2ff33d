r"""Symmetric matrices of a few dozen rows, compiled: eigenvectors and pivoted Cholesky factors.

For such sizes a call of a library spends most of its time on the way in and out.  Everything here
is accurate relative to the *largest* eigenvalue: errors of eigenvalues and of residuals are a few
units of rounding times it.

* :func:`diagonalise`: reflections to tridiagonal form, then implicitly shifted QL rotations.
* :func:`pivoted_cholesky`: the numerical rank and a factor of that many rows; the eigenproblem of
  a Gram matrix whose spectrum falls fast shrinks to it.
* :func:`pseudo_inverse`: the inverse where eigenvalues are above rounding.
"""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.shared import rows, shared, truth

MOST_ROTATIONS = 60
_EPS = float(np.finfo(np.float64).eps)


@shared(truth, rows, rows)
def diagonalise(A: Floats, rows: Floats) -> bool:
    """Diagonalise the symmetric ``A`` in place; leave eigenvectors in the rows of ``rows``.

    Afterwards the diagonal of ``A`` holds the eigenvalues in descending order (what is off it has
    no meaning).  False where it did not converge (non-finite input).  It is quickest where large
    entries stand last.
    """
    n = A.shape[0]
    diagonal, beside = np.empty(n), np.empty(n)
    _tridiagonalise(A, rows, diagonal, beside)
    converged = _rotate_to_diagonal(diagonal, beside, rows)
    _sort(diagonal, rows)
    for j in range(n):
        A[j, j] = diagonal[j]
    return converged


@compiled
def pseudo_inverse(A: Floats, least: float) -> Floats:
    """Invert a symmetric matrix; eigenvalues below ``least`` times the largest count as zeros.

    What is not finite gives what is not a number.
    """
    n = A.shape[0]
    eigen, rows, found = np.empty((n, n)), np.empty((n, n)), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            eigen[i, j] = 0.5 * (A[i, j] + A[j, i])
    if not diagonalise(eigen, rows):
        found[:] = np.nan
        return found
    largest = 0.0
    for r in range(n):
        largest = max(largest, abs(eigen[r, r]))
    for r in range(n):
        value = eigen[r, r]
        if abs(value) > least * largest:
            for i in range(n):
                share = rows[r, i] / value
                for j in range(n):
                    found[i, j] += share * rows[r, j]
    return found


@compiled
def pivoted_cholesky(G: Floats, factor: Floats, tolerance: float) -> int:
    """Factor a positive semidefinite matrix: ``G = F^T F`` with the leading rows F of ``factor``.

    Pivots are taken from the largest down until the trace of what is left is at most
    ``tolerance``; return how many rows that took.
    """
    w = G.shape[0]
    left = np.empty(w)
    for j in range(w):
        left[j] = G[j, j]
    for r in range(w):
        pivot, rest = 0, 0.0
        for j in range(w):
            rest += left[j]
            if left[j] > left[pivot]:
                pivot = j
        # Written so that a non-finite trace ends it, too.
        if not rest > tolerance or left[pivot] <= 0.0:
            return r
        row = factor[r]
        for j in range(w):
            row[j] = G[pivot, j]
        for i in range(r):
            share = factor[i, pivot]
            for j in range(w):
                row[j] -= share * factor[i, j]
        root = np.sqrt(left[pivot])
        for j in range(w):
            row[j] /= root
            # What is left of the diagonal is never negative, but rounding may make it so.
            left[j] = max(left[j] - row[j] * row[j], 0.0)
        # Its own part is used up exactly, whatever rounding left of it.
        left[pivot] = 0.0
    return w


# Loops run over whole rows, zeros included: they are short, and so the compiler vectorises them.
@compiled
def _tridiagonalise(A: Floats, rows: Floats, diagonal: Floats, beside: Floats) -> None:
    """Reduce ``A`` by reflections; ``rows`` receives the transpose of their product."""
    n = A.shape[0]
    work, reflectors = np.empty(n), np.empty((n, n))
    for c in range(n):
        beside[c] = 0.0
        for j in range(n):
            reflectors[c, j] = 0.0
    for c in range(n - 2):
        v = reflectors[c]
        if _reflector(A[c], v, beside, c):
            _reflect_both_sides(A, v, work, c)
    for c in range(n):
        diagonal[c] = A[c, c]
        for j in range(n):
            rows[c, j] = 0.0
        rows[c, c] = 1.0
    if n > 1:
        beside[n - 2] = A[n - 2, n - 1]
    for c in range(n - 3, -1, -1):
        v = reflectors[c]
        _combine(rows, v, work, c)
        for i in range(c + 1, n):
            for j in range(n):
                rows[i, j] -= v[i] * work[j]
    for i in range(n):
        for j in range(i):
            rows[i, j], rows[j, i] = rows[j, i], rows[i, j]


@compiled
def _reflector(row: Floats, v: Floats, beside: Floats, c: int) -> bool:
    """Make ``v`` so that ``I - v v^T`` clears ``row`` beyond ``c + 1``; False if it is clear."""
    n = row.shape[0]
    head, below = row[c + 1], 0.0
    for j in range(c + 2, n):
        below += row[j] * row[j]
    beside[c] = head
    if below == 0.0:
        return False
    norm = np.sqrt(head * head + below)
    # The sign for which the difference below cannot cancel.
    beside[c] = -norm if head >= 0.0 else norm
    first = head - beside[c]
    factor = np.sqrt(2.0 / (first * first + below))
    for j in range(c + 2, n):
        v[j] = row[j] * factor
    v[c + 1] = first * factor
    return True


@compiled
def _reflect_both_sides(A: Floats, v: Floats, work: Floats, c: int) -> None:
    """Replace the part of ``A`` after ``c`` by ``(I - v v^T) A (I - v v^T)``."""
    n = A.shape[0]
    _combine(A, v, work, c)
    half = 0.0
    for i in range(c + 1, n):
        half += 0.5 * work[i] * v[i]
    for j in range(n):
        work[j] -= half * v[j]
    for i in range(c + 1, n):
        for j in range(n):
            A[i, j] -= v[i] * work[j] + work[i] * v[j]


@compiled
def _combine(matrix: Floats, v: Floats, work: Floats, c: int) -> None:
    """Leave ``v^T matrix`` in ``work``; ``v`` is zero up to ``c``."""
    n = matrix.shape[0]
    for j in range(n):
        work[j] = 0.0
    for i in range(c + 1, n):
        for j in range(n):
            work[j] += v[i] * matrix[i, j]


@compiled
def _rotate_to_diagonal(diagonal: Floats, beside: Floats, rows: Floats) -> bool:
    """Implicit QL steps with Wilkinson's shift until every ``beside`` is negligible."""
    n = diagonal.shape[0]
    largest, total = 0.0, 0.0
    for j in range(n):
        size = abs(diagonal[j]) + abs(beside[j])
        largest = max(largest, size)
        total += size
    # The sum is non-finite where any entry is; a maximum could pass NaN by.
    if not np.isfinite(total):
        return False
    # Relative to the largest entry: that is the accuracy promised, and more steps would not help.
    negligible = 0.1 * _EPS * largest
    for first in range(n):
        for _ in range(MOST_ROTATIONS):
            last = first
            while last < n - 1 and abs(beside[last]) > negligible:
                last += 1
            if last == first:
                break
            _ql_step(diagonal, beside, rows, first, last)
        else:
            return False
    return True


@compiled
def _ql_step(diagonal: Floats, beside: Floats, rows: Floats, first: int, last: int) -> None:
    """One sweep of rotations from ``last`` up to ``first``."""
    ratio = (diagonal[first + 1] - diagonal[first]) / (2.0 * beside[first])
    root = np.sqrt(ratio * ratio + 1.0)
    bulge = diagonal[last] - diagonal[first]
    # Wilkinson's shift, in the form that does not cancel.
    bulge += beside[first] / (ratio + root if ratio >= 0.0 else ratio - root)
    sine, cosine, shift = 1.0, 1.0, 0.0
    for i in range(last - 1, first - 1, -1):
        along, across = sine * beside[i], cosine * beside[i]
        length = np.sqrt(along * along + bulge * bulge)
        beside[i + 1] = length
        # The matrix has split here, and the two parts go on by themselves.
        if length == 0.0:
            diagonal[i + 1] -= shift
            beside[last] = 0.0
            return
        sine, cosine = along / length, bulge / length
        moved = diagonal[i + 1] - shift
        twist = (diagonal[i] - moved) * sine + 2.0 * cosine * across
        shift = sine * twist
        diagonal[i + 1] = moved + shift
        bulge = cosine * twist - across
        for j in range(rows.shape[1]):
            upper, lower = rows[i, j], rows[i + 1, j]
            rows[i + 1, j] = sine * upper + cosine * lower
            rows[i, j] = cosine * upper - sine * lower
    diagonal[first] -= shift
    beside[first] = bulge
    beside[last] = 0.0


@compiled
def _sort(values: Floats, rows: Floats) -> None:
    """Bring eigenvalues into descending order by selection."""
    n = values.shape[0]
    for i in range(n - 1):
        largest = i
        for j in range(i + 1, n):
            if values[j] > values[largest]:
                largest = j
        if largest != i:
            values[i], values[largest] = values[largest], values[i]
            for m in range(n):
                rows[i, m], rows[largest, m] = rows[largest, m], rows[i, m]
