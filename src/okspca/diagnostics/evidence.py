r"""Limits and alarms that hold for any distribution: ranks among rows that were in control.

N values of a statistic from rows in control, none of which made it, are a *scale*.  A new value
with k of them at or above it has the p-value ``p = (k + 1)/(N + 1)``.

**A limit** for single rows is the j-th largest value.  The share of all rows in control above it is
Beta(j, N + 1 - j) whatever the distribution is; j is the largest for which this share is at most
the stated level with the stated confidence.  Where even the largest value cannot promise that
(level 0.005 with confidence 0.95 takes N = 598), it is the limit, and what it does promise is told.

**Alarms** add up evidence over rows.  A p-value is made into a bet against being in control::

    e = (1 - r) p^{-r},

the likelihood ratio of the scale -log p having grown by 1/(1 - r): a small r finds small changes
sooner, a large one great changes.  Given the scale, the mean of e
is a sum over the spaces between its values, which are distributed as Dirichlet(1, ..., 1), whatever
the distribution is; e is divided by the quantile of that mean at the stated confidence, so that its
mean is at most one.  Page's scheme then adds up::

    g = max(g + log e, 0),     alarm where any g >= b,     after which every g is 0 again.

With c such sums (of several statistics, and several r) and ``b = log(c A)``, the mean number of
rows in control up to an alarm is at least A, and the probability of one within L rows is at most
L / A (Lorden, 1971; with Shiryaev and Roberts' statistics, whose sum less c times the number of
rows is a martingale and which are never below exp(g)).  Both are bounds: in fact alarms are rarer.

**Rows that depend on their neighbours.**  With tau rows after which they count as independent,
log e is divided by tau: the mean of a product of tau of them is still at most one, however they
depend on one another (Hölder).  N counts as N / tau, and no p-value as less than 1/(N / tau + 1).
The integrated autocorrelation time of log p among the N values is taken for tau where it is not
given; that is an estimate, so with dependent rows the bounds are approximate.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, ndtri

from okspca.numerics.arrays import Floats

#: Autocorrelations are summed up to this share of the rows.
LAGS = 0.25


class Scale(NamedTuple):
    """Values of a statistic in control, and what follows from them.

    Attributes
    ----------
    values : ndarray of shape (N,)
        The values, smallest first.
    dependence : float
        Rows after which rows count as independent, tau.
    limit : float
        What single rows should not exceed.
    promised : float
        Share of rows in control above it, at most, with the confidence.
    gains : ndarray of shape (N + 1, r)
        log e / tau by the number of values at or above a new one, for every r.
    """

    values: Floats
    dependence: float
    limit: float
    promised: float
    gains: Floats

    def gain(self, values: Floats) -> Floats:
        """Evidence of rows (n x r); none where a value is missing."""
        above = len(self.values) - np.searchsorted(self.values, values, side="left")
        return np.where(np.isnan(values)[:, np.newaxis], 0.0, self.gains[above])


def scale_of(
    values: Floats,
    powers: Sequence[float],
    *,
    level: float,
    confidence: float,
    dependence: float | None = None,
) -> Scale:
    """Make the scale of values in the order of their rows, or in any order where tau is given.

    Examples
    --------
    >>> values = np.random.RandomState(0).exponential(size=1000)
    >>> scale = scale_of(values, (0.2, 0.5), level=0.01, confidence=0.95)
    >>> bool(0.004 < np.exp(-scale.limit) < 0.01), scale.promised <= 0.01, scale.dependence
    (True, True, 1.0)
    >>> scale.gain(np.array([0.0, 20.0, np.nan])).round(1).tolist()
    [[-0.2, -0.7], [1.1, 2.7], [0.0, 0.0]]
    """
    ordered, n = np.sort(values), len(values)
    tau = dependence
    if tau is None:
        above = n - np.searchsorted(ordered, values, side="left")
        tau = autocorrelation_time(np.log(above / n))
    limit, promised = limit_of(ordered, n / tau, level, confidence)
    gains = [(_fair_bets(n, n / tau, power, confidence)) / tau for power in powers]
    return Scale(ordered, tau, limit, promised, np.stack(gains, axis=1))


def limit_of(
    ordered: Floats, n_free: float, level: float, confidence: float
) -> tuple[float, float]:
    """The limit, and the share of rows above it that is promised.

    Examples
    --------
    >>> limit, promised = limit_of(np.arange(598.0), 598.0, 0.005, 0.95)
    >>> limit, round(promised, 4)
    (597.0, 0.005)
    >>> round(limit_of(np.arange(100.0), 100.0, 0.005, 0.95)[1], 3)
    0.03
    """
    j = np.arange(1.0, max(n_free * level, 0.0) + 2.0)
    fits = betainc(j, np.maximum(n_free + 1.0 - j, 1e-9), level) >= confidence
    place = float(j[fits].max(initial=1.0))
    promised = float(betaincinv(place, max(n_free + 1.0 - place, 1e-9), confidence))
    n = len(ordered)
    index = min(max(int(place * n / n_free), 1), n)
    return float(ordered[n - index]), promised


def autocorrelation_time(series: Floats) -> float:
    """Rows after which rows count as independent: one and twice the autocorrelations, while sure.

    Examples
    --------
    >>> autocorrelation_time(np.random.RandomState(0).normal(size=1000))
    1.0
    >>> autocorrelation_time(np.repeat(np.random.RandomState(0).normal(size=100), 10)) > 5.0
    True
    """
    n, apart = len(series), series - series.mean()
    square = float((apart**2).sum())
    tau = 1.0
    if square <= 0.0:
        return tau
    for lag in range(1, int(LAGS * n) + 1):
        share = float((apart[lag:] * apart[:-lag]).sum()) / square
        if share < 2.0 / np.sqrt(n):
            break
        tau += 2.0 * share
    return tau


def threshold_of(rows_per_alarm: float, n_sums: int) -> float:
    """What is evidence enough for an alarm."""
    return float(np.log(n_sums * rows_per_alarm))


class Standing(NamedTuple):
    """Evidence against being in control, as of a row, in c sums.

    Attributes
    ----------
    rows : int
        Rows seen so far.
    levels : ndarray of shape (c,)
        The evidence, g.
    since : ndarray of shape (c,)
        Rows since it was zero.
    sums : ndarray of shape (c, d)
        Contributions of the inputs, added up over these rows.
    """

    rows: int
    levels: Floats
    since: NDArray[np.int64]
    sums: Floats

    @classmethod
    def start(cls, n_sums: int, n_inputs: int, rows: int = 0) -> "Standing":
        """No evidence yet."""
        since = np.zeros(n_sums, dtype=np.int64)
        return cls(rows, np.zeros(n_sums), since, np.zeros((n_sums, n_inputs)))


class Raised(NamedTuple):
    """An alarm: at which row, by which sum, over how many rows, and mean contributions."""

    row: int
    place: int
    since: int
    contributions: Floats


def followed(
    standing: Standing, gains: Floats, parts: Floats, threshold: float
) -> tuple[Standing, Floats, list[Raised]]:
    """Add up evidence of rows.

    Parameters
    ----------
    standing : Standing
        As of the row before; it stays as it is.
    gains : ndarray of shape (n, c)
        Evidence of the rows.
    parts : ndarray of shape (c, n, d)
        Contributions of the inputs to the statistics.
    threshold : float
        b.

    Returns
    -------
    Standing
        As of the last row.
    levels : ndarray of shape (n, c)
        The evidence at each row; where an alarm is raised, what raised it.
    list of Raised
        The alarms, in the order of the rows: one for a row, of the sum that has most evidence.

    Examples
    --------
    >>> start = Standing.start(1, 2)
    >>> parts = np.array([[[1.0, 0.0], [3.0, 0.0], [0.0, 1.0]]])
    >>> after, levels, raised = followed(start, np.array([[2.0], [2.0], [1.0]]), parts, 3.5)
    >>> levels.ravel().tolist(), after.levels.tolist()
    ([2.0, 4.0, 1.0], [1.0])
    >>> raised[0].row, raised[0].since, raised[0].contributions.tolist()
    (1, 2, [2.0, 0.0])
    """
    level, since, sums = standing.levels.copy(), standing.since.copy(), standing.sums.copy()
    levels, raised = np.zeros(gains.shape), []
    for row, gain in enumerate(gains):
        level = np.maximum(level + gain, 0.0)
        levels[row] = level
        idle = level <= 0.0
        since = np.where(idle, 0, since + 1)
        sums = np.where(idle[:, np.newaxis], 0.0, sums + parts[:, row])
        place = int(level.argmax())
        if level[place] >= threshold:
            mean = sums[place] / since[place]
            raised.append(Raised(standing.rows + row, place, int(since[place]), mean))
            level, since, sums = np.zeros_like(level), np.zeros_like(since), np.zeros_like(sums)
    return Standing(standing.rows + len(gains), level, since, sums), levels, raised


def _fair_bets(n: int, n_free: float, power: float, confidence: float) -> Floats:
    """Log e by the number of values at or above a new one.

    A mean with weights Dirichlet(1, ..., 1) has the variance of e by n + 2, and a third moment of
    twice that of e by (n + 2)(n + 3); Cornish and Fisher's formula makes a quantile of these.
    """
    p = np.maximum(np.arange(1.0, n + 2.0) / (n + 1.0), 1.0 / (n_free + 1.0))
    e = (1.0 - power) * p**-power
    mean, variance = float(e.mean()), float(e.var())
    quantile = mean
    if variance > 0.0:
        spread = np.sqrt(variance / (n_free + 2.0))
        third = 2.0 * float(((e - mean) ** 3).mean()) / ((n_free + 2.0) * (n_free + 3.0))
        z = float(ndtri(confidence))
        quantile += spread * (z + (z**2 - 1.0) * third / spread**3 / 6.0)
    return np.asarray(np.log(e / quantile))
