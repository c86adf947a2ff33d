"""The whole run: cells, rows on disk, and everything that is made of them."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from okspca import outputs
from okspca.report.provenance import provenance
from okspca_lab.studies.cells import Cell, run_cells
from okspca_lab.studies.prediction import beyond
from okspca_lab.studies.prediction.beyond_render import render_beyond
from okspca_lab.studies.prediction.experiments import SPLITS
from okspca_lab.studies.prediction.nudges import NUDGED_SEEDS
from okspca_lab.studies.prediction.parts import work
from okspca_lab.studies.prediction.protocol import DEVELOPMENT_SEEDS, FINAL_SEEDS
from okspca_lab.studies.prediction.render import render
from okspca_lab.studies.prediction.results import Results
from okspca_lab.studies.prediction.tasks import DEVELOPED, TASKS, is_local, resolved
from okspca_lab.studies.rows import RowFile

QUICK_SEEDS = 2
#: Longest first, so that several processes end together.
LONGEST_FIRST = ("Sensorless", "HAR", "Kin8nm", "Friedman-1", "Spirals-3", "XOR-Gauss")


@dataclass(frozen=True)
class Plan:
    """What to run."""

    tasks: tuple[str, ...] = tuple(TASKS)
    seeds: tuple[int, ...] = FINAL_SEEDS
    quick: bool = False

    def cells(self) -> list[Cell]:
        """All cells, long ones first."""
        tasks = [name for name in LONGEST_FIRST if name in self.tasks]
        found: list[Cell] = [
            {"part": part, "task": task, "seed": seed, "quick": self.quick}
            for task in tasks
            for part in ("controls", "comparators", "okspca")
            for seed in self.seeds
        ]
        found += [
            {"part": "development", "task": task, "seed": seed, "quick": self.quick}
            for task in tasks
            if task in DEVELOPED
            for seed in DEVELOPMENT_SEEDS[: 1 if self.quick else None]
        ]
        for part, names, seeds in self._experiments():
            found += [
                {"part": part, "task": task, "seed": seed, "quick": self.quick}
                for task in tasks
                if task in names
                for seed in seeds
            ]
        return found + [{"part": "bandwidth", "task": task, "quick": self.quick} for task in tasks]

    def _experiments(self) -> list[tuple[str, Sequence[str], Sequence[int]]]:
        """Experiments with their tasks and seeds; those of one split cost most."""
        several = [name for name, task in TASKS.items() if task.rank > 1]
        return [
            ("splits", ("Sensorless",), SPLITS[: 1 if self.quick else None]),
            ("loadings", several, self.seeds),
            ("rounding", ("HAR",), self.seeds),
            ("columns", ("HAR",), (0,)),
            ("excursions", ("Sensorless",), self.seeds),
            ("nudges", ("HAR", "Sensorless"), NUDGED_SEEDS[: 1 if self.quick else None]),
        ]


def planned(tasks: Sequence[str], n_seeds: int | None, *, quick: bool) -> Plan:
    """Make a plan from what was asked for; a quick one leaves out data that are not there.

    Raises
    ------
    ValueError
        A task is not known.
    DataFileError
        The file of a task is missing.
    """
    unknown = [name for name in tasks if name not in TASKS]
    if unknown:
        message = f"{unknown[0]!r} is not a task; choose from {', '.join(TASKS)}."
        raise ValueError(message)
    chosen = tuple(name for name in TASKS if not tasks or name in tasks)
    chosen = tuple(name for name in chosen if _is_there(name, needed=bool(tasks) or not quick))
    most = QUICK_SEEDS if quick else len(FINAL_SEEDS)
    return Plan(chosen, FINAL_SEEDS[: min(n_seeds or most, len(FINAL_SEEDS))], quick)


def _is_there(name: str, *, needed: bool) -> bool:
    """Whether the data of a task are there; those that are needed are fetched, or it raises."""
    if needed:
        resolved(name).final(FINAL_SEEDS[0])
        return True
    return is_local(name)


def reproduce(plan: Plan, out: Path, console: Console, *, jobs: int, command: str) -> Results:
    """Run what is missing, then write tables, figures, comparison and page."""
    start = time.perf_counter()
    tasks = [resolved(name).name for name in plan.tasks]
    settings = {"study": "prediction", "version": 1, "quick": plan.quick, "har": _har_name(tasks)}
    file = RowFile(out / "rows.jsonl", settings)
    cells = plan.cells()
    resumed = sum(file.has(cell) for cell in cells)
    run_cells(cells, work, file, console, jobs=jobs)
    told = _told(out, command, jobs, time.perf_counter() - start, resumed=resumed, of=len(cells))
    results = Results(file.rows, tasks, plan.seeds, quick=plan.quick)
    render(results, out, console, told | {"cells added up": f"{file.seconds / 60.0:.1f} minutes"})
    return results


def reproduce_beyond(
    plan: Plan, out: Path, console: Console, *, jobs: int, command: str
) -> Results:
    """Run the rows past the paper, then write their tables and figure."""
    start = time.perf_counter()
    tasks = [resolved(name).name for name in plan.tasks]
    settings = {"study": "prediction beyond the paper", "version": 2, "quick": plan.quick}
    file = RowFile(out / "rows.jsonl", settings)
    longest_first = [task for task in LONGEST_FIRST if task in plan.tasks]
    cells = beyond.cells(longest_first, plan.seeds, quick=plan.quick)
    resumed = sum(file.has(cell) for cell in cells)
    run_cells(cells, beyond.work, file, console, jobs=jobs)
    told = _told(out, command, jobs, time.perf_counter() - start, resumed=resumed, of=len(cells))
    results = Results(file.rows, tasks, plan.seeds, quick=plan.quick)
    render_beyond(
        results, out, console, told | {"cells added up": f"{file.seconds / 60.0:.1f} minutes"}
    )
    return results


def _har_name(tasks: list[str]) -> str | None:
    """Which form of HAR the rows are of."""
    return next((name for name in tasks if name.startswith("HAR")), None)


def _told(
    out: Path, command: str, jobs: int, seconds: float, *, resumed: int, of: int
) -> dict[str, str]:
    """Describe the run; a rendering that ran nothing keeps the description of the run."""
    path = out / "provenance.json"
    if resumed == of and path.exists():
        kept: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
        return kept
    told = provenance(command, jobs=jobs, seconds=seconds)
    if resumed:
        earlier = json.loads(path.read_text(encoding="utf-8"))["took"] if path.exists() else "?"
        told["took"] = f"{earlier}, then {told['took']}"
        told["resumed"] = f"{resumed} of {of} cells were there from an earlier run"
    outputs.write(path, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return told
