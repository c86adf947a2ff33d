"""Run the population study: cells in, rows on disk, then everything that is made from the rows."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from okspca.report.provenance import provenance
from okspca_lab.studies.cells import Cell, run_cells
from okspca_lab.studies.population.confirm import confirm
from okspca_lab.studies.population.halves import SHUFFLES, available, compare_halves
from okspca_lab.studies.population.recover import recover, recover_batch
from okspca_lab.studies.population.report import write_report
from okspca_lab.studies.population.setting import (
    BATCH_SIZE,
    BATCHES,
    QUICK_SEEDS,
    QUICK_SIZES,
    SEEDS,
    SIZES,
)
from okspca_lab.studies.population.summary import PAPER
from okspca_lab.studies.rows import Row, RowFile

TRUTH_ROWS, QUICK_TRUTH_ROWS = 2_000_000, 20_000
#: The parts of the study, and the function that runs a cell of each.
PARTS = {
    "bounded": recover,
    "by chance": recover_batch,
    "random features": confirm,
    "real data": compare_halves,
}


def run(out: Path, console: Console, *, command: str, jobs: int, quick: bool) -> None:
    """Run what is missing, then write tables, figures, comparison and page to ``out``.

    Parameters
    ----------
    out : Path
        Folder for everything; a run that was stopped is continued there.
    console : Console
        Where progress and the summary are shown.
    command : str
        What was typed, for the record.
    jobs : int
        Number of processes.
    quick : bool
        Only show that everything runs, with few seeds and sizes.
    """
    start = time.perf_counter()
    file = RowFile(out / "rows.jsonl", {"study": "population", "quick": quick})
    names = [] if quick else available()
    run_cells([*list_cells(quick=quick), *real_cells(names)], work, file, console, jobs=jobs)
    # A run that was continued took what its cells took, not what was left of it.
    seconds = max(time.perf_counter() - start, file.seconds / jobs)
    told = provenance(command, jobs=jobs, seconds=seconds)
    write_report(out, file.rows, told, console)


def work(cell: Cell) -> list[Row]:
    """Run one cell and say in every row which part it belongs to."""
    return [_rounded({"part": cell["part"], **row}) for row in PARTS[cell["part"]](cell)]


def real_cells(names: Sequence[str]) -> list[Cell]:
    """List the cells of real data sets.

    Examples
    --------
    >>> len(real_cells(["Kin8nm"]))
    16
    """
    return [
        {"part": "real data", "data": name, "standardize": mode, "seed": seed}
        for name in names
        for mode in ("causal", "frozen")
        for seed in SHUFFLES
    ]


def _rounded(row: Row) -> Row:
    """Keep nine digits: more than any table shows, and half the size on disk."""
    return {k: float(f"{v:.9g}") if isinstance(v, float) else v for k, v in row.items()}


def list_cells(*, quick: bool = False) -> list[Cell]:
    """List all cells, long ones first.

    Examples
    --------
    >>> len(list_cells()), len(list_cells(quick=True))
    (90, 8)
    """
    seeds, sizes = (QUICK_SEEDS, QUICK_SIZES) if quick else (SEEDS, SIZES)
    truth_rows = QUICK_TRUTH_ROWS if quick else TRUTH_ROWS
    per_batch = len(seeds)
    confirmed: list[dict[str, Any]] = [
        {"part": "random features", "seed": s, "sizes": list(sizes), "truth_rows": truth_rows}
        for s in seeds
    ]
    recovered = [{"part": "bounded", "seed": s, "sizes": list(sizes)} for s in seeds]
    batches = [
        {
            "part": "by chance",
            "batch": b,
            "seeds": [1000 * b + s for s in range(per_batch)],
            "n": BATCH_SIZE,
            "columns": sorted({column for n, column, *_ in PAPER if n == BATCH_SIZE}),
        }
        for b in (BATCHES[:2] if quick else BATCHES)
    ]
    return [*confirmed, *recovered, *batches]
