"""`okspca choose`: rank, width and bandwidth by rows that are held back."""

import json
import shlex
from importlib import import_module
from typing import Annotated, Any

import typer

from okspca.cli.options import Debug, MostRows
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import WRONG_COMMAND, one_sentence, say, stop
from okspca.cli.trial_options import AsJson, Columns, Dates, Drop, OneHot, Seed, Target, Task, Test
from okspca.cli.wrapping import say_table, say_wrapped

PRESETS = ("predictive", "paper")


@reads_files
def choose(
    inputs: Annotated[list[str], typer.Argument(help="Files, or a Parquet folder.")],
    target: Target,
    components: Annotated[
        list[int] | None, typer.Option(min=1, help="A rank to try; repeat it. 1, 2, 4 and 8.")
    ] = None,
    random_features: Annotated[
        list[int] | None,
        typer.Option(min=1, help="A width to try; repeat it. 128, 256 and 512."),
    ] = None,
    bandwidth: Annotated[
        list[float] | None,
        typer.Option(help="A bandwidth to try; repeat it. Half, once and twice sqrt-dim."),
    ] = None,
    preset: Annotated[str, typer.Option(help="predictive or paper.")] = "predictive",
    test: Test = None,
    columns: Columns = None,
    drop: Drop = None,
    one_hot: OneHot = 0,
    dates: Dates = False,
    task: Task = "auto",
    seed: Seed = 0,
    rows: MostRows = 10_000,
    as_json: AsJson = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Choose rank, width and bandwidth by held-back rows, and print the command that uses them.

    Which solver is fastest for your rows is another question: okspca advise.
    """
    if preset not in PRESETS:
        stop(f"--preset {preset} is not known; give predictive or paper.", WRONG_COMMAND)
    with one_sentence(debug):
        asking = import_module("okspca.cli.asking")
        asking.needs_files()
        asked, choosing = (
            import_module(f"okspca.{name}") for name in ("files.asked_rows", "comparators.choosing")
        )
        tell = teller(quiet=as_json, only_odd=True)
        reading = flags.reading(tell, columns, drop or [])
        chosen, encoded = (columns, drop or []), (one_hot, dates)
        found = asked.rows_to_try(inputs, reading, target, chosen, encoded, rows)
        held = None if test is None else asked.rows_alike(found, [test], reading, rows)
        told = choosing.choose(
            found.X,
            found.y,
            n_components=components or choosing.COMPONENTS,
            n_random_features=random_features or choosing.WIDTHS,
            bandwidth=bandwidth,
            test=None if held is None else (held.X, held.y),
            task=task,
            preset=preset,
            random_state=seed,
        )
        words = ["okspca", "fit", *inputs, "--target", target]
        words += [word for name in columns or () for word in ("--columns", name)]
        words += [word for name in drop or () for word in ("--drop", name)]
        words += ["--one-hot", str(one_hot)] if one_hot else []
        words += ["--dates"] if dates else []
        words += ["--task", task] if task != "auto" else []
        words += ["--missing", "skip"] if found.n_left_out else []
        words += flags.words()
        _show(told, shlex.join([*words, *told.options(), "--out", "model.okspca"]), as_json=as_json)


def _show(told: Any, command: str, *, as_json: bool) -> None:
    """Print the choice, the table and the command."""
    if as_json:
        trials = [_plain(trial) for trial in told.trials]
        say(json.dumps({"chosen": _plain(told.chosen), "trials": trials, "command": command}))
        return
    asking = import_module("okspca.cli.asking")
    say_wrapped(told.verdict)
    say("")
    say_table(asking.text_table(told.header, told.rows()))
    say("")
    say_wrapped(told.note)
    say("")
    say_wrapped(command, hanging="    ")


def _plain(trial: Any) -> dict[str, Any]:
    """One setting and its score as plain values."""
    return {**trial._asdict(), "score": trial.score.value, "error": trial.score.error}
