r"""Certificates in whitened coordinates: they cover what rounding did to the coordinates, too.

The problem is that of the stored numbers (:mod:`okspca.moments.pencil`): ``M w = theta N w``.  Let
Y = N^1/2 W, where W are the weights of the features that were delivered, and A = N^-1/2 M N^-1/2.
A certificate compares the span of Y with the leading eigenvectors of A, both exact.  Known are the
rounded factor R, with ``||R^-T N R^-1 - I|| <= e`` (:func:`okspca.numerics.whitening.
factor_bounds`), the rounded matrix ``R^-T C̄``, within a relative ``s`` of the exact one, and
orthonormal columns V with W = R^-1 V, again within ``s``.

* Eigenvalues in the coordinates of R are those of A up to factors ``1 - e`` and ``1 + e``, so gaps,
  separations and objectives need no more than that.
* With theta = V^T (R^-T M R^-1) V, the residual ``A Y - Y theta`` is at most the one in the
  coordinates of R plus ``e ||theta||``, over ``1 - e``.  That is cheap, and enough while N is well
  conditioned.
* Small eigenvalues are better served by steps.  V is compared with the left singular vectors of the
  rounded matrix (by its residual there), those with the vectors of the exact ``B = R^-T C̄``
  (Wedin: by ``sqrt(2) ||error||`` over the gap of singular values), and those with the leading
  vectors of A.  With ``N = R^T (I + F) R`` the last are, but for a rotation, the left singular
  vectors of ``(I + F)^-1/2 B``, and Y is ``(I + F)^1/2 V``; both roots are within ``t = e / (2 (1 -
  e))`` of I.  So with K the products of the vectors of B that lead and those there that do not::

      |K_ij| <= t (theta_j + theta_i) / (theta_j - theta_i),
      ||K|| <= sqrt(q) t (1 + r) / (1 - r),

  where r bounds ``theta_i / theta_j``, and Y adds ``sqrt(q) t / (1 - t)`` at most.
* Otherwise rho = ``R^-T (M W - N W theta)`` is computed from the stored numbers.  Its part along V
  belongs to theta, which may be chosen freely, up to ``e + s`` of it; the part at right angles is
  the residual, again over ``1 - e``.
* Where that proves too little, columns are corrected by one Newton step: with the other singular
  vectors u_j of the rounded matrix, the part of rho_i along u_j is divided by ``theta_i -
  theta_j``.
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.diagnostics.certificate import UNPROVEN, Allowances, Bounds, bounds_within
from okspca.diagnostics.whitened_bounds import MOST_TURN, Errors, inspected, proven, turn_of
from okspca.moments import ScaledMoment
from okspca.moments.pencil import FINE, Residual
from okspca.numerics.accurate import norm
from okspca.numerics.arrays import Floats
from okspca.numerics.leading import by_svd
from okspca.numerics.matrix import product
from okspca.numerics.orthonormal import signed_qr

#: A correction beyond this is no small one; then the columns are left as they are.
LARGEST_CORRECTION = 1e-2
NOTHING: Bounds = (0.0, UNPROVEN, UNPROVEN, UNPROVEN, 0.0)


class Inspection(NamedTuple):
    """What is known of columns without work in higher precision.

    Attributes
    ----------
    small : ndarray of shape (q, q)
        theta.
    residual : float
        Bound on the residual ``A Y - Y theta``.
    total : float
        Squared norm of the rounded matrix.
    allowances : tuple of float
        As for :func:`okspca.diagnostics.certificate.bounds_within`.
    errors : Errors
        What the coordinates and the matrix may be off by.
    """

    small: Floats
    residual: float
    total: float
    allowances: Allowances
    errors: Errors

    def bounds(self, residual: float, ritz: Floats) -> Bounds:
        """Bounds that a residual proves."""
        found = bounds_within(self.small.copy(), residual, ritz, self.total, self.allowances)
        return (*found, residual / self.total)

    def is_settled(self, found: Bounds, enough: float) -> bool:
        """Whether higher precision would not help, or not matter."""
        return found[1] == UNPROVEN or found[2] <= enough + 2.0 * self.allowances[2]


def whitened_bounds(rows: Floats, ritz: Floats, scaled: ScaledMoment) -> Bounds:
    """Bounds on an orthonormal block (as rows) of whitened coordinates.

    ``ritz``: as for :func:`okspca.diagnostics.certificate.bounds`.
    """
    seen = _inspect(rows, ritz, scaled)
    if seen is None:
        return NOTHING
    return _settled(rows, ritz, scaled, seen)[0]


def refined(rows: Floats, ritz: Floats, scaled: ScaledMoment) -> tuple[Floats, Bounds]:
    """Rounded singular vectors with their bounds, after a Newton step where that proves more."""
    seen = _inspect(rows, ritz, scaled)
    if seen is None:
        return rows, NOTHING
    found, residual = _settled(rows, ritz, scaled, seen)
    if residual is None:
        return rows, found
    step = _newton_step(rows, seen.small.diagonal(), residual.columns, scaled)
    # Written so that a step with NaN is refused.
    if not norm(step) <= LARGEST_CORRECTION:
        return rows, found
    moved = np.ascontiguousarray(signed_qr(rows.T + step)[0].T)
    # A step that does not prove more is not taken.
    again = whitened_bounds(moved, ritz, scaled)
    return (moved, again) if again is _closer(found, again) else (rows, found)


def _settled(
    rows: Floats, ritz: Floats, scaled: ScaledMoment, seen: Inspection
) -> tuple[Bounds, Residual | None]:
    """Bounds, with residuals from the stored numbers; the last one, where that is not enough."""
    assert scaled.pencil is not None
    found, residual, wanted = seen.bounds(seen.residual, ritz), None, FINE
    for way, enough in scaled.pencil.ways:
        if seen.is_settled(found, wanted):
            return found, None
        residual, wanted = way(rows.T, seen.small, scaled.scale), enough
        found = _closer(found, seen.bounds(_proven(rows, residual, seen), ritz))
    return found, None if seen.is_settled(found, wanted) else residual


def _closer(one: Bounds, other: Bounds) -> Bounds:
    """The bounds that prove the smaller distance."""
    return other if other[2] != UNPROVEN and other[2] < one[2] else one


def _inspect(rows: Floats, ritz: Floats, scaled: ScaledMoment) -> Inspection | None:
    """Look at columns in the rounded coordinates; None where nothing is proven about those."""
    factor = None if scaled.pencil is None else scaled.pencil.bounds
    if factor is None or not scaled.dropped < math.inf:
        return None
    errors = Errors(factor.distortion, factor.slack, factor.drift, scaled.dropped)
    if not turn_of(errors, len(rows)) <= MOST_TURN:
        return None
    Ct = np.ascontiguousarray(scaled.Ct)
    return Inspection(*inspected(np.ascontiguousarray(rows), Ct, ritz, errors), errors)


def _proven(rows: Floats, found: Residual, seen: Inspection) -> float:
    """Bound on the residual ``A Y - Y theta``, for the best theta."""
    columns = np.ascontiguousarray(found.columns.T)
    lost = found.error, found.relative
    return proven(np.ascontiguousarray(rows), columns, lost, seen.total, seen.errors)


def _newton_step(rows: Floats, theta: Floats, residual: Floats, scaled: ScaledMoment) -> Floats:
    """What to add to the columns, to first order in their residual."""
    sigma, others = by_svd(scaled.Ct)
    others, outside = others[len(rows) :], sigma[len(rows) :, np.newaxis] ** 2
    across = residual - product(rows.T, product(rows, residual))
    along = product(others, across)
    # A tie divides by zero; the caller takes no step that is not small.
    with np.errstate(divide="ignore", invalid="ignore"):
        step = product(others.T, along / (theta - outside))
        step += (across - product(others.T, along)) / theta
    return np.asarray(step)
