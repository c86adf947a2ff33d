"""How factors become an answer: rank, signed QR, signs, certificate, private copies."""

import numpy as np

from okspca.basis import Basis, Status
from okspca.diagnostics.certificate import Certificate, certify
from okspca.errors import NumericalError
from okspca.moments import Target
from okspca.numerics.arrays import Floats
from okspca.numerics.leading import Leading, within_span
from okspca.numerics.orthonormal import fix_signs, signed_qr
from okspca.numerics.spectrum import numerical_rank


def answer(leading: Leading, target: Target, n_components: int, t: int) -> Basis:
    """Deliver the leading block: numerical rank, at most ``n_components``, fresh at ``t``."""
    q = min(n_components, numerical_rank(leading.sigma))
    if q == 0:
        return no_target(target, t)
    rows = np.ascontiguousarray(signed_qr(leading.rows[:q].T)[0].T)
    fix_signs(rows)
    if not np.isfinite(rows).all():
        message = "The basis has non-finite entries; no basis was returned."
        raise NumericalError(message)
    certificate = certificate_of(rows, leading.sigma, target)
    return Basis.of(rows.T, leading.sigma[:q] * target.scale, built_at=t, certificate=certificate)


def certificate_of(rows: Floats, sigma: Floats, target: Target) -> Certificate:
    """Certify rows, given the singular values on the subspace that was inspected."""
    return certify(target.Ct, rows, sigma**2, scale=target.scale, dropped=target.dropped)


def recertified(basis: Basis, target: Target, t: int) -> Basis:
    """Return an older answer with its age and a certificate for the current moment."""
    age = t - basis.built_at
    if age == 0:
        return basis
    if not basis.is_valid:
        return Basis.missing(target.Ct.shape[1], basis.status, built_at=basis.built_at, age=age)
    certificate = None
    if not target.is_zero:
        rows = basis.vectors.T
        sigma = within_span(rows, target.Ct).sigma
        certificate = certificate_of(rows, sigma, target)
    return Basis.of(
        basis.vectors,
        basis.singular_values,
        built_at=basis.built_at,
        age=age,
        certificate=certificate,
    )


def no_target(target: Target, t: int) -> Basis:
    """Answer for a moment that is zero to rounding."""
    return Basis.missing(target.Ct.shape[1], Status.NO_TARGET, built_at=t)
