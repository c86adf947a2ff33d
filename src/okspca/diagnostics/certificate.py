r"""A proof, from computable quantities only, of how good a basis is for the *current* moment.

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

Every inequality is widened by ``noise``: rounding, ``4 (D + p) eps ||C̄||_F^2``, and the change of
M by what target compression dropped, ``2 ||C̄||_F e + e^2``.  Where no gap is proven the distance
is None: nothing is invented.
"""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context

import numpy as np

from okspca.numerics.arrays import Floats

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Certificate:
    """Proven bounds on one delivered basis, for the moment at the time of the request.

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
        ``||M U - U (U^T M U)||_F / ||C̄||_F^2`` as computed: how nearly the span is invariant under
        M.

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
        return f"{captured}; at most {angle:g} degrees from the exact subspace"


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
    q, D = rows.shape
    projected = rows @ Ct.T
    small = projected @ projected.T
    residual = float(np.linalg.norm(projected @ Ct - small @ rows))
    total = float(np.vdot(Ct, Ct))
    noise = 4.0 * (D + ritz.size) * EPS * total
    noise += 2.0 * float(np.sqrt(total)) * dropped + dropped * dropped

    captured = float(np.trace(small)) - noise
    extended = np.pad(ritz, (0, max(q + 1 - ritz.size, 0)))
    inside, outside = float(extended[q - 1]), float(extended[q])
    tail = max(total - float(ritz.sum()), 0.0) + noise
    best = float(ritz[:q].sum()) + tail
    rho = min(max(captured / best, 0.0), 1.0)
    next_upper = outside + tail
    gap = inside - noise - next_upper
    if gap <= 0.0:
        return Certificate(rho, None, None, None, residual / total)
    distance = float(np.sqrt(2.0 * max(best - captured, 0.0) / gap))
    separation = float(np.linalg.eigvalsh(small)[0]) - noise - next_upper
    if separation > 0.0:
        distance = min(distance, float(np.sqrt(2.0)) * (residual + noise) / separation)
    largest = float(ritz[0]) + tail
    rho = max(rho, 1.0 - 0.5 * largest * distance * distance / captured)
    # One step down, so that the last rounding cannot turn a bound below one into one.
    rho = float(np.nextafter(rho, 0.0))
    angle = None
    if distance < np.sqrt(2.0):
        angle = float(np.degrees(np.arcsin(distance / np.sqrt(2.0))))
    return Certificate(rho, gap * scale * scale, distance, angle, residual / total)
