"""Rows as one record batch of Arrow; imported only where pyarrow is used."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyarrow import compute, ipc

from okspca.client.rows import Names, is_arrow, is_frame, values

IDS = "id"


def stream(X: Any, y: Any, ids: Sequence[str] | None, names: Names) -> bytes:
    """The bytes of a stream with one batch: inputs, target and identifiers as columns."""
    columns = _columns(X, names)
    more = {
        names.target: None if y is None else _target(y),
        IDS: None if ids is None else pa.array(ids),
    }
    for name, column in more.items():
        if column is not None and name in columns:
            message = f"X has a column {name!r} itself, but it is given beside X; leave out one."
            raise ValueError(message)
        columns |= {} if column is None else {name: column}
    batch = pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))
    sink = pa.BufferOutputStream()
    with ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def table(body: bytes) -> Any:
    """The table that a stream holds."""
    with ipc.open_stream(body) as reader:
        return reader.read_all()


def _columns(X: Any, names: Names) -> dict[str, Any]:
    """Inputs by name; where they have none, in the order of the model's names."""
    if is_arrow(X):
        found = zip(X.schema.names, X.columns, strict=True)
        return {name: _without_nan(_whole(column)) for name, column in found}
    if is_frame(X):
        return {str(name): _array(X[name].to_numpy()) for name in X.columns}
    if hasattr(X, "shape"):
        columns = list(X.T)
    else:
        columns = [values(column, f"column {j}") for j, column in enumerate(_by_column(X))]
    known = names.columns or tuple(f"x{j}" for j in range(len(columns)))
    if len(columns) != len(known):
        message = f"X has {len(columns)} columns, but the model has {len(known)}."
        raise ValueError(message)
    return {name: _array(column) for name, column in zip(known, columns, strict=True)}


def _by_column(X: Any) -> Any:
    """Rows that are lists, turned."""
    if isinstance(X[0], dict):
        message = "Many rows are sent as columns; give them as a frame instead of dictionaries."
        raise TypeError(message)
    return zip(*X, strict=True)


def _target(y: Any) -> Any:
    """Targets as a column; several numbers per row become a list each."""
    if hasattr(y, "shape") and len(y.shape) == 1 and hasattr(y, "dtype"):
        return _array(y.to_numpy() if hasattr(y, "to_numpy") else y)
    return pa.array(values(y, "y"))


def _array(column: Any) -> Any:
    """A column of Arrow; NaN and NA are missing."""
    return pa.array(column, from_pandas=True)


def _whole(column: Any) -> Any:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _without_nan(column: Any) -> Any:
    """NaN is missing."""
    if not pa.types.is_floating(column.type):
        return column
    return compute.if_else(compute.is_nan(column), pa.scalar(None, column.type), column)
