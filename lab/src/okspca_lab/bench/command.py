"""`okspca bench`: read its options and run what was asked for."""

import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from okspca import outputs
from okspca.cli.stopping import leave_at_once, stop

#: The name of what a person gets who sets nothing.
DEFAULT = "default"


def command(
    cases: Annotated[
        list[str] | None,
        typer.Option(
            help="Which cases, as patterns such as 'serve/R256/*', 'must' for those with a "
            "bound, or 'default' for what a person gets who sets nothing: threads, first answer, "
            "second process; can be given several times. All but the last by default."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Repetitions of each case.")] = 5,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only show that everything runs, on a few rows.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the rows, tables and pictures.")
    ] = None,
    memory: Annotated[
        int | None,
        typer.Option(min=1, metavar="ROWS", help="Watch the memory of so long a stream instead."),
    ] = None,
    heavy_tails: Annotated[
        bool, typer.Option("--heavy-tails", help="With --memory: a response with heavy tails.")
    ] = False,
) -> None:
    """Measure speed and quality beside the paper's services and other libraries."""
    before = signal.signal(signal.SIGINT, leave_at_once)
    try:
        if out is not None:
            outputs.check_folder(out)
        if memory is not None:
            _watch_memory(memory, out, heavy_tails=heavy_tails)
        else:
            _bench(cases or [], repeats, quick, out)
    except RuntimeError as error:
        stop(str(error))
    except OSError as error:
        stop(f"{error.filename or out} could not be written: {error.strerror}.")
    finally:
        signal.signal(signal.SIGINT, before)


def _watch_memory(n_rows: int, out: Path | None, *, heavy_tails: bool) -> None:
    """Watch the memory of a long stream."""
    command = import_module("okspca_lab.bench.run")
    console = Console(width=None if sys.stdout.isatty() else 110)
    command.watch_memory(n_rows, out, console, heavy_tails=heavy_tails)


def _bench(cases: list[str], repeats: int, quick: bool, out: Path | None) -> None:
    """Run the measurement that was asked for."""
    command = import_module("okspca_lab.bench.run")
    console = Console(width=None if sys.stdout.isatty() else 110)
    if DEFAULT in cases:
        command.run_plain(out, console, repeats=repeats, quick=quick)
        cases = [case for case in cases if case != DEFAULT]
        if not cases:
            return
    try:
        cells = import_module("okspca_lab.bench.cells").chosen_cells(cases, quick=quick)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--cases") from error
    command.run(cells, out, console, repeats=repeats, quick=quick)
