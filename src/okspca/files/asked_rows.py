"""Rows of files for a question: as a saved model sees them, or to try settings on."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.preparing import IMPUTE, prepared_names
from okspca.files.columns import (
    CATEGORY_ROWS,
    check_present,
    chosen_columns,
    encodings_of,
    input_names,
    inputs_of,
    kinds_of,
)
from okspca.files.fitting import target_of
from okspca.files.readers import expanded, rows_of
from okspca.files.reading import LABEL, NUMBER, Reading
from okspca.files.saved import reading_for
from okspca.numerics.arrays import Floats
from okspca.state.streams import StreamRecord


class AskedRows(NamedTuple):
    """Rows without gaps, or with gaps that the model fills.

    Attributes
    ----------
    names : list of str
        Names of the model's inputs: of the columns of X and of indicators of gaps in them.
    X : ndarray of shape (n, d)
        Columns.
    y : ndarray of shape (n,) or None
        Targets; None where the files have no such column.
    numbers : ndarray of shape (n,)
        Number of each row in the files, from 1 on.
    n_left_out : int
        Rows left out since a value is missing.
    record : StreamRecord
        How columns became inputs.
    """

    names: list[str]
    X: Floats
    y: NDArray[Any] | None
    numbers: NDArray[np.intp]
    n_left_out: int
    record: StreamRecord


def rows_for(
    model: OKSPCA, record: StreamRecord | None, inputs: list[str], reading: Reading, most: int
) -> AskedRows:
    """Read the first rows as a model sees them; the target is read where it is there."""
    record = _record_of(model, record)
    classes = model.learned is not None and model.learned.intake.labels is not None
    target = {record.target: LABEL if classes else NUMBER} if record.target else {}
    reading = reading_for(record, reading, inputs, target)
    table = _first_table(inputs, reading, most)
    check_present(record.columns, table.schema.names)
    there = record.target if record.target in table.schema.names else None
    found = _whole_rows(table, record, there, fills=model.missing == IMPUTE)
    return found._replace(names=prepared_names(model, found.names))


def no_rows(model: OKSPCA, record: StreamRecord | None) -> AskedRows:
    """Nothing but the names of the inputs, as far as they are known."""
    known = record or StreamRecord((), "", (), "raise")
    names = input_names(known.columns, known.encodings) if known.columns else []
    nothing = np.zeros((0, len(names))), None, np.zeros(0, dtype=np.intp)
    return AskedRows(prepared_names(model, names), *nothing, 0, known)


def rows_to_try(
    inputs: list[str],
    reading: Reading,
    target: str,
    chosen: tuple[list[str] | None, list[str]],
    encoded: tuple[int, bool],
    most: int,
) -> AskedRows:
    """Read the first rows of files that no model knows.

    ``chosen`` holds the columns to use and those to drop, ``encoded`` how many indicators a text
    column becomes and whether dates are taken, all as `okspca fit` has them.
    """
    table = _first_table(inputs, _for_target(reading, target), most)
    columns = chosen_columns(table.schema.names, target, *chosen)
    encodings = encodings_of(table.slice(0, CATEGORY_ROWS), columns, *encoded)
    record = StreamRecord(tuple(inputs), target, columns, "skip", encodings=encodings)
    return _whole_rows(table, record, target)


def rows_alike(first: AskedRows, inputs: list[str], reading: Reading, most: int) -> AskedRows:
    """Read the first rows of other files in the same way."""
    reading = _for_target(reading, first.record.target)
    reading = reading._replace(kinds={**kinds_of(first.record), **reading.kinds})
    table = _first_table(inputs, reading, most)
    check_present([*first.record.columns, first.record.target], table.schema.names)
    return _whole_rows(table, first.record, first.record.target)


def _for_target(reading: Reading, target: str) -> Reading:
    """Read a target that may be anything, but must be there."""
    return reading._replace(kinds={target: LABEL, **reading.kinds}, needed=(target,))


def _record_of(model: OKSPCA, record: StreamRecord | None) -> StreamRecord:
    """What the model's columns are."""
    if record is not None and record.columns:
        return record
    names = tuple(map(str, getattr(model, "feature_names_in_", ())))
    if not names:
        message = "The model does not know the names of its inputs; fit it with `okspca fit`."
        raise DataError(message)
    return StreamRecord((), "", names, "raise")


def _first_table(inputs: list[str], reading: Reading, most: int) -> pa.Table:
    """The first rows of all files, as one table."""
    found: list[pa.RecordBatch] = []
    n = 0
    for batch in rows_of(expanded(inputs), reading):
        found.append(batch.slice(0, most - n))
        n += found[-1].num_rows
        if n >= most:
            break
    if not n:
        message = f"{inputs[0]} holds no rows."
        raise DataError(message)
    return pa.Table.from_batches(found)


def _whole_rows(
    table: pa.Table, record: StreamRecord, target: str | None, *, fills: bool = False
) -> AskedRows:
    """Rows in which nothing is missing or, where the model ``fills`` gaps, no target."""
    X = inputs_of(table, record.columns, record.encodings)
    there = (~np.isinf(X) if fills else np.isfinite(X)).all(axis=1)
    y = None
    if target is not None:
        y, known = target_of(table, target)
        there &= known
    kept = np.flatnonzero(there)
    if not len(kept):
        message = "No row is left: in each of them a value is missing."
        raise DataError(message)
    names = input_names(record.columns, record.encodings)
    targets = None if y is None else y[kept]
    left_out = len(X) - len(kept)
    return AskedRows(names, np.ascontiguousarray(X[kept]), targets, kept + 1, left_out, record)
