"""Runs a study: computes the cells that are missing, tells how they were made, writes the page.

A study is a folder in which the same names mean the same thing everywhere::

    command.py   the options of `okspca reproduce <study>`, and one call of `run`
    plan.py      planned(**options): which cells to compute, and the settings they depend on
    cells.py     work(cell): one cell computed;  parts(plan, out): all of them, ready to be run
    results.py   rows on disk, asked for by name
    tables.py    tables of them
    figures.py   draw(...): pictures of them by name, and CAPTIONS
    page.py      write(plan, out, console): everything that people read

A cell is a small dictionary of plain values, such as ``{"task": "Kin8nm", "seed": 100}``.  Cells
that share a process or a stream form a group.  Each group is written as soon as it is finished, so
a run that was stopped goes on where it was; cells that are already in the file are skipped.
"""

import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from threadpoolctl import threadpool_limits

from okspca import outputs
from okspca.cli.progress import progress
from okspca.cli.stopping import INTERRUPTED, one_sentence, stop
from okspca.report.provenance import command_line, provenance
from okspca_lab.studies.beside import beside, free_cores
from okspca_lab.studies.rows import Cell, Group, Record, Row, RowFile

#: Width of tables where nobody looks at a terminal.
WIDTH = 140

#: What one group gave: rows for each of its cells.
Found = list[tuple[Cell, list[Row]]]
Work = Callable[[Group], Found]
#: Told of each finished group and the seconds it took; what it returns is printed.
Watch = Callable[[Group, float], str]


def no_forecast(groups: Sequence[Group]) -> Watch:
    """Watch in silence."""
    return lambda group, seconds: ""


@dataclass(frozen=True)
class Part:
    """Cells that are computed in one way, with the file that holds their rows.

    Attributes
    ----------
    rows : Path
        File of the rows.
    settings : mapping
        What they depend on; rows of other settings are not continued.
    groups : sequence of lists of cells
        All cells; long ones first keep several processes busy to the end.
    work : callable
        From a group to its rows; module-level, so that another process can import it.
    record : Record
        Where it is told how the rows were made.
    remarks : mapping
        What else is told there.
    processes : int
        Processes that one group keeps busy.
    beside : bool
        Whether it may run beside the other parts, on cores that nothing is timed on.
    forecast : callable
        From the groups that are missing to who watches them finish.
    """

    rows: Path
    settings: Mapping[str, Any]
    groups: Sequence[Group]
    work: Work
    record: Record
    remarks: Mapping[str, str] = field(default_factory=dict)
    processes: int = 1
    beside: bool = False
    forecast: Callable[[Sequence[Group]], Watch] = no_forecast

    @classmethod
    def of_cells(
        cls,
        out: Path,
        settings: Mapping[str, Any],
        cells: Sequence[Cell],
        work: Callable[[Cell], list[Row]],
        **others: Any,
    ) -> "Part":
        """Make a part of cells that have nothing to do with one another."""
        record = others.pop("record", Record(out / "provenance.json"))
        groups = [[cell] for cell in cells]
        return cls(
            out / "rows.jsonl", settings, groups, partial(_one_by_one, work), record, **others
        )

    def missing(self, file: RowFile) -> list[Group]:
        """Groups of what is not in the file yet."""
        left = [[cell for cell in group if not file.has(cell)] for group in self.groups]
        return [group for group in left if group]


def run(study: str, out: Path, *, jobs: int = 1, **options: Any) -> None:
    """Compute what is missing of a study and write its page; whatever happens is one sentence.

    Parameters
    ----------
    study : str
        Name of its folder.
    out : Path
        Folder for everything; a run that was stopped is continued there.
    jobs : int
        Number of processes.
    **options
        Handed to the study's ``planned``.
    """
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    with ending_well():
        outputs.check_folder(out)
        plan = _file_of(study, "plan").planned(**options)
        parts = _file_of(study, "cells").parts(plan, out)
        complete(parts, console, command=command_line(sys.argv), jobs=jobs)
        _file_of(study, "page").write(plan, out, console)


