"""`okspca fit`: learn from files or a pipe, with checkpoints, in bounded memory."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca.cli.display import Progress
from okspca.cli.interruption import Interruption
from okspca.cli.model_options import with_model_options
from okspca.cli.options import Debug, Force, Quiet
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import WRONG_COMMAND, one_sentence, stop


def _rows_or_seconds(value: str | None) -> tuple[int, float]:
    """Read `5000` (rows) or `30s` (seconds); zero stands for never."""
    if value is None:
        return 0, 0.0
    try:
        amount = float(value[:-1]) if value.endswith("s") else int(value)
    except ValueError:
        amount = 0
    if not 0 < amount < float("inf"):
        message = f"{value!r} is neither a number of rows such as 100000 nor a time such as 30s."
        raise typer.BadParameter(message, param_hint="--checkpoint-every")
    return (0, float(amount)) if value.endswith("s") else (int(amount), 0.0)


@with_model_options
@reads_files
def fit(
    inputs: Annotated[list[str], typer.Argument(help="Files, a Parquet folder, or - for stdin.")],
    out: Annotated[Path, typer.Option(help="Where to write the model.")],
    target: Annotated[str | None, typer.Option(help="Name of the target column.")] = None,
    columns: Annotated[
        list[str] | None, typer.Option(help="Input columns, as a,b. All by default.")
    ] = None,
    drop: Annotated[list[str] | None, typer.Option(help="Columns to leave out, as a,b.")] = None,
    one_hot: Annotated[
        int | None,
        typer.Option(min=0, help="Make at most so many indicator columns of each text column."),
    ] = None,
    dates: Annotated[
        bool, typer.Option("--dates", help="Take dates and times as days since 1970.")
    ] = False,
    evaluate: Annotated[
        bool,
        typer.Option("--evaluate", help="Predict each block before learning it; show the score."),
    ] = False,
    checkpoint_every: Annotated[
        str | None, typer.Option(metavar="ROWS|SECONDSs", help="Save on the way, as 100000 or 30s.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from --out, with its settings.")
    ] = False,
    relearn_features: Annotated[
        bool,
        typer.Option(
            "--relearn-features",
            help="With --resume: learn the features again from the rows to come.",
        ),
    ] = False,
    replayed: Annotated[
        bool | None,
        typer.Option(
            "--replayed/--new-rows",
            help="Whether a pipe that is resumed begins with the rows learned before.",
        ),
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", help="Read on as the file grows, until a signal.")
    ] = False,
    idle_timeout: Annotated[
        float | None,
        typer.Option(min=0.0, help="End a pipe or --follow after so many seconds of silence."),
    ] = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="Progress as JSON lines.")] = False,
    debug: Debug = False,
    *,
    given: dict[str, Any],
    flags: ReadingFlags,
) -> None:
    """Learn from a CSV, Parquet, NDJSON or Arrow file or a pipe, and write the model.

    With --resume, all that is not given is as it was when --out was written.
    """
    every = _rows_or_seconds(checkpoint_every)
    try:
        import_module("pyarrow")
    except ImportError:
        stop("Reading files needs pyarrow: pip install 'okspca[files]'")
    progress, interruption = Progress(quiet=quiet, as_json=as_json), Interruption()
    try:
        with one_sentence(debug):
            run = import_module("okspca.cli.fit_run").FitRun(out, progress, interruption)
            with one_sentence(debug, WRONG_COMMAND):
                run.start(given, evaluate=evaluate, force=force, resume=resume)
            run.check_place(inputs)
            if resume:
                run.resume()
            if relearn_features:
                run.relearn()
            tell = teller(quiet=quiet or as_json, only_odd=True)
            reading = run.remembered(flags.reading(tell, columns, drop or []))
            run.wait_for_rows(
                follow=follow,
                idle_timeout=idle_timeout,
                replayed=replayed,
                given=reading.given,
            )
            run.open(reading, target)
            run.choose(columns, drop or [], one_hot, dates)
            run.learn(every)
    finally:
        progress.close()
        interruption.restore()
