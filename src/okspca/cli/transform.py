"""`okspca transform`: embeddings of files as a file, or of a pipe as it flows."""

import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca.cli.interruption import Interruption
from okspca.cli.options import Debug, Quiet
from okspca.cli.reading_options import ReadingFlags, reads_files, teller
from okspca.cli.stopping import one_sentence, say, stop
from okspca.files.live import Live, is_pipe
from okspca.outputs import STANDARD, check, is_null


@reads_files
def transform(
    model: Annotated[Path, typer.Argument(help="A model that `okspca fit` has written.")],
    inputs: Annotated[list[str], typer.Argument(help="Files, a Parquet folder, or - for stdin.")],
    out: Annotated[
        Path, typer.Option(help="A .csv, .tsv, .parquet or .arrow file, or - for stdout, as CSV.")
    ] = Path(STANDARD),
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to copy beside the embedding; repeat it.")
    ] = None,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    flags: ReadingFlags,
) -> None:
    """Embed the rows of files or of a pipe; rows with missing inputs stay empty.

    A model that was fitted with `--missing impute` fills in what is missing here too.
    """
    try:
        import_module("pyarrow")
    except ImportError:
        stop("Reading files needs pyarrow: pip install 'okspca[files]'")
    interruption = Interruption()
    try:
        with one_sentence(debug), warnings.catch_warnings():
            # Columns of zeros speak for themselves, and their names were told by `okspca fit`.
            warnings.simplefilter("ignore", import_module("okspca.errors").RankWarning)
            _transform(model, inputs, out, keep or [], flags, interruption, quiet)
    finally:
        interruption.restore()


def _transform(
    model: Path,
    inputs: list[str],
    out: Path,
    keep: list[str],
    flags: ReadingFlags,
    interruption: Interruption,
    quiet: bool,
) -> None:
    """Read, embed and write, piece by piece."""
    embedding, readers, saved = (
        import_module(f"okspca.files.{n}") for n in ("embedding", "readers", "saved")
    )
    names = readers.expanded(inputs)
    embedding.format_for(out)
    _check_place(out, (str(model), *names))
    loaded, record = _loaded(model)
    live = Live(interruption.stop) if any(map(is_pipe, names)) else None
    kept = [name for each in keep for name in each.split(",")]
    tell = teller(quiet=quiet, on_stderr=str(out) == STANDARD, only_odd=True)
    kinds = embedding.kinds_for(kept, verbatim=live is not None)
    reading = saved.reading_for(record, flags.reading(tell), names, kinds, needed=kept)
    reading = reading._replace(live=live)
    batches = _batches(readers, names, reading, interruption)
    tables = (embedding.embedded(loaded, batch, record, kept) for batch in batches)
    rows = embedding.write(out, tables, (str(model), *names))
    if interruption.wanted:
        stop(f"Interrupted after {rows} rows.", interruption.code)
    if not quiet and str(out) != STANDARD:
        say(f"{rows:,} rows were embedded" + (f" in {out}" if not is_null(out) else ""))


def _loaded(path: Path) -> tuple[Any, Any]:
    """Load a model and the record of the columns that it takes."""
    saving, records = map(import_module, ("okspca.estimators.saving", "okspca.state.streams"))
    loaded, record = saving.load_model(import_module("okspca.estimators").OKSPCA, path)
    if record is None:
        columns = tuple(getattr(loaded, "feature_names_in_", ()))
        record = records.StreamRecord((), "", columns, "raise")
    if not record.columns:
        stop(f"{path} does not know the names of its inputs; fit it with `okspca fit`.")
    return loaded, record


def _batches(
    readers: Any, names: tuple[str, ...], reading: Any, interruption: Interruption
) -> Iterator[Any]:
    """All batches of all inputs; what came through a pipe is still handed out on a signal."""
    rows, is_live = 0, reading.live is not None
    for batch in readers.rows_of(names, reading):
        if interruption.wanted and not is_live:
            stop("Interrupted before the end of the inputs.", interruption.code)
        rows += batch.num_rows
        yield batch
    if interruption.wanted and not rows:
        stop("Interrupted before the first row.", interruption.code)


def _check_place(out: Path, inputs: tuple[str, ...]) -> None:
    """Refuse a place where the embedding must not be written, before any work."""
    if str(out) != STANDARD:
        check(out, inputs=inputs)
