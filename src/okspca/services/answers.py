"""How factors become an answer: rank, signed QR, signs, certificate, private copies."""

import numpy as np

from okspca.basis import Basis, Status
from okspca.diagnostics.certificate import (
    EPS,
    UNPROVEN,
    Bounds,
    Certificate,
    bounds,
    certificate_from,
    certify,
)
from okspca.diagnostics.whitened_certificate import refined, whitened_bounds
from okspca.errors import NumericalError
from okspca.moments import MomentArrays, ScaledMoment
from okspca.moments.arrays import WEIGHT, dropped_norm, rounding_level
from okspca.numerics.addresses import read_only
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.leading import Leading, leading_exactly, within_span
from okspca.numerics.orthonormal import fix_signs, is_finite, signed_qr
from okspca.numerics.spectrum import numerical_rank
from okspca.numerics.sums import row_squares, rows_above

#: What kernels return: columns with their singular values in a last row, and the certificate.  One
#: array, as handing one over takes longer than dividing it.
Solution = tuple[Floats, Bounds]
# Between these norms of the moment the squares of its Gram matrix, fourth powers, neither overflow
# nor lose digits.
SAFE_SMALLEST, SAFE_LARGEST = 1e-60, 1e60
NEGLIGIBLE = 0.25 * EPS


def answer(leading: Leading, scaled: ScaledMoment, n_components: int, t: int) -> Basis:
    """Deliver the leading block: numerical rank, at most ``n_components``, fresh at ``t``."""
    # Directions below the numerical rank are rounding, and are not delivered.
    q = min(n_components, numerical_rank(leading.sigma))
    if q == 0:
        return no_target(scaled, t)
    rows = np.ascontiguousarray(signed_qr(leading.rows[:q].T)[0].T)
    certificate = None
    if scaled.pencil is not None:
        rows, numbers = refined(rows, leading.sigma**2, scaled)
        certificate = certificate_from(numbers, scaled.scale)
    # Only now: refining may have turned the columns.
    fix_signs(rows)
    if not np.isfinite(rows).all():
        message = "The basis has non-finite entries; no basis was returned."
        raise NumericalError(message)
    certificate = certificate or certificate_of(rows, leading.sigma, scaled)
    return Basis.of(rows.T, leading.sigma[:q] * scaled.scale, built_at=t, certificate=certificate)


def exact_answer(scaled: ScaledMoment, n_components: int, t: int) -> Basis:
    """Factor the target and deliver its leading block."""
    if scaled.is_zero:
        return no_target(scaled, t)
    return answer(leading_exactly(scaled.Ct, n_components), scaled, n_components, t)


def certificate_of(rows: Floats, sigma: Floats, scaled: ScaledMoment) -> Certificate:
    """Certify rows, given the singular values on the subspace that was inspected."""
    if scaled.pencil is not None:
        return certificate_from(whitened_bounds(rows, sigma**2, scaled), scaled.scale)
    return certify(scaled.Ct, rows, sigma**2, scale=scaled.scale, dropped=scaled.dropped)


def recertified(basis: Basis, scaled: ScaledMoment, t: int) -> Basis:
    """Return an older answer with its age and a certificate for the current moment."""
    age = t - basis.built_at
    # Built after the row that was learned last: its certificate is about this very moment.
    if age == 0:
        return basis
    if not basis.is_valid:
        return Basis.missing(scaled.Ct.shape[1], basis.status, built_at=basis.built_at, age=age)
    certificate = None
    if not scaled.is_zero:
        rows = basis.vectors.T
        sigma = within_span(rows, scaled.Ct).sigma
        certificate = certificate_of(rows, sigma, scaled)
    return Basis.of(
        basis.vectors,
        basis.singular_values,
        built_at=basis.built_at,
        age=age,
        certificate=certificate,
    )


def no_target(scaled: ScaledMoment, t: int) -> Basis:
    """Answer for a moment that is zero to rounding."""
    return Basis.missing(scaled.Ct.shape[1], Status.NO_TARGET, built_at=t)


def fresh_basis(solution: Solution, t: int) -> Basis:
    """Dress what a kernel found."""
    packed, numbers = solution
    return Basis.fresh(packed, t, certificate_from(numbers))


@compiled
def ordinary_part(moment: MomentArrays) -> tuple[float, Floats]:
    """Squared norm of the sums, and the rows of them that matter to the basis.

    The norm is zero where it is at rounding level or may not be squared.  The rows left out hold a
    quarter of a rounding error of it together: ``M = C̄ C̄^T`` changes by no more than that.
    """
    squares, total = row_squares(moment.sums), 0.0
    for i in range(squares.size):
        total += squares[i]
    weight, norm = moment.totals[WEIGHT], np.sqrt(total)
    # Kernels square the sums, certificates C̄.
    for size in (norm, norm / weight):
        if not SAFE_SMALLEST < size < SAFE_LARGEST:
            return 0.0, moment.sums
    if not norm / weight > rounding_level(moment):
        return 0.0, moment.sums
    return total, rows_above(moment.sums, squares, NEGLIGIBLE * total / squares.size)


@compiled
def solution_from(
    moment: MomentArrays, part: tuple[float, Floats], rows: Floats, ritz: Floats
) -> tuple[bool, Solution]:
    """Fix the signs of an orthonormal block and certify it; False where it is not finite.

    ``part`` is the :func:`ordinary_part` of the moment; ``ritz``: as for
    :func:`okspca.diagnostics.certificate.bounds`, of its rows; the leading ones belong to ``rows``.
    """
    fix_signs(rows)
    total, sums = part
    return certified(moment, rows, ritz, bounds(sums, rows, ritz, (total, dropped_sum(moment))))


@compiled
def dropped_sum(moment: MomentArrays) -> float:
    """Bound on the norm of what compression left out of the sums."""
    return dropped_norm(moment) * moment.totals[WEIGHT]


@compiled
def certified(
    moment: MomentArrays, rows: Floats, ritz: Floats, numbers: Bounds
) -> tuple[bool, Solution]:
    """Bring a block and its bounds from the units of the sums to those of C̄."""
    q, D = rows.shape
    weight = moment.totals[WEIGHT]
    rho, gap, distance, angle, residual = numbers
    # Of all bounds only the gap has a unit.
    if gap != UNPROVEN:
        gap /= weight * weight
    packed = np.empty((D + 1, q))
    for j in range(D):
        for i in range(q):
            packed[j, i] = rows[i, j]
    for i in range(q):
        packed[D, i] = np.sqrt(ritz[i]) / weight
    return is_finite(rows), (read_only(packed), (rho, gap, distance, angle, residual))


@compiled
def no_solution() -> tuple[bool, Solution]:
    """What a kernel returns where it leaves the answer to the general path."""
    return False, (read_only(np.empty((1, 0))), (0.0, 0.0, 0.0, 0.0, 0.0))
