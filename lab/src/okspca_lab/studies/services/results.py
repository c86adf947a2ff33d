"""The rows of a run, asked for by name."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from okspca.numerics.arrays import Floats
from okspca_lab.studies.rows import Row
from okspca_lab.studies.services.accounting import COUNTS
from okspca_lab.studies.services.plan import QUICK_ROWS
from okspca_lab.studies.services.storage import FILES, read_rows
from okspca_lab.studies.workloads import REGIMES, SCHEDULES

PERIODIC = tuple(name for name, schedule in SCHEDULES.items() if schedule.every is not None)


class Results:
    """Rows of one build.

    Parameters
    ----------
    rows : list of dict
        Rows of all passes.
    quick : bool
        Whether they come from a few rows only, so that no number means anything.
    """

    def __init__(self, rows: Sequence[Row], *, quick: bool = False) -> None:
        self.rows = list(rows)
        self.quick = quick
        self._by_cell: dict[tuple[Any, ...], Row] = {}
        for row in rows:
            if "repeat" not in row:
                self._by_cell[_key(row)] = row

    @property
    def seeds(self) -> list[int]:
        """Seeds of the study that there are rows of."""
        kinds = ("A0", "quality")
        return sorted({row["seed"] for row in self.rows if row["kind"] in kinds})

    def kind(self, kind: str, **values: Any) -> list[Row]:
        """Rows of a kind that have these values."""
        return [
            row
            for row in self.rows
            if row["kind"] == kind and all(row.get(n) == v for n, v in values.items())
        ]

    def cell(self, kind: str, regime: str, schedule: str | None, method: str, seed: int) -> Row:
        """One row; empty where it was not run."""
        return self._by_cell.get((kind, regime, schedule, method, seed), {})

    def over_seeds(
        self, kind: str, regime: str, schedule: str | None, method: str, name: str
    ) -> Floats:
        """One number over the seeds, where it is defined."""
        found = [self.cell(kind, regime, schedule, method, s).get(name) for s in self.seeds]
        return np.array([value for value in found if value is not None], dtype=np.float64)

    def seconds(
        self, regime: str, schedule: str, method: str, *, inclusive: bool = False
    ) -> Floats:
        """Wall time of pass A0 over the seeds; inclusive: with the making of the service."""
        wall = self.over_seeds("A0", regime, schedule, method, "wall")
        return wall + self.over_seeds("A0", regime, schedule, method, "init_wall") * inclusive

    def microseconds(self, regime: str, schedule: str, method: str) -> float | None:
        """Median time per observation, requests included."""
        seconds = self.seconds(regime, schedule, method)
        n_rows = QUICK_ROWS if self.quick else REGIMES[regime].n_rows
        return 1e6 * float(np.median(seconds)) / n_rows if seconds.size else None

    def ratios(
        self, regime: str, schedule: str, method: str, other: str, *, inclusive: bool = False
    ) -> Floats:
        """Time over another method's, paired by seed."""
        found = []
        for seed in self.seeds:
            pair = [self.cell("A0", regime, schedule, name, seed) for name in (method, other)]
            if all(pair):
                mine, theirs = (row["wall"] + row["init_wall"] * inclusive for row in pair)
                found.append(mine / theirs)
        return np.array(found, dtype=np.float64)

    def mean(self, regime: str, method: str, name: str, schedule: str = "every-1") -> float | None:
        """Conditional mean within each seed, then with equal weights over the seeds."""
        values = self.over_seeds("quality", regime, schedule, method, name)
        return float(values.mean()) if values.size else None

    def count(self, regime: str, method: str, name: str, schedule: str = "every-1") -> int | None:
        """Number of requests of a kind, pooled over the seeds."""
        if name == "shortfall":
            parts = [self.count(regime, method, part, schedule) for part in ("missing", "unequal")]
            return None if None in parts else sum(part for part in parts if part is not None)
        values = self.over_seeds("quality", regime, schedule, method, name)
        return int(values.sum()) if values.size else None

    def totals(self, schedules: Sequence[str] = tuple(SCHEDULES)) -> dict[str, int]:
        """Counts over everything that was run with these schedules."""
        rows = [row for row in self.kind("quality") if row["schedule"] in schedules]
        found = {name: sum(row[name] for row in rows) for name in COUNTS}
        return found | {"shortfall": found["missing"] + found["unequal"]}

    def is_complete(self, n_seeds: int = 5) -> bool:
        """Whether quality is there for all regimes and seeds."""
        there = {(row["regime"], row["seed"]) for row in self.kind("quality")}
        return len(there) == n_seeds * len(REGIMES) and not self.quick

    def varied(self, regime: str, method: str, name: str) -> Floats:
        """Means of single seeds: those of the study and the further ones."""
        further = [row[name] for row in self.kind("further", regime=regime, method=method)]
        values = np.array([v for v in further if v is not None], dtype=np.float64)
        return np.concatenate([self.over_seeds("quality", regime, "every-1", method, name), values])

    def terminal(self, regime: str, method: str, name: str) -> Floats:
        """One number of the last answer, over the seeds."""
        return self.over_seeds("terminal", regime, None, method, name)


def _key(row: Row) -> tuple[Any, ...]:
    """What a row is found by."""
    return (
        row["kind"],
        row["regime"],
        row.get("schedule"),
        row.get("method"),
        row["seed"],
    )


def read_results(out: Path, build: str, *, quick: bool) -> Results:
    """Read what there is of a build."""
    rows = [row for name in FILES for row in read_rows(out / build, name, build, quick=quick)]
    return Results(rows, quick=quick)
