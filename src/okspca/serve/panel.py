"""What the dashboard shows of a model that learns: everything a page needs, as plain JSON.

One thread learns and reports each block (:meth:`Panel.learned`); another asks for the state about
once a second (:meth:`Panel.snapshot`).  Basis, certificate, embedding and scores of one answer are
of one state of the model, and asking never holds up the one who learns.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from okspca.errors import DataError, NotReadyError
from okspca.estimators import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.data import CLASSIFICATION
from okspca.estimators.monitored import Alarm, Monitored
from okspca.estimators.prequential import PrequentialScore
from okspca.numerics.arrays import Floats
from okspca.pipeline.asking import asked_ahead
from okspca.serve.episodes import Episodes
from okspca.serve.panel_history import History, RecentScore
from okspca.serve.panel_rows import LatestRows, Picture, places_of, rounded
from okspca.serve.panel_state import Seen, called, moved, pilot_rows_left, seen

#: Alarms kept, and those that every state tells again.
MOST_ALARMS, TOLD_ALARMS = 100, 20
#: Components, inputs and columns that are told at most.
MOST_COMPONENTS, MOST_INPUTS, MOST_COLUMNS = 8, 30, 100
#: What is dear is asked for after so many seconds, and takes at most one part in so many of them.
PATIENCE, PART = 10.0, 20.0
#: What a history has of every point in time.
NAMES = (
    *("rows", "rho_lower", "angle_upper", "distance", "low", "high"),
    *("score", "recent", "baseline"),
    *("rows_per_second", "requests_per_second", "p50", "p99"),
    *("t2", "t2_limit", "t2_trend", "t2_trend_limit"),
    *("spe", "spe_limit", "spe_trend", "spe_trend_limit"),
)
State = dict[str, Any]


class Learned(NamedTuple):
    """What the learning thread has told so far, as of one moment."""

    rows: LatestRows
    labels: Mapping[Any, int]
    alarms: tuple[State, ...]
    n_alarms: int
    monitor: Monitored | None


class Panel:
    """The state of a model for those who watch it.

    Parameters
    ----------
    model : OKSPCA, OKSPCAClassifier or OKSPCARegressor
        The model that learns.
    name : str, default="model"
        What it is called.
    columns : sequence of str, optional
        What its columns are called, where the model has learned arrays without names.
    clock : callable, default=time.time
        Tells when an alarm was raised, in seconds since 1970.

    Examples
    --------
    >>> from okspca import OKSPCARegressor
    >>> X = np.random.RandomState(0).normal(size=(600, 2))
    >>> panel = Panel(OKSPCARegressor(prequential=True, random_state=0), columns=("flow", "level"))
    >>> for rows in np.array_split(np.arange(600), 6):
    ...     model = panel.model.partial_fit(X[rows], X[rows, 0])
    ...     panel.learned(X[rows], X[rows, 0])
    >>> state = panel.snapshot(now=0.0)
    >>> state["rows"], len(state["embedding"]["z"]), state["inputs"][0]["name"]
    (600, 500, 'flow')
    >>> state["score"]["recent"] > 0.9, state["monitor"]
    (True, None)
    """

    def __init__(
        self,
        model: OKSPCA,
        name: str = "model",
        *,
        columns: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.model = model
        self.name = name
        self.columns = tuple(columns)
        self._clock = clock
        self._lock = threading.Lock()
        self._rows, self._labels = LatestRows(), Counter[Any]()
        self._alarms = Episodes(MOST_ALARMS)
        self._monitor: Monitored | None = None
        self._history, self._recent, self._picture = History(NAMES), RecentScore(), Picture()
        self._inputs, self._stability = Seldom(), Seldom()

    def learned(self, X: Any, y: ArrayLike, found: tuple[Monitored, ...] = ()) -> None:
        """Take note of a block that the model has just learned.

        Parameters
        ----------
        X, y : array-like
            The block as it was given to the model; its last rows are copied.
        found : tuple of Monitored, optional
            What ``learn_monitored`` returned.
        """
        targets = np.asarray(y)
        labels = targets.ravel().tolist() if kind_of(self.model) == "classifier" else []
        raised = [self._told(alarm, each) for each in self._named(found) for alarm in each.alarms]
        latest = [each for each in found if len(each.values)]
        with self._lock:
            self._rows.add(X, targets)
            self._labels.update(labels)
            for alarm in raised:
                self._alarms.add(alarm)
            self._monitor = latest[-1] if latest else self._monitor

    @property
    def alarms(self) -> tuple[State, ...]:
        """The latest alarms, oldest first, with their time, sentence and length."""
        with self._lock:
            return self._alarms.told()

    def history(self) -> dict[str, list[float | None]]:
        """What the snapshots so far have told, thinned out: lists of one length.

        A page that opens gets it with the first state, and best with all of :attr:`alarms`.
        """
        return self._history.columns()

    def snapshot(self, now: float, beside: Mapping[str, Any] | None = None) -> State:
        """Tell the present state as plain JSON, and add a point to the history.

        Parameters
        ----------
        now : float
            The time in seconds since 1970.
        beside : mapping, optional
            What others know: ``rows_per_second``, ``requests_per_second``, ``latency_ms``,
            ``pending``, ``sources``, ``rows_waiting``, ``rows_set_aside``, ``latest_set_aside``.

        Returns
        -------
        dict
            Targets in it are numbers, or places among ``classes``; coordinates are those of up to
            8 components about their mean.  Of columns and inputs the first, or largest, are told.
        """
        told, now_seen = self._copied(), self._seen()
        state = {
            **{"model": self.name, "kind": kind_of(self.model), "time": now},
            **self._of_model(told, now_seen, now),
            "monitor": self._of_monitor(told.monitor),
            "alarms": list(told.alarms[-TOLD_ALARMS:]),
            "n_alarms": told.n_alarms,
            **(beside or {}),
        }
        self._history.add(now, point_of(state))
        return state

    def _copied(self) -> Learned:
        """What was told so far; the lock is held for a moment only."""
        with self._lock:
            alarms = self._alarms.told()
            rows, labels = self._rows.copy(), dict(self._labels)
            return Learned(rows, labels, alarms, self._alarms.n, self._monitor)

    def _seen(self) -> Seen | None:
        """One state of the model; None before there is one."""
        record = self.model.learned
        if record is None or record.pipeline is None:
            return None
        return record.pipeline.read(asked_ahead(partial(seen, self.model)))

    def _of_model(self, told: Learned, now_seen: Seen | None, now: float) -> State:
        """What the model itself has to tell."""
        record = self.model.learned
        if record is None or now_seen is None:
            n_rows = 0 if record is None else record.n_rows
            nothing = dict.fromkeys(("task", "embedding", "certificate", "stability", "score"))
            left = pilot_rows_left(self.model)
            named = {"n_components": None, "classes": [], "columns": list(self.columns)}
            return {**nothing, **named, "rows": n_rows, "pilot_rows_left": left, "inputs": []}
        whole = self._whole_rows(told.rows, now_seen)
        return {
            "task": now_seen.task,
            "rows": now_seen.rows,
            "n_components": now_seen.embedding.columns.shape[1],
            "classes": now_seen.classes.tolist(),
            "columns": self._names()[:MOST_COLUMNS],
            "pilot_rows_left": pilot_rows_left(self.model),
            "embedding": self._of_embedding(told.rows, whole, now_seen),
            "certificate": now_seen.certificate(),
            "stability": self._stability.answer(now, self._estimate_stability),
            "score": self._of_score(now_seen.score, told.labels, now_seen.task),
            "inputs": self._inputs.answer(now, partial(self._weigh_inputs, now_seen, whole)) or [],
        }

    def _whole_rows(self, rows: LatestRows, now_seen: Seen) -> Floats:
        """The latest rows as the model's inputs; NaN where a row is left out."""
        blocks = [np.asarray(self.model.complete_rows(X), dtype=np.float64) for X in rows.X]
        width = now_seen.embedding.input_map.n_inputs
        return np.vstack(blocks) if blocks else np.zeros((0, width))

    def _of_embedding(self, rows: LatestRows, whole: Floats, now_seen: Seen) -> State | None:
        """Coordinates of the latest rows, turned towards those shown before."""
        is_whole = ~np.isnan(whole).any(axis=1)
        if not is_whole.any():
            return None
        found = self._picture.of(
            *(now_seen.embedding, now_seen.mean, whole[is_whole]), is_aligned=now_seen.is_aligned
        )[:, :MOST_COMPONENTS]
        Z: list[Any] = [None] * len(whole)
        for place, z in zip(np.flatnonzero(is_whole), rounded(found).tolist(), strict=True):
            Z[place] = z
        is_class = now_seen.task == CLASSIFICATION
        y = places_of(rows.y, now_seen.classes) if is_class else [number(v) for v in rows.y]
        return {"z": Z, "y": y[-len(Z) :], "first_row": max(now_seen.rows - len(Z), 0)}

    def _of_score(
        self, sums: PrequentialScore | None, labels: Mapping[Any, int], task: str | None
    ) -> State | None:
        """How well all rows, and the latest, were predicted before learning, and a baseline."""
        if sums is None or not sums.weight > 0.0:
            return None
        latest = self._recent.after(sums)
        if task != CLASSIFICATION:
            scores = {"running": number(sums.r2()), "recent": number(latest.r2())}
            return {"measure": "R²", **scores, "baseline": 0.0}
        scores = {"running": number(sums.accuracy()), "recent": number(latest.accuracy())}
        baseline = max(labels.values()) / sum(labels.values()) if labels else None
        return {"measure": "accuracy", **scores, "baseline": baseline}

    def _estimate_stability(self) -> State | None:
        """The estimate with its interval; None where none is kept, or there is no target."""
        found = self.model.estimate_stability()
        low, high = found.interval or (None, None)
        numbers = {"distance": found.distance, "low": low, "high": high}
        return {name: number(value) for name, value in numbers.items()}

    def _weigh_inputs(self, now_seen: Seen, whole: Floats) -> list[State]:
        """The inputs that move the components most over the latest rows, by shares."""
        rows = whole[~np.isnan(whole).any(axis=1)]
        if len(rows) < 2:
            return []
        shares = now_seen.input_shares(rows, self.model.singular_values_)
        pairs = zip(self._names(inputs=True), shares.tolist(), strict=True)
        most = sorted(pairs, key=lambda pair: -pair[1])[:MOST_INPUTS]
        return [{"name": name, "share": number(round(share, 4))} for name, share in most]

    def _of_monitor(self, found: Monitored | None) -> State | None:
        """Statistics and limits of the last row, with the inputs that add most."""
        if found is None:
            return None
        latest = self._named((found,))[0].latest()
        parts = latest.pop("contributions")
        most = {
            name: dict(sorted(each.items(), key=lambda pair: -(pair[1] or 0.0))[:MOST_INPUTS])
            for name, each in parts.items()
        }
        return {**{name: number(value) for name, value in latest.items()}, "contributions": most}

    def _named(self, found: tuple[Monitored, ...]) -> list[Monitored]:
        """The same with the names of the columns."""
        names = tuple(self._names(inputs=True)) if found else ()
        return [each.named(names) if len(each.inputs) == len(names) else each for each in found]

    def _told(self, alarm: Alarm, found: Monitored) -> State:
        """An alarm as JSON, by its row among all that came."""
        shares = dict(zip(alarm.inputs, map(number, alarm.shares), strict=True))
        others = moved(found, alarm)
        alarm = alarm._replace(row=alarm.row + self._rows_before_monitor())
        also = f" Inputs moved as well, most of all {next(iter(others))}." if others else ""
        return {
            "row": alarm.row,
            "time": self._clock(),
            "statistic": alarm.statistic,
            "since": alarm.since,
            "sentence": f"{alarm.sentence}{also}",
            "inputs": {**shares, **others},
        }

    def _rows_before_monitor(self) -> int:
        """Rows that came before the monitor began to count."""
        record = self.model.learned
        if record is None or record.live is None:
            return 0
        n_rows = self.model.n_samples_seen_ + self.model.n_rows_skipped_
        return max(n_rows - record.live.rows, 0)

    def _names(self, *, inputs: bool = False) -> list[str]:
        """Names of the columns, or of the inputs that were made of them."""
        record = self.model.learned
        if record is None:
            return list(self.columns)
        columns = [str(name) for name in record.columns.called]
        named = dict(zip(columns, self.columns, strict=False)) if not record.columns.listed else {}
        return [called(name, named) for name in (self.model.input_names_ if inputs else columns)]


