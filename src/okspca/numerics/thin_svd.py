r"""Singular values and vectors of matrices that are narrow in one direction, on one thread.

Rows are made orthonormal by reflections, ``A = L Q``, and then the small square L is turned by
rotations of pairs of rows until they are orthogonal (one-sided Jacobi): ``L = U diag(sigma) V``,
``A = U diag(sigma) (V Q)``.  The error is that of LAPACK: a few units of rounding of the largest
singular value.  Rows below that are rounding themselves and are not turned any more.

A fixed rule: up to MOST rows or columns, whichever are fewer, this is done here; beyond, where it
would take longer, LAPACK is called.
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats, unit_scaled
from okspca.numerics.matrix import product
from okspca.numerics.ordered import ordered_inner
from okspca.numerics.orthonormal import orthonormalise_rows
from okspca.numerics.shared import rows, shared, truth

MOST = 64
MOST_SWEEPS = 40
_EPS = float(np.finfo(np.float64).eps)


class Factors(NamedTuple):
    """``A = left diag(sigma) right``, orthonormal columns of ``left`` and rows of ``right``."""

    left: Floats
    sigma: Floats
    right: Floats


def thin_svd(A: Floats) -> Factors:
    """Thin singular value decomposition, values in descending order.

    Examples
    --------
    >>> import numpy as np
    >>> thin_svd(np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 4.0]])).sigma.tolist()
    [4.0, 3.0]
    """
    if A.shape[0] > A.shape[1]:
        left, sigma, right = thin_svd(A.T)
        return Factors(np.ascontiguousarray(right.T), sigma, np.ascontiguousarray(left.T))
    if A.shape[0] > MOST:
        return Factors(*np.linalg.svd(A, full_matrices=False))
    if not np.isfinite(A).all():
        message = "a matrix with numbers that are not finite has no singular values"
        raise np.linalg.LinAlgError(message)
    return _by_rotations(*unit_scaled(A))


def _by_rotations(A: Floats, unit: float) -> Factors:
    """Singular value decomposition of ``unit * A``, whose entries are of moderate size."""
    Q, R, turn = np.array(A, order="C"), np.empty((len(A), len(A))), np.eye(len(A))
    orthonormalise_rows(Q, R, np.empty(A.shape))
    L = np.ascontiguousarray(R.T)
    if not rotate_rows(L, turn):
        message = "rotations did not make the rows orthogonal"
        raise np.linalg.LinAlgError(message)
    sigma = np.sqrt((L * L).sum(axis=1))
    order = np.argsort(-sigma, kind="stable")
    L, turn, sigma = L[order], turn[order], sigma[order]
    # Rows of no length have no direction; reflections complete the basis there.
    V = L / np.where(sigma > 0.0, sigma, 1.0)[:, np.newaxis]
    orthonormalise_rows(V, np.empty(V.shape), np.empty(V.shape))
    return Factors(np.ascontiguousarray(turn.T), sigma * unit, product(V, Q))


@shared(truth, rows, rows)
def rotate_rows(L: Floats, turn: Floats) -> bool:
    """Rotate pairs of rows until all are orthogonal, those of ``turn`` with them."""
    n, total = L.shape[0], 0.0
    for i in range(n):
        total += ordered_inner(L[i], L[i], 0)
    negligible = n * _EPS * math.sqrt(total)
    for _ in range(MOST_SWEEPS):
        is_done = True
        for i in range(n):
            for j in range(i + 1, n):
                a, b = L[i], L[j]
                first, second = ordered_inner(a, a, 0), ordered_inner(b, b, 0)
                coupling, lengths = ordered_inner(a, b, 0), math.sqrt(first) * math.sqrt(second)
                # Orthogonal to rounding: turning further would only move the rounding about.
                shorter = math.sqrt(min(first, second))
                if abs(coupling) <= 4.0 * _EPS * lengths or shorter <= negligible:
                    continue
                is_done = False
                ratio = (second - first) / (2.0 * coupling)
                root = math.sqrt(1.0 + ratio * ratio)
                # The smaller of the two angles, without cancelling.
                tangent = 1.0 / (ratio + root) if ratio >= 0.0 else 1.0 / (ratio - root)
                cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
                sine = tangent * cosine
                for m in range(n):
                    a[m], b[m] = cosine * a[m] - sine * b[m], sine * a[m] + cosine * b[m]
                    c, d = turn[i, m], turn[j, m]
                    turn[i, m], turn[j, m] = cosine * c - sine * d, sine * c + cosine * d
        if is_done:
            return True
    return False
