r"""The lean lane: one compiled call learns one row, for the pipelines most people run.

It serves Fourier features of causally standardised inputs, with class labels or a numeric response
(compressed or not).  The arithmetic is that of the block path, from the same kernels.  Whatever is
out of the ordinary (a value that is not finite, a class or a target direction not met before) is
declined *before* anything changes, and the pipeline makes room or takes the general path.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from okspca.features import FeatureMap, FourierMap, OneHotMap
from okspca.moments import CrossMoment, Moment
from okspca.moments.arrays import EncodedRows, MomentArrays, add_row
from okspca.numerics.addresses import (
    enter_matrix,
    enter_vector,
    matrix_at,
    table_of,
    vector_at,
)
from okspca.numerics.arrays import LARGEST_VALUE, Floats, Integers
from okspca.numerics.compiled import bound, compiled
from okspca.numerics.cosine import cosine_row
from okspca.standardize.causal import (
    CausalStandardizer,
    Standardizer,
    StandardizerArrays,
    VarianceRule,
    divisors,
    learn_row,
    varies_by_rounding,
)

DECLINED, NEW_DIRECTION, LEARNED, LEARNED_CONSTANT = range(4)
Side = tuple[Standardizer, FeatureMap]
#: The column of a label, a number, or several numbers.
LeanTarget = int | float | Floats


class Lane:
    """The fused kernel, bound to the arrays of one pipeline.

    It must be made anew whenever those arrays are replaced (a late class, a merge); a compression
    that was extended or turned only needs :meth:`renew`.

    Attributes
    ----------
    x : ndarray
        Room for the inputs of a row, for callers whose own array is not a plain one.
    features : ndarray
        The features of the inputs that were met last.
    learn : callable
        Learns a row, given its inputs (contiguous, aligned, writable) and target.  Returns
        ``DECLINED`` where the general path must take it, ``NEW_DIRECTION`` where a compressed
        target needs one more, ``LEARNED_CONSTANT`` where all inputs or all responses so far were
        alike.
    rows : EncodedRows
        The features and stored target coordinates of the row that was learned last.
    psi : ndarray
        The target features of the row that was met last, before compression.
    due : int
        Row number at which the pipeline next has something to do besides learning.
    lag : int
        By how much the clock of the moment is ahead of the number of rows.
    ungrouped : int
        By how much the number of rows is ahead of that in groups of a stability estimate.
    has_groups : bool
        Whether the groups are ready for rows of this width.
    """

    x: Floats
    features: Floats
    learn: Callable[[Floats, LeanTarget], int]
    rows: EncodedRows
    psi: Floats
    due: int
    lag = 0
    ungrouped = 0
    has_groups = False

    def __init__(
        self,
        inputs: tuple[CausalStandardizer, FourierMap],
        targets: Side,
        moment: Moment,
        due: int,
    ) -> None:
        self.due = due
        self.x = np.zeros(inputs[1].n_inputs)
        compression = moment.compression
        settings = LaneSettings(
            inputs[0].rule,
            moment.forgetting,
            inputs[0].forgetting,
            0.0 if compression is None else compression.tolerance,
            LARGEST_VALUE,
        )
        side = _side(*inputs)
        self.features = side.features
        numbers = np.array([*settings.rule, *settings[1:]])
        self._arrays = [*_flat(side), *self._kept(moment), numbers]
        if isinstance(targets[1], OneHotMap):
            self.psi = self.rows.coordinates[0]
            self._table = table_of(self._arrays)
            self.learn = partial(bound(learn_label, self._table, self.x, 0), self._table)
            return
        y = np.zeros(targets[1].n_inputs)
        target_side = _side(*targets)  # type: ignore[arg-type]
        self.psi = target_side.features
        if compression is None:
            self.rows = self.rows._replace(coordinates=target_side.features[None])
        self._arrays += [*_flat(target_side), _directions(moment), y]
        self._table = table_of(self._arrays)
        kernel = partial(bound(learn_numbers, self._table, self.x), self._table)
        everything = 0 if y.size == 1 else slice(None)  # a single number is put in faster

        def learn(x: Floats, target: LeanTarget) -> int:
            y[everything] = target
            return kernel(x)

        self.learn = learn

    def renew(self, moment: Moment) -> None:
        """Go on with a compressed moment whose directions are more, or others, than before."""
        self._arrays[MOMENT:SETTINGS] = kept = self._kept(moment)
        self._arrays[DIRECTIONS] = directions = _directions(moment)
        _enter(self._table, moment.arrays, tuple(kept[SCRATCH - MOMENT :]), directions)

    def _kept(self, moment: Moment) -> list[Floats]:
        """The moment's arrays and the scratch that goes with its width."""
        width, D = moment.arrays.sums.shape
        coordinates, dropped = np.zeros((1, width)), np.zeros(1)
        self.rows = EncodedRows(self.features[None], coordinates, np.ones(1), dropped)
        return [*moment.arrays, coordinates[0], np.empty(D), np.empty(width), dropped]

    @staticmethod
    def fits(inputs: Side, targets: Side, moment: Moment) -> bool:
        """Whether a pipeline is of the kind this serves."""
        standardizer, input_map = inputs
        if type(moment) is not CrossMoment:
            return False
        if type(standardizer) is not CausalStandardizer or type(input_map) is not FourierMap:
            return False
        if isinstance(targets[1], OneHotMap):
            return moment.width > 0
        return (
            type(targets[1]) is FourierMap
            and type(targets[0]) is CausalStandardizer
            and targets[0].rule == standardizer.rule
            and targets[0].forgetting == standardizer.forgetting
            and (moment.compression is None or moment.width == moment.compression.rank > 0)
        )


