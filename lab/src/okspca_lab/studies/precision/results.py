"""The rows of the precision study, asked for by name."""

from pathlib import Path

import numpy as np

from okspca_lab.studies.precision.cells import GIVEN
from okspca_lab.studies.precision.plan import Plan
from okspca_lab.studies.rows import Row, read_rows


def read(plan: Plan, out: Path) -> list[Row]:
    """Rows of the tasks and seeds of a plan; more may be there."""
    rows = read_rows(out / "rows.jsonl", plan.settings)
    return [row for row in rows if row["seed"] in plan.seeds and row["task"] in plan.tasks]


def by_form(rows: list[Row], task: str, model: str) -> dict[str, list[Row]]:
    """Rows of one task and model, by seed, for each form in which rows were given."""
    own = [row for row in rows if (row["task"], row["model"]) == (task, model)]
    own.sort(key=lambda row: int(row["seed"]))
    return {given: [row for row in own if row["given"] == given] for given in GIVEN}


def mean_score(rows: list[Row]) -> float:
    """Mean score over seeds."""
    return float(np.mean([row["score"] for row in rows]))


def largest_change(rows: list[Row], others: list[Row]) -> float:
    """Largest difference of two scores of one seed."""
    pairs = zip(rows, others, strict=True)
    return max((abs(one["score"] - other["score"]) for one, other in pairs), default=0.0)
