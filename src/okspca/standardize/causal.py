r"""Causal standardisation: every row is transformed with what came *before* it, then learned.

State per coordinate: ``mean``, ``variance`` (divisor: total weight) and one ``count`` (total
weight, after forgetting).  Let ``n`` be the number of rows learned so far::

    n = 0:   z = x
    n = 1:   z = x - mean
    n >= 2:  z = (x - mean) / sqrt(variance)   where the variance rule allows a division
             z = x - mean                      elsewhere

Bounded features make little of the first rows, which come in raw units.  Before features that grow
without bound, a *cautious* rule gives ``z = 0`` wherever nothing is divided, and divides from the
ninth row on only: two rows in a thousand units would outweigh all that come later.

Two variance rules are built in.  ``RELATIVE`` (the default for users) is free of the unit of
measurement: it divides unless the standard deviation is at rounding level of the mean, ``sd <= 16
eps |mean|`` (or below 1e-140, where squares lose their digits).  ``PAPER`` is the absolute floor of
the paper: the variance is clamped below at 1e-8 and divided by only above 1e-7, so columns measured
in small units stay unscaled.

Rows are always scanned one by one by one compiled kernel, so the state is the same to the last bit
whatever the block size.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, Self

import numpy as np
from scipy.sparse import issparse

from okspca.errors import MergeError
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.running import pooled_mean, pooled_variance, update_mean_variance
from okspca.numerics.sparse import divided


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
    unknown : float
        What to divide by elsewhere: one, or infinity (:attr:`cautious`).
    least_rows : float
        Divide only once so many rows were learned.

    Examples
    --------
    >>> PAPER.absolute, RELATIVE.absolute
    (1e-07, 1e-280)
    """

    clamp: float
    absolute: float
    relative: float
    unknown: float = 1.0
    least_rows: float = 2.0

    @property
    def cautious(self) -> "VarianceRule":
        """The same rule for what comes before unbounded features."""
        return self._replace(unknown=np.inf, least_rows=CAUTIOUS_ROWS)

    @property
    def plain(self) -> "VarianceRule":
        """The same rule for what comes before bounded features."""
        return VarianceRule(self.clamp, self.absolute, self.relative)


class StandardizerArrays(NamedTuple):
    """A causal standardiser as kernels see it; ``counts`` holds total weight and number of rows.

    Examples
    --------
    >>> CausalStandardizer(2).arrays.counts.tolist()
    [0.0, 0.0]
    """

    mean: Floats
    variance: Floats
    counts: Floats


WEIGHT, ROWS = range(2)
#: A standard deviation of fewer rows may be far too small.
CAUTIOUS_ROWS = 8.0
PAPER = VarianceRule(clamp=1e-8, absolute=1e-7, relative=0.0)
_ROUNDING = 16.0 * float(np.finfo(np.float64).eps)
RELATIVE = VarianceRule(clamp=0.0, absolute=1e-280, relative=_ROUNDING)


class Standardizer(ABC):
    """What a pipeline needs of a standardiser.

    ``transform`` only reads.  ``scan`` returns, for each row, what ``transform`` would have
    returned just before that row, and learns the rows on the way.

    Examples
    --------
    >>> issubclass(CausalStandardizer, Standardizer), issubclass(NoStandardizer, Standardizer)
    (True, True)
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

    @property
    def n_features(self) -> int | None:
        """Number of columns it takes; None where any number will do."""
        return None


class RunningStandardizer(Standardizer):
    """Means and variances of columns, kept as rows go by.

    Examples
    --------
    >>> issubclass(CausalStandardizer, RunningStandardizer)
    True
    """

    def __init__(self, n_features: int, rule: VarianceRule) -> None:
        self.rule = rule
        self.mean = np.zeros(n_features)
        self.variance = np.zeros(n_features)
        self.counts = np.zeros(2)

    @abstractmethod
    def whole(self) -> StandardizerArrays:
        """Means and variances of the columns as they stand."""

    @property
    def n_features(self) -> int | None:
        """Number of columns it takes."""
        return int(self.mean.shape[0])

    @property
    def rows(self) -> int:
        """Number of rows learned."""
        return int(self.counts[ROWS])

    def scale(self, rule: VarianceRule | None = None) -> Floats:
        """Return the unit of each column: its standard deviation, or one where that is unknown."""
        divisor = self.divisors(rule)
        return np.where(np.isinf(divisor), 1.0, divisor)

    def divisors(self, rule: VarianceRule | None = None) -> Floats:
        """Return what each column is divided by, by its own rule or another."""
        divisor = np.empty_like(self.mean)
        divisors(self.whole(), self.rule if rule is None else rule, divisor)
        return divisor

    def is_constant(self) -> bool:
        """Tell whether every column varies at rounding level only."""
        return varies_by_rounding(self.whole())


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
        return (X - self.mean) / self.divisors()

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Standardise each row with the rows before it, then learn it."""
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
        self.counts[WEIGHT] = total
        self.counts[ROWS] += other.rows


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
        if self.mean.ndim != 1 or self.mean.shape != self.divisor.shape:
            message = (
                f"mean has shape {self.mean.shape} and scale {self.divisor.shape}; "
                "give one number per column for each."
            )
            raise ValueError(message)
        usable = np.isfinite(self.mean) & np.isfinite(self.divisor) & (self.divisor > 0.0)
        if not usable.all():
            column = int(np.argmin(usable))
            message = (
                f"Column {column} has mean {self.mean[column]:g} and scale "
                f"{self.divisor[column]:g}; the scale must be positive: 1 for a constant column."
            )
            raise ValueError(message)

    @property
    def n_features(self) -> int | None:
        """Number of columns it takes."""
        return int(self.mean.shape[0])

    @classmethod
    def of(cls, pilot: CausalStandardizer) -> Self:
        """Freeze the present state of a causal standardiser."""
        return cls(pilot.mean, pilot.scale())

    def transform(self, X: Floats) -> Floats:
        """Standardise rows with the fixed state; a mean of zero leaves sparse rows sparse."""
        return divided(X if issparse(X) else X - self.mean, self.divisor)

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
def divisors(state: StandardizerArrays, rule: VarianceRule, out: Floats) -> None:
    """Fill ``out`` with what each coordinate is divided by."""
    scaled = state.counts[ROWS] >= rule.least_rows
    for j in range(out.shape[0]):
        out[j] = rule.unknown
        held = max(state.variance[j], rule.clamp)
        if scaled and held > rule.absolute:
            deviation = np.sqrt(held)
            if deviation > rule.relative * abs(state.mean[j]):
                out[j] = deviation


@compiled
def varies_by_rounding(state: StandardizerArrays) -> bool:
    """Whether every coordinate varies at rounding level of its mean only."""
    for j in range(state.mean.shape[0]):
        if state.variance[j] > (_ROUNDING * state.mean[j]) ** 2:
            return False
    return True


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