def _directions(moment: Moment) -> Floats:
    """The directions that a target is compressed to; none where it is not."""
    if moment.compression is None:
        return np.zeros((0, 1))
    return moment.compression.directions[: moment.width].copy()


def _side(standardizer: CausalStandardizer, feature_map: FourierMap) -> "FrontArrays":
    """Collect what one side's front end needs; kernels want plain, writable arrays."""
    d = feature_map.n_inputs
    return FrontArrays(
        standardizer.arrays,
        feature_map.weights.copy(),
        feature_map.phases.copy(),
        np.ones(d),
        np.zeros(feature_map.n_features),
    )


class FrontArrays(NamedTuple):
    """One side's front end: standardiser, map, and scratch for one row."""

    state: StandardizerArrays
    weights: Floats
    phases: Floats
    row: Floats
    features: Floats


def _flat(side: FrontArrays) -> list[Floats]:
    """The arrays of one side, in the order of :func:`front_at`."""
    return [*side.state, *side[1:]]


class LaneSettings(NamedTuple):
    """Numbers that do not change along a stream."""

    rule: VarianceRule
    forgetting: float
    standardizer_forgetting: float
    tolerance: float
    largest: float


#: Where things begin in the table of arrays; a side takes seven places, a moment four.
INPUTS, MOMENT, SCRATCH, SETTINGS, TARGETS, DIRECTIONS, RESPONSE = 0, 7, 11, 15, 16, 23, 24


@compiled
def front_at(table: Integers, start: int) -> FrontArrays:
    """One side, from the table."""
    return FrontArrays(
        StandardizerArrays(
            vector_at(table, start), vector_at(table, start + 1), vector_at(table, start + 2)
        ),
        matrix_at(table, start + 3),
        vector_at(table, start + 4),
        vector_at(table, start + 5),
        vector_at(table, start + 6),
    )


@compiled
def moment_at(table: Integers) -> MomentArrays:
    """The moment, from the table."""
    return MomentArrays(
        matrix_at(table, MOMENT),
        vector_at(table, MOMENT + 1),
        vector_at(table, MOMENT + 2),
        vector_at(table, MOMENT + 3),
    )


@compiled
def _enter(
    table: Integers,
    moment: MomentArrays,
    scratch: tuple[Floats, ...],
    directions: Floats,
) -> None:
    """Put what belongs to a moment into the table, quicker than making it anew."""
    enter_matrix(table, MOMENT, moment.sums)
    enter_vector(table, MOMENT + 1, moment.left_mean)
    enter_vector(table, MOMENT + 2, moment.right_mean)
    enter_vector(table, MOMENT + 3, moment.totals)
    for i in range(len(scratch)):
        enter_vector(table, SCRATCH + i, scratch[i])
    enter_matrix(table, DIRECTIONS, directions)


