"""The command `okspca`."""

import atexit
import gc
import os
import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from okspca import __version__, outputs
from okspca.cli.advise import advise
from okspca.cli.choose import choose
from okspca.cli.compare import compare
from okspca.cli.drift import drift
from okspca.cli.explain import explain
from okspca.cli.extensions import WithExtensions
from okspca.cli.fit import fit
from okspca.cli.inspect import inspect
from okspca.cli.merge import merge
from okspca.cli.monitor import monitor
from okspca.cli.plot import plot
from okspca.cli.report import report
from okspca.cli.serve import serve, service
from okspca.cli.stopping import leave_at_once, one_sentence, stop
from okspca.cli.transform import transform
from okspca.cli.wrapping import WIDTH
from okspca.report.printable import printable

# Plain messages: an error is one sentence, not a panel around one.
app = typer.Typer(
    cls=WithExtensions,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"max_content_width": WIDTH},
)


app.command()(fit)
app.command()(transform)
app.command()(inspect)
app.command()(merge)
app.command()(plot)
app.command()(report)
app.command()(explain)
app.command()(drift)
app.command()(monitor)
app.command()(compare)
app.command()(choose)
app.command()(advise)
app.command()(serve)


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
    # The collector would look at every object of every library once more before the process ends,
    # which takes longer than to stop learning and save.
    atexit.register(gc.freeze)


def _check_out(context: typer.Context, out: Path) -> Path:
    """Refuse a file that cannot be written before any work is done for it."""
    if context.params.get("live"):
        return out
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
    ] = 4_000,
    out: Annotated[
        Path, typer.Option(callback=_check_out, help="Where to write the picture (PNG).")
    ] = Path("okspca-demo.png"),
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Seed of the stream and of the features.")
    ] = 0,
    live: Annotated[
        bool, typer.Option("--live", is_eager=True, help="Serve the stream, with a page to watch.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="Port of --live; 0 takes a free one.")
    ] = 8787,
) -> None:
    """Stream a built-in data set and certify its embedding."""
    if live:
        live_demo = service("demo_live")
        with one_sentence():
            live_demo.run(port, seed)
        return
    before = signal.signal(signal.SIGINT, leave_at_once)
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
    demo = import_module("okspca.cli.demo")
    with import_module("okspca.numerics.announcing").unannounced():
        result = demo.run(rows, seed, console)
    try:
        picture = import_module("okspca.cli.demo_picture")
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
def warm(
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the caches of other versions of okspca.")
    ] = False,
) -> None:
    """Compile everything ahead, so that no later call has to."""
    before = signal.signal(signal.SIGINT, leave_at_once)
    try:
        done = import_module("okspca.cli.warming").run(Console(), keep=keep)
    finally:
        signal.signal(signal.SIGINT, before)
    if done.folder is None:
        stop(
            "No cache folder can be written, so every process will compile for itself; "
            "set NUMBA_CACHE_DIR to a folder that can be."
        )
