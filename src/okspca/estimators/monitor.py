"""A monitor: what rows in control were like, frozen, with limits from other rows in control.

It holds its own copies of standardiser and weights, so that what the model learns later, even a new
input map, changes neither the coordinates nor the limits.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.diagnostics.evidence import Scale, Standing, scale_of, threshold_of
from okspca.diagnostics.monitoring import (
    Reference,
    Residuals,
    reference_of,
    residuals_of,
    smoothed,
)
from okspca.errors import DataError, NumericalError
from okspca.features.attribution import contributions
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.pipeline import Embedding

T2, SPE, TARGET = "t2", "spe", "target"
TREND = " trend"
#: Exponents of the bets on ranks, for single rows and for trends, and the share of each row in a
#: trend (see :mod:`okspca.diagnostics.evidence` and :mod:`okspca.diagnostics.monitoring`).
ROW_POWERS, TREND_POWERS, SHARE = (0.2, 0.5), (0.4,), 0.1
#: Rows that are looked at together.
CHUNK = 512
#: Rows from which either half of a calibration can be made.
FEWEST = 50


class Asked(NamedTuple):
    """What a monitor was asked to promise.

    Attributes
    ----------
    row_level : float
        Share of rows in control of which any statistic is above its limit, at most.
    rows_per_alarm : float
        Mean number of rows in control between alarms, at least.
    confidence : float
        Of both, over the choice of the rows that limits are made of.
    weighted : bool
        Whether residuals of the inputs are weighted by their covariance.
    dependence : float or None
        Rows after which rows count as independent; None where the rows tell.
    """

    row_level: float = 0.01
    rows_per_alarm: float = 10_000.0
    confidence: float = 0.95
    weighted: bool = True
    dependence: float | None = None

    def check(self) -> None:
        """Raise where something is impossible."""
        for name in ("row_level", "confidence"):
            value = getattr(self, name)
            if not 0.0 < value < 1.0:
                message = f"{name}={value!r} is impossible; give a number between 0 and 1."
                raise ValueError(message)
        if not 1.0 < self.rows_per_alarm < np.inf:
            message = f"rows_per_alarm={self.rows_per_alarm!r} is impossible; give more than 1 row."
            raise ValueError(message)
        if self.dependence is not None and not 1.0 <= self.dependence < np.inf:
            message = (
                f"dependence={self.dependence!r} is impossible; give the number of rows after "
                "which rows count as independent, 1 or more, or None to have it estimated."
            )
            raise ValueError(message)


class Looked(NamedTuple):
    """What a monitor finds in rows.

    Attributes
    ----------
    values : ndarray of shape (n, c)
        Statistics of the rows and of their trends; NaN where a row lacks a value.
    parts : ndarray of shape (c, n, d)
        Contributions of the inputs; zeros for the target, which is no doing of a single input.
    trend : ndarray
        The smoothed row as of the last one.
    """

    values: Floats
    parts: Floats
    trend: Floats


class Apart(NamedTuple):
    """How rows differ from those in control: embedding, inputs added to it, residuals, target."""

    embedded: Floats
    added: Floats
    errors: Floats
    target: Floats

    @classmethod
    def of(cls, flat: Floats, like: "Apart") -> "Apart":
        """Take rows apart again that :meth:`flat` has made."""
        ends = np.cumsum([part[0].size for part in like])[:-1]
        pairs = zip(np.split(flat, ends, axis=1), like, strict=True)
        return cls(*(part.reshape(len(flat), *one.shape[1:]) for part, one in pairs))

    def flat(self, weights: Floats) -> Floats:
        """Rows side by side, each weighted by (n x 3) embedding, residuals and target."""
        columns = weights[:, [0, 0, 1, 2]].T
        parts = [part.reshape(len(part), -1) for part in self]
        return np.hstack([p * w[:, np.newaxis] for p, w in zip(parts, columns, strict=True)])


class Monitor(NamedTuple):
    """What rows are compared with.

    Attributes
    ----------
    asked : Asked
        What is promised.
    embedding : Embedding
        Standardiser, input map and weights, frozen.
    reference : Reference
        What the first half of the rows in control were like.
    target : Residuals or None
        How their targets were predicted from the embedding, where targets were given.
    scales : tuple of Scale
        Values of each statistic on the second half of the rows.
    """

    asked: Asked
    embedding: Embedding
    reference: Reference
    target: Residuals | None
    scales: tuple[Scale, ...] = ()

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names of the statistics, in the order of columns."""
        names = (T2, SPE) if self.target is None else (T2, SPE, TARGET)
        return (*names, *(name + TREND for name in names))

    @property
    def sums(self) -> tuple[int, ...]:
        """Of which statistic each sum of evidence is."""
        found = [[place] * scale.gains.shape[1] for place, scale in enumerate(self.scales)]
        return tuple(place for places in found for place in places)

    @property
    def threshold(self) -> float:
        """Evidence that is enough for an alarm."""
        return threshold_of(self.asked.rows_per_alarm, len(self.sums))

    @property
    def no_trend(self) -> Floats:
        """The smoothed row before the first one."""
        k, d = self.reference.added.shape
        return np.zeros(k + k * d + d + (0 if self.target is None else len(self.target.means)))

    def gains(self, values: Floats) -> Floats:
        """Evidence of rows, for every sum."""
        columns = zip(self.scales, values.T, strict=True)
        return np.hstack([scale.gain(column) for scale, column in columns])

    def looked(self, X: Floats, Y: Floats | None, trend: Floats) -> Looked:
        """Look at rows that follow a trend; of those that lack a value, nothing is known."""
        n = len(self.statistics)
        values, parts = np.full((len(X), n), np.nan), np.zeros((n, len(X), X.shape[1]))
        lacks = np.asarray(np.isnan(X).any(axis=1))
        for begin in range(0, len(X), CHUNK):
            rows = begin + np.flatnonzero(~lacks[begin : begin + CHUNK])
            if not len(rows):
                continue
            with np.errstate(over="ignore", invalid="ignore"):
                found = self._looked(X[rows], None if Y is None else Y[rows], trend)
            values[rows], parts[:, rows], trend = found
        return Looked(values, parts, trend)

    def apart(self, X: Floats, Y: Floats | None) -> Apart:
        """How complete rows differ from those in control."""
        S, Z = placed(self.embedding, X)
        embedded = Z - self.reference.centre
        added = added_by(self.embedding, S) - self.reference.added
        errors = self.reference.inputs.errors(embedded, S)
        target = np.zeros((len(X), 0 if self.target is None else len(self.target.means)))
        if self.target is not None and Y is not None:
            target = self.target.errors(embedded, widened(Y, target.shape[1]))
        return Apart(embedded, added, errors, target)

    def judged(self, apart: Apart, *, targets: bool) -> tuple[Floats, Floats]:
        """Statistics (n x c) of rows, or of trends, and contributions (c x n x d)."""
        inputs = self.reference.inputs.parts(apart.errors)
        parts = [self.reference.t2_parts(apart.embedded, apart.added), inputs]
        values = [self.reference.t2(apart.embedded), inputs.sum(axis=1)]
        if self.target is not None:
            squares = self.target.parts(apart.target).sum(axis=1)
            values.append(squares if targets else np.full(len(inputs), np.nan))
            parts.append(np.zeros_like(inputs))
        # Where a row is too far out for its squares to be written, it is as far out as can be.
        found = np.stack(values, axis=1)
        found[:, :2] = np.nan_to_num(found[:, :2], nan=np.inf)
        return found, np.stack(parts)

    def _looked(self, X: Floats, Y: Floats | None, trend: Floats) -> Looked:
        """Look at complete rows."""
        apart, targets = self.apart(X, Y), Y is not None
        values, parts = self.judged(apart, targets=targets)
        rows = smoothed(trend, apart.flat(self._weights(values)), SHARE)
        slow_values, slow_parts = self.judged(Apart.of(rows, apart), targets=targets)
        last = rows[-1] if len(rows) else trend
        return Looked(np.hstack([values, slow_values]), np.concatenate([parts, slow_parts]), last)

    def _weights(self, values: Floats) -> Floats:
        """What rows count for in a trend (n x 3): those beyond a limit, less."""
        weights = np.ones((len(values), 3))
        columns: list[Floats] = list(values.T)
        for place, column in enumerate(columns):
            limit = self.scales[place].limit
            over = np.flatnonzero(column > limit)
            weights[over, place] = np.sqrt(limit / column[over])
        return weights


