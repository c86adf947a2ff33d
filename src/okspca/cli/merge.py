"""`okspca merge`: one model of those that were fitted to parts of the data."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca.cli.options import REMEDY, Debug, Force, Quiet
from okspca.cli.stopping import WRONG_COMMAND, one_sentence, say, stop
from okspca.outputs import STANDARD, is_null
from okspca.state.said import common


def merge(
    models: Annotated[list[Path], typer.Argument(help="Two or more saved models.")],
    out: Annotated[Path, typer.Option(help="Where to write the merged model.")],
    distinct: Annotated[
        bool, typer.Option("--distinct", help="Merge even what looks like the same rows twice.")
    ] = False,
    force: Force = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Merge models with the same options that were fitted to different rows.

    They must have been fitted with --frequencies drawn: a model that learns its frequencies has
    features of its own.

    Models of `okspca fit` standardise each row by the rows before it in their own input. Their sums
    are merged exactly, but that is not what one run over all inputs would have given: fit all files
    in one command where you can, and merge parts that are long and of the same kind.

    A model is not merged with itself, a copy of it, or a model that contains it already, unless
    --distinct says that their rows differ.
    """
    if len(models) < 2:
        stop("Give at least two models to merge.", WRONG_COMMAND)
    if str(out) == STANDARD:
        stop("A model cannot be written to standard output; name a file.", WRONG_COMMAND)
    saving = import_module("okspca.estimators.saving")
    kind = import_module("okspca.estimators").OKSPCA
    with one_sentence(debug):
        files = import_module("okspca.state.files")
        kept = files.MODEL._replace(remedy=REMEDY)
        files.check_place(out, models, kept, overwrite=force)
        merged, record = saving.load_model(kind, models[0])
        for path in models[1:]:
            other, theirs = saving.load_model(kind, path)
            if (record is None) != (theirs is None) or _names(record) != _names(theirs):
                stop(f"{path} was fitted to other columns than {models[0]}.")
            merged.merge(other, distinct=distinct)
            record = record and _added(record, theirs)
        saving.save_model(merged, out, record, overwrite=force)
        if not quiet:
            place = "" if is_null(out) else f" in {out}"
            say(f"{len(models)} models of {merged.n_samples_seen_:,} rows are merged{place}")


def _names(record: object) -> object:
    """What two records must have in common."""
    same = ("target", "columns", "encodings")
    return record and tuple(getattr(record, name) for name in same)


def _added(record: Any, theirs: Any) -> Any:
    """Add the counts; a merged model has no place in any one stream, so it cannot be resumed."""
    counts = ("rows_read", "rows_skipped", "values_imputed")
    sums = {name: getattr(record, name) + getattr(theirs, name) for name in counts}
    flags = common(record.flags, theirs.flags)
    return record._replace(inputs=(), history=(), evaluation=None, flags=flags, **sums)