class Seldom:
    """An answer that is dear, and asked for anew only now and then.

    Examples
    --------
    >>> seldom = Seldom()
    >>> seldom.answer(0.0, lambda: "first"), seldom.answer(1.0, lambda: "second")
    ('first', 'first')
    >>> seldom.answer(1e9, lambda: "third")
    'third'
    """

    def __init__(self) -> None:
        self._found: Any = None
        self._due = float("-inf")

    def answer(self, now: float, question: Callable[[], Any]) -> Any:
        """The last answer, or a new one if it is time; None where there is none."""
        if now >= self._due:
            began = time.perf_counter()
            try:
                self._found = question()
            except (NotReadyError, DataError):
                self._found = None
            took = time.perf_counter() - began
            # What could not be told yet may be told soon.
            self._due = now + max(PATIENCE, PART * took) if self._found is not None else now
        return self._found


def number(value: Any) -> float | None:
    """A number of JSON; None where it is not known.

    Examples
    --------
    >>> number(0.5), number(float("nan")), number(None)
    (0.5, None, None)
    """
    return float(value) if value is not None and np.isfinite(value) else None


def kind_of(model: OKSPCA) -> str:
    """What a model is for."""
    if isinstance(model, OKSPCAClassifier):
        return "classifier"
    return "regressor" if isinstance(model, OKSPCARegressor) else "reducer"


def point_of(state: State) -> dict[str, float | None]:
    """A state as a point of its history."""
    score, latency = state["score"] or {}, state.get("latency_ms") or {}
    parts = [state, state["certificate"], state["stability"], state["monitor"], latency]
    flat = {name: part.get(name) for part in parts if part for name in NAMES if name in part}
    return {
        **flat,
        "score": score.get("running"),
        "recent": score.get("recent"),
        "baseline": score.get("baseline"),
    }
