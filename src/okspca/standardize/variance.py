"""When a coordinate is divided by its standard deviation, and what is learned to tell.

Two rules are built in.  ``RELATIVE`` (the default for users) is free of the unit of measurement: it
divides unless the standard deviation is at rounding level of the mean, ``sd <= 16 eps |mean|`` (or
below 1e-140, where squares lose their digits).  ``PAPER`` is the absolute floor of the paper: the
variance is clamped below at 1e-8 and divided by only above 1e-7, so columns measured in small units
stay unscaled.

Bounded features make little of the first rows, which come in raw units.  Before features that grow
without bound, a *cautious* rule gives ``z = 0`` wherever nothing is divided, and divides from the
ninth row on only: two rows in a thousand units would outweigh all that come later.
"""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled


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
    >>> from okspca.standardize import CausalStandardizer
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


@compiled
def divisors(state: StandardizerArrays, rule: VarianceRule, out: Floats) -> None:
    """Fill ``out`` with what each coordinate is divided by."""
    scaled = state.counts[ROWS] >= rule.least_rows
    for j in range(out.shape[0]):
        # Infinity, by a cautious rule, makes the coordinate zero.
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
        # Where the square of the mean vanishes, any variance at all counts.
        if state.variance[j] > (_ROUNDING * state.mean[j]) ** 2:
            return False
    return True
