"""One cell of the monitoring study: a stream, in control and after each change, by every method."""

from pathlib import Path

from okspca_lab.studies.monitoring.detectors import Found, alarms, learned, watched
from okspca_lab.studies.monitoring.plan import CHANGED, SETTINGS, Plan
from okspca_lab.studies.monitoring.streams import N_BEFORE, stream
from okspca_lab.studies.rows import Cell, Row
from okspca_lab.studies.runner import Part

QUIET = "none"


def work(cell: Cell) -> list[Row]:
    """Watch one stream in control and, of the first seeds, after each change."""
    kind, seed = cell["stream"], cell["seed"]
    found = stream(kind, seed)
    known, rows = learned(found.learned, found.calibration, seed), []
    changed = found.changed if seed < CHANGED else {}
    for change, after in {QUIET: found.quiet, **changed}.items():
        causes = found.causes.get(change, ())
        for method, raised in alarms(kind, watched(known, after)).items():
            told = in_control(raised) if change == QUIET else after_change(raised, causes)
            rows.append({"stream": kind, "seed": seed, "change": change, "method": method, **told})
    return rows


def parts(plan: Plan, out: Path) -> list[Part]:
    """All cells, ready to be run."""
    return [Part.of_cells(out, SETTINGS, plan.cells(), work)]


def in_control(found: Found) -> Row:
    """How many alarms there were, and the first."""
    return {"alarms": len(found.rows), "first": found.rows[0] if found.rows else None}


def after_change(found: Found, causes: tuple[int, ...]) -> Row:
    """How many rows after the change the first alarm came, and whether it named a cause.

    Examples
    --------
    >>> after_change(Found([100, 259, 300], [None, 3, 4]), (3,))
    {'false': 1, 'delay': 10, 'named': True}
    """
    late = [place for place, row in enumerate(found.rows) if row >= N_BEFORE]
    if not late:
        return {"false": len(found.rows), "delay": None, "named": None}
    named = found.named[late[0]]
    return {
        "false": late[0],
        "delay": found.rows[late[0]] - N_BEFORE + 1,
        "named": None if named is None or not causes else named in causes,
    }
