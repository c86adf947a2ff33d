"""Frames of pandas, polars and Arrow as blocks of rows, and embeddings back as their columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from okspca.distributed.states import Block, n_rows
from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.missing import check_present, numbers_with_gaps
from okspca.estimators.preparing import RAISE
from okspca.numerics.arrays import Floats
from okspca.numerics.cores import one_core


def names_of(frame: Any) -> list[str]:
    """Names of the columns of a frame or of its schema."""
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None:
        names = frame.schema.names  # a record batch
    return [str(name) for name in names]


def input_names(names: Sequence[str], target: str, weight: str | None = None) -> list[str]:
    """All columns except the target and the weight, which must be there."""
    for name in (target, weight):
        if name is not None and name not in names:
            message = f"There is no column {name!r}; the columns are {', '.join(names)}."
            raise DataError(message)
    return [name for name in names if name not in (target, weight)]


def matrix_of(frame: Any, columns: Sequence[str], *, gaps: bool = False) -> Floats:
    """The named columns as one matrix, rows contiguous: the one copy that learning needs.

    Missing values are refused, or, where ``gaps`` says so, become NaN and are left to the model.
    """
    X = np.empty((len(frame), len(columns)))
    for j, name in enumerate(columns):
        column = column_of(frame, name)
        if not gaps:
            check_present(column, f"Column {name!r}")
        X[:, j] = numbers_with_gaps(column) if gaps else column
    return X


def column_of(frame: Any, name: str) -> Any:
    """One column as an array, a view of it where its layout allows that."""
    column = frame[name] if not hasattr(frame, "column") else frame.column(name)
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    if hasattr(column, "to_numpy"):
        arrow = type(column).__module__.startswith("pyarrow")
        return column.to_numpy(zero_copy_only=False) if arrow else column.to_numpy()
    return np.asarray(column)


def block_of(
    frame: Any,
    target: str,
    columns: Sequence[str] | None = None,
    weight: str | None = None,
    *,
    gaps: bool = False,
) -> Block:
    """Split a frame into inputs, target and, where a column holds them, weights.

    ``gaps`` is for models that deal with missing values themselves.

    Examples
    --------
    >>> import pandas as pd
    >>> X, y = block_of(pd.DataFrame({"a": [1, 2], "y": [0.5, 1.5]}), "y")
    >>> X.tolist(), y.tolist()
    ([[1.0], [2.0]], [0.5, 1.5])
    """
    columns = list(columns or input_names(names_of(frame), target, weight))
    block: Block = (matrix_of(frame, columns, gaps=gaps), column_of(frame, target))
    return block if weight is None else (*block, column_of(frame, weight))


def embedding_names(model: OKSPCA) -> list[str]:
    """Names of the columns of an embedding."""
    return [str(name) for name in model.get_feature_names_out()]


def check_free(names: Sequence[str], taken: Sequence[str]) -> None:
    """Raise where a frame has a column of the embedding's name."""
    for name in names:
        if name in taken:
            message = f"The frame already has a column {name!r}; rename it first."
            raise DataError(message)


def embed(kind: type[OKSPCA], state: bytes, X: Any) -> Floats:
    """Embed rows with a state; what engines run on their workers."""
    model = kind.from_bytes(state)
    model.set_output(transform="default")
    if not n_rows(X):
        return np.empty((0, len(embedding_names(model))))
    # Other workers of the machine use its other cores.
    with one_core():
        return np.asarray(model.transform(X))


def with_embedding(model: OKSPCA, frame: Any, columns: Sequence[str] | None = None) -> Any:
    """Append the columns of an embedding to a frame of pandas, polars or Arrow.

    Parameters
    ----------
    model : OKSPCA
        A fitted model.
    frame : pandas.DataFrame, polars.DataFrame, pyarrow.Table or pyarrow.RecordBatch
        Rows; the columns it has are shared with the result, not copied.
    columns : sequence of str, optional
        Input columns; by default those the model was fitted with, or all.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"a": [1.0, 2.0, 4.0], "y": [0.5, 1.5, 1.0]})
    >>> model = OKSPCA(1, n_random_features=8, random_state=0).fit(frame.select("a"), frame["y"])
    >>> with_embedding(model, frame).columns
    ['a', 'y', 'okspca0']
    """
    chosen = list(columns or getattr(model, "feature_names_in_", names_of(frame)))
    names = embedding_names(model)
    check_free(names, names_of(frame))
    Z = embed(type(model), model.to_bytes(), _inputs(model, frame, chosen))
    found = {name: np.ascontiguousarray(column) for name, column in zip(names, Z.T, strict=True)}
    if hasattr(frame, "append_column"):
        for name, column in found.items():
            chunks = [column] if hasattr(frame, "to_batches") else column
            frame = frame.append_column(name, chunks)
        return frame
    if hasattr(frame, "hstack"):
        return frame.hstack(type(frame)(found))
    return frame.assign(**found)


def _inputs(model: OKSPCA, frame: Any, columns: Sequence[str]) -> Any:
    """The inputs of a frame, as a frame where the model knows their names."""
    if not hasattr(model, "feature_names_in_"):
        return matrix_of(frame, columns, gaps=model.missing != RAISE)
    return frame.select(columns) if hasattr(frame, "select") else frame[columns]
