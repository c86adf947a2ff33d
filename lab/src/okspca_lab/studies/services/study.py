"""The whole run: groups of cells, rows on disk as they come, then everything made of them."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from threadpoolctl import threadpool_limits

from okspca.cli.progress import progress
from okspca.numerics.announcing import unannounced
from okspca_lab.studies.cells import Cell
from okspca_lab.studies.rows import Row, RowFile
from okspca_lab.studies.services.beside import beside, free_cores
from okspca_lab.studies.services.launch import timed_core, timed_in_a_process
from okspca_lab.studies.services.plan import VARYING, Group, Plan
from okspca_lab.studies.services.quality import (
    DRAWN,
    further_rows,
    quality_rows,
    trajectories,
    walk_of,
)
from okspca_lab.studies.services.render import render
from okspca_lab.studies.services.selection import candidate_rows
from okspca_lab.studies.services.storage import keep_provenance, keep_trajectories, open_rows

#: What one group gave: rows for each of its cells.
Found = list[tuple[Cell, list[Row]]]
Work = Callable[[Group], Found]
#: The pass about quality, which may run beside the timed ones.
UNTIMED = "C"


def reproduce(plan: Plan, out: Path, console: Console, *, command: str) -> None:
    """Run what is missing, then write tables, figures, comparison and page."""
    run(plan, out, console, command)
    render(out, console, quick=plan.quick)


def run(plan: Plan, out: Path, console: Console, command: str) -> None:
    """Run what is missing of every pass that was asked for; the untimed one on another core."""
    timed = [name for name in plan.passes if name != UNTIMED]
    if timed and UNTIMED in plan.passes and free_cores():
        with beside(console, run_pass, UNTIMED, plan, out, None, command):
            for name in timed:
                run_pass(name, plan, out, console, command)
    else:
        for name in plan.passes:
            run_pass(name, plan, out, console, command)


def run_pass(name: str, plan: Plan, out: Path, console: Console | None, command: str) -> None:
    """Run what is missing of one pass; without a console, silently."""
    folder = out / plan.build
    file = open_rows(folder, name, plan.build, quick=plan.quick)
    work = _untimed(plan, folder) if name == UNTIMED else _timed(plan)
    console = Console(quiet=True) if console is None else console
    if run_groups(plan.groups(name), work, file, console, plan.seeds):
        keep_provenance(folder, name, command, file.seconds)


def run_groups(
    groups: Sequence[Group], work: Work, file: RowFile, console: Console, seeds: Sequence[int]
) -> int:
    """Run the groups whose cells are not all in the file; return how many there were.

    After the first seed, say how long all of them will take.
    """
    missing = [[cell for cell in group if not file.has(cell)] for group in groups]
    todo = [group for group in missing if group]
    first = [group for group in todo if group[0]["seed"] == seeds[0]]
    took: dict[str, float] = {}
    with progress(console) as bar:
        task = bar.add_task("", total=len(groups), completed=len(groups) - len(todo))
        for number, group in enumerate(todo):
            start = time.perf_counter()
            found = work(group)
            seconds = time.perf_counter() - start
            for cell, rows in found:
                file.add(cell, rows, seconds=seconds / len(found))
            bar.update(task, advance=1, description=" ".join(str(v) for v in group[0].values()))
            took[_alike(group)] = seconds
            if number + 1 == len(first) < len(todo):
                _announce(console, took, [g for g in todo if g[0]["seed"] in seeds])
    return len(todo)


def _alike(group: Group) -> str:
    """Name what groups of different seeds have in common."""
    cell = group[0]
    return f"{cell['part']} {cell['regime']} {cell.get('schedule')} {cell.get('method')}"


def _announce(console: Console, took: dict[str, float], groups: list[Group]) -> None:
    """Say what is to be expected from what one seed took."""
    usual = sum(took.values()) / len(took)
    total = sum(took.get(_alike(group), usual) for group in groups)
    console.print(
        f"One seed took {sum(took.values()) / 60.0:.1f} minutes; expect {total / 60.0:.0f} for all "
        "seeds of this run.",
        highlight=False,
    )


def _timed(plan: Plan) -> Work:
    """Time a group in a process of its own."""
    core = timed_core()

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
            if cell["part"] == "further":
                return [(cell, further_rows(regime, seed, VARYING, plan.n_rows))]
            names = [c["method"] for c in group]
            walk = walk_of(plan.build, regime, seed, names, plan.n_rows)
        rows = quality_rows(walk, seed)
        if regime in DRAWN:
            keep_trajectories(folder / "trajectories", regime, seed, dict(trajectories(walk)))
        return [(cell, rows[cell["method"]]) for cell in group]

    return work
