r"""Standardisation of sparse rows: scaled, not centred, since centring would fill them.

Per column the stored entries are kept as their total weight ``w``, mean ``m`` and variance ``v``;
all others are zeros.  With the total weight ``W`` of all rows, Chan's formula for the two groups
gives the variance of the whole column::

    s = w / W,      variance = s v + s (1 - s) m^2,

so a row costs as much as it has entries.  Rows are scanned one by one, as dense rows are.
"""

from typing import Any, Self

import numpy as np

from okspca.errors import MergeError
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import compiled
from okspca.numerics.running import pooled_mean, pooled_variance, update_mean_variance
from okspca.numerics.sparse import canonical, divided
from okspca.standardize.base import RunningStandardizer
from okspca.standardize.causal import CausalStandardizer
from okspca.standardize.frozen import FrozenStandardizer
from okspca.standardize.variance import (
    RELATIVE,
    ROWS,
    WEIGHT,
    StandardizerArrays,
    VarianceRule,
    divisors,
)


class SparseStandardizer(RunningStandardizer):
    """Running variances of sparse columns, used to scale before they are updated.

    Parameters
    ----------
    n_features : int
        Number of columns.
    rule : VarianceRule
        When to divide by the standard deviation.

    Attributes
    ----------
    weights, mean, variance : ndarray of shape (n_features,)
        Of the stored entries of each column.
    counts : ndarray of shape (2,)
        Total weight and number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> standardizer = SparseStandardizer(2)
    >>> rows = csr_array(np.array([[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]]))
    >>> standardizer.scan(rows, np.ones(3)).toarray().tolist()
    [[2.0, 0.0], [0.0, 1.0], [3.0, 0.0]]
    >>> standardizer.scale().round(6).tolist()
    [1.247219, 0.471405]
    """

    def __init__(self, n_features: int, rule: VarianceRule = RELATIVE) -> None:
        super().__init__(n_features, rule)
        self.weights = np.zeros(n_features)

    def whole(self) -> StandardizerArrays:
        """Means and variances of the whole columns, zeros included."""
        total = max(float(self.counts[WEIGHT]), np.finfo(np.float64).tiny)
        share = self.weights / total
        zeros = np.zeros_like(self.mean)
        variance = pooled_variance(zeros, self.variance, self.mean, share)
        return StandardizerArrays(share * self.mean, variance, self.counts)

    def transform(self, X: Any) -> Any:
        """Scale rows with the present state; learn nothing."""
        return divided(canonical(X), self.divisors())

    def scan(self, X: Any, weights: Floats) -> Any:
        """Scale each row with the rows before it, then learn it."""
        rows = canonical(X)
        scaled = rows.copy()
        indices = (rows.indices.astype(np.int64), rows.indptr.astype(np.int64))
        state = self.weights, self.mean, self.variance, self.counts
        _scan(rows.data, indices, weights, state, self.rule, scaled.data)
        return scaled

    def merge(self, other: Self) -> None:
        """Merge the columns of two disjoint sets of rows."""
        if self.rule != other.rule:
            message = "The standardisers differ in their variance rule."
            raise MergeError(message)
        total = self.weights + other.weights
        share: Any = np.divide(other.weights, total, out=np.zeros_like(total), where=total > 0.0)
        difference = other.mean - self.mean
        self.variance = pooled_variance(self.variance, other.variance, difference, share)
        self.mean = pooled_mean(self.mean, other.mean, share)
        self.weights = total
        self.counts = self.counts + other.counts


def freeze(standardizer: CausalStandardizer | SparseStandardizer) -> FrozenStandardizer:
    """Fix the present state: mean and scale, or the scale alone where rows are sparse."""
    # Sparse rows are not centred: subtracting a mean would fill them.
    if isinstance(standardizer, SparseStandardizer):
        return FrozenStandardizer(np.zeros_like(standardizer.mean), standardizer.scale())
    return FrozenStandardizer.of(standardizer)


@compiled
def _scan(
    values: Floats,
    places: tuple[Integers, Integers],
    weights: Floats,
    state: tuple[Floats, Floats, Floats, Floats],
    rule: VarianceRule,
    scaled: Floats,
) -> None:
    """Scale each row with the past, then learn it; ``places``: columns, and where rows begin."""
    columns, starts = places
    held, mean, variance, counts = state
    whole, divisor = (np.zeros(1), np.zeros(1)), np.ones(1)
    for i in range(weights.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            # Before the first row the zeros in `whole` say that nothing is known.
            if counts[WEIGHT] > 0.0:
                share = held[j] / counts[WEIGHT]
                whole[0][0] = share * mean[j]
                whole[1][0] = pooled_variance(0.0, variance[j], mean[j], share)
            divisors(StandardizerArrays(whole[0], whole[1], counts), rule, divisor)
            scaled[k] = values[k] / divisor[0]
        # A row is learned only when all of it is scaled.
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            held[j] += weights[i]
            one = slice(j, j + 1)
            ratio = weights[i] / held[j]
            update_mean_variance(mean[one], variance[one], values[k : k + 1], ratio)
        counts[WEIGHT] += weights[i]
        counts[ROWS] += 1.0
