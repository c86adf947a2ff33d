r"""Causal standardisation: every row is transformed with what came *before* it, then learned.

State per coordinate: ``mean``, ``variance`` (divisor: total weight) and one ``count`` (total
weight, after forgetting).  Let ``n`` be the number of rows learned so far::

    n = 0:   z = x
    n = 1:   z = x - mean
    n >= 2:  z = (x - mean) / sqrt(variance)   where the variance rule allows a division
             z = x - mean                      elsewhere

Where a division is allowed is said in :mod:`okspca.standardize.variance`.

Rows are always scanned one by one by one compiled kernel, so the state is the same to the last bit
whatever the block size.
"""

from typing import Self

import numpy as np

from okspca.errors import MergeError
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.running import pooled_mean, pooled_variance, update_mean_variance
from okspca.standardize.base import RunningStandardizer
from okspca.standardize.variance import (
    RELATIVE,
    ROWS,
    WEIGHT,
    StandardizerArrays,
    VarianceRule,
    divisors,
)


class CausalStandardizer(RunningStandardizer):
    """Running mean and variance, used before they are updated.

    Parameters
    ----------
    n_features : int
        Number of columns.
    rule : VarianceRule
        When to divide by the standard deviation.
    forgetting : float
        Factor applied to the weight of everything seen, once per row; 1 forgets nothing.

    Attributes
    ----------
    mean, variance : ndarray of shape (n_features,)
        Weighted running mean, and variance with the total weight as divisor.

    Examples
    --------
    >>> import numpy as np
    >>> standardizer = CausalStandardizer(1)
    >>> standardizer.scan(np.array([[2.0], [4.0], [5.0]]), np.ones(3)).ravel().tolist()
    [2.0, 2.0, 2.0]
    """

    def __init__(
        self, n_features: int, rule: VarianceRule = RELATIVE, forgetting: float = 1.0
    ) -> None:
        super().__init__(n_features, rule)
        self.forgetting = forgetting

    @property
    def count(self) -> float:
        """Total weight learned, after forgetting."""
        return float(self.counts[WEIGHT])

    def transform(self, X: Floats) -> Floats:
        """Standardise rows with the present state; learn nothing."""
        Z: Floats = X - self.mean
        Z /= self.divisors()
        return Z

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Standardise each row with the rows before it, then learn it."""
        # A copy: the kernel replaces rows as it learns them.
        Z = np.array(X, order="C")
        _scan(Z, weights, self.arrays, self.forgetting, self.rule)
        return Z

    @property
    def arrays(self) -> StandardizerArrays:
        """The live arrays, for kernels that change them in place."""
        return StandardizerArrays(self.mean, self.variance, self.counts)

    def whole(self) -> StandardizerArrays:
        """Means and variances of the columns: those it keeps."""
        return self.arrays

    def merge(self, other: Self) -> None:
        """Merge the means and variances of two disjoint sets of rows (Chan's formula)."""
        if self.rule != other.rule or self.forgetting != other.forgetting:
            message = "The standardisers differ in their variance rule or forgetting factor."
            raise MergeError(message)
        total = self.count + other.count
        # Two empty standardisers have no means to pool.
        if total > 0.0:
            share = other.count / total
            difference = other.mean - self.mean
            self.variance = pooled_variance(self.variance, other.variance, difference, share)
            self.mean = pooled_mean(self.mean, other.mean, share)
        self.counts[WEIGHT] = total
        self.counts[ROWS] += other.rows


@compiled
def learn_row(state: StandardizerArrays, row: Floats, weight: float, forgetting: float) -> None:
    """Learn one row, in place."""
    total = forgetting * state.counts[WEIGHT] + weight
    state.counts[WEIGHT] = total
    state.counts[ROWS] += 1.0
    update_mean_variance(state.mean, state.variance, row, weight / total)


@compiled
def _scan(
    Z: Floats, weights: Floats, state: StandardizerArrays, forgetting: float, rule: VarianceRule
) -> None:
    """Replace each row by what the past makes of it, then learn it as it was."""
    divisor, row = np.ones(Z.shape[1]), np.empty(Z.shape[1])
    for i in range(Z.shape[0]):
        # Before the first row the means are zero and, by a plain rule, the divisors one: it passes
        # unchanged.
        divisors(state, rule, divisor)
        for j in range(Z.shape[1]):
            row[j] = Z[i, j]
            Z[i, j] = (row[j] - state.mean[j]) / divisor[j]
        learn_row(state, row, weights[i], forgetting)
