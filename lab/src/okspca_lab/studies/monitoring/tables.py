"""The tables of the monitoring study."""

import numpy as np

from okspca.report.tables import Table
from okspca_lab.studies.monitoring.cells import QUIET
from okspca_lab.studies.monitoring.detectors import METHODS, MONITOR, ROWS_PER_ALARM
from okspca_lab.studies.monitoring.process import FAULTS
from okspca_lab.studies.monitoring.results import interval, rows_of
from okspca_lab.studies.monitoring.streams import CHANGES, DRAWN, KINDS, N_AFTER, N_QUIET, PROCESS
from okspca_lab.studies.rows import Row

STATED = N_QUIET / ROWS_PER_ALARM
RATE_NOTE = (
    f"Share of streams of {N_QUIET:,} rows in control with an alarm; with all of them together, a "
    f"95 % interval, and alarms per {ROWS_PER_ALARM:,.0f} rows. The monitor promises at most "
    f"{STATED:.0%} and 1. river's detectors were set, for each kind of stream, to at most the same "
    "on 30 other streams. check_drift takes rows as independent, which the last two kinds are not; "
    'relearn="on-drift" is stopped by its first alarm.'
)
DELAY_NOTE = (
    f"Median rows from the change to the first alarm, and of how many streams there was one within "
    f"{N_AFTER:,} rows. Without an alarm the delay counts as infinite; – where the median is."
)
NAMED_NOTE = (
    "Of the alarms after a change, the share that named an input first which the change is about, "
    f"by the monitor without the response; delays as above, within {N_AFTER:,} rows."
)


def methods_of(rows: list[Row]) -> list[str]:
    """Methods that were run."""
    return [name for name in METHODS if rows_of(rows, method=name)]


def rates(rows: list[Row]) -> Table:
    """How often there is an alarm in control."""
    lines = []
    for method in methods_of(rows):
        quiet = rows_of(rows, method=method, change=QUIET)
        shares = (_share(rows_of(quiet, stream=kind)) for kind in KINDS)
        hits, n = sum(row["alarms"] > 0 for row in quiet), len(quiet)
        low, high = interval(hits, n)
        often = sum(row["alarms"] for row in quiet) / (n * N_QUIET) * ROWS_PER_ALARM
        every = f"{hits} of {n} ({low:.1%} to {high:.1%})"
        lines.append((method, *shares, every, f"{often:.2f}"))
    header = ("alarm", *KINDS, "all streams", f"per {ROWS_PER_ALARM:,.0f} rows")
    return Table("False alarms in control", header, lines, RATE_NOTE)


def delays(rows: list[Row]) -> Table:
    """How soon changes of drawn streams raise an alarm."""
    lines = [
        (kind, method, *(_delay(rows_of(own, change=change)) for change in CHANGES))
        for kind in DRAWN
        for method in methods_of(rows)
        for own in [rows_of(rows, stream=kind, method=method)]
    ]
    header = ("stream", "alarm", *CHANGES)
    return Table("Rows until the alarm", header, lines, DELAY_NOTE, words=(1,))


def faults(rows: list[Row]) -> Table:
    """How soon faults of the process raise an alarm."""
    lines = [
        (fault, *(_delay(rows_of(rows, stream=PROCESS, change=fault, method=m)) for m in methods))
        for methods in [methods_of(rows)]
        for fault in FAULTS
    ]
    return Table("Faults of the process", ("fault", *methods_of(rows)), lines, DELAY_NOTE)


def named(rows: list[Row]) -> Table:
    """Whether the right input is named first."""
    lines = []
    for kind in KINDS:
        for change in FAULTS if kind == PROCESS else CHANGES:
            own = rows_of(rows, stream=kind, change=change, method=MONITOR)
            told = [row["named"] for row in own if row["named"] is not None]
            if told:
                share = f"{sum(told)} of {len(told)}"
                lines.append((kind, change, share, _delay(own)))
    header = ("stream", "change", "right input first", "rows until the alarm")
    return Table("Inputs named", header, lines, NAMED_NOTE, words=(1,))


def overview(rows: list[Row]) -> Table:
    """The main table: false alarms and delays, all drawn streams together."""
    lines = []
    for method in methods_of(rows):
        own = [row for row in rows_of(rows, method=method) if row["stream"] in DRAWN]
        quiet = rows_of(rows, method=method, change=QUIET)
        found = (_delay(rows_of(own, change=change)) for change in CHANGES)
        lines.append((method, _share(quiet), *found))
    note = f"{RATE_NOTE.split(';')[0]}, process included. {DELAY_NOTE} Drawn streams together."
    return Table("Alarms at a glance", ("alarm", "in control", *CHANGES), lines, note)


def _share(quiet: list[Row]) -> str:
    """Share of streams with an alarm."""
    return f"{float(np.mean([row['alarms'] > 0 for row in quiet])):.0%}" if quiet else "–"


def _delay(rows: list[Row]) -> str:
    """Median delay and how many streams had an alarm."""
    if not rows:
        return "–"
    times = [np.inf if row["delay"] is None else row["delay"] for row in rows]
    middle, hits = float(np.median(times)), int(np.isfinite(times).sum())
    shown = f"{middle:,.0f}" if np.isfinite(middle) else "–"
    return f"{shown} ({hits}/{len(rows)})"
