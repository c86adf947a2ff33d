"""A model on disk: parameters, what is known about the target, and the pipeline or held-back rows.

The header begins with the version of the package that wrote it, for people; the format version in
:mod:`okspca.state.container` is what decides how it is read.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from okspca import __version__
from okspca.errors import StateError
from okspca.estimators.fitted_form import read_fitted, write_fitted
from okspca.estimators.learned import Record
from okspca.estimators.parameter_form import read_parameters, write_parameters
from okspca.estimators.parameters import check_parameters
from okspca.pipeline import Pipeline
from okspca.state.container import pack, unpack
from okspca.state.fields import Sink, Source
from okspca.state.files import read, write
from okspca.state.streams import StreamRecord, read_stream, write_stream

OUTPUTS = ("default", "pandas", "polars")
#: Estimators that a file may hold, for those who take any of them.
ESTIMATORS = ("OKSPCA", "OKSPCARegressor", "OKSPCAClassifier")


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    stream: StreamRecord | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write a model to a file, atomically; the model that was there is kept beside it."""
    data = model_bytes(model, stream)
    try:
        write(Path(path), data, overwrite=overwrite)
    except OSError as failure:
        message = f"{os.fspath(path)} cannot be written: {failure.strerror}."
        raise StateError(message) from failure


def load_model(kind: type[Any], path: str | os.PathLike[str]) -> tuple[Any, StreamRecord | None]:
    """Read a model and its stream's record, or raise one error that says what is wrong."""
    name = os.fspath(path)
    try:
        return model_from(kind, read(Path(path)))
    except OSError as failure:
        message = f"{name} cannot be read: {failure.strerror}."
        raise StateError(message) from failure
    except StateError as failure:
        message = f"{name} cannot be loaded: {failure}"
        raise StateError(message) from failure


def model_bytes(model: Any, stream: StreamRecord | None = None) -> bytes:
    """The file of a model; another thread may be learning meanwhile."""
    check_parameters(model)
    learned: Record | None = model.learned
    if learned is None or learned.pipeline is None:
        return _bytes(model, learned, stream)
    return learned.pipeline.read_as_is(
        lambda state: _bytes(model, learned._replace(pipeline=Pipeline(state)), stream)
    )


def model_from(kind: type[Any], data: bytes) -> tuple[Any, StreamRecord | None]:
    """Make the model that a file holds, and the record of the stream it learns from."""
    source = Source(unpack(data))
    if not isinstance(source.raw("okspca"), str):
        source.refuse("okspca", "no version")
    source.text("estimator", (kind.__name__,))
    stream = read_stream(source)
    model = kind(**read_parameters(source.inside("parameters"), kind))
    try:
        check_parameters(model)
        if not source.is_none("output"):
            model.set_output(transform=source.text("output", OUTPUTS))
        if not source.is_none("fitted"):
            model.learned = read_fitted(source.inside("fitted"), model)
    except StateError:
        raise
    except ValueError as failure:
        message = f"it holds something impossible: {failure}"
        raise StateError(message) from failure
    source.close_all()
    return model, stream


def any_model_from(data: bytes) -> tuple[Any, StreamRecord | None]:
    """Make the model that a file holds, whichever of our estimators it is."""
    name = Source(unpack(data)).text("estimator", ESTIMATORS)
    return model_from(getattr(import_module("okspca.estimators"), name), data)


def _bytes(model: Any, learned: Record | None, stream: StreamRecord | None) -> bytes:
    """Write everything a model holds."""
    sink = Sink()
    sink.put("okspca", __version__)
    sink.put("estimator", type(model).__name__)
    write_stream(sink, stream)
    _check_attributes(model)
    write_parameters(sink.inside("parameters"), model)
    sink.put("output", model.output_container)
    if learned is None:
        sink.put("fitted", None)
    else:
        write_fitted(sink.inside("fitted"), model, learned)
    return pack(sink.content())


def _check_attributes(model: Any) -> None:
    """Raise where a model has an attribute that none of its kind has, so that it has no form."""
    like = type(model)().set_output(transform="default")
    like.learned = None
    unknown = set(vars(model)) - set(vars(like))
    if unknown:
        message = f"The model cannot be saved: its attribute {min(unknown)} has no form on disk."
        raise StateError(message)