def _file_of(study: str, name: str) -> Any:
    """Import a file of a study; some take seconds, so help and errors come before."""
    return import_module(f"okspca_lab.studies.{study}.{name}")


@contextmanager
def ending_well() -> Iterator[None]:
    """End with one sentence and a code; a request to end does what Ctrl-C does.

    So no process of a study goes on by itself.
    """
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with one_sentence():
            yield
    except typer.Exit:  # is a RuntimeError
        raise
    except RuntimeError as failure:
        stop(str(failure))
    except KeyboardInterrupt:
        stop("Interrupted; the same command goes on from here.", INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)


def complete(parts: Sequence[Part], console: Console, *, command: str, jobs: int = 1) -> None:
    """Compute what is missing of all parts; those that may run beside the others do so."""
    along = [part for part in parts if part.beside]
    others = [part for part in parts if not part.beside]
    if along and others and free_cores():
        with beside(console, _in_silence, along, command=command):
            complete(others, console, command=command, jobs=jobs)
    else:
        for part in parts:
            compute(part, console, command=command, jobs=jobs)


def _in_silence(parts: Sequence[Part], *, command: str) -> None:
    """Compute what is missing of parts while another process has the terminal."""
    for part in parts:
        compute(part, Console(quiet=True), command=command)


def compute(part: Part, console: Console, *, command: str, jobs: int = 1) -> None:
    """Compute what is missing of one part, with a progress bar, and tell how it was made."""
    start, file = time.perf_counter(), RowFile(part.rows, part.settings)
    missing = part.missing(file)
    watch = part.forecast(missing)
    with progress(console) as bar:
        all_groups = len(part.groups)
        task = bar.add_task("", total=all_groups, completed=all_groups - len(missing))
        for found, seconds in _finished(missing, part.work, jobs):
            for cell, rows in found:
                file.add(cell, rows, seconds=seconds / len(found))
            group = [cell for cell, _ in found]
            bar.update(task, advance=1, description=" ".join(map(str, group[0].values())))
            if said := watch(group, seconds):
                console.print(said, highlight=False)
    if missing or part.record.read() is None:
        # A run that was continued took what its cells took, not what was left of it.
        took = max(time.perf_counter() - start, file.seconds / jobs)
        told = provenance(command, jobs=jobs * part.processes, seconds=took)
        part.record.write({**told, **part.remarks, **_resumed(part, missing)})


def _resumed(part: Part, missing: Sequence[Group]) -> dict[str, str]:
    """Tell how many cells an earlier run had computed."""
    every, new = (sum(map(len, groups)) for groups in (part.groups, missing))
    if new == every:
        return {}
    return {"resumed": f"{every - new} of {every} cells were there from an earlier run"}


def _one_by_one(work: Callable[[Cell], list[Row]], group: Group) -> Found:
    """Compute the cells of a group, each for itself."""
    return [(cell, work(cell)) for cell in group]


def _finished(groups: Sequence[Group], work: Work, jobs: int) -> Iterator[tuple[Found, float]]:
    """Yield what groups gave as they are finished, in this process or in several."""
    if jobs == 1 or len(groups) < 2:
        for group in groups:
            yield _timed(work, group)
        return
    # Fresh processes: forking one that has threads is not safe.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_ignore_ctrl_c) as pool:
        futures = [pool.submit(_timed, work, group) for group in groups]
        try:
            for future in as_completed(futures):
                yield future.result()
        except (KeyboardInterrupt, GeneratorExit):
            for process in multiprocessing.active_children():  # nobody waits for what they do
                process.terminate()
            raise
        except Exception:
            pool.shutdown(cancel_futures=True)
            raise


def _ignore_ctrl_c() -> None:
    """Leave Ctrl-C, which reaches all processes of a terminal, to the one that started this."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _timed(work: Work, group: Group) -> tuple[Found, float]:
    """Compute one group with one thread."""
    start = time.perf_counter()
    with threadpool_limits(limits=1):
        found = work(group)
    return found, time.perf_counter() - start
