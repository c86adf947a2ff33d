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
from okspca.numerics.spectrum import boundary_gap, helmert, numerical_rank

GRAM_SMALLEST_GAP = 1e-4


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
    eigenvalues, vectors = _factor(lambda: np.linalg.eigh(Ct @ Ct.T))
    sigma = np.sqrt(np.maximum(eigenvalues[::-1], 0.0))
    q = min(n_components, numerical_rank(sigma))
    if q == 0 or boundary_gap(sigma, q) < GRAM_SMALLEST_GAP * sigma[0] ** 2:
        return None
    right = vectors[:, ::-1][:, :q]
    return Leading(sigma, (right / sigma[:q]).T @ Ct)


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
