"""The command: measure, print, write."""

from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from rich.console import Console
from threadpoolctl import threadpool_limits

from okspca import outputs
from okspca.cli.progress import progress
from okspca.report.printable import printable
from okspca_lab.bench.cells import Cell
from okspca_lab.bench.limits import measure_limits
from okspca_lab.bench.limits import table as limits_table
from okspca_lab.bench.measure import Timed, measure
from okspca_lab.bench.memory import MemoryPoint, explained, stream_and_watch
from okspca_lab.bench.plain import measure_plain, plain_table
from okspca_lab.bench.ratios import Ratio, ratios_of
from okspca_lab.bench.tables import grids, setting
from okspca_lab.studies.pages import write_csv

NO_MATPLOTLIB = "The pictures need matplotlib: pip install 'okspca[plot]'"


def run(
    cells: list[Cell],
    out: Path | None,
    console: Console,
    *,
    repeats: int = 5,
    quick: bool = False,
) -> list[Timed]:
    """Measure cells, print the tables, and write everything where asked to.

    Parameters
    ----------
    cells : list of Cell
        What to measure.
    out : Path or None
        Folder for the rows, the tables and the pictures; it is created.
    console : Console
        Where to print.
    repeats : int
        Repetitions of each cell; a quick run has one.
    quick : bool
        Show only that everything works.
    """
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    repeats = 1 if quick else repeats
    with progress(console) as bar:
        task = bar.add_task("", total=len(cells) * repeats)

        def done(cell: Cell) -> None:
            bar.update(task, advance=1, description=cell.name)

        rows = measure(cells, repeats, done)
    ratios = ratios_of(rows)
    peaks, limits = measure_limits()
    tables = [*grids(rows, ratios), limits_table(peaks, limits)]
    for grid in tables:
        console.print(grid.rich())
    console.print(setting(repeats, quick=quick), markup=False, highlight=False)
    if out is not None:
        write_csv(out / "times.csv", [asdict(row) for row in rows])
        write_csv(out / "ratios.csv", flat(ratios))
        write_csv(out / "limits.csv", [asdict(limit) for limit in limits])
        text = [setting(repeats, quick=quick), "", *(grid.markdown(level=2) for grid in tables)]
        outputs.write(out / "table.md", "\n".join(text))
        drawn(
            out,
            console,
            claims=[ratio for ratio in ratios if ratio.claim is not None],
            ratios=[ratio for ratio in ratios if not ratio.cell.startswith("scaling/")],
            scaling=[row for row in rows if row.curve],
        )
    return rows


def run_plain(out: Path | None, console: Console, *, repeats: int = 5, quick: bool = False) -> None:
    """Measure what a person gets who sets nothing; print the table, and write it where asked to."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    with progress(console) as bar:
        task = bar.add_task("", total=None)
        rows = measure_plain(
            repeats, quick=quick, done=lambda what: bar.update(task, description=what)
        )
    table = plain_table(rows)
    told = setting(1 if quick else repeats, quick=quick, threads="processes of their own")
    console.print(table.rich())
    console.print(f"{table.note}\n{told}", markup=False, highlight=False)
    if out is not None:
        write_csv(out / "default.csv", [asdict(row) for row in rows])
        outputs.write(out / "default.md", f"{told}\n\n{table.markdown(level=2)}")
        console.print(f"Rows and the table are in {printable(out)}", markup=False)


def watch_memory(
    n_rows: int, out: Path | None, console: Console, *, heavy_tails: bool = False
) -> list[MemoryPoint]:
    """Stream rows, print how much memory that took, and write the course of it where asked to."""
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    with progress(console) as bar, threadpool_limits(limits=1):
        task = bar.add_task("rows", total=n_rows)
        points = stream_and_watch(
            n_rows, lambda rows: bar.update(task, completed=rows), heavy_tails=heavy_tails
        )
    console.print(explained(points), markup=False, highlight=False)
    if out is not None:
        name = "heavy_tails" if heavy_tails else "memory"
        write_csv(out / f"{name}.csv", [asdict(point) for point in points])
        drawn(out, console, **{name: points})
    return points


def flat(ratios: list[Ratio]) -> list[dict[str, Any]]:
    """One row for each case and repetition."""
    rows = []
    for ratio in ratios:
        claim = ratio.claim
        for repetition, value in enumerate(ratio.ratios):
            rows.append(
                {
                    "cell": ratio.cell,
                    "ours": ratio.ours,
                    "other": ratio.other,
                    "repetition": repetition,
                    "ratio": value,
                    "must": None if claim is None else claim.must,
                    "aim": None if claim is None else claim.aim,
                    "angle_degrees": ratio.angle_degrees,
                    "span_radians": ratio.span_radians,
                }
            )
    return rows


def drawn(out: Path, console: Console, **parts: Any) -> None:
    """Draw what there is something to draw of; without matplotlib say how to get it."""
    try:
        figures = import_module("okspca_lab.bench.figures")
    except ImportError:
        console.print(NO_MATPLOTLIB, markup=False)
        return
    for name, values in parts.items():
        if values:
            outputs.write(out / f"{name}.png", getattr(figures, f"draw_{name}")(values))
    console.print(f"Rows, tables and pictures are in {printable(out)}", markup=False)