@compiled
def settings_at(table: Integers) -> LaneSettings:
    """The settings, from the table."""
    n = vector_at(table, SETTINGS)
    return LaneSettings(VarianceRule(n[0], n[1], n[2], n[3], n[4]), n[5], n[6], n[7], n[8])


@compiled
def front(side: FrontArrays, x: Floats, settings: LaneSettings) -> bool:
    """Leave the features of ``x``, standardised with the past, in ``side.features``.

    False where a standardised value is so large that its features may be no numbers.
    """
    row = side.row
    divisors(side.state, settings.rule, row)
    for j in range(x.shape[0]):
        row[j] = (x[j] - side.state.mean[j]) / row[j]
    np.dot(side.weights, row, side.features)
    cosine_row(side.features, side.phases, np.sqrt(2.0 / side.features.shape[0]))
    return is_usable(row, settings.largest)


@compiled
def is_usable(x: Floats, largest: float) -> bool:
    """Whether every value is finite and small enough to be squared."""
    bad = 0
    for j in range(x.shape[0]):
        bad += not abs(x[j]) <= largest
    return bad == 0


@compiled
def learn_label(table: Integers, x: Floats, column: int) -> int:
    """Learn a row with the label of a column."""
    settings, psi = settings_at(table), vector_at(table, SCRATCH)
    if column >= psi.shape[0] or not is_usable(x, settings.largest):
        return DECLINED
    inputs = front_at(table, INPUTS)
    if not front(inputs, x, settings):
        return DECLINED
    for j in range(psi.shape[0]):
        psi[j] = 1.0 if j == column else 0.0
    weights = 1.0, settings.forgetting, 0.0
    left, right = vector_at(table, SCRATCH + 1), vector_at(table, SCRATCH + 2)
    add_row(moment_at(table), inputs.features, psi, weights, left, right)
    learn_row(inputs.state, x, 1.0, settings.standardizer_forgetting)
    return LEARNED_CONSTANT if varies_by_rounding(inputs.state) else LEARNED


@compiled
def learn_numbers(table: Integers, x: Floats) -> int:
    """Learn a row with a numeric response; without directions, the target is not compressed."""
    settings, y = settings_at(table), vector_at(table, RESPONSE)
    if not (is_usable(x, settings.largest) and is_usable(y, settings.largest)):
        return DECLINED
    inputs, targets = front_at(table, INPUTS), front_at(table, TARGETS)
    psi, dropped = vector_at(table, SCRATCH), vector_at(table, SCRATCH + 3)
    if not (front(targets, y, settings) and front(inputs, x, settings)):
        return DECLINED
    directions = matrix_at(table, DIRECTIONS)
    if directions.shape[0] > 0:
        square, dropped[0] = _encode(targets.features, directions, psi)
        if not dropped[0] <= settings.tolerance * settings.tolerance * square:
            return NEW_DIRECTION
    else:
        psi = targets.features
    weights = 1.0, settings.forgetting, dropped[0]
    left, right = vector_at(table, SCRATCH + 1), vector_at(table, SCRATCH + 2)
    add_row(moment_at(table), inputs.features, psi, weights, left, right)
    learn_row(inputs.state, x, 1.0, settings.standardizer_forgetting)
    learn_row(targets.state, y, 1.0, settings.standardizer_forgetting)
    is_constant = varies_by_rounding(inputs.state) or varies_by_rounding(targets.state)
    return LEARNED_CONSTANT if is_constant else LEARNED


@compiled
def _encode(psi: Floats, directions: Floats, coordinates: Floats) -> tuple[float, float]:
    """Coordinates along the directions; return the squared norms of psi and of what is outside."""
    np.dot(directions, psi, coordinates)
    inside = np.dot(coordinates, directions)
    square, outside = 0.0, 0.0
    for j in range(psi.shape[0]):
        square += psi[j] * psi[j]
        outside += (psi[j] - inside[j]) ** 2
    return square, outside
