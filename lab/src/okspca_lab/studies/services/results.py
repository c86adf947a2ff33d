"""What a run leaves on disk: rows of each pass, how they were made, trajectories; asked by name."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from okspca import outputs
from okspca.numerics.arrays import Floats
from okspca_lab.studies.rows import Record, Row, read_rows
from okspca_lab.studies.services.accounting import COUNTS
from okspca_lab.studies.services.plan import QUICK_ROWS
from okspca_lab.studies.workloads import REGIMES, SCHEDULES

#: One file for each pass, so that the untimed one can run beside the others.
FILES = {"A0": "timing.jsonl", "B": "batches.jsonl", "C": "quality.jsonl"}
VERSION = 1
PERIODIC = tuple(name for name, schedule in SCHEDULES.items() if schedule.every is not None)

#: By seed and method.
Trajectories = Mapping[tuple[int, str], Mapping[str, Floats]]


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
    files = {rows_file(out, build, name): settings_of(name, build, quick=quick) for name in FILES}
    rows = [row for path, settings in files.items() for row in read_rows(path, settings)]
    return Results(rows, quick=quick)


def rows_file(out: Path, build: str, name: str) -> Path:
    """File of the rows of a pass."""
    return out / build / FILES[name]


def settings_of(name: str, build: str, *, quick: bool) -> dict[str, Any]:
    """What the rows of a pass depend on."""
    settings = {"study": "services", "version": VERSION, "build": build, "pass": name}
    return {**settings, "quick": quick}


def record_of(out: Path, build: str, name: str) -> Record:
    """Where it is told how the rows of a pass were made."""
    return Record(out / build / f"provenance-{name}.json")


def read_provenance(out: Path) -> dict[str, dict[str, str]]:
    """Read how everything was made, by build and pass."""
    return {
        f"{path.parent.name} build, pass {path.stem.removeprefix('provenance-')}": told
        for path in sorted(out.glob("*/provenance-*.json"))
        if (told := Record(path).read()) is not None
    }


def keep_trajectories(
    folder: Path, regime: str, seed: int, found: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write one file per method."""
    folder.mkdir(parents=True, exist_ok=True)
    for method, arrays in found.items():
        with outputs.replacing(folder / f"{regime}-{seed}-{method}.npz") as file:
            np.savez_compressed(file, **arrays)


def read_trajectories(folder: Path, regime: str) -> Trajectories:
    """Read what pass C kept of a regime, by seed and method."""
    found = {}
    for path in sorted(folder.glob(f"{regime}-*.npz")):
        _, seed, method = path.stem.split("-", 2)
        with np.load(path) as arrays:
            found[int(seed), method] = {name: arrays[name] for name in arrays.files}
    return found
