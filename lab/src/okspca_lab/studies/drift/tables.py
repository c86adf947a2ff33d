"""The tables of the drift study."""

import numpy as np

from okspca.report.tables import Table
from okspca_lab.studies.drift.cells import FINE, METHODS
from okspca_lab.studies.drift.results import pooled, rows_of
from okspca_lab.studies.drift.streams import SCENARIOS
from okspca_lab.studies.rows import Row

NOTE = (
    "Steady: median angle before the first change. Recovery: windows from the end of a change to "
    "where the angle stays within 10 degrees of steady; then, until it first is below 5 and 2. "
    "Medians and largest values over seeds and changes; – means never."
)


def recovery(rows: list[Row]) -> Table:
    """How large the steady error is, and how soon it is reached again."""
    lines = []
    for scenario in SCENARIOS:
        for method in METHODS:
            own = rows_of(rows, scenario, method)
            steady = float(np.median([row["steady"] for row in own]))
            again = pooled(own, "recovery")
            fine = (_median(pooled(own, f"to_{limit:g}")) for limit in FINE)
            cells = (f"{steady:.1f}°", _median(again), _largest(again), *fine)
            lines.append((scenario, method, *cells))
    header = ("scenario", "method", "steady", "recovery", "largest", "to 5°", "to 2°")
    return Table("Recovery, in windows", header, lines, NOTE, words=(1,))


def alarms(rows: list[Row]) -> Table:
    """How soon the alarm was raised after a change began, and how often without one."""
    lines = []
    for scenario, setting in SCENARIOS.items():
        for method in METHODS:
            own, delays, missed, false = rows_of(rows, scenario, method), [], 0, 0
            for row in own:
                left = list(row["alarms"])
                for start, stop in setting.changes:
                    caused = [t for t in left if start < t <= stop + 3.0]
                    left = [t for t in left if t not in caused]
                    delays += [caused[0] - start] if caused else []
                    missed += not caused
                false += len(left)
            delay = f"{float(np.median(delays)):.2f}" if delays else "–"
            lines.append((scenario, method, delay, str(missed), str(false), str(len(own))))
    header = ("scenario", "method", "windows until the alarm", "missed", "false", "streams")
    return Table("The alarm", header, lines, words=(1,))


def _median(times: list[float]) -> str:
    """Write the median."""
    middle = float(np.median(times))
    return f"{middle:.2f}" if np.isfinite(middle) else "–"


def _largest(times: list[float]) -> str:
    """Write the largest."""
    return f"{max(times):.2f}" if np.isfinite(max(times)) else "–"
