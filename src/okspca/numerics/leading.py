r"""Leading left singular vectors of C̄, by the routes that are exact.

Everything here takes ``Ct``, the transpose of C̄: one row per target coordinate (w x D).  A route
returns a :class:`Leading`: all singular values that it resolved, in descending order, and the
matching left singular vectors *as rows*.

* :func:`by_svd` factors C̄ itself; the error of a span is about ``eps sigma_1 / (sigma_q -
  sigma_{q+1})``.
* :func:`by_gram` factors the small Gram matrix ``C̄^T C̄``; cheaper, with error about
  ``eps sigma_1^2 / gap``, so it declines (returns None) where the squared gap is small;
  :func:`jacobi_leading` then goes on to the accuracy of the first route.
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
from okspca.numerics.matrix import multiplied, product
from okspca.numerics.products import gram, row_products
from okspca.numerics.spectrum import RANK_TOLERANCE, helmert
from okspca.numerics.sums import inner, shifted_square, square
from okspca.numerics.symmetric import diagonalise, pivoted_cholesky

GRAM_SMALLEST_GAP = 1e-5
# What a pivoted Cholesky factorisation may leave of the trace: below the rounding of the product.
_EPS = float(np.finfo(np.float64).eps)
CHOLESKY_LEFT = 0.25 * _EPS
MOST_SWEEPS = 8
#: Squared singular values below this share of the last one wanted hardly change the gap after it.
NEGLIGIBLE = 1e-4


class Leading(NamedTuple):
    """Singular values in descending order and left singular vectors as rows."""

    sigma: Floats
    rows: Floats


def by_svd(Ct: Floats) -> Leading:
    """Thin SVD of the moment itself."""
    _, sigma, rows = _factor(lambda: np.linalg.svd(Ct, full_matrices=False))
    return Leading(sigma, rows)


def by_gram(Ct: Floats, n_components: int) -> Leading | None:
    """Eigenvectors of ``C̄^T C̄``, or None where that would lose accuracy.

    Only the leading ``min(n_components, rank)`` vectors are formed.  The squared boundary gap must
    be at least ``GRAM_SMALLEST_GAP`` times the leading squared singular value.
    """
    found, sigma, rows, _ = gram_leading(np.ascontiguousarray(Ct), n_components)
    return Leading(sigma, rows) if found else None


def leading_exactly(Ct: Floats, n_components: int) -> Leading:
    """Factor a moment by the cheapest route that keeps full accuracy."""
    width, n_features = Ct.shape
    # The Gram matrix is over target coordinates: with more of them than features it saves nothing.
    if width <= n_features:
        leading = by_gram(Ct, n_components)
        if leading is not None:
            return leading
    return by_svd(Ct)


@compiled
def gram_leading(Ct: Floats, n_components: int) -> tuple[bool, Floats, Floats, Floats]:
    """Compiled core of :func:`by_gram`: whether it succeeded, singular values, vectors as rows.

    Last come the coefficients W (q x w) that made the vectors: they are ``W Ct`` to rounding.
    """
    # Two classes: the answer is known without an eigenproblem.
    if are_opposite(Ct):
        return opposite_leading(Ct)
    nothing = np.empty((0, Ct.shape[1]))
    G = gram(Ct)
    trace = 0.0
    for j in range(G.shape[0]):
        trace += G[j, j]
    found, theta, right = _eigenvectors(G, trace, n_components)
    if not found:
        return False, theta, nothing, nothing
    q = 0
    while q < min(n_components, theta.size) and theta[q] > RANK_TOLERANCE * theta[0]:
        q += 1
    # Eigenvalues that the Cholesky factor left out are below rounding: zero will do for them.
    outside = theta[q] if q < theta.size else 0.0
    if q == 0 or not theta[q - 1] - outside >= GRAM_SMALLEST_GAP * theta[0]:
        return False, theta, nothing, nothing
    coefficients = np.empty((q, right.shape[1]))
    for i in range(q):
        for j in range(right.shape[1]):
            # Rows of `right` are sqrt(theta) v; it is v / sqrt(theta) that gives unit vectors.
            coefficients[i, j] = right[i, j] / theta[i]
    for j in range(theta.size):
        # Rounding may leave a small eigenvalue below zero.
        theta[j] = np.sqrt(max(theta[j], 0.0))
    rows = multiplied(coefficients, Ct)
    correction = polishing(rows)
    return True, theta, multiplied(correction, rows), multiplied(correction, coefficients)


@compiled
def are_opposite(Ct: Floats) -> bool:
    """Whether there are two rows and each is the other's negative, as for two classes.

    What they differ by changes the singular direction by its square, so 1e-9 is below rounding.
    """
    return Ct.shape[0] == 2 and shifted_square(Ct[0], Ct[1], -1.0) < 1e-18 * square(Ct)


@compiled
def opposite_leading(Ct: Floats) -> tuple[bool, Floats, Floats, Floats]:
    """Two opposite rows c, -c: the direction is c, the singular value sqrt(2) ||c||."""
    norm = np.sqrt(shifted_square(Ct[0], Ct[1], 1.0))
    coefficients = np.empty((1, 2))
    coefficients[0, 0], coefficients[0, 1] = 1.0 / norm, -1.0 / norm
    sigma, rows = np.empty(1), np.empty((1, Ct.shape[1]))
    sigma[0] = norm / np.sqrt(2.0)
    for j in range(Ct.shape[1]):
        rows[0, j] = (Ct[0, j] - Ct[1, j]) / norm
    return norm > 0.0, sigma, rows, coefficients


@compiled
def _eigenvectors(G: Floats, trace: float, n_components: int) -> tuple[bool, Floats, Floats]:
    """All eigenvalues of a Gram matrix above rounding, and ``sqrt(theta) v`` of the leading ones.

    With ``G = F^T F`` from a pivoted Cholesky factorisation, the eigenproblem of the smaller
    ``F F^T`` is solved: its eigenvectors z give ``F^T z = sqrt(theta) v``.
    """
    w = G.shape[0]
    factor = np.empty((w, w))
    r = pivoted_cholesky(G, factor, CHOLESKY_LEFT * trace)
    # Largest last, which is how `diagonalise` is quickest.
    F = np.empty((r, w))
    for i in range(r):
        for j in range(w):
            F[i, j] = factor[r - 1 - i, j]
    small, z = gram(F), np.empty((r, r))
    converged = r > 0 and diagonalise(small, z)
    theta = np.empty(r)
    for j in range(r):
        theta[j] = small[j, j]
    return converged, theta, multiplied(z[: min(r, n_components)], F)


@compiled
def jacobi_leading(Ct: Floats, n_components: int) -> tuple[bool, Floats, Floats]:
    """Leading vectors also where the squared gap is small: success, sigma squared, vectors as rows.

    The eigenvectors of the Gram matrix nearly orthogonalise the rows of C̄ transposed; rotations
    in pairs finish that, and so small singular values are as accurate as large ones.  Squared
    singular values end where they no longer matter for the gap after the rank.
    """
    w, D = Ct.shape
    G, turn, nothing = gram(Ct), np.empty((w, w)), np.empty((0, D))
    if not diagonalise(G, turn):
        return False, np.empty(0), nothing
    q, p = 0, 0
    while q < min(n_components, w) and G[q, q] > RANK_TOLERANCE * G[0, 0]:
        q += 1
    # At least one vector beyond the rank: the gap after the rank needs its value.
    while p < w and q > 0 and (p <= q or G[p, p] > NEGLIGIBLE * G[q - 1, q - 1]):
        p += 1
    rotated, theta = multiplied(turn, Ct), np.empty(p)
    unfinished = True
    for _ in range(MOST_SWEEPS):
        unfinished = _sweep(rotated, turn, p)
        if not unfinished:
            break
    for j in range(p):
        theta[j] = inner(rotated[j], rotated[j], 0)
        # Rotations may change the order; what is out of order is left to the SVD.
        unfinished = unfinished or (j > 0 and theta[j] > theta[j - 1])
    if q == 0 or unfinished or not theta[q - 1] > RANK_TOLERANCE * theta[0]:
        return False, theta, nothing
    # The rank is larger than the Gram matrix made believe.
    if q < min(n_components, p) and theta[q] > RANK_TOLERANCE * theta[0]:
        return False, theta, nothing
    rows = np.empty((q, D))
    for i in range(q):
        for j in range(D):
            rows[i, j] = rotated[i, j] / np.sqrt(theta[i])
    return True, theta, polished(rows)


@compiled
def target_directions(Ct: Floats) -> Floats:
    """Right singular vectors of C̄ as orthonormal rows (w x w), strongest first.

    Found from the Gram matrix, so the weak ones are accurate only as a subspace.
    """
    G = gram(Ct)
    rotation = np.empty((G.shape[0], G.shape[0]))
    # Any orthonormal rows leave C̄ as it is, so it does not matter whether this converged.
    diagonalise(G, rotation)
    return rotation


@compiled
def polished(rows: Floats) -> Floats:
    """One Newton step towards orthonormal rows; exact to rounding for rows that nearly are."""
    return multiplied(polishing(rows), rows)


@compiled
def polishing(rows: Floats) -> Floats:
    """The matrix by which :func:`polished` multiplies: ``(3 I - rows rows^T) / 2``."""
    correction = gram(rows)
    for i in range(correction.shape[0]):
        for j in range(correction.shape[0]):
            correction[i, j] *= -0.5
        correction[i, i] += 1.5
    return correction


def by_contrast(Ct: Floats) -> Leading:
    """Reduced QR of ``C̄ H`` with Helmert contrasts ``H``, then the SVD of its triangular factor."""
    Q, R = np.linalg.qr(product(Ct.T, helmert(Ct.shape[0])))
    left, sigma, _ = _factor(lambda: np.linalg.svd(R, full_matrices=False))
    return Leading(sigma, product(Q, left).T)


def by_difference(Ct: Floats) -> Leading:
    """Two classes: C̄ = [c, -c], so its only direction is c and its singular value sqrt(2) ||c||."""
    _, sigma, rows, _ = opposite_leading(np.ascontiguousarray(Ct))
    return Leading(sigma, rows)


def within_span(rows: Floats, Ct: Floats) -> Leading:
    """Rotate an orthonormal block (as rows) to the singular directions of its projected moment."""
    projected = product(rows, Ct.T)
    left, sigma, _ = _factor(lambda: np.linalg.svd(projected, full_matrices=False))
    return Leading(sigma, product(left.T, rows))


@compiled
def span_leading(rows: Floats, Ct: Floats) -> tuple[bool, Floats, Floats]:
    """Compiled form of :func:`within_span` for full rank: whether it is, sigma squared, rows.

    The Gram matrix of the projected moment gives its singular directions to rounding of the
    *largest*; rotations between its rows then make small ones as accurate.
    """
    k = rows.shape[0]
    projected = row_products(rows, Ct)
    small, turn = gram(projected), np.empty((k, k))
    theta = np.empty(k)
    if not diagonalise(small, turn):
        return False, theta, rows
    projected, turned = multiplied(turn, projected), multiplied(turn, rows)
    for _ in range(MOST_SWEEPS):
        if not _sweep(projected, turned, k):
            break
    for i in range(k):
        theta[i] = inner(projected[i], projected[i], 0)
    # Of full rank and in descending order, or the caller takes the general path.
    is_sorted = theta[k - 1] > RANK_TOLERANCE * theta[0]
    for i in range(k - 1):
        is_sorted = is_sorted and theta[i] >= theta[i + 1]
    return is_sorted, theta, turned


@compiled
def _sweep(projected: Floats, turned: Floats, n_leading: int) -> bool:
    """Make the leading rows of ``projected`` orthogonal to all, in pairs; False if they were.

    What is turned with them: the rows of ``turned``.
    """
    rotated = False
    for i in range(n_leading):
        for j in range(i + 1, projected.shape[0]):
            a, b = projected[i], projected[j]
            coupling = inner(a, b, 0)
            first, second = inner(a, a, 0), inner(b, b, 0)
            # Orthogonal to rounding: turning further would only move the rounding about.
            if abs(coupling) <= 4.0 * _EPS * np.sqrt(first * second):
                continue
            rotated = True
            ratio = (second - first) / (2.0 * coupling)
            root = np.sqrt(1.0 + ratio * ratio)
            # The smaller of the two angles, so that vectors keep their order, and without
            # cancelling.
            tangent = 1.0 / (ratio + root) if ratio >= 0.0 else 1.0 / (ratio - root)
            cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
            _rotate(a, b, cosine, tangent * cosine)
            _rotate(turned[i], turned[j], cosine, tangent * cosine)
    return rotated


@compiled
def _rotate(a: Floats, b: Floats, cosine: float, sine: float) -> None:
    """Rotate two vectors into each other, in place."""
    for m in range(a.shape[0]):
        a[m], b[m] = cosine * a[m] - sine * b[m], sine * a[m] + cosine * b[m]


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
