r"""One compiled call that learns one row, and the table of arrays it works on.

The kernels reach the arrays of a state through a table of addresses
(:mod:`okspca.numerics.addresses`).  Where an array stands in the table follows from the fields of
the records below; a record that gets another field makes the unpacking of its places fail when this
module is imported.
"""

from typing import NamedTuple

import numpy as np

from okspca.moments.arrays import MomentArrays, add_row
from okspca.numerics.addresses import enter_matrix, enter_vector, matrix_at, vector_at
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import compiled
from okspca.numerics.cosine import cosine_row
from okspca.numerics.matrix import apply_into, combine_into
from okspca.standardize.causal import learn_row
from okspca.standardize.variance import (
    StandardizerArrays,
    VarianceRule,
    divisors,
    varies_by_rounding,
)

DECLINED, NEW_DIRECTION, LEARNED, LEARNED_CONSTANT = range(4)


class SideArrays(NamedTuple):
    """One side's front end: standardiser, map, and scratch for one row."""

    state: StandardizerArrays
    weights: Floats
    phases: Floats
    row: Floats
    features: Floats


class Scratch(NamedTuple):
    """Room for what is computed on the way, of the width of the moment."""

    coordinates: Floats
    left: Floats
    right: Floats
    dropped: Floats


class Settings(NamedTuple):
    """Numbers that do not change along a stream."""

    rule: VarianceRule
    forgetting: float
    standardizer_forgetting: float
    tolerance: float
    largest: float


def places(record: type[tuple[object, ...]], start: int = 0, *, without: int = 0) -> range:
    """Places of the fields of a record from ``start`` on, leaving out its first fields.

    Examples
    --------
    >>> places(Scratch, 10)
    range(10, 14)
    """
    names: tuple[str, ...] = record._fields  # type: ignore[attr-defined]
    return range(start, start + len(names) - without)


# Within a side, whose first field is a record itself; within the numbers of the settings likewise.
MEAN, VARIANCE, COUNTS = places(StandardizerArrays)
WEIGHTS, PHASES, ROW, FEATURES = places(SideArrays, COUNTS + 1, without=1)
CLAMP, ABSOLUTE, RELATIVE, UNKNOWN, LEAST_ROWS = places(VarianceRule)
FORGETTING, STANDARDIZER_FORGETTING, TOLERANCE, LARGEST = places(
    Settings, LEAST_ROWS + 1, without=1
)
# Within the table: a side, the moment, scratch, settings; for a numeric response also what it is,
# its side, and the directions that its features are compressed to.
INPUTS = 0
SUMS, LEFT_MEAN, RIGHT_MEAN, TOTALS = places(MomentArrays, INPUTS + FEATURES + 1)
COORDINATES, LEFT, RIGHT, DROPPED = places(Scratch, TOTALS + 1)
SETTINGS = DROPPED + 1
RESPONSE = SETTINGS + 1
TARGETS = RESPONSE + 1
DIRECTIONS = TARGETS + FEATURES + 1


def side_list(side: SideArrays) -> list[Floats]:
    """The arrays of one side, in the order of the table."""
    return [*side.state, *side[1:]]


def settings_array(settings: Settings) -> Floats:
    """The settings as one array."""
    return np.array([*settings.rule, *settings[1:]])


@compiled
def side_at(table: Integers, start: int) -> SideArrays:
    """One side, from the table."""
    return SideArrays(
        StandardizerArrays(
            vector_at(table, start + MEAN),
            vector_at(table, start + VARIANCE),
            vector_at(table, start + COUNTS),
        ),
        matrix_at(table, start + WEIGHTS),
        vector_at(table, start + PHASES),
        vector_at(table, start + ROW),
        vector_at(table, start + FEATURES),
    )


@compiled
def moment_at(table: Integers) -> MomentArrays:
    """The moment, from the table."""
    return MomentArrays(
        matrix_at(table, SUMS),
        vector_at(table, LEFT_MEAN),
        vector_at(table, RIGHT_MEAN),
        vector_at(table, TOTALS),
    )


@compiled
def scratch_at(table: Integers) -> Scratch:
    """The scratch, from the table."""
    return Scratch(
        vector_at(table, COORDINATES),
        vector_at(table, LEFT),
        vector_at(table, RIGHT),
        vector_at(table, DROPPED),
    )


@compiled
def settings_at(table: Integers) -> Settings:
    """The settings, from the table."""
    return settings_from(vector_at(table, SETTINGS))


@compiled
def settings_from(n: Floats) -> Settings:
    """The settings, from what :func:`settings_array` made of them."""
    rule = VarianceRule(n[CLAMP], n[ABSOLUTE], n[RELATIVE], n[UNKNOWN], n[LEAST_ROWS])
    return Settings(rule, n[FORGETTING], n[STANDARDIZER_FORGETTING], n[TOLERANCE], n[LARGEST])


