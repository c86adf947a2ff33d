r"""Leading left singular vectors of C̄, by the routes that are exact.

Everything here takes ``Ct``, the transpose of C̄: one row per target coordinate (w x D).  A route
returns a :class:`Leading`: all singular values that it resolved, in descending order, and the
matching left singular vectors *as rows*.

* :func:`by_svd` factors C̄ itself; the error of a span is about ``eps sigma_1 / (sigma_q -
  sigma_{q+1})``.
* :func:`by_gram` factors the small Gram matrix ``C̄^T C̄``; cheaper, with error about
  ``eps sigma_1^2 / gap``, so it declines (returns None) where the squared gap is small.
* :func:`by_contrast` and :func:`by_difference` use that the columns of a centred-label moment sum
  to zero.
* :func:`within_span` finds the best block inside a given subspace.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from okspca.errors import NumericalError
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.orthonormal import orthonormalise_rows
from okspca.numerics.spectrum import RANK_TOLERANCE, helmert
from okspca.numerics.sums import shifted_square
from okspca.numerics.symmetric import jacobi

GRAM_SMALLEST_GAP = 1e-4
GRAM_GUARDS = 6
GRAM_STEPS = 6
GRAM_CONVERGED = 4e-15
JACOBI_WIDTH = 12


class Leading(NamedTuple):
    """Singular values in descending order and left singular vectors as rows."""

    sigma: Floats
    rows: Floats


def by_svd(Ct: Floats) -> Leading:
    """Thin SVD of the moment itself."""
    _, sigma, rows = _factor(lambda: np.linalg.svd(Ct, full_matrices=False))
    return Leading(sigma, rows)


def by_gram(Ct: Floats, n_components: int) -> Leading | None:
    """Eigenvectors of ``C̄^T C̄``, or None where that would lose accuracy or does not converge.

    Only the leading ``min(n_components, rank)`` vectors are formed.  The squared boundary gap must
    be at least ``GRAM_SMALLEST_GAP`` times the leading squared singular value.
    """
    found, sigma, rows = gram_leading(np.ascontiguousarray(Ct), n_components)
    return Leading(sigma, rows) if found else None


@compiled
def gram_leading(Ct: Floats, n_components: int) -> tuple[bool, Floats, Floats]:
    """Compiled core of :func:`by_gram`: whether it succeeded, singular values, vectors as rows."""
    nothing = np.empty((0, Ct.shape[1]))
    G = np.dot(Ct, Ct.T)
    trace = 0.0
    for j in range(G.shape[0]):
        trace += G[j, j]
    found, theta, right = _leading_eigenvectors(G, n_components)
    if not found:
        return False, theta, nothing
    q = 0
    while q < min(n_components, theta.size) and theta[q] > RANK_TOLERANCE * theta[0]:
        q += 1
    # What the block left out: an invariant block need not be the leading one.
    tail = trace
    for j in range(theta.size):
        tail -= theta[j]
    outside = (theta[q] if q < theta.size else 0.0) + max(tail, 0.0)
    if q == 0 or not theta[q - 1] - outside >= GRAM_SMALLEST_GAP * theta[0]:
        return False, theta, nothing
    if q < n_components and tail > 0.01 * RANK_TOLERANCE * theta[0]:
        return False, theta, nothing
    for j in range(theta.size):
        theta[j] = np.sqrt(max(theta[j], 0.0))
    rows = np.dot(right[:q], Ct)
    for i in range(q):
        for j in range(rows.shape[1]):
            rows[i, j] /= theta[i]
    return True, theta, _polished(rows)


@compiled
def _leading_eigenvectors(G: Floats, n_components: int) -> tuple[bool, Floats, Floats]:
    """Leading eigenvalues and eigenvectors (rows) of a small Gram matrix.

    Small ones are diagonalised whole.  Larger ones by block iteration, started from the columns of
    the largest diagonal entries and stopped when the leading block is converged to rounding.
    """
    w = G.shape[0]
    p = min(w, n_components + GRAM_GUARDS)
    if w <= max(p, JACOBI_WIDTH):
        rows = np.empty((w, w))
        converged = jacobi(G, rows)
        return converged, np.array([G[j, j] for j in range(w)]), rows
    block = _start(G, p)
    theta = np.empty(p)
    small, rotation = np.empty((p, p)), np.empty((p, p))
    for _ in range(GRAM_STEPS):
        orthonormalise_rows(block, small, np.empty((p, w)))
        image = np.dot(block, G)
        np.dot(image, block.T, small)
        if not jacobi(small, rotation):
            return False, theta, block
        block, image = np.dot(rotation, block), np.dot(rotation, image)
        for j in range(p):
            theta[j] = small[j, j]
        if _residual(block, image, theta, min(n_components, p)) <= GRAM_CONVERGED * theta[0]:
            return True, theta, block
        block = image
    return False, theta, block


@compiled
def _start(G: Floats, p: int) -> Floats:
    """Rows of ``G`` at its ``p`` largest diagonal entries: one power step from units."""
    w = G.shape[0]
    block, taken = np.empty((p, w)), np.zeros(w)
    for i in range(p):
        largest = -1
        for j in range(w):
            if taken[j] == 0.0 and (largest < 0 or G[j, j] > G[largest, largest]):
                largest = j
        taken[largest] = 1.0
        for j in range(w):
            block[i, j] = G[largest, j]
    return block


@compiled
def _residual(block: Floats, image: Floats, theta: Floats, q: int) -> float:
    """Frobenius norm of ``G v - theta v`` over the leading ``q`` rows."""
    total = 0.0
    for i in range(q):
        total += shifted_square(image[i], block[i], theta[i])
    return np.sqrt(total)


@compiled
def _polished(rows: Floats) -> Floats:
    """One Newton step towards orthonormal rows; exact to rounding for rows that nearly are."""
    defect = np.dot(rows, rows.T)
    for i in range(defect.shape[0]):
        for j in range(defect.shape[0]):
            defect[i, j] *= -0.5
        defect[i, i] += 1.5
    return np.dot(defect, rows)


def by_contrast(Ct: Floats) -> Leading:
    """Reduced QR of ``C̄ H`` with Helmert contrasts ``H``, then the SVD of its triangular factor."""
    Q, R = np.linalg.qr(Ct.T @ helmert(Ct.shape[0]))
    left, sigma, _ = _factor(lambda: np.linalg.svd(R, full_matrices=False))
    return Leading(sigma, (Q @ left).T)


def by_difference(Ct: Floats) -> Leading:
    """Two classes: C̄ = [c, -c], so its only direction is c and its singular value sqrt(2) ||c||."""
    c = (Ct[:1] - Ct[1:]) / 2.0
    norm = float(np.linalg.norm(c))
    return Leading(np.array([np.sqrt(2.0) * norm]), c / norm)


def within_span(rows: Floats, Ct: Floats) -> Leading:
    """Rotate an orthonormal block (as rows) to the singular directions of its projected moment."""
    projected = rows @ Ct.T
    left, sigma, _ = _factor(lambda: np.linalg.svd(projected, full_matrices=False))
    return Leading(sigma, left.T @ rows)


def _factor(factorise: Callable[[], tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """Run a LAPACK factorisation; turn its failure or non-finite output into one typed error."""
    try:
        factors = factorise()
    except np.linalg.LinAlgError as failure:
        message = f"The factorisation of the moment failed ({failure}); no basis was returned."
        raise NumericalError(message) from failure
    if not all(np.isfinite(factor).all() for factor in factors):
        message = "The moment holds non-finite values; no basis was returned."
        raise NumericalError(message)
    return factors
