r"""The lean lane: one compiled call learns one row, for the pipeline most people run.

It serves Fourier features of causally standardised inputs, with class labels or a compressed scalar
response, and a service that works on request.  The arithmetic is that of the block path, from the
same kernels.  Whatever is out of the ordinary (a value that is not finite, a class or a target
direction not met before) is declined *before* anything changes, and the general path takes over.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from okspca.features import FeatureMap, FourierMap, OneHotMap
from okspca.moments import CrossMoment
from okspca.moments.arrays import EncodedRows, MomentArrays, add_row
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import bound, compiled
from okspca.numerics.cosine import cosine_row
from okspca.standardize import (
    CausalStandardizer,
    Standardizer,
    StandardizerArrays,
    VarianceRule,
    divisors,
    learn_row,
    varies_by_rounding,
)

LARGEST = 1e150
DECLINED, LEARNED, LEARNED_CONSTANT = range(3)
Side = tuple[Standardizer, FeatureMap]


class Lane:
    """The fused kernel, bound to the arrays of one pipeline.

    It must be made anew whenever those arrays are replaced (a wider moment, a merge).

    Attributes
    ----------
    x, y : ndarray
        Where the caller puts the row; ``y`` is unused for labels.
    learn : callable
        Learns that row (labels: given its column).  Returns ``DECLINED`` where the general path
        must take it, ``LEARNED_CONSTANT`` where all inputs or all responses so far were alike.
    rows : EncodedRows
        The features and stored target coordinates of the row that was learned last.
    """

    x: Floats
    y: Floats
    rows: EncodedRows
    learn: Callable[..., int]

    def __init__(
        self, inputs: tuple[CausalStandardizer, FourierMap], targets: Side, moment: CrossMoment
    ) -> None:
        standardizer, input_map = inputs
        self.x, self.y = np.zeros(input_map.n_inputs), np.zeros(1)
        side = _side(standardizer, input_map)
        Phi = side.features[np.newaxis]
        arrays = moment.arrays
        width, D = arrays.sums.shape
        rows = EncodedRows(Phi, np.zeros((1, width)), np.ones(1), np.zeros(1))
        scratch = rows, np.empty(D), np.empty(width)
        self.rows = rows
        compression = moment.compression
        settings = LaneSettings(
            standardizer.rule,
            moment.forgetting,
            standardizer.forgetting,
            0.0 if compression is None else compression.tolerance,
            LARGEST,
        )
        if compression is None:
            label_arguments = (side, arrays, settings, scratch)
            kernel = bound(learn_label, self.x, 0, *label_arguments)
            self.learn = lambda column: kernel(self.x, column, *label_arguments)
            return
        target_side = _side(*targets)  # type: ignore[arg-type]
        directions = compression.directions[:width].copy()
        arguments = (self.x, self.y, side, target_side, directions, arrays, settings, scratch)
        number_kernel = bound(learn_number, *arguments)
        self.learn = lambda: number_kernel(*arguments)

    @staticmethod
    def fits(inputs: Side, targets: Side, moment: CrossMoment) -> bool:
        """Whether a pipeline is of the kind this serves."""
        standardizer, input_map = inputs
        if type(standardizer) is not CausalStandardizer or type(input_map) is not FourierMap:
            return False
        if isinstance(targets[1], OneHotMap):
            return moment.width > 0
        return (
            moment.compression is not None
            and moment.width == moment.compression.rank > 0
            and type(targets[0]) is CausalStandardizer
            and targets[0].rule == standardizer.rule
            and targets[0].forgetting == standardizer.forgetting
        )


def _side(standardizer: CausalStandardizer, feature_map: FourierMap) -> "FrontArrays":
    """Collect what one side's front end needs; kernels want plain, writable arrays."""
    d = feature_map.n_inputs
    return FrontArrays(
        standardizer.arrays,
        feature_map.weights.copy(),
        feature_map.phases.copy(),
        np.ones(d),
        np.zeros(d),
        np.zeros(feature_map.n_features),
    )


class FrontArrays(NamedTuple):
    """One side's front end: standardiser, map, and scratch for one row."""

    state: StandardizerArrays
    weights: Floats
    phases: Floats
    divisor: Floats
    row: Floats
    features: Floats


class LaneSettings(NamedTuple):
    """Numbers that do not change along a stream."""

    rule: VarianceRule
    forgetting: float
    standardizer_forgetting: float
    tolerance: float
    largest: float


@compiled
def front(side: FrontArrays, x: Floats, rule: VarianceRule) -> None:
    """Leave the features of ``x``, standardised with the past, in ``side.features``."""
    divisors(side.state, rule, side.divisor)
    for j in range(x.shape[0]):
        side.row[j] = (x[j] - side.state.mean[j]) / side.divisor[j]
    np.dot(side.weights, side.row, side.features)
    cosine_row(side.features, side.phases, np.sqrt(2.0 / side.features.shape[0]))


@compiled
def is_usable(x: Floats, largest: float) -> bool:
    """Whether every value is finite and small enough to be squared."""
    bad = 0
    for j in range(x.shape[0]):
        bad += not abs(x[j]) <= largest
    return bad == 0


@compiled
def learn_label(
    x: Floats,
    column: int,
    inputs: FrontArrays,
    moment: MomentArrays,
    settings: LaneSettings,
    scratch: tuple[EncodedRows, Floats, Floats],
) -> int:
    """Learn a row with the label of a known column."""
    if not is_usable(x, settings.largest):
        return DECLINED
    rows, left, right = scratch
    front(inputs, x, settings.rule)
    for j in range(right.shape[0]):
        rows.coordinates[0, j] = 1.0 if j == column else 0.0
    add_row(moment, rows, 0, settings.forgetting, left, right)
    learn_row(inputs.state, x, 1.0, settings.standardizer_forgetting)
    return LEARNED_CONSTANT if varies_by_rounding(inputs.state) else LEARNED


@compiled
def learn_number(
    x: Floats,
    y: Floats,
    inputs: FrontArrays,
    targets: FrontArrays,
    directions: Floats,
    moment: MomentArrays,
    settings: LaneSettings,
    scratch: tuple[EncodedRows, Floats, Floats],
) -> int:
    """Learn a row with a scalar response."""
    if not (is_usable(x, settings.largest) and is_usable(y, settings.largest)):
        return DECLINED
    rows, left, right = scratch
    front(targets, y, settings.rule)
    square, dropped = _encode(targets.features, directions, rows.coordinates[0])
    if not dropped <= settings.tolerance * settings.tolerance * square:
        return DECLINED
    rows.dropped[0] = dropped
    front(inputs, x, settings.rule)
    add_row(moment, rows, 0, settings.forgetting, left, right)
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
