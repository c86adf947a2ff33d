"""`okspca transform`: embeddings of files, as a file."""

from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from okspca.cli.options import Debug, Delimiter, Format, Quiet
from okspca.cli.stopping import one_sentence, say, stop
from okspca.outputs import STANDARD, check, is_null


def transform(
    model: Annotated[Path, typer.Argument(help="A model that `okspca fit` has written.")],
    inputs: Annotated[list[str], typer.Argument(help="Files, a Parquet folder, or - for stdin.")],
    out: Annotated[
        Path, typer.Option(help="A .csv, .tsv, .parquet or .arrow file, or - for stdout, as CSV.")
    ],
    keep: Annotated[
        list[str] | None, typer.Option(help="A column to copy beside the embedding; repeat it.")
    ] = None,
    file_format: Format = None,
    delimiter: Delimiter = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Embed the rows of files with a saved model; rows with missing inputs stay empty."""
    try:
        import_module("pyarrow")
    except ImportError:
        stop("Reading files needs pyarrow: pip install 'okspca[files]'")
    embedding, streams = (
        import_module("okspca.files.embedding"),
        import_module("okspca.files.readers"),
    )
    kind = import_module("okspca.estimators").OKSPCA
    records = import_module("okspca.state.streams")
    with one_sentence(debug):
        names = streams.expanded(inputs)
        embedding.format_for(out)
        _check_place(out, (str(model), *names))
        loaded, record = import_module("okspca.estimators.saving").load_model(kind, model)
        if record is None:
            columns = tuple(getattr(loaded, "feature_names_in_", ()))
            record = records.StreamRecord((), "", columns, "raise")
        if not record.columns:
            stop(f"{model} does not know the names of its inputs; fit it with `okspca fit`.")
        kept = keep or []
        reading = streams.Reading(file_format, dict.fromkeys(kept), delimiter)
        batches = chain.from_iterable(streams.batches(name, reading) for name in names)
        tables = (embedding.embedded(loaded, batch, record, kept) for batch in batches)
        rows = embedding.write(out, tables, (str(model), *names))
        if not quiet and str(out) != STANDARD:
            say(f"{rows:,} rows were embedded" + (f" in {out}" if not is_null(out) else ""))


def _check_place(out: Path, inputs: tuple[str, ...]) -> None:
    """Refuse a place where the embedding must not be written, before any work."""
    if str(out) != STANDARD:
        check(out, inputs=inputs)
