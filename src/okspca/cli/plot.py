"""`okspca plot`: pictures of a saved model."""

import warnings
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from okspca import outputs
from okspca.cli.options import Debug, MostRows, Quiet
from okspca.cli.reading_options import ReadingFlags, reads_files
from okspca.cli.stopping import WRONG_COMMAND, one_sentence, say, stop

KINDS = ("embedding", "spectrum", "quality", "relevance")
ENDINGS = ("png", "svg", "pdf")
NEEDS = "Pictures need matplotlib and pyarrow: pip install 'okspca[plot,files]'"


@reads_files
def plot(
    model: Annotated[Path, typer.Argument(help="A model that `okspca fit` has written.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="Rows to draw; those it was fitted to by default, if still there."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the pictures; it is created.")] = Path("."),
    only: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(KINDS)}; repeat it. All by default."),
    ] = None,
    ending: Annotated[str, typer.Option(help="png, svg or pdf.")] = "png",
    rows: MostRows = 100_000,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Draw the embedding, the spectrum, quality over time, and which inputs matter."""
    kinds = tuple(only or KINDS)
    for kind in kinds:
        if kind not in KINDS:
            stop(f"--only {kind} is not known; give one of {', '.join(KINDS)}.", WRONG_COMMAND)
    if ending not in ENDINGS:
        stop(f"--ending {ending} is not known; give one of {', '.join(ENDINGS)}.", WRONG_COMMAND)
    try:
        portraits, style = (
            import_module(f"okspca.report.{n}") for n in ("portrait", "pictures.style")
        )
    except ImportError:
        stop(NEEDS)
    with one_sentence(debug), warnings.catch_warnings():
        outputs.check_folder(out)
        warnings.simplefilter("ignore", import_module("okspca.errors").RankWarning)
        portrait = portraits.open_portrait(model, inputs or [], flags.reading(), rows)
        out.mkdir(parents=True, exist_ok=True)
        for kind in kinds:
            figure = portraits.PICTURES[kind](portrait)
            if figure is None and only:
                stop(f"The picture {kind!r} needs rows: name the input files after the model.")
            if figure is not None:
                path = out / f"{kind}.{ending}"
                outputs.write(path, style.file_of(figure, ending), inputs=portrait.inputs)
                if not quiet:
                    say(str(path))
            elif not quiet:
                say(f"{kind}: left out, since no rows are at hand; name the input files.")
