"""The rows of this study, asked for by name."""

from pathlib import Path

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.drift.features.plan import QUIET, SETTINGS, Plan
from okspca_lab.studies.drift.features.streams import SCENARIOS, Scenario
from okspca_lab.studies.rows import Row, read_rows


def read(plan: Plan, out: Path) -> list[Row]:
    """Rows of the seeds of a plan; more may be there."""
    rows = read_rows(out / "rows.jsonl", SETTINGS)
    seeds = {True: plan.quiet_seeds, False: plan.seeds}
    planned = [row for row in rows if row["scenario"] in (*plan.scenarios, QUIET)]
    return [row for row in planned if row["seed"] in seeds[row["scenario"] == QUIET]]


def met(rows: list[Row]) -> list[Scenario]:
    """Scenarios that rows belong to."""
    return [one for name, one in SCENARIOS.items() if any(r["scenario"] == name for r in rows)]


def rows_of(rows: list[Row], scenario: str, method: str) -> list[Row]:
    """Rows of one scenario and method."""
    return [row for row in rows if (row["scenario"], row.get("method")) == (scenario, method)]


def scores_of(rows: list[Row]) -> Floats:
    """Scores, one line per seed."""
    return np.array([row["scores"] for row in rows])
