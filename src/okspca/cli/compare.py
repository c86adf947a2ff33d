"""`okspca compare`: tell whether it is better than what one uses."""

import json
from importlib import import_module
from typing import Annotated, Any

import typer

from okspca.cli.options import Debug, MostRows
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import one_sentence, say
from okspca.cli.trial_options import AsJson, Columns, Dates, Drop, OneHot, Seed, Target, Task, Test
from okspca.cli.wrapping import say_table, say_wrapped


@reads_files
def compare(
    inputs: Annotated[list[str], typer.Argument(help="Files, or a Parquet folder.")],
    target: Target,
    components: Annotated[int, typer.Option(min=1, help="Columns of every embedding.")] = 2,
    test: Test = None,
    columns: Columns = None,
    drop: Drop = None,
    one_hot: OneHot = 0,
    dates: Dates = False,
    task: Task = "auto",
    seed: Seed = 0,
    rows: MostRows = 20_000,
    as_json: AsJson = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Compare okspca with PCA, LDA or PLS, a linear model and a constant on held-back rows."""
    with one_sentence(debug):
        asking = import_module("okspca.cli.asking")
        asking.needs_files()
        asked = import_module("okspca.files.asked_rows")
        tell = teller(quiet=as_json, only_odd=True)
        reading = flags.reading(tell, columns, drop or [])
        chosen, encoded = (columns, drop or []), (one_hot, dates)
        found = asked.rows_to_try(inputs, reading, target, chosen, encoded, rows)
        held = None
        if test is not None:
            rest = asked.rows_alike(found, [test], reading, rows)
            held = rest.X, rest.y
        told = import_module("okspca.comparators").compare(
            found.X, found.y, n_components=components, test=held, task=task, random_state=seed
        )
        if as_json:
            say(json.dumps(_plain(told)))
            return
        say_wrapped(told.verdict)
        say("")
        say_table(asking.text_table(told.header, told.rows()))
        say("")
        say_wrapped(told.note)
        if found.n_left_out:
            say(f"{found.n_left_out:,} rows with missing values were left out.")


def _plain(told: Any) -> dict[str, Any]:
    """All scores as plain values."""
    entries = [
        {
            "method": entry.name,
            "numbers": entry.width,
            "score": entry.score.value,
            "error": entry.score.error,
            "seconds": entry.seconds,
        }
        for entry in told.entries
    ]
    return {"verdict": told.verdict, "measure": told.measure, "methods": entries}
