"""Run the cells of a study, in this process or in several, and keep what they give on disk.

A cell is a small dictionary of plain values, such as ``{"task": "Kin8nm", "seed": 100}``.  The work
is a module-level function from a cell to rows, so that another process can import it.  Cells that
are already in the file are skipped; each is written as soon as it is finished.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any

from rich.console import Console
from threadpoolctl import threadpool_limits

from okspca.cli.progress import progress
from okspca_lab.studies.rows import Row, RowFile

Cell = dict[str, Any]
Work = Callable[[Cell], list[Row]]
Done = tuple[Cell, list[Row], float]


def run_cells(
    cells: Sequence[Cell], work: Work, file: RowFile, console: Console, *, jobs: int = 1
) -> None:
    """Run what is missing in the file, with a progress bar.

    Parameters
    ----------
    cells : sequence of dict
        All cells of the run; long ones first keep several processes busy to the end.
    work : callable
        Module-level function from a cell to its rows.
    file : RowFile
        Where finished cells are.
    console : Console
        Where the bar is drawn.
    jobs : int
        Number of processes; each uses one thread.
    """
    missing = [cell for cell in cells if not file.has(cell)]
    with progress(console) as bar:
        task = bar.add_task("", total=len(cells), completed=len(cells) - len(missing))
        for cell, rows, seconds in _finished(missing, work, jobs):
            file.add(cell, rows, seconds=seconds)
            named = " ".join(str(value) for value in cell.values())
            bar.update(task, advance=1, description=named)


def _finished(cells: Sequence[Cell], work: Work, jobs: int) -> Iterator[Done]:
    """Yield cells as they are finished."""
    if jobs == 1 or len(cells) < 2:
        for cell in cells:
            yield _timed(work, cell)
        return
    # Fresh processes: forking one that has threads is not safe.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_timed, work, cell) for cell in cells]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def _timed(work: Work, cell: Cell) -> Done:
    """Run one cell with one thread."""
    start = time.perf_counter()
    with threadpool_limits(limits=1):
        rows = work(cell)
    return cell, rows, time.perf_counter() - start
