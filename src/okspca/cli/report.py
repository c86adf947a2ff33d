"""`okspca report`: one page about a saved model."""

from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from okspca import outputs
from okspca.cli.options import Debug, MostRows, Quiet
from okspca.cli.plot import NEEDS
from okspca.cli.reading_options import ReadingFlags, reads_files
from okspca.cli.stopping import one_sentence, say, stop
from okspca.outputs import STANDARD


@reads_files
def report(
    model: Annotated[Path, typer.Argument(help="A model that `okspca fit` has written.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="Rows to show; those it was fitted to by default, if still there."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Where to write the page, or - for standard output.")
    ] = Path("report.html"),
    held_out: Annotated[
        list[str] | None,
        typer.Option(
            help="A file of rows that the model has not learned, to judge it by; repeat it."
        ),
    ] = None,
    rows: MostRows = 100_000,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Write one HTML page: whether the reduction helps, pictures, data, certificate, settings."""
    try:
        portraits, reports = (
            import_module(f"okspca.report.{name}") for name in ("portrait", "document")
        )
    except ImportError:
        stop(NEEDS)
    with one_sentence(debug):
        _check_place(out, [str(model), *(inputs or []), *(held_out or [])])
        reading = flags.reading()
        portrait = portraits.open_portrait(model, inputs or [], reading, rows, held_out or [])
        text = reports.report(portrait)
        if str(out) == STANDARD:
            typer.echo(text, nl=False)
            return
        outputs.write(out, text, outputs.HTML, portrait.inputs)
        if not quiet:
            say(reports.opening(portrait))
        if not quiet and not outputs.is_null(out):
            say(f"The report is in {out}")


def _check_place(out: Path, inputs: list[str]) -> None:
    """Refuse a place where the page must not be written, before any work."""
    if str(out) != STANDARD:
        outputs.check(out, outputs.HTML, inputs)
