"""Limits that follow a model that goes on learning: renewed from rows in control, row by row.

Every row is judged before it is learned.  Rows without an alarm are collected; with every ``every``
of them the model's coordinates are frozen for a reference, which these rows describe, and the next
``every`` of them, which it has not learned, make its limits.  From then on it is the monitor, until
the next one is ready in the same way.  So limits are always about rows that neither the frozen
coordinates nor their reference have seen.

When an alarm is raised, the rows that its evidence was gathered over are taken out of the
collection: a change becomes normal only if it does not raise alarms.  All this happens at row
numbers, so the cuts of a stream change nothing.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.diagnostics.evidence import Standing
from okspca.estimators.monitor import Asked, Monitor, calibrated, started, widened
from okspca.estimators.monitored import Alarm, Monitored
from okspca.numerics.arrays import Floats
from okspca.pipeline import Embedding


class Collected(NamedTuple):
    """Rows in control with their targets, and their numbers in the stream."""

    X: Floats
    Y: Floats
    numbers: NDArray[np.int64]

    @classmethod
    def empty(cls, n_inputs: int, n_targets: int) -> "Collected":
        """No row yet."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(np.zeros((0, n_inputs)), np.zeros((0, n_targets)), nothing)

    def with_rows(self, X: Floats, Y: Floats, first: int) -> "Collected":
        """Add rows; those that lack a value are left out."""
        kept = np.flatnonzero(~np.isnan(X).any(axis=1))
        width = max(self.Y.shape[1], Y.shape[1])
        return Collected(
            np.vstack([self.X, X[kept]]),
            np.vstack([widened(self.Y, width), widened(Y[kept], width)]),
            np.concatenate([self.numbers, first + kept.astype(np.int64)]),
        )

    def without(self, alarms: tuple[Alarm, ...]) -> "Collected":
        """Take out the rows that alarms are about."""
        stay = np.ones(len(self.numbers), dtype=np.bool_)
        for alarm in alarms:
            stay &= (self.numbers > alarm.row) | (self.numbers <= alarm.row - alarm.since)
        return Collected(self.X[stay], self.Y[stay], self.numbers[stay])


class Live(NamedTuple):
    """Where the renewal of a monitor stands.

    Attributes
    ----------
    every : int
        Rows in control that a reference, or limits, are made of.
    asked : Asked
        What is promised.
    collected : Collected
        Rows in control since the last coordinates were frozen.
    frozen : Embedding or None
        The coordinates that wait for their limits.
    first : Collected or None
        The rows that describe them.
    rows : int
        Rows seen so far.
    standing : Standing or None
        The evidence against the monitor in force; None where there is none.
    trend : ndarray or None
        The smoothed row.
    """

    every: int
    asked: Asked
    collected: Collected
    frozen: Embedding | None = None
    first: Collected | None = None
    rows: int = 0
    standing: Standing | None = None
    trend: Floats | None = None

    @property
    def n_awaited(self) -> int:
        """Rows in control up to the next step, if none of those collected is taken out."""
        return self.every - len(self.collected.numbers)

    def with_rows(self, X: Floats, Y: Floats, found: tuple[Monitored, ...]) -> "Live":
        """Collect rows that were judged, but for those that alarms are about."""
        collected = self.collected.with_rows(X, Y, self.rows)
        after = self._replace(rows=self.rows + len(X))
        for each in found:
            collected = collected.without(each.alarms)
            after = after._replace(standing=each.standing, trend=each.trend)
        return after._replace(collected=collected)

    def renewed(self, embedding: Embedding) -> tuple["Live", Monitor | None]:
        """Freeze new coordinates; those before have their limits now, and no evidence yet."""
        after, monitor = self, None
        if self.frozen is not None and self.first is not None:
            first, second = self.first, self.collected
            Y = widened(second.Y, first.Y.shape[1])
            monitor = calibrated(self.asked, self.frozen, (first.X, first.Y), (second.X, Y))
            standing, trend = started(monitor, self.rows)
            after = self._replace(standing=standing, trend=trend)
        n_inputs, n_targets = self.collected.X.shape[1], self.collected.Y.shape[1]
        empty = Collected.empty(n_inputs, n_targets)
        return after._replace(frozen=embedding, first=self.collected, collected=empty), monitor
