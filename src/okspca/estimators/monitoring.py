"""Monitoring, as process engineers know it: rows are compared with rows that were in control.

:mod:`okspca.diagnostics.monitoring` has the statistics, :mod:`okspca.diagnostics.evidence` limits
and alarms.
"""

import copy
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from okspca.errors import DataError, NotReadyError
from okspca.estimators.answering import check_learned
from okspca.estimators.data import CLASSIFICATION
from okspca.estimators.explaining import Explaining, rows_at
from okspca.estimators.parameters import n_threads_of
from okspca.numerics.arrays import Floats
from okspca.numerics.crew import threads
from okspca.pipeline.answers import embedding
from okspca.services.checks import check_count

if TYPE_CHECKING:
    from okspca.estimators.live_monitor import Live
    from okspca.estimators.monitor import Monitor
    from okspca.estimators.monitored import Monitored

# Most models are never monitored, so what that takes is imported when one is.
_MONITOR, _LIVE = "okspca.estimators.monitor", "okspca.estimators.live_monitor"
_JUDGING = "okspca.estimators.judging"


class Monitoring(Explaining):
    """The part of an estimator that tells whether rows are as they were in control."""

    partial_fit: Callable[[Any, Any], Any]

    def calibrate_monitor(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        row_level: float = 0.01,
        rows_per_alarm: float = 10_000.0,
        confidence: float = 0.95,
        spe: str = "weighted",
        dependence: float | None = None,
    ) -> Self:
        """Learn what is normal from rows that were in control and were not learned.

        The present coordinates are frozen for :meth:`monitor`; the model itself is free to go on
        learning.  The first half of the rows tells means, covariances and how the inputs hang
        together; the second half, the limits.  They are part of the model from then on: copies and
        files hold them, a merge keeps those of the model that is merged into, ``fit`` forgets them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows in the order of time, 100 or more; rows that lack a value are left out.
        y : array-like of shape (n,) or (n, d_y), optional
            Their targets.  With them the error of the target can be watched too, so that a change
            of what the inputs mean for the target is noticed.
        row_level : float, default=0.01
            Share of rows in control that may be beyond a limit.
        rows_per_alarm : float, default=10,000
            Mean number of rows in control between false alarms, at least; a stream of L rows
            has one with a probability of at most ``L / rows_per_alarm``.
        confidence : float, default=0.95
            Of both statements, over the choice of the rows.
        spe : {"weighted", "plain"}, default="weighted"
            Whether residuals are weighted by their covariance, or count alike.  Weighted ones
            notice inputs that no longer move together.
        dependence : float, optional
            Rows after which rows count as independent; by default the autocorrelation time of the
            statistics on the second half.

        Raises
        ------
        DataError
            There are too few rows, or their number differs from that of the targets.
        """
        asked = import_module(_JUDGING).asked_of(
            row_level, rows_per_alarm, confidence, spe, dependence
        )
        rows, targets = self._monitored_rows(X, y)
        whole = ~np.isnan(rows).any(axis=1)
        rows, targets = rows[whole], None if targets is None else targets[whole]
        half = len(rows) // 2
        pairs = [
            (rows[part], None if targets is None else targets[part])
            for part in (slice(half), slice(half, None))
        ]
        with threads(n_threads_of(self)):
            calibrated = import_module(_MONITOR).calibrated
            monitor = calibrated(asked, self.ready().read(embedding), *pairs)
        self._learned = self._known("The monitor")._replace(monitor=monitor)
        return self

    def monitor(
        self, X: ArrayLike, y: ArrayLike | None = None, *, after: "Monitored | None" = None
    ) -> "Monitored":
        """Compare rows with those the monitor was calibrated on; learns nothing.

        Parameters
        ----------
        X : array-like of shape (n, d) or (d,)
            Rows in the order of time, or one row.
        y : array-like of shape (n,), optional
            Their targets, where the calibration had some.
        after : Monitored, optional
            What was found in the rows before, whose evidence is gone on with.  Blocks of any size
            then give the same alarms.

        Returns
        -------
        Monitored
            Statistics, limits, contributions of the inputs and alarms; it prints as a table.

        Raises
        ------
        NotReadyError
            There was no calibration.
        """
        monitor = self._monitor()
        if after is not None and after.trend.shape != monitor.no_trend.shape:
            message = "after= is of another monitor; begin again without it."
            raise DataError(message)
        rows, targets = self._monitored_rows(X, y)
        if targets is not None and monitor.target is None:
            message = "y was given, but the monitor was calibrated without; give it there too."
            raise DataError(message)
        started = import_module(_MONITOR).started
        standing, trend = started(monitor) if after is None else (after.standing, after.trend)
        with threads(n_threads_of(self)):
            looked = monitor.looked(rows, targets, trend)
        return import_module(_JUDGING).monitored(monitor, looked, standing, self._names().inputs)

    def start_live_monitor(
        self,
        every: int = 1000,
        *,
        row_level: float = 0.01,
        rows_per_alarm: float = 10_000.0,
        confidence: float = 0.95,
        spe: str = "weighted",
        dependence: float | None = None,
    ) -> Self:
        """Let the limits follow the model while it learns; see :meth:`learn_monitored`.

        After every ``every`` rows in control the coordinates of the model are frozen, and the next
        ``every`` rows in control, which are not in them, make their limits.  Rows that raised an
        alarm are learned, but make no limits.  At most twice as many rows are kept.

        Parameters
        ----------
        every : int, default=1000
            Rows in control that a reference, and as many that its limits, are made of.
        row_level, rows_per_alarm, confidence, spe, dependence
            As for :meth:`calibrate_monitor`; what is promised holds for each monitor while it is in
            force.
        """
        asked = import_module(_JUDGING).asked_of(
            row_level, rows_per_alarm, confidence, spe, dependence
        )
        check_count(every=every)
        fewest = import_module(_MONITOR).FEWEST
        if every < fewest:
            message = f"every={every} is too few; give at least {fewest} rows."
            raise ValueError(message)
        check_learned(self.ready())
        d, record = self.ready().state.input_map.n_inputs, self._known("The monitor")
        parts = import_module(_LIVE)
        live = parts.Live(int(every), asked, parts.Collected.empty(d, 0))
        self._learned = record._replace(live=live, monitor=None)
        return self

    def learn_monitored(self, X: ArrayLike, y: ArrayLike) -> "tuple[Monitored, ...]":
        """Judge each row of a block by the limits of the rows before it, then learn the block.

        Parameters
        ----------
        X, y : array-like
            As for :meth:`partial_fit`; the way a stream is cut changes no alarm.

        Returns
        -------
        tuple of Monitored
            What was found, in parts, since limits may change within a block; none before the first
            limits.
        """
        n = X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))
        if self._live().n_awaited >= n or len(np.asarray(y)) != n:
            return self._learn_monitored(X, y)
        # Several steps are all or nothing in a copy.
        found: list[Monitored] = []
        twin, start, targets = copy.deepcopy(self), 0, np.asarray(y)
        while start < len(targets):
            stop = start + twin.live_rows_awaited_
            places = np.arange(start, min(stop, len(targets)))
            found += twin.learn_monitored(rows_at(X, places), targets[places])
            start = stop
        self.learned = twin.learned
        return tuple(found)

    @property
    def live_rows_awaited_(self) -> int:
        """Rows in control up to the next renewal of the limits."""
        return self._live().n_awaited

    def _live(self) -> "Live":
        """What renews the monitor, or an error that says how to begin."""
        live = self._known("The monitor").live
        if live is None:
            message = "Limits do not follow this model; call start_live_monitor first."
            raise NotReadyError(message)
        return live

    def _learn_monitored(self, X: Any, y: Any) -> "tuple[Monitored, ...]":
        """Judge and learn rows up to a renewal at most."""
        live, monitor = self._live(), self._known("The monitor").monitor
        rows, targets = self._monitored_rows(X, y)
        assert targets is not None
        found: tuple[Monitored, ...] = ()
        if monitor is not None:
            assert live.standing is not None
            assert live.trend is not None
            looked = monitor.looked(rows, targets, live.trend)
            monitored = import_module(_JUDGING).monitored
            found = (monitored(monitor, looked, live.standing, self._names().inputs),)
        self.partial_fit(X, y)
        live = live.with_rows(rows, targets, found)
        if not live.n_awaited:
            live, renewed = live.renewed(self.ready().read(embedding))
            monitor = renewed or monitor
        self._learned = self._known("The monitor")._replace(monitor=monitor, live=live)
        return found

    def plot_monitor(self, found: "Monitored", *, axes: Any = None) -> Any:
        """Draw control charts of what :meth:`monitor` found; needs matplotlib.

        Parameters
        ----------
        found : Monitored
            What was found.
        axes : sequence of two matplotlib Axes or more, optional
            Where to draw: one for each statistic, the last for the contributions; a new figure by
            default.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; ``savefig`` writes it.
        """
        try:
            pictures = import_module("okspca.report.pictures.control_charts")
        except ImportError as failure:
            message = "Pictures need matplotlib: pip install 'okspca[plot]'"
            raise ImportError(message) from failure
        return pictures.draw_charts(found, axes=axes)

    def _monitor(self) -> "Monitor":
        """The monitor, or an error that says how to get one."""
        check_learned(self.ready())
        monitor = self._known("The monitor").monitor
        if monitor is None:
            message = "There are no limits yet; call calibrate_monitor with rows in control."
            raise NotReadyError(message)
        return monitor

    def _monitored_rows(self, X: Any, y: Any) -> tuple[Floats, Floats | None]:
        """Complete rows, and targets as numbers."""
        check_learned(self.ready())
        if not hasattr(X, "columns") and not hasattr(X, "tocsr") and np.ndim(X) == 1:
            X, y = np.asarray(X)[np.newaxis], None if y is None else np.asarray(y)[np.newaxis]
        rows: Any = self.complete_rows(X)
        rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
        if y is None:
            return rows, None
        is_class = self.task_ == CLASSIFICATION
        indicators = import_module(_MONITOR).indicators
        targets = indicators(np.asarray(y), self.classes_) if is_class else np.asarray(y, float)
        targets = targets.reshape(len(targets), -1)
        if len(targets) != len(rows) or not np.isfinite(targets).all():
            message = f"y must hold {len(rows)} finite targets, one for each row of X."
            raise DataError(message)
        return rows, targets
