"""`okspca drift`: tell whether new rows are unlike those a model has learned."""

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from okspca.cli.options import Debug, MostRows
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import one_sentence, say
from okspca.cli.wrapping import say_table, say_wrapped

DRIFTED = 3


@reads_files
def drift(
    model: Annotated[Path, typer.Argument(help="A model that `okspca fit` has written.")],
    inputs: Annotated[list[str], typer.Argument(help="Files with new rows.")],
    alarm: Annotated[
        bool, typer.Option("--alarm", help=f"Exit with code {DRIFTED} where rows have drifted.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Show so many inputs.")] = 10,
    rows: MostRows = 100_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Tell whether new rows are unlike those a model has learned, input by input and as a whole.

    Where the files hold the target too, it also tells whether learning anew would predict better.
    """
    with one_sentence(debug):
        asking = import_module("okspca.cli.asking")
        reading = flags.reading(teller(quiet=as_json, only_odd=True))
        loaded, found = asking.opened(model, inputs, reading, rows)
        told = asking.named(loaded.check_drift(found.X, found.y), found)
        if as_json:
            more = {"is_alarming": told.is_alarming, "verdict": told.verdict}
            say(json.dumps(asking.plain(told) | more))
        else:
            say_wrapped(told.verdict)
            say("")
            say_table(asking.text_table(told.header, told.rows(top)))
            say("")
            for line in told.lines():
                say_wrapped(line)
            if found.n_left_out:
                say(f"{found.n_left_out:,} rows with missing values were left out.")
    if alarm and told.is_alarming:
        raise typer.Exit(DRIFTED)