def calibrated(
    asked: Asked, embedding: Embedding, first: Sequence[Any], second: Sequence[Any]
) -> Monitor:
    """Make a monitor: the reference of some rows and targets (or None), limits of others."""
    asked.check()
    for X in (first[0], second[0]):
        if len(X) < FEWEST:
            message = f"X has too few rows in control; give at least {2 * FEWEST} complete ones."
            raise DataError(message)
    S, Z = placed(embedding, first[0])
    added = _mean_added(embedding, S)
    reference = reference_of(Z, S, added, weighted=asked.weighted)
    target = None
    if first[1] is not None:
        target = residuals_of(Z - reference.centre, reference.whitener, first[1])
    monitor = Monitor(asked, embedding, reference, target)
    return monitor._replace(scales=_scales(monitor, *second))


def _scales(monitor: Monitor, X: Floats, Y: Floats | None) -> tuple[Scale, ...]:
    """Scales of all statistics; those of trends take the limits of rows."""
    rows = monitor.judged(monitor.apart(X, Y), targets=True)[0]
    n, asked = rows.shape[1], monitor.asked
    scales = tuple(_scale(asked, column, (place, n)) for place, column in enumerate(rows.T))
    known = monitor._replace(scales=scales)
    trends = known.looked(X, Y, monitor.no_trend).values[:, n:]
    pairs = enumerate(trends.T, start=n)
    return scales + tuple(_scale(asked, column, (place, n)) for place, column in pairs)


