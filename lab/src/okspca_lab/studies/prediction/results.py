"""The rows of a run, asked for by name."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.prediction.plan import Plan
from okspca_lab.studies.rows import Record, Row, RowFile


class Results:
    """Rows of a run of the prediction study.

    Parameters
    ----------
    rows : list of dict
        As the cells gave them.
    tasks : sequence of str
        Names of the tasks that were run.
    seeds : sequence of int
        Final seeds that were run.
    quick : bool
        Whether only few rows were used, so that no number means anything.
    """

    def __init__(
        self, rows: list[Row], tasks: Sequence[str], seeds: Sequence[int], *, quick: bool
    ) -> None:
        self.rows = rows
        self.tasks = list(tasks)
        self.seeds = list(seeds)
        self.quick = quick
        self._scores = {
            (row["task"], row["method"], row["representation"], row["seed"]): row
            for row in rows
            if row["kind"] == "score" and row["part"] != "development"
        }

    def scores(self, task: str, method: str, representation: str = "full") -> Floats:
        """Scores over the seeds; empty where the task was not run."""
        found = [
            self._scores[task, method, representation, seed]["score"]
            for seed in self.seeds
            if (task, method, representation, seed) in self._scores
        ]
        return np.array(found, dtype=np.float64)

    def geometry(self, task: str, *, checkpoints: bool = True) -> list[Row]:
        """Same-target rows of a task, by seed and observation."""
        found = [
            row
            for row in self.rows
            if row["kind"] == "geometry"
            and row["task"] == task
            and row["seed"] in self.seeds
            and (row["checkpoint"] or not checkpoints)
        ]
        return sorted(found, key=lambda row: (row["seed"], row["observation"]))

    def terminal(self, task: str, name: str) -> Floats:
        """One same-target number at the end of the stream, over the seeds."""
        last: dict[int, Row] = {row["seed"]: row for row in self.geometry(task)}
        values = [np.nan if row[name] is None else row[name] for row in last.values()]
        return np.array(values, dtype=np.float64)

    def size(self, task: str) -> Row | None:
        """Sizes and bandwidths of a task."""
        return next((r for r in self.rows if r["kind"] == "task" and r["task"] == task), None)

    def development(self) -> list[Row]:
        """Scores of the development selection."""
        return [row for row in self.rows if row["part"] == "development"]

    def not_converged(self) -> list[Row]:
        """Scores whose probe ran out of iterations."""
        return [row for row in self.rows if row["kind"] == "score" and not row["converged"]]


def read(plan: Plan, out: Path) -> tuple[Results, dict[str, str]]:
    """Read the rows of a plan, and how they were made."""
    file = RowFile(out / "rows.jsonl", plan.settings)
    told = Record(out / "provenance.json").read() or {}
    results = Results(file.rows, plan.names, plan.seeds, quick=plan.quick)
    return results, told | {"cells added up": f"{file.seconds / 60.0:.1f} minutes"}
