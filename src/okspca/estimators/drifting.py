r"""Compare new rows with what a model knows of those it learned: means, variances, mean features.

**Single inputs.**  In the model's standardised units, a mean of m new rows has the standard error
``sqrt(1/m + 1/n)`` around that of n old ones, and the logarithm of a standard deviation
``sqrt((kurtosis - 1)/4 (1/m + 1/n))``.

**All together.**  The moment holds the mean of the input features, the mean embedding of the old
rows.  With c = 1/m + 1/n and S the covariance of the features,

    T = ||mean of new features - mean of old features||^2

has the expectation c tr S and the variance 2 c^2 tr S^2 where nothing changed; it is compared with
the multiple of a chi-square variable that has both.  What chance makes of it is taken off::

    distance = sqrt(max(T - c tr S, 0) / tr S).

**The target.**  The new rows are dealt to two halves in turn.  A fresh model learns one half alone;
then both models embed, and the second half is predicted from the first by nearest neighbours; and
the other way round.

A causal standardiser scaled early rows by little knowledge, so that the mean of the old features is
off by some log n / n of their spread; three times that is taken off T's root first.

All this takes rows as independent: where neighbours in time resemble one another, n and m count too
much, and it takes the least sizes of :mod:`okspca.estimators.drift_report` to keep alarms rare.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, ndtri

from okspca.errors import DataError
from okspca.estimators.drift_report import LEAST_FACTOR, LEAST_SHIFT, LEVEL
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import gram
from okspca.pipeline import PipelineState
from okspca.pipeline.answers import mean_features
from okspca.standardize import FrozenStandardizer, Standardizer
from okspca.standardize.base import RunningStandardizer
from okspca.standardize.sparse import SparseStandardizer

FEWEST_ROWS, FEWEST_WITH_TARGETS = 30, 100
#: Rows that pairs are made of, to estimate tr S^2.
MOST_PAIRED = 1000
#: Below this, a standardised input does not differ from a constant.
ROUNDING = 1e-9
#: How much early rows of a causal standardiser may be off, in units of log n / n.
EARLY_ROWS = 3.0


class Known(NamedTuple):
    """What a model knows of the rows it learned, in standardised units."""

    n: float
    means: Floats
    spreads: Floats
    features: Floats
    allowance: float


class InputChanges(NamedTuple):
    """Shifts and factors of single inputs, and which of them are alarming."""

    shifts: Floats
    factors: Floats
    changed: NDArray[np.bool_]


def known_of(state: PipelineState) -> Known:
    """Read it from a settled state."""
    standardizer = state.input_standardizer
    means, spreads = _scales(standardizer, state.input_map.n_inputs)
    n = max(state.moment.weight, 1.0)
    is_causal = isinstance(standardizer, RunningStandardizer)
    early = EARLY_ROWS * float(np.log(n)) / n if is_causal else 0.0
    return Known(n, means, spreads, mean_features(state), early)


def input_changes(known: Known, S: Floats) -> InputChanges:
    """Compare each input of new rows with what is known of it."""
    n_new, n_inputs = S.shape
    if np.isnan(known.means).any():
        same = np.full(n_inputs, np.nan)
        return InputChanges(same, same, np.zeros(n_inputs, dtype=np.bool_))
    c, limit = 1.0 / n_new + 1.0 / known.n, float(ndtri(1.0 - LEVEL / (4.0 * n_inputs)))
    means, spreads = S.mean(axis=0), S.std(axis=0)
    shifts, was_constant = means - known.means, known.spreads == 0.0
    factors = np.divide(spreads, known.spreads, out=np.ones(n_inputs), where=~was_constant)
    fourth = ((S - means) ** 4).mean(axis=0)
    kurtosis = np.divide(fourth, spreads**4, out=np.full(n_inputs, 3.0), where=spreads > ROUNDING)
    error = np.sqrt((kurtosis - 1.0).clip(0.0) / 4.0 * c)
    steps = np.abs(np.log(np.maximum(factors, np.finfo(np.float64).tiny)))
    moved = np.abs(shifts) > max(LEAST_SHIFT, limit * np.sqrt(c))
    spread = steps > np.maximum(np.log(LEAST_FACTOR), limit * error)
    woken = was_constant & (np.abs(S - known.means).max(axis=0) > ROUNDING)
    return InputChanges(shifts, factors, np.where(was_constant, woken, moved | spread))


def feature_distance(known: Known, Phi: Floats) -> tuple[float, float]:
    """Distance of the mean features in units of their spread, and how probable it is by chance."""
    mean, n_new = Phi.mean(axis=0), len(Phi)
    c, centred = 1.0 / n_new + 1.0 / known.n, Phi - mean
    trace = float((centred**2).sum() / (n_new - 1))
    moved = float(np.linalg.norm(mean - known.features))
    found = max(moved - known.allowance * np.sqrt(trace), 0.0) ** 2
    if trace <= 0.0:
        return (0.0, 1.0) if found <= ROUNDING else (np.inf, 0.0)
    some = centred[:: -(-n_new // MOST_PAIRED)]
    pairs = gram(some.T)
    m = len(some)
    off_diagonal = float((pairs**2).sum() - (np.diag(pairs) ** 2).sum()) / (m * (m - 1))
    # No covariance of this trace has a smaller sum of squares.
    square = max(off_diagonal, trace**2 / Phi.shape[1])
    freedom, unit = trace**2 / square, c * square / trace
    p = float(gammaincc(freedom / 2.0, found / unit / 2.0))
    return float(np.sqrt(max(found - c * trace, 0.0) / trace)), p


def check_enough(n: int, *, targets: bool) -> None:
    """Raise where there are too few rows to say anything."""
    fewest = FEWEST_WITH_TARGETS if targets else FEWEST_ROWS
    if n < fewest:
        needed = f"a check for drift {'with targets ' if targets else ''}takes at least {fewest}"
        message = f"X has {n} rows; {needed}."
        raise DataError(message)


def _scales(standardizer: Standardizer, n_inputs: int) -> tuple[Floats, Floats]:
    """Means and standard deviations of the old rows in standardised units; NaN if not known."""
    if isinstance(standardizer, RunningStandardizer):
        whole, divisors = standardizer.whole(), standardizer.scale()
        centred = not isinstance(standardizer, SparseStandardizer)
        means = np.zeros(n_inputs) if centred else whole.mean / divisors
        spreads = np.sqrt(whole.variance) / divisors
        # What varies by rounding only is left undivided.
        spreads[np.abs(spreads - 1.0) > 0.5] = 0.0
        return means, spreads
    if isinstance(standardizer, FrozenStandardizer) and np.any(standardizer.mean):
        return np.zeros(n_inputs), np.ones(n_inputs)
    nothing: Any = np.full(n_inputs, np.nan)
    return nothing, nothing
