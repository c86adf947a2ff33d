"""`okspca explain`: which inputs drive each component, and what each adds to a row."""

import json
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca.cli.options import Debug, MostRows
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import WRONG_COMMAND, one_sentence, say, stop
from okspca.cli.wrapping import say_table, say_wrapped


@reads_files
def explain(
    model: Annotated[Path, typer.Argument(help="A model that `okspca fit` has written.")],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(help="Rows to look at; without any, inputs are taken as normal."),
    ] = None,
    row: Annotated[
        int | None, typer.Option(min=1, help="Explain this row of the files, counted from 1.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Show so many inputs.")] = 10,
    rows: MostRows = 10_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Tell which inputs drive each component or, with --row, what each adds to one row."""
    if row is not None and not inputs:
        stop("--row needs the file the row is in: okspca explain MODEL FILE --row N", WRONG_COMMAND)
    with one_sentence(debug):
        asking = import_module("okspca.cli.asking")
        most = rows if row is None else max(rows, row)
        reading = flags.reading(teller(quiet=as_json, only_odd=True))
        loaded, found = asking.opened(model, inputs or [], reading, most)
        if row is not None:
            _show_row(loaded, found, row, top, as_json=as_json)
            return
        told = asking.named(loaded.explain(found.X if inputs else None), found)
        if as_json:
            say(json.dumps(asking.plain(told)))
            return
        say_wrapped(f"{told.title}:")
        say("")
        say_table(asking.text_table(("input", *told.components), told.rows(top)))
        if len(told.inputs) > top:
            say(f"and {len(told.inputs) - top:,} inputs with smaller shares")


def _show_row(loaded: Any, found: Any, row: int, top: int, *, as_json: bool) -> None:
    """Print what each input adds to one row."""
    asking = import_module("okspca.cli.asking")
    places = (found.numbers == row).nonzero()[0]
    if not len(places):
        last = int(found.numbers[-1])
        stop(f"Row {row} is not there or a value is missing in it; the last whole row is {last}.")
    told = asking.named(loaded.explain_rows(found.X[places]), found)
    if as_json:
        say(json.dumps(asking.plain(told)))
        return
    say_wrapped(
        f"Row {row}: what each input adds on the way from the mean row to this one. The "
        "contributions add up."
    )
    say("")
    say_table(asking.text_table(("", *told.components), told.rows(0, top)))
