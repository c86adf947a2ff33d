"""The moment as plain arrays that kernels change in place.

The maths is described in :mod:`okspca.moments.moment`, the layout in
:mod:`okspca.moments.stored_sums`.
"""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import combine_into, multiply_into, thin_product_into
from okspca.numerics.running import update_comoment
from okspca.numerics.sums import inner

_EPS = float(np.finfo(np.float64).eps)
ROUNDING = 64.0 * _EPS
#: So few target features, and so many of the inputs, that their products are summed row by row.
THIN, WIDE = 12, 512
WEIGHT, ROWS, LEFT_SQUARE, RIGHT_SQUARE, DROPPED_SQUARE = range(5)


class MomentArrays(NamedTuple):
    """The moment as compiled kernels see it; every array is changed in place.

    Attributes
    ----------
    sums : ndarray of shape (width, D_x)
        S transposed.
    left_mean, right_mean : ndarray
        Running means of phi and of the (possibly compressed) psi.
    totals : ndarray of shape (5,)
        Total weight; number of rows; running means of ||phi||^2, of ||psi||^2 and of the squared
        compression residual.

    Examples
    --------
    >>> from okspca.moments import CrossMoment
    >>> CrossMoment(3, 2).arrays.sums.shape
    (2, 3)
    """

    sums: Floats
    left_mean: Floats
    right_mean: Floats
    totals: Floats


class EncodedRows(NamedTuple):
    """Rows ready to be learned: features, stored target coordinates, weights, squared residuals."""

    Phi: Floats
    coordinates: Floats
    weights: Floats
    dropped: Floats


class Change(NamedTuple):
    """The rank-one change ``scale right left^T`` that one row made to ``sums``."""

    left: Floats
    right: Floats
    scale: float


class GroupArrays(NamedTuple):
    """The groups as plain arrays, at one moment in time.

    Attributes
    ----------
    rows : ndarray of shape (G,)
        Rows that each group has learned.
    weights : ndarray of shape (G,)
        Total weight of each group, after forgetting.
    sums : ndarray of shape (G, width, D_x)
        Centred co-moments, transposed as in :class:`CrossMoment`.
    left_means, right_means : ndarray of shape (G, D_x) and (G, width)
        Means of the features.

    Examples
    --------
    >>> from okspca.moments import CrossMoment, SubMoments
    >>> SubMoments(4, CrossMoment(3, 2)).arrays(clock=0).sums.shape
    (4, 2, 3)
    """

    rows: Floats
    weights: Floats
    sums: Floats
    left_means: Floats
    right_means: Floats


@compiled
def add_row(
    moment: MomentArrays,
    phi: Floats,
    psi: Floats,
    weights: tuple[float, float, float],
    left: Floats,
    right: Floats,
) -> float:
    """Learn one row in place; ``weights``: its own, the forgetting factor, its squared residual.

    Leaves the deviations from the old means in ``left`` and ``right`` and returns ``scale``, so
    that the change of ``sums`` was ``scale right left^T`` (after fading).
    """
    weight, forgetting, dropped = weights
    before = forgetting * moment.totals[WEIGHT]
    total = before + weight
    ratio = weight / total
    left_square = 0.0
    for j in range(phi.shape[0]):
        # From the old mean on both sides: then the sums change by a single rank-one term.
        left[j] = phi[j] - moment.left_mean[j]
        moment.left_mean[j] += ratio * left[j]
        left_square += phi[j] * phi[j]
    right_square = 0.0
    for j in range(psi.shape[0]):
        right[j] = psi[j] - moment.right_mean[j]
        moment.right_mean[j] += ratio * right[j]
        right_square += psi[j] * psi[j]
    # Chan's formula for one row: before * weight / total.
    scale = before * ratio
    update_comoment(moment.sums, left, right, scale, forgetting)
    moment.totals[WEIGHT] = total
    moment.totals[ROWS] += 1.0
    moment.totals[LEFT_SQUARE] += ratio * (left_square - moment.totals[LEFT_SQUARE])
    moment.totals[RIGHT_SQUARE] += ratio * (right_square - moment.totals[RIGHT_SQUARE])
    moment.totals[DROPPED_SQUARE] += ratio * (dropped - moment.totals[DROPPED_SQUARE])
    return scale


@compiled
def add_encoded(
    moment: MomentArrays, rows: EncodedRows, i: int, forgetting: float, left: Floats, right: Floats
) -> float:
    """Learn row ``i`` of encoded rows by :func:`add_row`."""
    weights = (rows.weights[i], forgetting, rows.dropped[i])
    return add_row(moment, rows.Phi[i], rows.coordinates[i], weights, left, right)


