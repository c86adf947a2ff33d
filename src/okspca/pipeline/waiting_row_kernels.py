r"""One compiled call that lets a row wait: it is standardised, kept, and learned by standardisers.

The kernels reach the arrays through a table of addresses, as those of
:mod:`okspca.pipeline.fast_row_kernels` do.
"""

import numpy as np

from okspca.numerics.addresses import matrix_at, vector_at
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import compiled
from okspca.pipeline.fast_row_kernels import (
    DECLINED,
    LEARNED,
    LEARNED_CONSTANT,
    is_usable,
    places,
    settings_from,
)
from okspca.standardize.causal import learn_row
from okspca.standardize.variance import StandardizerArrays, divisors, varies_by_rounding

# A side of the table: its standardiser, its settings, and the rows that wait.
MEAN, VARIANCE, COUNTS = places(StandardizerArrays)
SETTINGS, ROWS = COUNTS + 1, COUNTS + 2
# The table: inputs; for a numeric response its side, what it is, the same rows as deviations from
# an origin, and that origin.
INPUTS, TARGETS = 0, ROWS + 1
RESPONSE, LINEAR, ORIGIN = range(TARGETS + ROWS + 1, TARGETS + ROWS + 4)


@compiled
def let_label_wait(table: Integers, x: Floats, column: int, place: int) -> int:
    """Let a row with the label of a column wait at a place; the column is kept by the caller."""
    if not _is_placed(table, INPUTS, x, place):
        return DECLINED
    return LEARNED_CONSTANT if _learn(table, INPUTS, x) else LEARNED


@compiled
def let_numbers_wait(table: Integers, x: Floats, place: int) -> int:
    """Let a row with a numeric response wait at a place."""
    y, origin = vector_at(table, RESPONSE), vector_at(table, ORIGIN)
    linear = matrix_at(table, LINEAR)
    if not (_is_placed(table, TARGETS, y, place) and _is_placed(table, INPUTS, x, place)):
        return DECLINED
    for j in range(origin.shape[0]):
        linear[place, j] = y[j] - origin[j]
    # Both are learned, whatever the first says.
    inputs, targets = _learn(table, INPUTS, x), _learn(table, TARGETS, y)
    return LEARNED_CONSTANT if inputs or targets else LEARNED


@compiled
def _is_placed(table: Integers, side: int, x: Floats, place: int) -> bool:
    """Leave a row, standardised with the past, at its place; False where it is not usable."""
    settings = settings_from(vector_at(table, side + SETTINGS))
    if not is_usable(x, settings.largest):
        return False
    state, rows, divisor = _state_at(table, side), matrix_at(table, side + ROWS), np.empty(x.size)
    divisors(state, settings.rule, divisor)
    for j in range(x.shape[0]):
        rows[place, j] = (x[j] - state.mean[j]) / divisor[j]
    return is_usable(rows[place], settings.largest)


@compiled
def _learn(table: Integers, side: int, x: Floats) -> bool:
    """Let a standardiser learn a row; return whether all rows so far were alike."""
    state, settings = _state_at(table, side), settings_from(vector_at(table, side + SETTINGS))
    learn_row(state, x, 1.0, settings.standardizer_forgetting)
    return varies_by_rounding(state)


@compiled
def _state_at(table: Integers, side: int) -> StandardizerArrays:
    """The standardiser of a side."""
    return StandardizerArrays(
        vector_at(table, side + MEAN),
        vector_at(table, side + VARIANCE),
        vector_at(table, side + COUNTS),
    )
