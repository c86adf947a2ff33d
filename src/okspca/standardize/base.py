"""What a pipeline needs of a standardiser, and what those that learn have in common."""

from abc import ABC, abstractmethod
from typing import Self

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel
from okspca.standardize.variance import (
    ROWS,
    StandardizerArrays,
    VarianceRule,
    divisors,
    varies_by_rounding,
)

_DIVISORS: BoundKernel[None] = BoundKernel(divisors)


class Standardizer(ABC):
    """What a pipeline needs of a standardiser.

    ``transform`` only reads.  ``scan`` returns, for each row, what ``transform`` would have
    returned just before that row, and learns the rows on the way.

    Examples
    --------
    >>> from okspca.standardize import CausalStandardizer, NoStandardizer
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
        """Merge another standardiser of the same kind into this one."""

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
    >>> from okspca.standardize import CausalStandardizer
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
        # A cautious rule divides by infinity what it does not know; as a unit that would be absurd.
        return np.where(np.isinf(divisor), 1.0, divisor)

    def divisors(self, rule: VarianceRule | None = None) -> Floats:
        """Return what each column is divided by, by its own rule or another."""
        divisor = np.empty_like(self.mean)
        _DIVISORS.code(self.whole(), self.rule if rule is None else rule, divisor)
        return divisor

    def is_constant(self) -> bool:
        """Tell whether every column varies at rounding level only."""
        return varies_by_rounding(self.whole())
