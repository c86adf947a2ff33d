"""`okspca monitor`: compare rows with rows that were in control."""

import csv
import json
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca import outputs
from okspca.cli.drift import DRIFTED
from okspca.cli.options import Debug, MostRows
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import WRONG_COMMAND, one_sentence, say, stop
from okspca.cli.wrapping import say_table, say_wrapped


@reads_files
def monitor(
    model: Annotated[Path, typer.Argument(help="A model that `okspca fit` has written.")],
    inputs: Annotated[list[str], typer.Argument(help="Files with rows to watch.")],
    in_control: Annotated[
        list[str] | None,
        typer.Option(help="A file of rows in control that the model has not learned; repeat it."),
    ] = None,
    first: Annotated[
        int, typer.Option(min=0, help="Instead, take so many first rows for being in control.")
    ] = 0,
    rows_per_alarm: Annotated[
        float, typer.Option(min=2, help="Rows in control between false alarms, at least.")
    ] = 10_000.0,
    row_level: Annotated[
        float, typer.Option(min=1e-9, max=0.5, help="Share of rows in control beyond a limit.")
    ] = 0.01,
    out: Annotated[
        Path | None, typer.Option(help="Write the statistics of every row to this CSV file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw control charts to this PNG file.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the model with its limits, for later commands.")
    ] = None,
    alarm: Annotated[
        bool, typer.Option("--alarm", help=f"Exit with code {DRIFTED} where there is an alarm.")
    ] = False,
    top: Annotated[int, typer.Option(min=1, help="Show so many alarms.")] = 10,
    rows: MostRows = 100_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Compare rows with rows that were in control: T², SPE, alarms, and inputs that raised them.

    Limits come from `--in-control`, from the `--first` rows, or from the model if it was saved
    with some.  Where the files hold the target, its error is watched too.
    """
    if in_control and first:
        stop("Give --in-control or --first, not both.", WRONG_COMMAND)
    with one_sentence(debug):
        asking = import_module("okspca.cli.asking")
        reading = flags.reading(teller(quiet=as_json, only_odd=True))
        known = (str(model), *inputs, *(in_control or ()))
        for place in (out, plot):
            if place is not None:
                outputs.check(place, inputs=known)
        loaded, found = asking.opened(model, inputs, reading, rows)
        start = found
        if in_control:
            start = asking.opened(model, in_control, reading, rows)[1]
        targets = found.y is not None and start.y is not None
        asked = {"rows_per_alarm": rows_per_alarm, "row_level": row_level}
        if in_control or first:
            n = first or len(start.X)
            loaded.calibrate_monitor(start.X[:n], start.y[:n] if targets else None, **asked)
        else:
            targets = _knows_targets(loaded) and targets
        y = found.y[first:] if targets else None
        told = loaded.monitor(found.X[first:], y).named(tuple(found.names))
        numbers = found.numbers[first:].tolist()
        if save is not None:
            _save(model, loaded, save)
        if out is not None:
            outputs.write(out, _table(told, numbers), inputs=known)
        if plot is not None:
            _draw(loaded, told, plot, known)
        _show(told, numbers, top, as_json=as_json)
    if alarm and told.is_alarming:
        raise typer.Exit(DRIFTED)


def _knows_targets(loaded: Any) -> bool:
    """Whether a model was calibrated with targets."""
    found = loaded.learned.monitor
    if found is None:
        stop("The model has no limits; name rows in control with --in-control FILE or --first N.")
    known: bool = found.target is not None
    return known


def _save(model: Path, loaded: Any, place: Path) -> None:
    """Save a model with its limits, and what its file tells of the stream."""
    saving = import_module("okspca.estimators.saving")
    record = saving.load_model(type(loaded), model)[1]
    saving.save_model(loaded, place, record)


def _table(told: Any, numbers: list[int]) -> str:
    """Statistics of rows, evidence and alarms as CSV."""
    text = import_module("io").StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [name.replace(" ", "_") for name in told.names]
    writer.writerow(["row", *names, *(f"{name}_evidence" for name in names), "alarm", "input"])
    raised = {alarm.row: alarm for alarm in told.alarms}
    for row, number in enumerate(numbers):
        found = raised.get(told.first_row + row)
        inputs = "" if found is None else " ".join(found.inputs[:1])
        words = ["" if found is None else found.statistic, inputs]
        cells = [*told.values[row].tolist(), *told.evidence[row].tolist()]
        writer.writerow([number, *(f"{cell:.6g}" for cell in cells), *words])
    shown: str = text.getvalue()
    return shown


def _draw(loaded: Any, told: Any, place: Path, known: tuple[str, ...]) -> None:
    """Draw control charts."""
    figure = loaded.plot_monitor(told)
    style = import_module("okspca.report.pictures.style")
    outputs.write(place, style.file_of(figure), inputs=known)


def _show(told: Any, numbers: list[int], top: int, *, as_json: bool) -> None:
    """Print what was found; rows are counted as in the files."""
    if as_json:
        events = [event | {"row": numbers[event["row"]]} for event in told.events()]
        more = {"is_alarming": told.is_alarming, "verdict": told.verdict, "promise": told.promise}
        say(json.dumps({"alarms": events, "n_rows": len(numbers), **more}))
        return
    say_wrapped(told.verdict)
    say("")
    if told.alarms:
        cells = [
            (f"{numbers[alarm.row]:,}", *row[1:])
            for alarm, row in zip(told.alarms, told.rows(top), strict=False)
        ]
        say_table(import_module("okspca.cli.asking").text_table(told.header, cells))
        say("")
    say_wrapped(told.promise)
