r"""A proof, from computable quantities only, of how good a basis is for the *current* moment.

The moment is the one that is stored.  How well its sums describe the rows is another matter: each
row was standardised, mapped to features and added with rounding errors of its own, which are large
where inputs lie far from zero compared with their spread.

Let M = C̄ C̄^T with eigenvalues l_1 >= l_2 >= ..., U the q columns that were delivered, and theta_1
>= ... >= theta_p the Ritz values of M on an inspected subspace that contains them (p >= q; zero
past p).  With the energy outside that subspace, ``tail = ||C̄||_F^2 - sum_j theta_j``, interlacing
gives::

    sum_{j<=q} l_j <= sum_{j<=q} theta_j + tail,
    l_q >= theta_q,     l_{q+1} <= theta_{q+1} + tail.

So, with J = ||C̄^T U||_F^2 the objective that U captures:

* ``rho = J / (l_1 + ... + l_q)`` is at least ``J / (theta_1 + ... + theta_q + tail)``;
* the gap ``l_q - l_{q+1}`` is at least ``theta_q - theta_{q+1} - tail``.

Where that gap is positive, the distance of U's projector from the exact one is at most the smaller
of

* ``sqrt(2 (sum theta + tail - J) / gap)``, the objective-loss bound, and
* ``sqrt(2) ||M U - U (U^T M U)||_F / separation``, Davis-Kahan with the residual of U, where the
  separation is between the smallest eigenvalue of ``U^T M U`` and ``theta_{q+1} + tail``.

A proven distance d in turn bounds the objective loss by ``l_1 d^2 / 2``, so ``rho >= 1 - (theta_1 +
tail) d^2 / (2 J)``; the larger of the two bounds on rho is reported.

Every inequality is widened by ``noise``: rounding, ``4 (D + w + p) eps ||C̄||_F^2`` for a moment of
w columns, and the change of M by what target compression dropped, ``2 ||C̄||_F e + e^2``.  Where no
gap is proven the distance is None: nothing is invented.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import NamedTuple

import numpy as np

from okspca.diagnostics.shown import html_table, safely
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import multiplied
from okspca.numerics.products import gram, row_products
from okspca.numerics.sums import distance, square
from okspca.numerics.symmetric import diagonalise

EPS = float(np.finfo(np.float64).eps)
UNPROVEN = -1.0
_RIGHT_ANGLE = math.sqrt(2.0)
#: The values of a :class:`Certificate` as kernels return them, with ``UNPROVEN`` for None.
Bounds = tuple[float, float, float, float, float]
#: What :func:`bounds_within` allows for.
Allowances = tuple[float, float, float, float]


class Certificate(NamedTuple):
    """Proven bounds on one delivered basis, for the moment at the time of the request.

    They cover everything between the stored sums and the answer, and nothing before: inputs with an
    offset of 1e8 times their spread have lost half of their digits before they are summed, so the
    exact subspace of the stored moment may be 1e-5 degrees from that of the rows, whatever is
    proven here.

    With the whitened objective they are about the weights of the features, compared in whitened
    coordinates (:mod:`okspca.diagnostics.whitened_certificate`).

    Attributes
    ----------
    rho_lower : float
        The basis captures at least this fraction of the best possible objective of its rank.
    gap_lower : float or None
        Lower bound on the squared-spectrum gap after the rank, in units of C̄ squared; None where
        no positive gap is proven.
    distance_upper : float or None
        Upper bound on the projector distance ``||UU^T - U*U*^T||_F``; None where no gap is proven.
    angle_upper : float or None
        Upper bound on the largest principal angle, in degrees; None where nothing below a right
        angle is proven.
    residual : float
        At least ``||M U - U (U^T M U)||_F / ||C̄||_F^2``, but for rounding: how nearly the span is
        invariant under M.

    Examples
    --------
    >>> import numpy as np
    >>> certificate = certify(np.diag([2.0, 1.0]), np.array([[1.0, 0.0]]), np.array([4.0, 1.0]))
    >>> certificate.rho_lower > 0.999999, certificate.angle_upper < 1e-9
    (True, True)
    """

    rho_lower: float
    gap_lower: float | None
    distance_upper: float | None
    angle_upper: float | None
    residual: float

    def __str__(self) -> str:
        """One line for people."""
        # Bounds are printed rounded to the safe side: down for a share, up for an angle.
        share = Context(prec=9, rounding=ROUND_FLOOR).create_decimal_from_float(self.rho_lower)
        captured = f"captures at least {share} of the best objective"
        if self.angle_upper is None:
            return f"{captured}; nothing is proven about the angle to the exact subspace"
        angle = Context(prec=2, rounding=ROUND_CEILING).create_decimal_from_float(self.angle_upper)
        return f"{captured}; at most {angle:g} degrees from the exact subspace of the stored moment"

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        return safely(lambda: html_table("Certificate", ("proven", "value"), self._told()), self)

    def _told(self) -> list[tuple[str, str]]:
        """Every bound, rounded to its safe side; what is not proven says so."""
        share = Context(prec=9, rounding=ROUND_FLOOR).create_decimal_from_float(self.rho_lower)
        return [
            ("share of the best objective", f"at least {share}"),
            ("gap after the rank", _bound("at least", self.gap_lower, ROUND_FLOOR)),
            ("projector distance", _bound("at most", self.distance_upper)),
            ("degrees to the exact subspace", _bound("at most", self.angle_upper)),
            ("residual", _bound("at most", self.residual)),
        ]


def _bound(words: str, value: float | None, rounding: str = ROUND_CEILING) -> str:
    """A bound with two digits, rounded to its safe side."""
    if value is None:
        return "not proven"
    return f"{words} {Context(prec=2, rounding=rounding).create_decimal_from_float(value):g}"


def certify(
    Ct: Floats, rows: Floats, ritz: Floats, *, scale: float = 1.0, dropped: float = 0.0
) -> Certificate:
    """Certify an orthonormal basis against the moment.

    Parameters
    ----------
    Ct : ndarray of shape (width, D)
        C̄ transposed, divided by ``scale`` so that squares are safe; not zero.
    rows : ndarray of shape (q, D)
        The delivered basis, as rows.
    ritz : ndarray of shape (p,)
        Ritz values of M on an inspected subspace that contains the rows, in descending order.
    scale : float
        What C̄ was divided by.
    dropped : float
        Bound on the Frobenius norm of the part of C̄ that ``Ct`` lacks.
    """
    contiguous = np.ascontiguousarray(Ct), np.ascontiguousarray(rows), np.ascontiguousarray(ritz)
    return certificate_from(bounds(*contiguous, (square(contiguous[0]), dropped)), scale)


def certificate_from(numbers: Bounds, scale: float = 1.0) -> Certificate:
    """Dress what :func:`bounds` returned; ``scale``: what C̄ was divided by."""
    rho, gap, distance, angle, residual = numbers
    if angle != UNPROVEN and scale == 1.0:
        # Past the constructor, which takes longer than the rest of this function.
        return tuple.__new__(Certificate, numbers)
    if gap == UNPROVEN:
        return Certificate(rho, None, None, None, residual)
    proven = None if angle == UNPROVEN else angle
    return Certificate(rho, gap * scale * scale, distance, proven, residual)


@compiled
def bounds(Ct: Floats, rows: Floats, ritz: Floats, sizes: tuple[float, float]) -> Bounds:
    """Bounds on rho, gap, distance and angle (``UNPROVEN`` without one); relative residual.

    ``sizes`` holds ``||C̄||_F^2`` and the norm of what was dropped from it.  Rows of C̄ transposed
    that hold no more than a rounding error of that square may be missing from ``Ct``.
    """
    projected = row_products(rows, Ct)
    small = gram(projected)
    residual = distance(multiplied(projected, Ct), multiplied(small, rows))
    width, D = Ct.shape
    return bounds_from(small, residual, ritz, D + width, sizes)


@compiled
def bounds_of_combination(
    projected: Floats,
    coefficients: Floats,
    ritz: Floats,
    n_summed: int,
    sizes: tuple[float, float],
) -> Bounds:
    """As :func:`bounds`, for a basis that was made as a combination of the columns of C̄.

    With U^T = W C̄^T up to rounding, where W are the ``coefficients``, and P = U^T C̄ as computed
    from U (``projected``), the residual needs no product with C̄::

        U^T M - small U^T = (P - small W) C̄^T - small delta,

    so its norm is at most ``||C̄||_2 ||P - small W||_F + ||small delta||_F``.  Row i of the rounding
    delta is within ``(w + 2 q + 8) eps ||W_i|| ||C̄||_F``, and ``||W_i||`` is one over the root of
    the i-th entry of small; so the last term is within ``(w + 2 q + 8) sqrt(q) eps ||C̄||_F^2``.
    """
    total, small = sizes[0], gram(projected)
    rest = total
    for j in range(ritz.size):
        rest -= ritz[j]
    # The largest eigenvalue is at most the largest Ritz value and all that was not inspected.
    largest = np.sqrt(ritz[0] + max(rest, 0.0))
    q, w = projected.shape
    rounding = (w + 2 * q + 8) * np.sqrt(q) * EPS * total
    residual = largest * distance(projected, multiplied(small, coefficients)) + rounding
    return bounds_from(small, residual, ritz, n_summed, sizes)


@compiled
def bounds_from(
    small: Floats, residual: float, ritz: Floats, n_summed: int, sizes: tuple[float, float]
) -> Bounds:
    """As :func:`bounds`, given what it computes.

    ``small`` is ``U^T M U``, ``residual`` at least ``||M U - U small||_F``, ``n_summed`` the number
    D + w that rounding grows with, and ``sizes`` holds ``||C̄||_F^2`` and ``dropped``.
    """
    total = sizes[0]
    noise = noise_of(ritz.size + n_summed, sizes)
    found = bounds_within(small, residual + noise, ritz, total, (noise, 0.0, 0.0, np.inf))
    rho, gap, distance, angle = found
    return rho, gap, distance, angle, residual / total


@compiled
def noise_of(n_summed: int, sizes: tuple[float, float]) -> float:
    """Allowance for rounding and for what was dropped; ``n_summed``: D + w + p."""
    total, dropped = sizes
    noise = 4.0 * n_summed * EPS * total
    return noise + (2.0 * np.sqrt(total) * dropped + dropped * dropped)


@compiled
def bounds_within(
    small: Floats,
    residual: float,
    ritz: Floats,
    total: float,
    allowances: Allowances,
) -> tuple[float, float, float, float]:
    """Bounds on rho, gap, distance and angle, as :func:`bounds` has them.

    ``residual`` has its allowances already.  The others: ``noise`` that eigenvalues may be off by,
    ``stretch`` that they may be off by relative to themselves, the ``shift``, a distance between
    what is certified and what was delivered, and a bound on the distance that is ``known``
    otherwise.  Destroys ``small``.
    """
    noise, stretch, shift, known = allowances
    less, more = 1.0 - stretch, 1.0 + stretch
    q = small.shape[0]
    # Every number is moved to its unfavourable side before it is used.
    captured, inspected, leading = -noise, 0.0, 0.0
    for j in range(q):
        captured += small[j, j]
    captured *= less
    for j in range(ritz.size):
        inspected += ritz[j]
        if j < q:
            leading += ritz[j]
    inside = float(ritz[q - 1]) if q <= ritz.size else 0.0
    following = float(ritz[q]) if q < ritz.size else 0.0
    # Where everything was inspected there is no tail, but for rounding.
    tail = max(total - inspected, 0.0) + noise
    best, outside = (leading + tail) * more, (following + tail) * more
    rho = min(max(captured / best, 0.0), 1.0)
    gap = (inside - noise) * less - outside
    if gap <= 0.0 or captured <= 0.0:
        return rho, UNPROVEN, UNPROVEN, UNPROVEN
    upper = np.sqrt(2.0 * max(best - captured, 0.0) / gap)
    separation = (smallest_eigenvalue(small, outside) - noise) * less - outside
    if separation > 0.0:
        upper = min(upper, np.sqrt(2.0) * residual / separation)
    upper = min(upper, known)
    # Projectors of rank q are never further apart.
    upper = min(upper + shift, np.sqrt(2.0 * q))
    # The whole distance may be due to one angle, whose sine it then is, times sqrt(2).
    angle = UNPROVEN
    if upper < _RIGHT_ANGLE:
        angle = np.degrees(np.arcsin(upper / _RIGHT_ANGLE))
    # A proven distance may say more about the objective than the objective itself.
    rho = max(rho, 1.0 - 0.5 * (ritz[0] + tail) * more * upper * upper / captured)
    # One step down, so that the last rounding cannot turn a bound below one into one.
    return rho * (1.0 - EPS), gap, upper, angle


@compiled
def smallest_eigenvalue(small: Floats, below: float) -> float:
    """Bound the smallest eigenvalue from below, by Gershgorin if that is well above ``below``."""
    q = small.shape[0]
    bound, diagonal = np.inf, np.inf
    for i in range(q):
        coupling = 0.0
        for j in range(q):
            coupling += abs(small[i, j])
        bound = min(bound, small[i, i] + abs(small[i, i]) - coupling)
        diagonal = min(diagonal, small[i, i])
    # Gershgorin's circles cost next to nothing; eigenvalues only where they are too wide.
    if diagonal - bound <= 0.01 * (diagonal - below):
        return bound
    diagonalise(small, np.empty((q, q)))
    return small[q - 1, q - 1]
