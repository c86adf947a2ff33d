"""The whole run: groups of cells, rows on disk as they come, then everything made of them."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_limits

from okspca.numerics.announcing import unannounced
from okspca.progress import progress
from okspca.studies.cells import Cell
from okspca.studies.rows import Row, RowFile
from okspca.studies.services.launch import cores, timed_in_a_process
from okspca.studies.services.plan import SEEDS, VARYING, Group, Plan
from okspca.studies.services.quality import DRAWN, quality_rows, trajectories, walk_of
from okspca.studies.services.selection import candidate_rows
from okspca.studies.services.timed import pin

#: One file for each pass, so that the untimed one can run beside the others.
FILES = {"A0": "timing.jsonl", "B": "batches.jsonl", "C": "quality.jsonl"}
#: What one group gave: rows for each of its cells.
Found = list[tuple[Cell, list[Row]]]
Work = Callable[[Group], Found]


def run(plan: Plan, out: Path, console: Console) -> None:
    """Run what is missing of every pass that was asked for."""
    folder = out / plan.build
    for name in plan.passes:
        file = open_rows(folder, name, plan.build, quick=plan.quick)
        if name == "C":
            pin(cores()[1])
            run_groups(plan.groups(name), _untimed(plan, folder), file, console, plan.seeds)
        else:
            run_groups(plan.groups(name), _timed(plan), file, console, plan.seeds)


def open_rows(folder: Path, name: str, build: str, *, quick: bool) -> RowFile:
    """Open the rows of a pass."""
    settings = {"study": "services", "version": 1, "build": build, "pass": name, "quick": quick}
    return RowFile(folder / FILES[name], settings)


def run_groups(
    groups: Sequence[Group], work: Work, file: RowFile, console: Console, seeds: Sequence[int]
) -> None:
    """Run the cells that are not in the file, group by group, with a bar and an estimate."""
    missing = [[cell for cell in group if not file.has(cell)] for group in groups]
    todo = [group for group in missing if group]
    first = [group for group in todo if group[0]["seed"] == seeds[0]]
    spent = 0.0
    with progress(console) as bar:
        task = bar.add_task("", total=len(groups), completed=len(groups) - len(todo))
        for number, group in enumerate(todo):
            start = time.perf_counter()
            found = work(group)
            seconds = time.perf_counter() - start
            for cell, rows in found:
                file.add(cell, rows, seconds=seconds / len(found))
            spent += seconds
            bar.update(task, advance=1, description=" ".join(str(v) for v in group[0].values()))
            if number + 1 == len(first) and len(todo) > len(first) > 0:
                share = len([g for g in todo if g[0]["seed"] in SEEDS]) / len(first)
                console.print(
                    f"The first seed took {spent / 60.0:.1f} minutes; all "
                    f"{len(seeds)} will take about {spent * share / 60.0:.0f}.",
                    highlight=False,
                )


def _timed(plan: Plan) -> Work:
    """Time a group in a process of its own."""
    core = cores()[0]

    def work(group: Group) -> Found:
        rows = timed_in_a_process(plan.build, group, plan.n_rows, core)
        return [(cell, [row]) for cell, row in zip(group, rows, strict=True)]

    return work


def _untimed(plan: Plan, folder: Path) -> Work:
    """Walk along a stream, or run the candidates on one."""

    def work(group: Group) -> Found:
        cell = group[0]
        regime, seed = cell["regime"], cell["seed"]
        with threadpool_limits(limits=1), unannounced():
            if cell["part"] == "candidates":
                return [(cell, candidate_rows(regime, seed, plan.n_rows))]
            names = VARYING if cell["part"] == "further" else [c["method"] for c in group]
            walk = walk_of(plan.build, regime, seed, names, plan.n_rows)
        rows = quality_rows(walk, seed)
        if cell["part"] == "further":
            return [(cell, [_as_further(row) for found in rows.values() for row in found])]
        if regime in DRAWN:
            keep_trajectories(folder / "trajectories", regime, seed, dict(trajectories(walk)))
        return [(cell, rows[cell["method"]]) for cell in group]

    return work


def _as_further(row: Row) -> Row:
    """Keep rows of further seeds apart from those of the study."""
    return {**row, "kind": f"further {row['kind']}"}


def keep_trajectories(
    folder: Path, regime: str, seed: int, found: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write one file per method."""
    folder.mkdir(parents=True, exist_ok=True)
    for method, arrays in found.items():
        np.savez_compressed(folder / f"{regime}-{seed}-{method}.npz", **arrays)


def reproduce(plan: Plan, out: Path, console: Console, *, command: str) -> None:
    """Run what is missing, then write tables, figures, comparison and page."""
    run(plan, out, console)