def scales_from(asked: Asked, columns: Sequence[Floats], times: Sequence[float]) -> list[Scale]:
    """Make scales of values again, of which the dependence is known."""
    n, pairs = len(columns) // 2, zip(columns, times, strict=True)
    return [_scale(asked, column, (j, n), tau) for j, (column, tau) in enumerate(pairs)]


def _scale(asked: Asked, values: Floats, place: tuple[int, int], tau: float | None = None) -> Scale:
    """One of the scales of n statistics and their trends: each takes its part of what may err."""
    (j, n), powers = place, (ROW_POWERS, TREND_POWERS)
    if not np.isfinite(values).all():
        message = "Rows in control are so far out that their squares overflow; scale the inputs."
        raise NumericalError(message)
    if tau is None and j < n:
        tau = asked.dependence
    return scale_of(
        values,
        powers[j >= n],
        level=asked.row_level / n,
        confidence=1.0 - (1.0 - asked.confidence) / (2 * n),
        dependence=tau,
    )


def started(monitor: Monitor, rows: int = 0) -> tuple[Standing, Floats]:
    """No evidence and no trend, after so many rows."""
    d = monitor.reference.added.shape[1]
    return Standing.start(len(monitor.sums), d, rows), monitor.no_trend


def placed(embedding: Embedding, X: Floats) -> tuple[Floats, Floats]:
    """Rows as the input map takes them, and embedded."""
    S: Any = embedding.standardizer.transform(X)
    S = np.asarray(S.toarray() if hasattr(S, "toarray") else S)
    return S, product(embedding.input_map.transform(S), embedding.columns)


def added_by(embedding: Embedding, S: Floats) -> Floats:
    """What inputs add to components, from the row of means (rows x k x d)."""
    return contributions(embedding.input_map, embedding.columns, S, np.zeros(S.shape[1]))


def _mean_added(embedding: Embedding, S: Floats) -> Floats:
    """The mean of it over rows."""
    total = np.zeros((embedding.columns.shape[1], S.shape[1]))
    for begin in range(0, len(S), CHUNK):
        total += added_by(embedding, S[begin : begin + CHUNK]).sum(axis=0)
    return total / len(S)


def widened(Y: Floats, width: int) -> Floats:
    """Targets with so many columns: classes that are not known there have none, or zeros."""
    if Y.shape[1] >= width:
        return Y[:, :width]
    return np.hstack([Y, np.zeros((len(Y), width - Y.shape[1]))])


def indicators(labels: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Labels as one column for each class; a class that is not known has zeros."""
    return (np.asarray(labels)[:, np.newaxis] == classes).astype(np.float64)