@compiled
def summary(
    rows: EncodedRows, shares: Floats, weight: float, work: tuple[Floats, Floats]
) -> MomentArrays:
    """Moment of one block; ``shares`` sum to one and say how its ``weight`` is divided.

    ``work``: two arrays of the shapes of the features, for their deviations.
    """
    n = rows.Phi.shape[0]
    left, right, is_centred = rows.Phi, work[1], False
    left_mean, left_square = _mean_and_square(rows.Phi, shares)
    right_mean, right_square = _mean_and_square(rows.coordinates, shares)
    _subtract(rows.coordinates, right_mean, right)
    # The right deviations sum to zero, so the left need none unless their mean outweighs them;
    # what the sum lacks to zero by rounding is taken out at the end.
    if inner(left_mean, left_mean, 0) > 0.9 * left_square:
        left, is_centred = work[0], True
        _subtract(rows.Phi, left_mean, left)
    dropped = 0.0
    for i in range(n):
        dropped += shares[i] * rows.dropped[i]
        for j in range(right.shape[1]):
            # Weighted only now: the mean they were freed of is the weighted one.
            right[i, j] *= weight * shares[i]
    totals = np.array([weight, float(n), left_square, right_square, dropped])
    sums = np.empty((right.shape[1], left.shape[1]))
    if right.shape[1] <= THIN and left.shape[1] >= WIDE:
        thin_product_into(right, left, sums)
    else:
        multiply_into(right.T, left, sums, 1.0, 0.0, False)
    if not is_centred:
        _take_out(sums, right, left_mean)
    return MomentArrays(sums, left_mean, right_mean, totals)


@compiled
def _take_out(sums: Floats, right: Floats, left_mean: Floats) -> None:
    """Subtract what the mean of the left contributes because the right do not quite sum to zero."""
    for j in range(right.shape[1]):
        rest = 0.0
        for i in range(right.shape[0]):
            rest += right[i, j]
        for c in range(left_mean.shape[0]):
            sums[j, c] -= rest * left_mean[c]


@compiled
def _mean_and_square(rows: Floats, shares: Floats) -> tuple[Floats, float]:
    """Mean and mean square norm of weighted rows."""
    square = 0.0
    for i in range(rows.shape[0]):
        square += shares[i] * inner(rows[i], rows[i], 0)
    mean = np.empty(rows.shape[1])
    combine_into(shares, rows, mean)
    return mean, square


@compiled
def _subtract(rows: Floats, mean: Floats, deviations: Floats) -> None:
    """Fill ``deviations`` with what the rows differ from the mean by."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            deviations[i, j] = rows[i, j] - mean[j]


@compiled
def rounding_level(moment: MomentArrays) -> float:
    """Largest Frobenius norm of C̄ that rounding alone explains."""
    return level_of(feature_sizes(moment))


@compiled
def feature_sizes(moment: MomentArrays) -> tuple[float, float, float, float]:
    """Mean squared norm of the left features and of their deviations, and the same of the right."""
    totals = moment.totals
    left_mean, right_mean = 0.0, 0.0
    for j in range(moment.left_mean.shape[0]):
        left_mean += moment.left_mean[j] * moment.left_mean[j]
    for j in range(moment.right_mean.shape[0]):
        right_mean += moment.right_mean[j] * moment.right_mean[j]
    # The difference of nearly equal numbers is trusted to a few units in the last place only.
    left_spread = max(totals[LEFT_SQUARE] - left_mean, 4.0 * _EPS * totals[LEFT_SQUARE])
    right_spread = max(totals[RIGHT_SQUARE] - right_mean, 4.0 * _EPS * totals[RIGHT_SQUARE])
    return totals[LEFT_SQUARE], left_spread, totals[RIGHT_SQUARE], right_spread


@compiled
def level_of(sizes: tuple[float, float, float, float]) -> float:
    """Do as :func:`rounding_level`, given the :func:`feature_sizes`."""
    left, left_spread, right, right_spread = sizes
    return ROUNDING * (
        np.sqrt(left) * np.sqrt(right_spread) + np.sqrt(left_spread) * np.sqrt(right)
    )


@compiled
def dropped_norm(moment: MomentArrays) -> float:
    """Bound on the Frobenius norm of the part of C̄ that compression left out."""
    return np.sqrt(moment.totals[LEFT_SQUARE]) * np.sqrt(moment.totals[DROPPED_SQUARE])
