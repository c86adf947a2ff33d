r"""Causal standardisation: every row is transformed with what came *before* it, then learned.

State per coordinate: ``mean``, ``variance`` (divisor: total weight) and one ``count`` (total
weight, after forgetting).  Let ``n`` be the number of rows learned so far::

    n = 0:   z = x
    n = 1:   z = x - mean
    n >= 2:  z = (x - mean) / sqrt(variance)   where the variance rule allows a division
             z = x - mean                      elsewhere

Two variance rules are built in.  ``RELATIVE`` (the default for users) is free of the unit of
measurement: it divides unless the standard deviation is at rounding level of the mean, ``sd <= 16
eps |mean|``.  ``PAPER`` is the absolute floor of the paper: the variance is clamped below at 1e-8
and divided by only above 1e-7, so columns measured in small units stay unscaled.

Rows are always scanned one by one by one compiled kernel, so the state is the same to the last bit
whatever the block size.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import numpy as np

from okspca.errors import MergeError
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.running import pooled_mean, pooled_variance, update_mean_variance


class VarianceRule(NamedTuple):
    """When a coordinate is divided by its standard deviation.

    Attributes
    ----------
    clamp : float
        The variance is taken to be at least this.
    absolute : float
        Divide only above this variance ...
    relative : float
        ... and only where the standard deviation exceeds this multiple of ``|mean|``.

    Examples
    --------
    >>> PAPER.absolute, RELATIVE.absolute
    (1e-07, 0.0)
    """

    clamp: float
    absolute: float
    relative: float


PAPER = VarianceRule(clamp=1e-8, absolute=1e-7, relative=0.0)
RELATIVE = VarianceRule(clamp=0.0, absolute=0.0, relative=16.0 * float(np.finfo(np.float64).eps))


class Standardizer(ABC):
    """What a pipeline needs of a standardiser.

    ``transform`` only reads.  ``scan`` returns, for each row, what ``transform`` would have
    returned just before that row, and learns the rows on the way.
    """

    @abstractmethod
    def transform(self, X: Floats) -> Floats:
        """Standardise rows with the present state; learn nothing."""

    @abstractmethod
    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Standardise each row with the rows before it, then learn it."""

    @abstractmethod
    def merge(self, other: Self) -> None:
        """Pool another standardiser of the same kind into this one."""

    def is_constant(self) -> bool:
        """Tell whether the rows learned so far are known to be all alike, to rounding."""
        return False


class CausalStandardizer(Standardizer):
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
    count : float
        Total weight (after forgetting).
    rows : int
        Number of rows learned.

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
        self.rule = rule
        self.forgetting = forgetting
        self.mean = np.zeros(n_features)
        self.variance = np.zeros(n_features)
        self.count = 0.0
        self.rows = 0

    def transform(self, X: Floats) -> Floats:
        """Standardise rows with the present state; learn nothing."""
        return (X - self.mean) / self.scale()

    def scale(self) -> Floats:
        """Return what each coordinate is divided by: its standard deviation, or one."""
        divisor = np.empty_like(self.mean)
        _divisors(self.mean, self.variance, self.rows, self.rule, divisor)
        return divisor

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Standardise each row with the rows before it, then learn it."""
        Z = np.empty_like(X)
        self.count = _scan(
            X,
            weights,
            self.forgetting,
            self.rule,
            self.mean,
            self.variance,
            self.count,
            self.rows,
            Z,
        )
        self.rows += X.shape[0]
        return Z

    def merge(self, other: Self) -> None:
        """Pool the means and variances of two disjoint sets of rows (Chan's formula)."""
        if self.rule != other.rule or self.forgetting != other.forgetting:
            message = "The standardisers differ in their variance rule or forgetting factor."
            raise MergeError(message)
        total = self.count + other.count
        if total > 0.0:
            share = other.count / total
            difference = other.mean - self.mean
            self.variance = pooled_variance(self.variance, other.variance, difference, share)
            self.mean = pooled_mean(self.mean, other.mean, share)
        self.count = total
        self.rows += other.rows

    def is_constant(self) -> bool:
        """Tell whether every coordinate varies at rounding level only."""
        return bool(np.all(self.variance <= (RELATIVE.relative * self.mean) ** 2))


class FrozenStandardizer(Standardizer):
    """A fixed mean and scale, from a pilot sample or a first pass.

    With it the pipeline's features no longer depend on the order of the rows, so pooling shards
    gives what one sequential run would have given.

    Parameters
    ----------
    mean, scale : ndarray of shape (n_features,)
        Subtracted, then divided by.

    Examples
    --------
    >>> import numpy as np
    >>> pilot = CausalStandardizer(1)
    >>> _ = pilot.scan(np.array([[1.0], [3.0]]), np.ones(2))
    >>> FrozenStandardizer.of(pilot).transform(np.array([[5.0]])).tolist()
    [[3.0]]
    """

    def __init__(self, mean: Floats, scale: Floats) -> None:
        self.mean = np.array(mean, dtype=np.float64)
        self.divisor = np.array(scale, dtype=np.float64)

    @classmethod
    def of(cls, pilot: CausalStandardizer) -> Self:
        """Freeze the present state of a causal standardiser."""
        return cls(pilot.mean, pilot.scale())

    def transform(self, X: Floats) -> Floats:
        """Standardise rows with the fixed state."""
        return (X - self.mean) / self.divisor

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Same as :meth:`transform`: there is nothing to learn."""
        return self.transform(X)

    def merge(self, other: Self) -> None:
        """Accept only an identical standardiser."""
        same = np.array_equal(self.mean, other.mean)
        if not (same and np.array_equal(self.divisor, other.divisor)):
            message = "The frozen standardisers differ; pool states that share one standardiser."
            raise MergeError(message)


class NoStandardizer(Standardizer):
    """Rows pass unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> NoStandardizer().transform(np.array([[5.0]])).tolist()
    [[5.0]]
    """

    def transform(self, X: Floats) -> Floats:
        """Return the rows as they are."""
        return X

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Return the rows as they are."""
        return X

    def merge(self, other: Self) -> None:
        """Nothing to pool."""


@compiled
def _divisors(mean: Floats, variance: Floats, rows: int, rule: VarianceRule, out: Floats) -> None:
    """Fill ``out`` with the divisor of each coordinate after ``rows`` learned rows."""
    for j in range(mean.shape[0]):
        out[j] = 1.0
        if rows >= 2:
            held = max(variance[j], rule.clamp)
            rounding = rule.relative * abs(mean[j])
            if held > rule.absolute and np.sqrt(held) > rounding:
                out[j] = np.sqrt(held)


@compiled
def _scan(
    X: Floats,
    weights: Floats,
    forgetting: float,
    rule: VarianceRule,
    mean: Floats,
    variance: Floats,
    count: float,
    rows: int,
    Z: Floats,
) -> float:
    """Transform each row with the past, learn it, and return the new total weight."""
    divisor = np.ones(mean.shape[0])
    for i in range(X.shape[0]):
        # Before the first row the means are zero and the divisors one, so the row passes unchanged.
        _divisors(mean, variance, rows + i, rule, divisor)
        for j in range(mean.shape[0]):
            Z[i, j] = (X[i, j] - mean[j]) / divisor[j]
        count = forgetting * count + weights[i]
        update_mean_variance(mean, variance, X[i], weights[i] / count)
    return count
