r"""Running means, variances and centred co-moments: the recursions, each in one place.

With total weight ``W``, a new observation of weight ``w`` and a forgetting factor ``g`` applied to
everything before it::

    W' = g W + w,    r = w / W',    d = a - mean,    mean' = mean + r d,

    variance'  = (1 - r) (variance + r d^2)                 (divisor W')
    comoment'  = g comoment + (g W r) d_left d_right^T      (a sum, not divided)

Two totals ``1, 2`` pool by Chan's formula: with ``d = mean_2 - mean_1`` and ``W = W_1 + W_2``::

    mean = mean_1 + (W_2 / W) d,
    comoment = comoment_1 + comoment_2 + (W_1 W_2 / W) d_left d_right^T.
"""

from typing import Any, TypeVar

from numba.extending import register_jitable

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled

#: One number, or one per coordinate.
Numbers = TypeVar("Numbers", float, Floats)


@compiled
def update_mean_variance(mean: Floats, variance: Floats, row: Floats, ratio: float) -> None:
    """Welford's step on every coordinate, in place, with ``ratio = w / W'``."""
    for j in range(mean.shape[0]):
        deviation = row[j] - mean[j]
        mean[j] += ratio * deviation
        change = ratio * (deviation * (row[j] - mean[j]) - variance[j])
        # Where one row outweighs all others, rounding could leave less than nothing.
        variance[j] = max(variance[j] + change, 0.0)


@compiled
def update_comoment(comoment: Floats, left: Floats, right: Floats, scale: float, g: float) -> None:
    """Apply ``comoment' = g comoment + scale right left^T`` in place (rows belong to ``right``)."""
    for i in range(right.shape[0]):
        factor = scale * right[i]
        # The usual case: one multiplication less per entry, and the same bits as with a factor of
        # 1.
        if g == 1.0:
            for j in range(left.shape[0]):
                comoment[i, j] += factor * left[j]
        else:
            for j in range(left.shape[0]):
                comoment[i, j] = g * comoment[i, j] + factor * left[j]


def pooled_mean(mean_1: Floats, mean_2: Floats, share_2: float) -> Floats:
    """Mean of two pooled totals, the second holding the fraction ``share_2`` of the weight."""
    return mean_1 + share_2 * (mean_2 - mean_1)


@register_jitable  # kernels use it for single numbers
def pooled_variance(
    variance_1: Numbers, variance_2: Numbers, difference: Numbers, share_2: Any
) -> Numbers:
    """Variance (divisor: weight) of two pooled totals whose means differ by ``difference``."""
    within = variance_1 + share_2 * (variance_2 - variance_1)
    return within + share_2 * (1.0 - share_2) * difference * difference
