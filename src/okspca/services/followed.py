"""An exact, certified answer from a moment that has followed rows, in one compiled call.

The steps are those of :func:`okspca.services.answers.exact_answer`: the leading block of C̄ in
whitened coordinates, by rotations that leave small singular values accurate, and its bounds
(:mod:`okspca.diagnostics.whitened_bounds`), by the residual of the stored numbers in working
precision where the coordinates alone prove too little.  What that leaves open, and whatever is out
of the ordinary, is left to the general way.
"""

import math
from typing import NamedTuple

import numpy as np

from okspca.diagnostics.certificate import UNPROVEN, Bounds, bounds_within
from okspca.diagnostics.whitened_bounds import MOST_TURN, Errors, inspected, proven, turn_of
from okspca.moments import UpdatedMoment
from okspca.moments.arrays import (
    WEIGHT,
    MomentArrays,
    dropped_norm,
    feature_sizes,
    level_of,
)
from okspca.moments.followed_factor import FollowedArrays, FollowedNumbers
from okspca.moments.followed_pencil import CLOSE, plain_residual
from okspca.numerics.addresses import read_only
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.leading import jacobi_leading
from okspca.numerics.orthonormal import fix_signs, is_finite
from okspca.numerics.sums import square
from okspca.services.answers import SAFE_LARGEST, SAFE_SMALLEST, Solution


class Shown(NamedTuple):
    """How C̄ is shown.

    Attributes
    ----------
    Q : ndarray of shape (D, width)
        What the factor has solved.
    units, weights : ndarray of shape (width,)
        What target coordinates are multiplied by, for their units and for what classes count.
    right : tuple of float
        Mean squares of the target features, where units say so; negative where the sums tell.
    smallest, relative : float
        Least eigenvalue of the covariance with its ridge, and the relative error of numbers taken
        as exact.
    """

    Q: Floats
    units: Floats
    weights: Floats
    right: tuple[float, float]
    smallest: float
    relative: float


def solution_of(moment: UpdatedMoment, n_components: int) -> Solution | None:
    """The leading block with its bounds; None where the general way must find them."""
    followed, bounds, units = moment.followed, moment.followed.bounds(), moment.units.right
    if bounds is None or moment.is_constant:
        return None
    unit = np.ones(moment.width) if units is None else 1.0 / units.divisor
    right = (-1.0, -1.0) if units is None else (units.square, units.spread)
    relative = followed.relative_error(bounds)
    shown = Shown(followed.Q, unit, moment.column_weights(), right, bounds.smallest, relative)
    errors = Errors(bounds.distortion, bounds.slack, bounds.drift, 0.0)
    found, solution = _bound_solve.code(
        moment.arrays, shown, followed.arrays, followed.numbers, errors, n_components
    )
    return solution if found else None


@compiled
def _solve(
    moment: MomentArrays,
    shown: Shown,
    arrays: FollowedArrays,
    numbers: FollowedNumbers,
    errors: Errors,
    n_components: int,
) -> tuple[bool, Solution]:
    """Solve, certify and pack; False where this is left to the general way."""
    nothing = read_only(np.empty((1, 0))), (0.0, 0.0, 0.0, 0.0, 0.0)
    T, level = _targets(moment, shown)
    size = math.sqrt(square(T))
    if not (SAFE_SMALLEST < size < SAFE_LARGEST and size > level):
        return False, nothing
    Ct = _whitened(T, shown, numbers.omega)
    found, ritz, rows = jacobi_leading(Ct, n_components)
    dropped = dropped_norm(moment) / math.sqrt(shown.smallest)
    errors = Errors(errors.distortion, errors.slack, errors.drift, dropped)
    if not (found and turn_of(errors, rows.shape[0]) <= MOST_TURN and is_finite(rows)):
        return False, nothing
    is_settled, bounds = _bounds(rows, ritz, (Ct, T), (arrays, numbers), (shown, errors))
    if not is_settled:
        return False, nothing
    fix_signs(rows)
    q, D = rows.shape
    packed = np.empty((D + 1, q))
    for i in range(q):
        packed[D, i] = math.sqrt(ritz[i])
        for j in range(D):
            packed[j, i] = rows[i, j]
    return True, (read_only(packed), bounds)


@compiled
def _targets(moment: MomentArrays, shown: Shown) -> tuple[Floats, float]:
    """C̄ transposed in its units, and the largest norm of it that rounding explains."""
    (width, D), sizes = moment.sums.shape, feature_sizes(moment)
    T = np.empty((width, D))
    for i in range(width):
        factor = shown.units[i] / moment.totals[WEIGHT]
        for j in range(D):
            T[i, j] = factor * moment.sums[i, j]
    if shown.right[0] >= 0.0:
        return T, level_of((sizes[0], sizes[1], shown.right[0], shown.right[1]))
    return T, level_of(sizes)


@compiled
def _whitened(T: Floats, shown: Shown, omega: float) -> Floats:
    """C̄ transposed in whitened coordinates; T takes up what classes count."""
    (width, D), root = T.shape, math.sqrt(omega)
    Ct = np.empty((width, D))
    for i in range(width):
        factor = shown.weights[i] * shown.units[i] / root
        for j in range(D):
            T[i, j] *= shown.weights[i]
            Ct[i, j] = factor * shown.Q[j, i]
    return Ct


@compiled
def _bounds(
    rows: Floats,
    ritz: Floats,
    matrices: tuple[Floats, Floats],
    followed: tuple[FollowedArrays, FollowedNumbers],
    known: tuple[Shown, Errors],
) -> tuple[bool, Bounds]:
    """What is proven, and whether that is close enough."""
    (Ct, T), (shown, errors) = matrices, known
    small, residual, total, allowances = inspected(rows, Ct, ritz, errors)
    theta, enough = small.copy(), CLOSE + 2.0 * allowances[2]
    found = bounds_within(small, residual, ritz, total, allowances)
    if not (found[1] == UNPROVEN or found[2] <= enough):
        columns, lost = plain_residual(rows, theta, T, followed[0], followed[1])
        off = lost / math.sqrt(shown.smallest * followed[1].omega), shown.relative
        residual = proven(rows, columns, off, total, errors)
        found = bounds_within(theta, residual, ritz, total, allowances)
        if found[1] == UNPROVEN or not found[2] <= enough:
            return False, (0.0, UNPROVEN, UNPROVEN, UNPROVEN, 0.0)
    return True, (found[0], found[1], found[2], found[3], residual / total)


_bound_solve = BoundKernel(_solve)
