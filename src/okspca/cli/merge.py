"""`okspca merge`: one model of those that were fitted to parts of the data."""

import os
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from okspca.cli.options import REMEDY, Debug, Force, Quiet
from okspca.cli.stopping import WRONG_COMMAND, one_sentence, say, stop
from okspca.errors import StateError
from okspca.outputs import STANDARD, is_null
from okspca.state.said import common

VARIABLE = "OKSPCA_TOKEN"


def merge(
    models: Annotated[
        list[str],
        typer.Argument(help="Two or more saved models, or addresses of models of a service."),
    ],
    out: Annotated[Path, typer.Option(help="Where to write the merged model.")],
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with a service's token of the role admin; or set OKSPCA_TOKEN."),
    ] = None,
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

    A model of `okspca serve` has an address such as https://host:8787/models/plant.
    """
    if len(models) < 2:
        stop("Give at least two models to merge.", WRONG_COMMAND)
    if str(out) == STANDARD:
        stop("A model cannot be written to standard output; name a file.", WRONG_COMMAND)
    saving = import_module("okspca.estimators.saving")
    download = import_module("okspca.client.download")
    with one_sentence(debug):
        files = import_module("okspca.state.files")
        kept = files.MODEL._replace(remedy=REMEDY)
        inputs = [model for model in models if not download.is_address(model)]
        files.check_place(out, inputs, kept, overwrite=force)
        token = _token(token_file)
        merged, record = _opened(models[0], token)
        for path in models[1:]:
            other, theirs = _opened(path, token)
            if (record is None) != (theirs is None) or _names(record) != _names(theirs):
                stop(f"{path} was fitted to other columns than {models[0]}.")
            merged.merge(other, distinct=distinct)
            record = record and _added(record, theirs)
        saving.save_model(merged, out, record, overwrite=force)
        if not quiet:
            place = "" if is_null(out) else f" in {out}"
            say(f"{len(models)} models of {merged.n_samples_seen_:,} rows are merged{place}")


def _token(file: Path | None) -> str | None:
    """The token that was given; an empty one counts as none."""
    given = os.environ.get(VARIABLE, "") if file is None else file.read_text(encoding="utf-8")
    if file is not None and not given.strip():
        message = f"{file} holds no token; write it into the first line."
        raise ValueError(message)
    return given.strip() or None


def _opened(name: str, token: str | None) -> tuple[Any, Any]:
    """A model of whatever kind and the record of its stream, from a file or a service."""
    download = import_module("okspca.client.download")
    if download.is_address(name):
        fetched: tuple[Any, Any] = import_module("okspca.client.fetching").fetch_model(name, token)
        return fetched
    try:
        read: tuple[Any, Any] = download.model_of(
            import_module("okspca.state.files").read(Path(name))
        )
    except OSError as failure:
        message = f"{name} cannot be read: {failure.strerror}."
        raise StateError(message) from failure
    except StateError as failure:
        message = f"{name} cannot be loaded: {failure}"
        raise StateError(message) from failure
    return read


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
