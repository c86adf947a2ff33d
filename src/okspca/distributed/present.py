"""What a survey must know of columns in which values are missing.

With the share p of a column's weight that is there, its mean μ and its variance v, the column that
is completed by μ has mean μ and variance p v, and its indicator has mean 1 - p and variance
p (1 - p): what one sequential pass would have found.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import csr_array, issparse

from okspca.estimators.filling import Means, learn_present
from okspca.numerics.arrays import Floats
from okspca.numerics.running import pooled_mean, pooled_variance
from okspca.standardize import CausalStandardizer, FrozenStandardizer
from okspca.standardize.sparse import SparseStandardizer
from okspca.standardize.variance import ROWS, WEIGHT
from okspca.state.fields import Sink, Source

Inputs = CausalStandardizer | SparseStandardizer


class PresentInputs(NamedTuple):
    """Sums over the values that are there; a standardiser beside it holds means and variances.

    Examples
    --------
    >>> inputs = CausalStandardizer(1)
    >>> X = np.array([[1.0], [np.nan], [3.0], [np.nan]])
    >>> present = PresentInputs.start(1).learn(inputs, X, np.ones(4))
    >>> frozen = present.frozen(inputs)
    >>> frozen.mean.tolist(), (frozen.divisor**2).round(12).tolist()
    ([2.0], [0.5])
    """

    means: Means

    @classmethod
    def start(cls, n_columns: int) -> Self:
        """No row was seen yet."""
        return cls(Means.start(n_columns))

    def learn(self, inputs: Inputs, X: Any, weights: Floats) -> Self:
        """Look at rows, NaN where a value is missing; the standardiser learns the others."""
        means = self.means.learn(X, weights)[0]
        if isinstance(inputs, SparseStandardizer):
            inputs.scan(_stored(X), weights)
        else:
            # The weights before these rows; the sums of the means go on from there alike.
            learn_present(X, weights, (inputs.mean, inputs.variance, self.means.weights.copy()))
            inputs.counts[WEIGHT] += weights.sum()
            inputs.counts[ROWS] += len(weights)
        return self._replace(means=means)

    def merged(self, other: Self, inputs: tuple[Inputs, Inputs]) -> Self:
        """Add the columns of another survey, whose standardiser is merged into the first."""
        mine, theirs = inputs
        if isinstance(mine, SparseStandardizer) and isinstance(theirs, SparseStandardizer):
            mine.merge(theirs)
        else:
            here, there = self.means.weights, other.means.weights
            total = here + there
            share: Any = np.divide(there, total, out=np.zeros_like(total), where=total > 0.0)
            apart = theirs.mean - mine.mean
            mine.variance = pooled_variance(mine.variance, theirs.variance, apart, share)
            mine.mean = pooled_mean(mine.mean, theirs.mean, share)
            mine.counts = mine.counts + theirs.counts
        return self._replace(means=self.means.merged(other.means))

    def frozen(self, inputs: Inputs, *, indicators: bool = False) -> FrozenStandardizer:
        """The standardiser of completed columns and, if asked for, of their indicators."""
        total = float(inputs.counts[WEIGHT])
        share = (self.means.total + self.means.weights) / total
        whole = inputs.whole()
        mean, variance = whole.mean, share * whole.variance
        if isinstance(inputs, SparseStandardizer):
            variance = self._sparse_variance(inputs, share * total) * share
        if indicators:
            mean = np.concatenate([mean, 1.0 - share])
            variance = np.concatenate([variance, share * (1.0 - share)])
        like = CausalStandardizer(len(mean), inputs.rule)
        like.mean, like.variance, like.counts = mean, variance, inputs.counts.copy()
        is_sparse = isinstance(inputs, SparseStandardizer)
        return FrozenStandardizer(np.zeros_like(mean) if is_sparse else mean, like.scale())

    def write(self, sink: Sink) -> None:
        """Write the sums."""
        sink.array("sums", self.means.sums)
        sink.array("weights", self.means.weights)
        sink.put("total", self.means.total)

    @classmethod
    def read(cls, source: Source, n_columns: int) -> Self:
        """Read the sums."""
        sums, weights = (source.array(name, (n_columns,)) for name in ("sums", "weights"))
        means = Means(sums, weights, source.number("total", least=0.0))
        source.close()
        return cls(means)

    def _sparse_variance(self, inputs: SparseStandardizer, present: Floats) -> Floats:
        """Variance of the values that are there, zeros included."""
        share: Any = np.divide(
            inputs.weights, present, out=np.zeros_like(present), where=present > 0.0
        )
        zeros = np.zeros_like(inputs.mean)
        return pooled_variance(zeros, inputs.variance, inputs.mean, share)


def _stored(X: Any) -> Any:
    """Sparse rows without the entries that are missing."""
    assert issparse(X)
    rows = csr_array(X)
    kept = ~np.isnan(rows.data)
    starts = np.concatenate([[0], np.cumsum(kept)])[rows.indptr]
    return csr_array((rows.data[kept], rows.indices[kept], starts), rows.shape)
