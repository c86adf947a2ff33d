r"""Features with names that may appear and disappear, as columns of a map that grows.

A column of the random map belongs to the *name* of a feature: its frequencies are drawn from the
seed and the name, so neither the order of the features nor the time at which one appears matters.
Each feature is standardised by the rows in which it was present.  An absent feature counts as its
own mean, zero after standardising, which adds nothing to ``W z``; so rows before a feature appeared
are what they would have been with it absent, and growing the map is exact.
"""

import zlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.random import RandomState

from okspca.errors import DataError
from okspca.estimators.missing import as_array, missing_entries
from okspca.features import FourierMap
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.numerics.compiled import BoundKernel, compiled
from okspca.standardize import RELATIVE, StandardizerArrays, VarianceRule
from okspca.standardize.causal import learn_row
from okspca.standardize.variance import divisors


class NamedFeatures:
    """Columns by name: running means and variances, and the frequencies of the map.

    Rows are matrices with one column per known name, NaN where a feature is absent, after a first
    column that is always zero: a map needs one, and a row may have no features at all.

    Parameters
    ----------
    n_features : int
        Number of random features.
    bandwidth : float
        Bandwidth of the Gaussian kernel on standardised inputs.
    seed : int
        Seed of frequencies and phases.

    Examples
    --------
    >>> named = NamedFeatures(4, bandwidth=1.0, seed=0)
    >>> named.learn_names(["b", "a"])
    >>> named.scan(named.rows([{"b": 1.0}, {"a": 5.0, "b": 3.0}])).tolist()
    [[0.0, 0.0, 1.0], [0.0, 5.0, 2.0]]
    """

    def __init__(self, n_features: int, bandwidth: float, seed: int) -> None:
        self.bandwidth = bandwidth
        self.seed = seed
        self.columns: dict[Hashable, int] = {}
        self.mean, self.variance, self.counts = np.zeros(1), np.zeros(1), np.zeros((1, 2))
        self.weights = np.zeros((n_features, 1))
        self.phases = RandomState(seed).uniform(0.0, 2.0 * np.pi, n_features)

    def learn_names(self, names: Iterable[Hashable]) -> None:
        """Give a column to every name that has none."""
        new = sorted((name for name in names if name not in self.columns), key=str)
        for name in new:
            self.columns[name] = 1 + len(self.columns)
        if new:
            drawn = [self._frequencies(name) for name in new]
            self.weights = np.column_stack([self.weights, *drawn])
            self.mean, self.variance = (
                np.append(part, np.zeros(len(new))) for part in (self.mean, self.variance)
            )
            self.counts = np.vstack([self.counts, np.zeros((len(new), 2))])

    def statistics(self) -> tuple[Floats, Floats, Floats]:
        """Copies of the means, variances and counts."""
        return self.mean.copy(), self.variance.copy(), self.counts.copy()

    def map(self) -> FourierMap:
        """The map over the columns known so far."""
        return FourierMap(self.weights, self.phases)

    def rows(self, dictionaries: Sequence[Mapping[Any, Any]]) -> Floats:
        """Turn dictionaries into rows; names without a column are left out."""
        rows = self._absent(len(dictionaries))
        for row, x in zip(rows, dictionaries, strict=True):
            for name, value in x.items():
                column = self.columns.get(name)
                if column is not None:
                    row[column] = _number(name, value)
        return rows

    def frame_rows(self, X: Any) -> Floats:
        """Turn a data frame into rows; names without a column are left out."""
        rows = self._absent(len(X))
        for name in X.columns:
            column = self.columns.get(name)
            if column is not None:
                try:
                    rows[:, column] = _numbers(X[name])
                except (TypeError, ValueError) as failure:
                    message = f"Feature {name!r} holds something that is no number ({failure})."
                    raise DataError(message) from failure
                for value in rows[:, column]:
                    _number(name, value)
        return rows

    def transform(self, rows: Floats) -> Floats:
        """Standardise rows with the present state; learn nothing."""
        return _SCANNED.code(rows, self.mean, self.variance, self.counts, RELATIVE, False)

    def scan(self, rows: Floats) -> Floats:
        """Standardise each row with the rows before it, then learn it."""
        return _SCANNED.code(rows, self.mean, self.variance, self.counts, RELATIVE, True)

    def _absent(self, n: int) -> Floats:
        """Rows without any feature."""
        rows = np.full((n, self.weights.shape[1]), np.nan)
        rows[:, 0] = 0.0
        return rows

    def _frequencies(self, name: Hashable) -> Floats:
        """Draw the frequencies of a feature from the seed and its name."""
        words = [self.seed, zlib.crc32(str(name).encode())]
        drawn: Floats = RandomState(words).standard_normal(len(self.phases))
        return drawn / self.bandwidth


def _numbers(values: Any) -> Floats:
    """One column as numbers, not a number where a value is missing."""
    array = as_array(values)
    missing = missing_entries(array)
    numbers = np.full(array.shape, np.nan)
    numbers[~missing] = np.asarray(array)[~missing].astype(np.float64)
    return numbers


def _number(name: Hashable, value: Any) -> float:
    """Check one value; None, NaN and other marks stand for a feature that is absent."""
    if not isinstance(value, float | int) and missing_entries(as_array(value)).any():
        return float("nan")
    try:
        number = float(value)
    except (TypeError, ValueError) as failure:
        message = f"Feature {name!r} is {value!r}, which is not a number; encode it first."
        raise DataError(message) from failure
    if abs(number) > LARGEST_VALUE:
        message = f"Feature {name!r} is {number:g}, beyond what can be squared; rescale it."
        raise DataError(message)
    return number


@compiled
def _scanned(
    rows: Floats, mean: Floats, variance: Floats, counts: Floats, rule: VarianceRule, learns: bool
) -> Floats:
    """Standardise each present value with the earlier ones of its column, then learn it."""
    Z = np.zeros(rows.shape)
    divisor = np.ones(1)
    for j in range(1, rows.shape[1]):
        state = StandardizerArrays(mean[j : j + 1], variance[j : j + 1], counts[j])
        for i in range(rows.shape[0]):
            value = rows[i, j]
            if np.isnan(value):
                continue
            divisors(state, rule, divisor)
            Z[i, j] = (value - mean[j]) / divisor[0]
            if learns:
                learn_row(state, rows[i, j : j + 1], 1.0, 1.0)
    return Z


_SCANNED: BoundKernel[Floats] = BoundKernel(_scanned)
