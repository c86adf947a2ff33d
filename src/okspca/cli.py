"""The command `okspca`."""

import os
import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from okspca import __version__, outputs, reproduce
from okspca.commands.advise import advise
from okspca.commands.fit import fit
from okspca.commands.inspect import inspect
from okspca.commands.merge import merge
from okspca.commands.plot import plot
from okspca.commands.report import report
from okspca.commands.stopping import INTERRUPTED, stop
from okspca.commands.transform import transform
from okspca.printable import printable

SHOW_CURSOR = b"\x1b[?25h"

# Plain messages: an error is one sentence, not a panel around one.
app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


app.add_typer(reproduce.app, name="reproduce")
app.command()(fit)
app.command()(transform)
app.command()(inspect)
app.command()(merge)
app.command()(plot)
app.command()(report)
app.command()(advise)


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"okspca {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Online supervised dimension reduction with a certificate."""


def _check_out(out: Path) -> Path:
    """Refuse a file that cannot be written before any work is done for it."""
    if out.suffix != ".png":
        message = f"{out} is not the name of a PNG file; let it end in .png."
        raise typer.BadParameter(message)
    if not out.parent.is_dir():
        message = f"{out.parent} is not a directory; create it or choose another place."
        raise typer.BadParameter(message)
    if out.is_dir() or not os.access(out if out.exists() else out.parent, os.W_OK):
        message = f"{out} cannot be written; choose another place."
        raise typer.BadParameter(message)
    try:
        outputs.check(out, outputs.PNG)
    except OSError as failure:
        message = f"{out} cannot be written: {failure.strerror}."
        raise typer.BadParameter(message) from failure
    return out


@app.command()
def demo(
    rows: Annotated[
        int, typer.Option(min=100, max=1_000_000, help="Length of the stream.")
    ] = 20_000,
    out: Annotated[
        Path, typer.Option(callback=_check_out, help="Where to write the picture (PNG).")
    ] = Path("okspca-demo.png"),
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the stream and of the features.")
    ] = 0,
) -> None:
    """Stream a built-in data set and certify its embedding."""
    before = signal.signal(signal.SIGINT, _leave)
    try:
        _demo(rows, out, seed)
    finally:
        signal.signal(signal.SIGINT, before)


def _demo(rows: int, out: Path, seed: int) -> None:
    """Run the demo and write its picture where matplotlib is there to draw it."""
    # A terminal without Greek letters shows question marks instead of failing.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    console = Console()
    demo = import_module("okspca.demo")
    with import_module("okspca.numerics.announcing").unannounced():
        result = demo.run(rows, seed, console)
    try:
        picture = import_module("okspca.demo_picture")
    except ImportError:
        console.print("The picture needs matplotlib: pip install 'okspca[plot]'", markup=False)
        return
    try:
        outputs.write(out, picture.draw(result), outputs.PNG)
    except OSError as error:
        stop(f"The picture could not be written to {out}: {error.strerror}.")
    place = printable(out)
    console.print(f"The embedding and the quality over time are drawn in {place}", markup=False)


@app.command()
def bench(
    cases: Annotated[
        list[str] | None,
        typer.Option(
            help="Which cases, as patterns such as 'serve/R256/*', or 'must' for those with a "
            "bound; can be given several times. All by default."
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
    before = signal.signal(signal.SIGINT, _leave)
    try:
        if out is not None:
            outputs.check_folder(out)
        if memory is not None:
            _watch_memory(memory, out, heavy_tails=heavy_tails)
        else:
            _bench(cases or [], repeats, quick, out)
    except OSError as error:
        stop(f"{error.filename or out} could not be written: {error.strerror}.")
    finally:
        signal.signal(signal.SIGINT, before)


def _watch_memory(n_rows: int, out: Path | None, *, heavy_tails: bool) -> None:
    """Watch the memory of a long stream."""
    command = import_module("okspca.bench.run")
    console = Console(width=None if sys.stdout.isatty() else 110)
    command.watch_memory(n_rows, out, console, heavy_tails=heavy_tails)


def _bench(cases: list[str], repeats: int, quick: bool, out: Path | None) -> None:
    """Run the measurement that was asked for."""
    command = import_module("okspca.bench.run")
    console = Console(width=None if sys.stdout.isatty() else 110)
    try:
        cells = import_module("okspca.bench.cells").chosen_cells(cases, quick=quick)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--cases") from error
    command.run(cells, out, console, repeats=repeats, quick=quick)


@app.command()
def warm(
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the caches of other versions of okspca.")
    ] = False,
) -> None:
    """Compile everything ahead, so that no later call has to."""
    before = signal.signal(signal.SIGINT, _leave)
    try:
        done = import_module("okspca.warming").run(Console(), keep=keep)
    finally:
        signal.signal(signal.SIGINT, before)
    if done.folder is None:
        stop(
            "No cache folder can be written, so every process will compile for itself; "
            "set NUMBA_CACHE_DIR to a folder that can be."
        )


def _leave(*_: object) -> NoReturn:
    """Exit at once on Ctrl-C: an exception would get lost in the compiler's callbacks.

    Only system calls are made, since the interrupt may come in the middle of printing.
    """
    if os.isatty(1):
        os.write(1, SHOW_CURSOR)
    os.write(2, b"\nInterrupted before the end.\n")
    os._exit(INTERRUPTED)
