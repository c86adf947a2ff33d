r"""Single rows of models whose input features are computed in single precision.

They do what the kernels for double precision do, with features by
:func:`okspca.numerics.single.single_row`, which have the bits of a block.  A row too far out for
single precision is declined: the general path takes it.
"""

import numpy as np

from okspca.numerics.addresses import vector_at
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.numerics.matrix import row_product_into
from okspca.numerics.single import SingleArrays, single_row
from okspca.pipeline.fast_row_kernels import (
    DECLINED,
    INPUTS,
    RESPONSE,
    TARGETS,
    Settings,
    SideArrays,
    add_label,
    add_numbers,
    fill_features,
    is_usable,
    scratch_at,
    settings_at,
    side_at,
)
from okspca.standardize.variance import divisors


@compiled
def learn_single_label(
    table: Integers, arrays: SingleArrays, reach: float, x: Floats, column: int
) -> int:
    """Learn a row with the label of a column."""
    settings, scratch = settings_at(table), scratch_at(table)
    if column >= scratch.coordinates.shape[0] or not is_usable(x, settings.largest):
        return DECLINED
    inputs = side_at(table, INPUTS)
    if not _fill_single(inputs, arrays, reach, x, settings):
        return DECLINED
    return add_label(table, inputs, x, column, (settings, scratch))


@compiled
def learn_single_numbers(table: Integers, arrays: SingleArrays, reach: float, x: Floats) -> int:
    """Learn a row with a numeric response; without directions, the target is not compressed."""
    settings, y = settings_at(table), vector_at(table, RESPONSE)
    if not (is_usable(x, settings.largest) and is_usable(y, settings.largest)):
        return DECLINED
    inputs, targets = side_at(table, INPUTS), side_at(table, TARGETS)
    if not fill_features(targets, y, settings):
        return DECLINED
    if not _fill_single(inputs, arrays, reach, x, settings):
        return DECLINED
    return add_numbers(table, (inputs, targets), x, y, settings)


@compiled
def _fill_single(
    side: SideArrays, arrays: SingleArrays, reach: float, x: Floats, settings: Settings
) -> bool:
    """Leave the features of ``x``, standardised with the past, in ``side.features``."""
    row = side.row
    divisors(side.state, settings.rule, row)
    for j in range(x.shape[0]):
        row[j] = (x[j] - side.state.mean[j]) / row[j]
    return single_row(row, arrays, reach, side.features)


@compiled
def embed_single_row(
    x: Floats,
    units: tuple[Floats, Floats],
    arrays: SingleArrays,
    columns: Floats,
    limits: tuple[float, float],
) -> Floats:
    """Embed a row; nothing is returned where a value is not finite, too large or too far out.

    ``units``: what is subtracted and divided by; ``limits``: of a value, and of the norm of a row.
    """
    (mean, divisor), (largest, reach) = units, limits
    phi, out = np.empty(arrays.phases.shape[0]), np.empty(columns.shape[1])
    z = (x - mean) / divisor
    if not (is_usable(x, largest) and single_row(z, arrays, reach, phi)):
        return np.empty(0)
    row_product_into(phi, columns, out)
    return out


EMBED_SINGLE: BoundKernel[Floats] = BoundKernel(embed_single_row)
