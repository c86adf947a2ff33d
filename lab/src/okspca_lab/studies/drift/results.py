"""The rows of the drift study, asked for by name."""

from pathlib import Path

import numpy as np

from okspca_lab.studies.drift.plan import SETTINGS, Plan
from okspca_lab.studies.rows import Row, read_rows


def read(plan: Plan, out: Path) -> list[Row]:
    """Rows of the seeds of a plan; more may be there."""
    rows = read_rows(out / "rows.jsonl", SETTINGS)
    return [row for row in rows if row["seed"] in plan.seeds]


def rows_of(rows: list[Row], scenario: str, method: str) -> list[Row]:
    """Rows of one scenario and method."""
    return [row for row in rows if (row["scenario"], row["method"]) == (scenario, method)]


def pooled(rows: list[Row], name: str) -> list[float]:
    """Times over seeds and changes; what never came is infinite."""
    return [np.inf if time is None else time for row in rows for time in row[name]]
