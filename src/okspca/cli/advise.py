"""`okspca advise`: measure which service suits, and say how to call for it."""

import json
import signal
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from okspca.cli.options import Debug
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import one_sentence, say, stop
from okspca.files.reading import DROP, LABEL
from okspca.report.printable import printable

MOST_ROWS, FEWEST_ROWS = 8192, 100
WIDTH = 80


@reads_files
def advise(
    file: Annotated[
        str | None,
        typer.Argument(
            help="Rows to measure on (CSV, Parquet, NDJSON, Arrow); none: made-up ones."
        ),
    ] = None,
    target: Annotated[str | None, typer.Option(help="Name of the target column of FILE.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="A column to leave out; repeat it.")
    ] = None,
    inputs: Annotated[int, typer.Option(min=2, help="Number of inputs, without FILE.")] = 20,
    outputs: Annotated[int, typer.Option(min=1, help="Numbers to be predicted per row.")] = 1,
    classes: Annotated[
        int | None, typer.Option(min=2, help="Number of classes, instead of numbers.")
    ] = None,
    components: Annotated[int, typer.Option(min=1, help="Columns of the embedding.")] = 2,
    random_features: Annotated[int, typer.Option(min=2, help="Features of the inputs.")] = 256,
    every: Annotated[int, typer.Option(min=1, help="Rows from one request to the next.")] = 1,
    block: Annotated[int, typer.Option(min=1, help="Rows that arrive together.")] = 1,
    accuracy: Annotated[
        float, typer.Option(min=0.0, help="Largest certified angle, in degrees.")
    ] = 1e-6,
    max_age: Annotated[int, typer.Option(min=0, help="Rows by which an answer may be old.")] = 0,
    seconds: Annotated[float, typer.Option(min=0.1, max=600.0, help="How long to measure.")] = 4.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Measure which service is cheapest for your rows, and print the call to use.

    Speed only: how many components and features to use is told by okspca choose.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        with one_sentence(debug):
            advice = import_module("okspca.cli.advice")
            if file is None:
                if components > random_features:
                    stop(f"--components {components} needs as many --random-features.")
                X, y = advice.stand_in(inputs, outputs, classes)
            else:
                X, y, classes = _rows_of(file, target, drop or [], flags, as_json)
            wish = advice.Wish(components, random_features, every, block, accuracy, max_age)
            with import_module("okspca.numerics.announcing").unannounced():
                findings = advice.measure(wish, X, y, classes, seconds)
            _show(advice, findings, wish, file or "made-up rows", as_json=as_json)
    finally:
        signal.signal(signal.SIGINT, before)


def _rows_of(
    file: str, target: str | None, drop: list[str], flags: ReadingFlags, as_json: bool
) -> tuple[Any, Any, int | None]:
    """Read the first rows of a file: inputs, targets and, for labels, the number of classes."""
    if target is None:
        stop("Name the target column of the file with --target.")
    try:
        import_module("pyarrow")
    except ImportError:
        stop("Reading files needs pyarrow: pip install 'okspca[files]'")
    streams, fitting = import_module("okspca.files.readers"), import_module("okspca.files.fitting")
    reading = flags.reading(teller(quiet=as_json, only_odd=True), None, drop)
    kinds, advised = {target: LABEL, **reading.kinds}, frozenset({DROP})
    reading = reading._replace(kinds=kinds, needed=(target,), advised=advised)
    batches = streams.rows_of(streams.expanded([file]), reading)
    return fitting.first_rows(batches, target, drop, MOST_ROWS, FEWEST_ROWS)


def _show(advice: Any, findings: list[Any], wish: Any, source: str, *, as_json: bool) -> None:
    """Print the table and the call."""
    rank = advice.full_rank(findings)
    best = findings[0]
    suits = best.suits(wish, rank)
    if as_json:
        say(json.dumps([_numbers(f, wish, rank) for f in findings]))
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    table.add_column("service")
    for heading in ("µs/row", "µs/request", "in all", "certified (°)", "age", "suits"):
        table.add_column(heading, justify="right")
    for finding in findings:
        angle = "not proven" if finding.angle is None else f"{finding.angle:.1e}"
        table.add_row(
            finding.candidate.label,
            f"{finding.row_us:.1f}",
            f"{finding.request_us:.1f}",
            f"{finding.total_us:.1f}",
            angle,
            f"{max(finding.ages)}",
            "yes" if finding.suits(wish, rank) else "no",
        )
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    told = f"Measured on {printable(source)}, a request every {wish.every} rows:"
    console.print(told, markup=False, soft_wrap=True)
    console.print(table)
    if suits:
        console.print("Use:", advice.constructor(best, wish), markup=False, highlight=False)
        return
    console.print(
        f"No service is certified to {wish.accuracy:g}° at an age of at most {wish.max_age} rows "
        "on these rows; the nearest boundary gap may be too small. Exact is as good as it gets:",
        markup=False,
        highlight=False,
    )
    exact = next(f for f in findings if f.candidate.label == "exact")
    console.print(advice.constructor(exact, wish), markup=False, highlight=False)


def _numbers(finding: Any, wish: Any, rank: int) -> dict[str, Any]:
    """One finding as plain values."""
    return {
        "service": finding.candidate.label,
        "row_us": finding.row_us,
        "request_us": finding.request_us,
        "total_us": finding.total_us,
        "certified_degrees": finding.angle,
        "age": max(finding.ages),
        "suits": finding.suits(wish, rank),
    }
