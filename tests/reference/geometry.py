"""Orthonormal bases, ranks, ties and objective values."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

RANK_TOLERANCE = 1e-10
SERVICE_TIE_TOLERANCE = 1e-12
RECONSTRUCTION_TIE_TOLERANCE = 1e-10


def _householder(x: Array) -> Array | None:
    """Return a unit v whose reflection I - 2 v v' sends x to a multiple of e_1, if needed."""
    if not np.any(x[1:]):
        return None
    v = x.copy()
    v[0] += math.copysign(float(np.linalg.norm(x)), float(x[0]))
    return np.asarray(v / np.linalg.norm(v), dtype=np.float64)


def signed_qr(A: Array) -> tuple[Array, Array]:
    """Reduced QR by Householder reflections, then the diagonal of R made nonnegative.

    This is the signed factorisation after Eq. (10). A column of Q and its row of R change sign
    only for a negative diagonal entry; a zero entry counts as positive.
    """
    n_rows, n_cols = A.shape
    size = min(n_rows, n_cols)
    R = np.array(A, dtype=np.float64)
    Q = np.eye(n_rows)
    for j in range(size):
        v = _householder(R[j:, j])
        if v is not None:
            R[j:, :] -= 2.0 * np.outer(v, v @ R[j:, :])
            Q[:, j:] -= 2.0 * np.outer(Q[:, j:] @ v, v)
            R[j + 1 :, j] = 0.0
    for j in range(size):
        if R[j, j] < 0.0:
            R[j, :] = -R[j, :]
            Q[:, j] = -Q[:, j]
    return Q[:, :size].copy(), R[:size, :].copy()


def principal_angles_degrees(U: Array, V: Array) -> Array:
    """Principal angles of two equal-rank spans in degrees, smallest first (S3.1).

    Cosines are singular values of U'V and sines those of V - U U'V; using both keeps small
    angles accurate, which an arccosine alone cannot do below about 1e-6 degrees.
    """
    if U.shape != V.shape:
        raise ValueError("principal angles are compared at equal rank only")
    cosines = np.linalg.svd(U.T @ V, compute_uv=False)
    sines = np.linalg.svd(V - U @ (U.T @ V), compute_uv=False)[::-1]
    angles = [math.degrees(math.atan2(s, c)) for s, c in zip(sines, cosines, strict=True)]
    return np.array(angles, dtype=np.float64)


def projector_distance(U: Array, V: Array) -> float:
    """Frobenius distance of the two orthogonal projectors, not divided by rank (S3.1)."""
    return float(np.linalg.norm(U @ U.T - V @ V.T))


def numerical_rank(sigma: Array) -> int:
    """Count of squared singular values above 1e-10 times the largest one, Eq. (20)."""
    if len(sigma) == 0 or max(sigma) == 0.0:
        return 0
    largest = float(max(sigma)) ** 2
    rank = 0
    for value in sigma:
        if float(value) ** 2 > RANK_TOLERANCE * largest:
            rank += 1
    return rank


def boundary_gap(sigma: Array, q: int) -> float:
    """Squared-spectrum gap after position q; the spectrum continues with zeros."""
    if q < 1:
        raise ValueError("a boundary needs q >= 1")
    squares = [float(value) ** 2 for value in sorted(sigma, reverse=True)] + [0.0] * (q + 1)
    return squares[q - 1] - squares[q]


def service_tie(sigma: Array, q: int) -> bool:
    """Tie flag of the service study: gap at most 1e-12 max(1, sigma_1^2) (section 5.1)."""
    return boundary_gap(sigma, q) <= SERVICE_TIE_TOLERANCE * max(1.0, float(max(sigma)) ** 2)


def reconstruction_tie(sigma: Array, q: int) -> bool:
    """Tie flag of the reconstructions: gap at most 1e-10 sigma_1^2 (S3.1)."""
    return boundary_gap(sigma, q) <= RECONSTRUCTION_TIE_TOLERANCE * float(max(sigma)) ** 2


def helmert(C: int) -> Array:
    """Orthonormal contrasts of C classes, one per column (S5.1)."""
    H = np.zeros((C, C - 1))
    for j in range(1, C):
        scale = math.sqrt(j * (j + 1))
        for row in range(j):
            H[row, j - 1] = 1.0 / scale
        H[j, j - 1] = -j / scale
    return H


def objective(U: Array, C: Array) -> float:
    """Energy J_q(U; C) captured by U, the squared Frobenius norm of C'U, Eq. (11)."""
    total = 0.0
    for row in C.T @ U:
        for value in row:
            total += float(value) ** 2
    return total


def best_objective(C: Array, q: int) -> float:
    """Largest energy any q orthonormal columns capture, Eq. (11)."""
    sigma = np.linalg.svd(C, compute_uv=False)
    return math.fsum(float(value) ** 2 for value in sigma[:q])


def rho(U: Array, C: Array, floor: float = 0.0) -> float:
    """Share of the best energy captured, Eq. (11); NaN unless the best exceeds ``floor``.

    The reconstructions use ``floor=1e-15`` (S3.1).
    """
    best = best_objective(C, U.shape[1])
    if best <= floor:
        return math.nan
    return objective(U, C) / best
