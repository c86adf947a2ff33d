"""The tables of this study."""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.report.tables import Table
from okspca_lab.studies.drift.features.cells import METHODS, rows_at
from okspca_lab.studies.drift.features.plan import QUIET
from okspca_lab.studies.drift.features.quiet import KINDS
from okspca_lab.studies.drift.features.quiet import ROWS as QUIET_ROWS
from okspca_lab.studies.drift.features.results import met, rows_of, scores_of
from okspca_lab.studies.drift.features.streams import END, START, WINDOW
from okspca_lab.studies.rows import Row

SPANS = {
    "before": (START - 2 * WINDOW, START),
    "right after": (START, START + 2 * WINDOW),
    "then": (START + 2 * WINDOW, START + 4 * WINDOW),
    "at last": (END - 2 * WINDOW, END),
}
NOTE = (
    "R², or share predicted right, of blocks predicted before they were learned: the "
    f"{2 * WINDOW:,} rows before row {START:,}, where the change begins, the {2 * WINDOW:,} after "
    f"it, the next {2 * WINDOW:,}, and the last {2 * WINDOW:,} of {END:,}. Means over seeds ± "
    "their standard error. Pilots: fresh ones begun per stream. First after: median number of rows "
    "from where the change begins to the first pilot. Taken: share of streams in which a new map "
    "was taken."
)
QUIET_NOTE = (
    f"{QUIET_ROWS:,} rows without drift per stream, which is 92 to 96 shares; the first eight only "
    "tell what is usual. A stream with two alarms counts once in the second column."
)


def recovery(rows: list[Row]) -> Table:
    """Scores before and after the change."""
    lines = []
    for scenario in met(rows):
        for method in METHODS:
            own = rows_of(rows, scenario.name, method)
            scores = scores_of(own)
            cells = [_mean(span_of(scores, *span)) for span in SPANS.values()]
            lines.append((scenario.name, method, *cells, *_pilots(own)))
    header = ("scenario", "features and moment", *SPANS, "pilots", "first after", "taken")
    return Table("Features after a drift", header, lines, NOTE, words=(1,))


def false_alarms(rows: list[Row]) -> Table:
    """How often the alarm was raised where nothing had changed."""
    lines = []
    for kind in KINDS:
        alarms = [r["alarms"] for r in rows if r["scenario"] == QUIET and r["kind"] == kind]
        lines.append((kind, str(len(alarms)), str(np.count_nonzero(alarms)), str(sum(alarms))))
    header = ("stream", "streams", "with an alarm", "alarms")
    return Table("False alarms", header, lines, QUIET_NOTE)


def span_of(scores: Floats, start: int, stop: int) -> Floats:
    """Mean score of the blocks between two rows, for each seed."""
    at = rows_at(scores.shape[1])
    return np.asarray(scores[:, (at >= start) & (at < stop)].mean(axis=1))


def _mean(values: Floats) -> str:
    """Write a mean and, of several values, its standard error."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def _pilots(rows: list[Row]) -> tuple[str, str, str]:
    """Fresh pilots per stream, when the first began, and how often a new map was taken."""
    began = [row["began"] for row in rows]
    if not any(began):
        return "–", "–", "–"
    first = float(np.median([times[0] - START for times in began if times]))
    taken = np.mean([row["let_go"] > 0 for row in rows])
    return f"{np.mean([len(times) for times in began]):.1f}", f"{first:,.0f}", f"{taken:.1f}"
