r"""What stands for a missing value: the mean of its column over the earlier rows that have one.

Per column j, over the rows before row i in which x_j is there, with weights w::

    s_j = Σ w x_j,    n_j = Σ w,    x_ij := s_j / n_j   where x_ij is missing (0 while n_j = 0).

A value that was filled in changes neither sum.  Where earlier rows are forgotten, both sums fade
with every row in which the column has a value.  Rows are scanned one by one by one compiled
kernel, so where a block ends decides nothing.  In sparse rows only entries that are stored as NaN
are missing; all others that are not stored are zeros and count as such.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from okspca.errors import MergeError
from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import compiled
from okspca.numerics.running import update_mean_variance
from okspca.numerics.sparse import canonical


class Means(NamedTuple):
    """Running means of the values that are there.

    Attributes
    ----------
    sums, weights : ndarray of shape (d,)
        Of the values of each column; for sparse rows the weights are those of the missing ones,
        with a minus sign, to be added to ``total``.
    total : float
        Total weight of sparse rows; zero for dense ones.
    fixed : bool
        Whether the means stay as they are.

    Examples
    --------
    >>> X = np.array([[np.nan], [2.0], [4.0], [np.nan]])
    >>> means, filled = Means.start(1).learn(X, np.ones(4))
    >>> filled.ravel().tolist(), means.values().tolist()
    ([0.0, 2.0, 4.0, 3.0], [3.0])
    """

    sums: Floats
    weights: Floats
    total: float = 0.0
    fixed: bool = False

    @classmethod
    def start(cls, n_columns: int) -> Self:
        """Nothing is known yet."""
        return cls(np.zeros(n_columns), np.zeros(n_columns))

    @classmethod
    def at(cls, means: Floats) -> Self:
        """Means that stay as they are."""
        return cls(np.array(means, dtype=np.float64), np.ones(len(means)), fixed=True)

    def values(self) -> Floats:
        """The means; zero where no value was seen."""
        weights = self.total + self.weights
        found: Floats = np.divide(
            self.sums, weights, out=np.zeros_like(self.sums), where=weights > 0.0
        )
        return found

    def filled(self, X: Any) -> Any:
        """Rows with the present means where values are missing; learns nothing."""
        if not issparse(X):
            return np.where(np.isnan(X), self.values(), X)
        rows = canonical(X).copy()
        absent = np.isnan(rows.data)
        rows.data[absent] = self.values()[rows.indices[absent]]
        return rows

    def learn(self, X: Any, weights: Floats, forgetting: float = 1.0) -> tuple[Self, Any]:
        """Fill each row with the means of the rows before it, then learn what it has."""
        if self.fixed:
            return self, self.filled(X)
        sums, held = self.sums.copy(), self.weights.copy()
        if not issparse(X):
            filled = np.array(X, dtype=np.float64, order="C")
            _scan(filled, weights, sums, held, forgetting)
            return self._replace(sums=sums, weights=held), filled
        rows = canonical(X).copy()
        places = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
        total = _scan_sparse(rows.data, places, weights, sums, held, self.total)
        return self._replace(sums=sums, weights=held, total=total), rows

    def merged(self, other: Self) -> Self:
        """The means over the rows of both."""
        if self.fixed or other.fixed:
            if not np.array_equal(self.values(), other.values()):
                message = "The models fill missing values with different fixed means."
                raise MergeError(message)
            return self if self.fixed else other
        return self._replace(
            sums=self.sums + other.sums,
            weights=self.weights + other.weights,
            total=self.total + other.total,
        )


def learn_present(X: Floats, weights: Floats, known: tuple[Floats, Floats, Floats]) -> None:
    """Learn mean, variance and weight of the values that are there, in place, column by column."""
    _learn_present(np.ascontiguousarray(X), weights, *known)


@compiled
def _learn_present(
    X: Floats, weights: Floats, mean: Floats, variance: Floats, held: Floats
) -> None:
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if not np.isnan(X[i, j]):
                held[j] += weights[i]
                one = slice(j, j + 1)
                ratio = weights[i] / held[j]
                update_mean_variance(mean[one], variance[one], X[i, one], ratio)


@compiled
def _scan(X: Floats, weights: Floats, sums: Floats, held: Floats, forgetting: float) -> None:
    """Fill rows in place, each with the means before it."""
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            if not np.isnan(X[i, j]):
                sums[j] = forgetting * sums[j] + weights[i] * X[i, j]
                held[j] = forgetting * held[j] + weights[i]
            elif held[j] > 0.0:
                X[i, j] = sums[j] / held[j]
            else:
                X[i, j] = 0.0


@compiled
def _scan_sparse(
    values: Floats,
    places: tuple[Integers, Integers],
    weights: Floats,
    sums: Floats,
    absent: Floats,
    total: float,
) -> float:
    """Fill the stored entries in place, and return the total weight; ``absent`` is negative."""
    columns, starts = places
    for i in range(weights.shape[0]):
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            if not np.isnan(values[k]):
                sums[j] += weights[i] * values[k]
            elif total + absent[j] > 0.0:
                values[k] = sums[j] / (total + absent[j])
                absent[j] -= weights[i]
            else:
                values[k] = 0.0
                absent[j] -= weights[i]
        total += weights[i]
    return total
