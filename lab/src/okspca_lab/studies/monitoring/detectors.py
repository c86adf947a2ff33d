"""What raises alarms: the monitor, the checks for drift there are, and detectors of river.

Each is handed the model, which has learned the first rows and is frozen, and the rows of the
calibration, and then tells at which of the rows that are watched it raises an alarm.  Detectors of
river see one number at a time: the components of the embedding, standardised by the rows of the
calibration, or T² and SPE.  There is one for each number, and the alarm of any is an alarm.
"""

import copy
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from okspca import OKSPCA, OKSPCARegressor
from okspca.estimators import Monitored
from okspca.numerics.arrays import Floats
from okspca_lab.studies.monitoring.streams import KINDS, Rows

#: In control, an alarm within so many rows has a probability of at most their share of this.
ROWS_PER_ALARM = 20_000.0
BLOCK = 250
#: By kind of stream, chosen on seeds from 1,000 on: :mod:`okspca_lab.studies.monitoring.tuning`.
TUNED: dict[str, dict[str, float]] = {
    "ADWIN on the embedding": dict(zip(KINDS, (0.03, 0.03, 1e-7, 1e-31), strict=True)),
    "ADWIN on T² and SPE": dict(zip(KINDS, (0.03, 0.03, 1e-5, 1e-18), strict=True)),
    "Page–Hinkley on the embedding": dict(zip(KINDS, (35.0, 35.0, 90.0, 365.0), strict=True)),
    "Page–Hinkley on T² and SPE": dict(zip(KINDS, (40.0, 35.0, 75.0, 180.0), strict=True)),
}
#: Changes of a mean up to here are no matter to Page and Hinkley's test, in standard deviations.
SLACK = 0.1


class Found(NamedTuple):
    """Rows with an alarm, and the input that the alarm names first, where it names any."""

    rows: list[int]
    named: list[int | None]


class Known(NamedTuple):
    """What is known before rows are watched.

    Two models differ in their monitors alone: the second knows the response.  The third learns its
    features again on drift.  Numbers are those that detectors of river see, of the calibration.
    """

    models: tuple[OKSPCA, OKSPCA]
    relearning: OKSPCARegressor
    numbers: dict[str, Floats]


class Watched(NamedTuple):
    """What detectors are shown: what is known, rows to watch, and the numbers made of them."""

    known: Known
    rows: Rows
    numbers: dict[str, Floats]


def learned(first: Rows, calibration: Rows, seed: int) -> Known:
    """Learn the first rows of a stream, and calibrate monitors with and without the response."""
    model = OKSPCA(2, n_random_features=128, objective="whitened", random_state=seed)
    model.fit(first.X, first.y)
    twin = copy.deepcopy(model)
    model.calibrate_monitor(calibration.X, rows_per_alarm=ROWS_PER_ALARM)
    twin.calibrate_monitor(calibration.X, calibration.y, rows_per_alarm=ROWS_PER_ALARM)
    settings: dict[str, Any] = {"n_random_features": 64, "pilot_rows": 512, "random_state": 0}
    other = OKSPCARegressor(2, relearn="on-drift", frequencies="scaled", **settings)
    for rows in (first, calibration):
        other.partial_fit(rows.X, rows.y)
    return Known((model, twin), other, _numbers(model, calibration))


def watched(known: Known, rows: Rows) -> Watched:
    """Make the numbers that detectors of river see."""
    return Watched(known, rows, _numbers(known.models[0], rows))


def _numbers(model: OKSPCA, rows: Rows) -> dict[str, Floats]:
    """Coordinates of rows, and T² and SPE."""
    # Logarithms, since a single far row would say more than all others.
    logs = np.log(model.monitor(rows.X).values[:, :2] + 1e-12)
    return {"the embedding": np.asarray(model.transform(rows.X)), "T² and SPE": logs}


def _standardised(known: Floats, rows: Floats) -> tuple[Floats, Floats]:
    """Both in the units of the first."""
    means, spreads = known.mean(axis=0), known.std(axis=0)
    return (known - means) / spreads, (rows - means) / spreads


