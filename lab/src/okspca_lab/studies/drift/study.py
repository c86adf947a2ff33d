"""The whole run: cells, rows on disk, and what is made of them."""

import time
from pathlib import Path

from rich.console import Console

from okspca.report.provenance import provenance
from okspca_lab.studies.cells import Cell, run_cells
from okspca_lab.studies.drift.report import report
from okspca_lab.studies.drift.run import work
from okspca_lab.studies.drift.setting import SCENARIOS
from okspca_lab.studies.rows import Row, RowFile

SEEDS, QUICK_SEEDS = tuple(range(10)), (0,)


def run(out: Path, console: Console, *, command: str, jobs: int, quick: bool) -> list[Row]:
    """Run what is missing, then write everything."""
    start = time.perf_counter()
    file = RowFile(out / "rows.jsonl", {"study": "drift", "version": 1})
    seeds = QUICK_SEEDS if quick else SEEDS
    cells: list[Cell] = [{"scenario": name, "seed": seed} for name in SCENARIOS for seed in seeds]
    run_cells(cells, work, file, console, jobs=jobs)
    told = provenance(command, jobs=jobs, seconds=time.perf_counter() - start)
    rows = [row for row in file.rows if row["seed"] in seeds]
    report(rows, out, console, told)
    return rows