@compiled
def enter_moment(
    table: Integers, moment: MomentArrays, scratch: Scratch, directions: Floats
) -> None:
    """Put what belongs to a moment into the table, quicker than making it anew."""
    enter_matrix(table, SUMS, moment.sums)
    enter_vector(table, LEFT_MEAN, moment.left_mean)
    enter_vector(table, RIGHT_MEAN, moment.right_mean)
    enter_vector(table, TOTALS, moment.totals)
    enter_vector(table, COORDINATES, scratch.coordinates)
    enter_vector(table, LEFT, scratch.left)
    enter_vector(table, RIGHT, scratch.right)
    enter_vector(table, DROPPED, scratch.dropped)
    enter_matrix(table, DIRECTIONS, directions)


@compiled
def fill_features(side: SideArrays, x: Floats, settings: Settings) -> bool:
    """Leave the features of ``x``, standardised with the past, in ``side.features``.

    False where a standardised value is so large that its features may not be finite.
    """
    row = side.row
    divisors(side.state, settings.rule, row)
    for j in range(x.shape[0]):
        row[j] = (x[j] - side.state.mean[j]) / row[j]
    apply_into(side.weights, row, side.features)
    cosine_row(side.features, side.phases, np.sqrt(2.0 / side.features.shape[0]))
    # Asked last: rows are usable as a rule, and whatever was filled in is scratch.
    return is_usable(row, settings.largest)


@compiled
def is_usable(x: Floats, largest: float) -> bool:
    """Whether every value is finite and small enough to be squared."""
    # Counting instead of leaving at the first lets the compiler take several values at once; the
    # comparison is negated so that it counts NaN too.
    bad = 0
    for j in range(x.shape[0]):
        bad += not abs(x[j]) <= largest
    return bad == 0


@compiled
def learn_label(table: Integers, x: Floats, column: int) -> int:
    """Learn a row with the label of a column."""
    settings, scratch = settings_at(table), scratch_at(table)
    if column >= scratch.coordinates.shape[0] or not is_usable(x, settings.largest):
        return DECLINED
    inputs = side_at(table, INPUTS)
    if not fill_features(inputs, x, settings):
        return DECLINED
    return add_label(table, inputs, x, column, (settings, scratch))


@compiled
def add_label(
    table: Integers, inputs: SideArrays, x: Floats, column: int, beside: tuple[Settings, Scratch]
) -> int:
    """Learn a row with a label, whose features are there; nothing here can decline it."""
    settings, scratch = beside
    psi = scratch.coordinates
    for j in range(psi.shape[0]):
        psi[j] = 1.0 if j == column else 0.0
    weights = 1.0, settings.forgetting, 0.0
    add_row(moment_at(table), inputs.features, psi, weights, scratch.left, scratch.right)
    learn_row(inputs.state, x, 1.0, settings.standardizer_forgetting)
    return LEARNED_CONSTANT if varies_by_rounding(inputs.state) else LEARNED


@compiled
def learn_numbers(table: Integers, x: Floats) -> int:
    """Learn a row with a numeric response; without directions, the target is not compressed."""
    settings, y = settings_at(table), vector_at(table, RESPONSE)
    if not (is_usable(x, settings.largest) and is_usable(y, settings.largest)):
        return DECLINED
    inputs, targets = side_at(table, INPUTS), side_at(table, TARGETS)
    if not (fill_features(targets, y, settings) and fill_features(inputs, x, settings)):
        return DECLINED
    return add_numbers(table, (inputs, targets), x, y, settings)


@compiled
def add_numbers(
    table: Integers, sides: tuple[SideArrays, SideArrays], x: Floats, y: Floats, settings: Settings
) -> int:
    """Learn a row with a numeric response, the features of both being there.

    Declined only where the target has a direction not met before.
    """
    (inputs, targets), scratch = sides, scratch_at(table)
    psi, dropped = scratch.coordinates, scratch.dropped
    directions = matrix_at(table, DIRECTIONS)
    if directions.shape[0] > 0:
        square, dropped[0] = _encode(targets.features, directions, psi)
        # Negated, so that a residual that is not a number asks for a direction as well.
        if not dropped[0] <= settings.tolerance * settings.tolerance * square:
            return NEW_DIRECTION
    else:
        psi = targets.features
    # From here on the row counts: nothing below can decline it.
    weights = 1.0, settings.forgetting, dropped[0]
    add_row(moment_at(table), inputs.features, psi, weights, scratch.left, scratch.right)
    learn_row(inputs.state, x, 1.0, settings.standardizer_forgetting)
    learn_row(targets.state, y, 1.0, settings.standardizer_forgetting)
    is_constant = varies_by_rounding(inputs.state) or varies_by_rounding(targets.state)
    return LEARNED_CONSTANT if is_constant else LEARNED


@compiled
def _encode(psi: Floats, directions: Floats, coordinates: Floats) -> tuple[float, float]:
    """Coordinates along the directions; return the squared norms of psi and of what is outside."""
    inside = np.empty(psi.shape[0])
    apply_into(directions, psi, coordinates)
    combine_into(coordinates, directions, inside)
    square, outside = 0.0, 0.0
    # The residual itself is summed: a difference of two squared norms would be all rounding.
    for j in range(psi.shape[0]):
        square += psi[j] * psi[j]
        outside += (psi[j] - inside[j]) ** 2
    return square, outside