def by_monitor(shown: Watched, *, targets: bool) -> Found:
    """The monitor, with or without the response."""
    y = shown.rows.y if targets else None
    found: Monitored = shown.known.models[targets].monitor(shown.rows.X, y)
    named = [int(a.contributions.argmax()) if a.inputs else None for a in found.alarms]
    return Found([alarm.row for alarm in found.alarms], named)


def by_check(shown: Watched) -> Found:
    """``check_drift`` of each block of rows; the input that moved most is named."""
    rows, named = [], []
    for stop in range(BLOCK, len(shown.rows.X) + 1, BLOCK):
        found = shown.known.models[0].check_drift(shown.rows.X[stop - BLOCK : stop])
        if found.is_alarming:
            rows.append(stop - 1)
            size = np.maximum(np.abs(found.shifts), np.abs(np.log(found.factors.clip(1e-12))))
            named.append(int((size * found.changed).argmax()) if found.changed.any() else None)
    return Found(rows, named)


def by_relearning(shown: Watched) -> Found:
    """``relearn="on-drift"``: rows are predicted before they are learned."""
    model = copy.deepcopy(shown.known.relearning)
    # Its first alarm is what counts; after it a pilot runs, and rows are not watched.
    before = model.n_drift_alarms_
    for start in range(0, len(shown.rows.y), 32):
        model.partial_fit(shown.rows.X[start : start + 32], shown.rows.y[start : start + 32])
        if model.n_drift_alarms_ > before or _is_in_pilot(model):
            return Found([min(start + 31, len(shown.rows.y) - 1)], [None])
    return Found([], [])


def by_river(shown: Watched, name: str, setting: float) -> Found:
    """A detector of river for each number, which has seen the calibration; any may raise it."""
    kind, _, numbers = name.partition(" on ")
    known, rows = _standardised(shown.known.numbers[numbers], shown.numbers[numbers])
    alarms: set[int] = set()
    for before, column in zip(known.T, rows.T, strict=True):
        detector = MAKE[kind](setting)
        for value in before.tolist():
            detector.update(value)
        for row, value in enumerate(column.tolist()):
            detector.update(value)
            if detector.drift_detected:
                alarms.add(row)
    return Found(sorted(alarms), [None] * len(alarms))


def _is_in_pilot(model: OKSPCARegressor) -> bool:
    """Whether a fresh pilot is running, which an alarm has begun."""
    return model.pilot_rows_left_ > 0


def _adwin(setting: float) -> Any:
    """ADWIN of a certain delta, which looks every eight rows."""
    return import_module("river.drift").ADWIN(delta=setting, clock=8)


def _page_hinkley(setting: float) -> Any:
    """Page and Hinkley's test of a certain threshold, both ways, which forgets nothing."""
    options = {"threshold": setting, "delta": SLACK, "alpha": 1.0}
    return import_module("river.drift").PageHinkley(**options)


MAKE: dict[str, Callable[[float], Any]] = {"ADWIN": _adwin, "Page–Hinkley": _page_hinkley}
MONITOR, WITH_TARGETS = "monitor: T² and SPE", "monitor, with the response"
CHECK, RELEARN = f"check_drift, every {BLOCK} rows", 'relearn="on-drift"'
METHODS = (MONITOR, WITH_TARGETS, CHECK, RELEARN, *TUNED)


def alarms(kind: str, shown: Watched) -> dict[str, Found]:
    """Alarms of all methods on a kind of stream; those of river only where it is installed."""
    found = {
        MONITOR: by_monitor(shown, targets=False),
        WITH_TARGETS: by_monitor(shown, targets=True),
        CHECK: by_check(shown),
        RELEARN: by_relearning(shown),
    }
    if find_spec("river") is not None:
        found |= {name: by_river(shown, name, settings[kind]) for name, settings in TUNED.items()}
    return found
