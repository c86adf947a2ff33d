"""The parts of the study, their sizes, and the run: what is missing is run, then all is written."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from okspca_lab.studies.cells import Cell, run_cells
from okspca_lab.studies.distributed.engines import equal, spark
from okspca_lab.studies.distributed.merging import merging
from okspca_lab.studies.distributed.report import report
from okspca_lab.studies.distributed.scale import scale
from okspca_lab.studies.distributed.sparse import sparse
from okspca_lab.studies.rows import Row, RowFile

WORK = {
    "equal": equal,
    "turns": scale,
    "scale": scale,
    "spark": spark,
    "merge": merging,
    "sparse": sparse,
}
#: How often one process and two take turns, so that both meet the machine in the same moods.
TURNS = 3


def cells(part: str, *, quick: bool) -> list[Cell]:
    """The cells of a part."""
    if part == "equal":
        n, size = (20_000, 3_000) if quick else (1_000_000, 50_000)
        return [{"part": part, "rows": n, "partition": size}]
    if part == "turns":
        n, size = (12_000, 3_000) if quick else (6_000_000, 250_000)
        common = {"part": part, "rows": n, "partition": size, "kill": False}
        return [
            {**common, "turn": turn, "workers": workers}
            for turn in range(TURNS)
            for workers in (1, 2)
        ]
    if part == "scale":
        n, size = (60_000, 3_000) if quick else (100_000_000, 500_000)
        runs = ((n // 5, 1, False), (n, 2, False), (n, 2, True))
        names = ("rows", "workers", "kill")
        return [
            {"part": part, **dict(zip(names, run, strict=True)), "partition": size} for run in runs
        ]
    if part == "spark":
        n, files = (10_000, 3) if quick else (5_000_000, 16)
        return [{"part": part, "rows": n, "files": files}]
    if part == "merge":
        return [{"part": part, "states": 70 if quick else 10_000}]
    n, width = (4_000, 5_000) if quick else (1_000_000, 50_000)
    return [{"part": part, "rows": n, "columns": width, "entries": 50}]


def run(
    out: Path,
    console: Console,
    *,
    command: str,
    parts: Sequence[str],
    quick: bool,
) -> list[Row]:
    """Run what is missing of some parts, then write what all parts on disk show."""
    file = RowFile(out / "rows.jsonl", {"study": "distributed", "quick": quick, "version": 1})
    for part in parts:
        run_cells(cells(part, quick=quick), WORK[part], file, console)
    report(file.rows, out, console, command)
    return file.rows
