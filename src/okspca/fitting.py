"""Fit a model to a stream of record batches, block by block, so that a run can be resumed.

Blocks are counted by the rows of the input: block boundaries are multiples of ``BLOCK`` rows
whatever the sizes of the batches and wherever a run was stopped.  A checkpoint is written between
two blocks and notes how many rows were read, so a resumed run learns the same blocks as one that
was never stopped, and ends in the same state to the last bit.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.state.streams import StreamRecord

BLOCK = 1024
NUMBERS = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)


def chosen_columns(
    schema: pa.Schema, target: str, columns: list[str] | None, drop: list[str]
) -> tuple[str, ...]:
    """Choose the input columns; each message names the column and what to do."""
    names = schema.names
    for name in (target, *(columns or ()), *drop):
        if name not in names:
            shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
            message = f"There is no column {name!r}; the columns are {shown}."
            raise DataError(message)
    chosen = [n for n in (columns or names) if n != target and n not in drop]
    if not chosen:
        message = f"No input columns are left beside the target {target!r}; check the delimiter."
        raise DataError(message)
    for name in chosen:
        kind = schema.field(name).type
        if not any(is_kind(kind) for is_kind in NUMBERS):
            message = f"Column {name!r} holds {kind}, not numbers; leave it out with --drop {name}."
            raise DataError(message)
    return tuple(chosen)


def blocks(batches: Iterable[pa.RecordBatch], start: int) -> Iterator[pa.Table]:
    """Cut batches into tables of ``BLOCK`` rows, beginning after the first ``start`` rows."""
    held: list[pa.RecordBatch] = []
    size, ahead = 0, start
    for batch in batches:
        skipped = min(ahead, batch.num_rows)
        ahead -= skipped
        rest = batch.slice(skipped)
        while size + rest.num_rows >= BLOCK:
            held.append(rest.slice(0, BLOCK - size))
            yield pa.Table.from_batches(held)
            rest, held, size = rest.slice(BLOCK - size), [], 0
        if rest.num_rows:
            held.append(rest)
            size += rest.num_rows
    if ahead:
        message = f"The checkpoint had read {start} rows, but the input has only {start - ahead}."
        raise DataError(message)
    if held:
        yield pa.Table.from_batches(held)


def learn(model: OKSPCA, record: StreamRecord, table: pa.Table) -> StreamRecord:
    """Learn one block and return the record of where the stream stands now."""
    X = inputs_of(table, record.columns)
    y, known = _target(table, record.target)
    missing = np.isnan(X)
    imputed = 0
    if record.missing == "raise":
        _refuse_missing(record, missing, known)
    elif record.missing == "impute":
        imputed = int(missing[known].sum())
        X = np.where(missing, _fill(model, X, missing), X)
    kept = known & ~np.isnan(X).any(axis=1)
    if kept.any():
        try:
            model.partial_fit(np.ascontiguousarray(X[kept]), y[kept])
        except DataError as failure:
            first, last = record.rows_read + 1, record.rows_read + table.num_rows
            message = f"In rows {first} to {last} of the input, counted from 0 there: {failure}"
            raise DataError(message) from failure
    return record._replace(
        rows_read=record.rows_read + table.num_rows,
        rows_skipped=record.rows_skipped + int((~kept).sum()),
        values_imputed=record.values_imputed + imputed,
    )


def first_rows(
    batches: Iterable[pa.RecordBatch], target: str, drop: list[str], most: int, fewest: int
) -> tuple[Floats, NDArray[Any], int | None]:
    """Return the first complete rows: inputs, targets and, for labels, the number of classes."""
    found: list[tuple[Floats, NDArray[Any]]] = []
    n_rows = 0
    for batch in batches:
        table = pa.Table.from_batches([batch.slice(0, most - n_rows)])
        X = inputs_of(table, chosen_columns(batch.schema, target, None, drop))
        y, known = _target(table, target)
        kept = known & ~np.isnan(X).any(axis=1)
        found.append((X[kept], y[kept]))
        n_rows += int(kept.sum())
        if n_rows >= most:
            break
    if n_rows < fewest:
        message = f"The input has {n_rows} complete rows; at least {fewest} are needed."
        raise DataError(message)
    X, y = (np.concatenate(part) for part in zip(*found, strict=True))
    labels = y.dtype.kind != "f"
    return np.ascontiguousarray(X), y, len(set(y.tolist())) if labels else None


def inputs_of(table: pa.Table, columns: tuple[str, ...]) -> Floats:
    """Return the input columns as one matrix, NaN where a value is missing."""
    return np.column_stack([_numbers(table, name) for name in columns])


def _numbers(table: pa.Table, name: str) -> Floats:
    """Return a column as numbers, NaN where one is missing."""
    column = table.column(name)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)


def _target(table: pa.Table, name: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the target, and which rows have one."""
    column = table.column(name)
    known: NDArray[np.bool_] = np.asarray(column.is_valid().to_numpy(), dtype=np.bool_)
    if pa.types.is_floating(column.type):
        values = np.asarray(column.to_numpy(), dtype=np.float64)
        return values, known & ~np.isnan(values)
    if pa.types.is_integer(column.type) and known.all():
        return np.asarray(column.to_numpy()), known
    return np.array(column.to_pylist(), dtype=object), known


def _refuse_missing(
    record: StreamRecord, missing: NDArray[np.bool_], known: NDArray[np.bool_]
) -> None:
    """Raise for the first row in which a value is missing."""
    bad = missing.any(axis=1) | ~known
    if bad.any():
        row = int(np.argmax(bad))
        lacks = record.columns[int(np.argmax(missing[row]))] if known[row] else record.target
        message = (
            f"Row {record.rows_read + row + 1} of the input has no value in column {lacks!r}; "
            "use --missing skip or --missing impute."
        )
        raise DataError(message)


def _fill(model: OKSPCA, X: Floats, missing: NDArray[np.bool_]) -> Floats:
    """Means of the rows learned before this block; in the first one, of what is there."""
    pipeline = model.__dict__.get("_pipeline")
    if pipeline is not None:
        mean: Floats = pipeline.input_standardizer.mean.copy()
        return mean
    counts = (~missing).sum(axis=0)
    if not counts.all():
        column = int(np.argmin(counts))
        message = f"Input column {column} has no value in the first {len(X)} rows; use --drop."
        raise DataError(message)
    return np.asarray(np.where(missing, 0.0, X).sum(axis=0) / counts)
