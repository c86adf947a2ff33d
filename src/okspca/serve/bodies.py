"""Bodies of requests: JSON, one object a line, or an Arrow stream, as rows.

Arrow is fast because nothing is looked at twice, and dangerous for the same reason.  So a stream
must hold plain columns, not packed: what it would become is as large as what it is; and its content
is validated before it is used.
"""

import json
import struct
from collections.abc import Sequence
from http import HTTPStatus
from importlib import import_module
from typing import Any

import numpy as np

from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.serve.refusals import RefusalError, malformed
from okspca.serve.rows import (
    CLASSIFICATION,
    Bad,
    Form,
    Rows,
    name_of,
    names_of,
    printed,
    read_targets,
    rows_of,
    shown,
    with_targets,
)

JSON = "application/json"
NDJSON = "application/x-ndjson"
ARROW = "application/vnd.apache.arrow.stream"
#: Tables of a message of Arrow, as its format has them: their fields by number.
HEADER, COMPRESSION = 2, 3
#: Values of one request.  A few bytes of Arrow can claim many: columns may share their bytes, and a
#: truth value is one bit of them but eight bytes here.
MOST_VALUES = 1 << 25
#: So many lists and objects are always read, and more where each has so many bytes on average.
FEW, SHORTEST = 1000, 8


def read_json(body: bytes) -> Any:
    """Read JSON, without the constants that only Python knows."""
    try:
        return json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as failure:
        message = f"The body is not valid JSON ({str(failure)[:80]})."
        raise malformed(message) from failure


def _no_constant(name: str) -> None:
    """Refuse NaN and infinity."""
    message = f"{name} is not JSON; null stands for a missing value"
    raise ValueError(message)


def read_rows(
    body: bytes, kind: str, form: Form, *, has_targets: bool = True, has_ids: bool | None = False
) -> Rows:
    """Read the rows of a body.

    Parameters
    ----------
    body : bytes
        What was sent.
    kind : str
        Its content type.
    form : Form
        What rows look like.
    has_targets : bool
        Whether each has a target.
    has_ids : bool or None
        Whether each has an identifier; None: if one of them has.
    """
    if kind == ARROW:
        return _arrow_rows(body, form, has_targets, has_ids)
    records = read_records(body, kind, "rows", "x", form.most_rows)
    if has_ids is None:
        has_ids = any(isinstance(record, dict) and "id" in record for record in records)
    return rows_of(records, form, has_targets=has_targets, has_ids=has_ids)


def read_records(body: bytes, kind: str, many: str, one: str, most: int) -> Sequence[Any]:
    """Read objects: several under a name, or a single one, which has another."""
    # Each list takes many times its two bytes; a body that hardly holds anything else is no rows.
    n_begun = body.count(b"[") + body.count(b"{")
    if n_begun > 4 * most + FEW and n_begun > len(body) // SHORTEST:
        message = f"The body has {n_begun} lists and objects, which are no {most} rows."
        raise malformed(message)
    if kind == NDJSON:
        # Lines are counted before there are as many objects.
        _check_number(max(body.count(b"\n"), body.count(b"\r")), most + 1)
        return [read_json(line) for line in body.splitlines() if line.strip()]
    found = read_json(body)
    if isinstance(found, dict) and one in found:
        return [found]
    records = found.get(many) if isinstance(found, dict) and set(found) == {many} else None
    if not isinstance(records, list):
        message = f'The body must be an object with "{one}", or {{"{many}": [...]}}.'
        raise malformed(message)
    _check_number(len(records), most)
    return records


def _check_number(n: int, most: int) -> None:
    """Refuse more rows, or labels, than one request may bring."""
    if n > most:
        message = f"There are {n} rows; one request may bring {most}."
        raise malformed(message)


def read_labels(body: bytes, kind: str, most: int) -> tuple[list[str], list[Any]]:
    """Read targets that came later: identifiers and targets."""
    if kind == ARROW:
        table = _table(body, most)
        return _ids(table), _values(table, "y")
    records = read_records(body, kind, "labels", "id", most)
    for record in records:
        if not isinstance(record, dict) or set(record) != {"id", "y"}:
            message = 'A label must be an object with "id" and "y".'
            raise malformed(message)
    return [name_of(each["id"], "An id") for each in records], [each["y"] for each in records]


def _arrow_rows(body: bytes, form: Form, has_targets: bool, has_ids: bool | None) -> Rows:
    """Read rows from a table: named inputs by their names, others in the order of the columns."""
    table = _table(body, form.most_rows)
    if has_ids is None:
        has_ids = "id" in table.column_names and "id" not in form.columns
    beside = ([form.target] if has_targets else []) + (["id"] if has_ids else [])
    columns = form.columns or tuple(n for n in table.column_names if n not in beside)
    _check_columns(columns, table.column_names, beside, form)
    X = _matrix(table, columns)
    is_named = bool(form.columns) or not form.n_inputs
    names = names_of(columns, form.most_columns) if is_named else ()
    rows = Rows(X, names, ids=tuple(_ids(table)) if has_ids else ())
    faults = _faults(X, columns, form.has_gaps)
    if not has_targets:
        return _without(rows, faults)
    targets, bad = _targets(table, form)
    wrong = {fault.row for fault in faults}
    faults += [each for each in bad if each.row not in wrong]
    return _without(with_targets(rows, targets, form.task), faults)


def _ids(table: Any) -> list[str]:
    """Identifiers of rows."""
    return [name_of(name, "An id") for name in _values(table, "id")]


def arrow() -> Any:
    """The library that reads and writes Arrow, or a refusal."""
    try:
        return import_module("pyarrow")
    except ImportError as failure:
        message = "Arrow is not installed where this service runs; send and accept JSON."
        raise RefusalError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message) from failure


def _table(body: bytes, most_rows: int) -> Any:
    """Read an Arrow stream of plain columns."""
    pa = arrow()
    try:
        _check_plain(pa, body)
        table = pa.ipc.open_stream(body).read_all()
        _check_number(table.num_rows, most_rows)
        table.validate(full=True)
    except (pa.ArrowException, ValueError, OSError, struct.error, IndexError) as failure:
        message = f"The body is not a plain Arrow stream ({str(failure)[:80]})."
        raise malformed(message) from failure
    names = table.column_names
    if len(set(names)) != len(names):
        message = "The table has two columns of the same name."
        raise malformed(message)
    _check_values(table.num_rows * len(names))
    return table


def _check_values(n: int) -> None:
    """Refuse a table that would become too large."""
    if n > MOST_VALUES:
        message = f"The table has {n} values; one request may bring {MOST_VALUES}."
        raise malformed(message)


def _check_plain(pa: Any, body: bytes) -> None:
    """Refuse what would become larger than it is: packed buffers, dictionaries."""
    for message in pa.ipc.MessageReader.open_stream(pa.py_buffer(body)):
        if message.type == "schema":
            continue
        if message.type != "record batch":
            what = f"it holds a {message.type}; send plain columns"
            raise ValueError(what)
        metadata = message.metadata.to_pybytes()
        batch = _field(metadata, struct.unpack_from("<I", metadata)[0], HEADER)
        if batch is None or _field(metadata, batch, COMPRESSION) is not None:
            what = "its columns are packed"
            raise ValueError(what)


def _field(metadata: bytes, table: int, number: int) -> int | None:
    """Where a field of a table begins that is itself a table; None where it is not there."""
    vtable = table - struct.unpack_from("<i", metadata, table)[0]
    if vtable < 0:
        message = "its metadata lead nowhere"
        raise ValueError(message)
    entry = 4 + 2 * number
    if entry >= struct.unpack_from("<H", metadata, vtable)[0]:
        return None
    offset = struct.unpack_from("<H", metadata, vtable + entry)[0]
    if not offset:
        return None
    place = table + offset
    return int(place + struct.unpack_from("<I", metadata, place)[0])


def _check_columns(
    columns: tuple[str, ...], present: Sequence[str], beside: Sequence[str], form: Form
) -> None:
    """Raise where a column is missing, unknown or one too many."""
    there = set(present)
    for name in (*columns, *beside):
        if name not in there:
            message = f"The table lacks the column {printed(name)}."
            raise malformed(message)
    others = there - set(columns) - set(beside)
    if others:
        message = f"The table has the column {printed(min(others))}, which the model does not know."
        raise malformed(message)
    if not 0 < len(columns) <= form.most_columns or form.n_inputs not in (0, len(columns)):
        expected = form.n_inputs or f"1 to {form.most_columns}"
        message = f"The table has {len(columns)} inputs, but {expected} are expected."
        raise malformed(message)


def _values(table: Any, name: str) -> list[Any]:
    """A column of identifiers or targets; what could be larger than it is sent is refused."""
    if name not in table.column_names:
        message = f"The table lacks the column {printed(name)}."
        raise malformed(message)
    column, types = table.column(name), arrow().types
    kind = column.type
    is_text = types.is_string(kind) or types.is_large_string(kind)
    has_lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if not (is_text or _is_number(kind.value_type if has_lists else kind)):
        message = f"The column {printed(name)} holds {kind}, neither numbers nor text."
        raise malformed(message[:300])
    if has_lists:
        _check_values(sum(len(chunk.flatten()) for chunk in column.chunks))
    return list(column.to_pylist())


def _is_number(kind: Any) -> bool:
    """Whether values of a type are numbers or truth values."""
    types = arrow().types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _matrix(table: Any, columns: Sequence[str]) -> Floats:
    """Columns as a matrix of numbers, NaN where a value is missing."""
    X = np.empty((table.num_rows, len(columns)))
    for place, name in enumerate(columns):
        X[:, place] = _numbers(table, name)
    return X


def _numbers(table: Any, name: str) -> Floats:
    """One column as numbers."""
    column = table.column(name)
    if not _is_number(column.type):
        message = f"The column {printed(name)} holds {column.type}, not numbers."
        raise malformed(message[:300])
    numbers: Floats = column.cast(arrow().float64(), safe=False).to_numpy()
    return numbers


def _faults(X: Floats, columns: Sequence[str], has_gaps: bool) -> list[Bad]:
    """The first fault of every row that has one."""
    fits = np.abs(X) <= LARGEST_VALUE
    if has_gaps:
        fits |= np.isnan(X)
    found = []
    for row in np.flatnonzero(~fits.all(axis=1)).tolist():
        place = int(np.argmin(fits[row]))
        value = float(X[row, place])
        name = printed(columns[place])
        if np.isnan(value):
            reason = f"x lacks a value in column {name}."
        else:
            reason = f"x contains {value:g} in column {name}; replace or rescale it."
        found.append(Bad(row, reason, columns[place], shown(X[row])))
    return found


def _targets(table: Any, form: Form) -> tuple[list[Any], list[Bad]]:
    """Targets of all rows, whatever stands in for those that are bad."""
    values = _values(table, form.target)
    good, bad = read_targets(values, form.task)
    if not bad:
        return good, bad
    stand_in = good[0] if good else ("" if form.task == CLASSIFICATION else [0.0])
    wrong, rest = {each.row for each in bad}, iter(good)
    return [stand_in if row in wrong else next(rest) for row in range(len(values))], bad


def _without(rows: Rows, bad: list[Bad]) -> Rows:
    """Leave bad rows out."""
    if not bad:
        return rows
    wrong = {each.row for each in bad}
    kept = [row for row in range(len(rows.X)) if row not in wrong]
    labels = None if rows.labels is None else [rows.labels[row] for row in kept]
    return Rows(
        rows.X[kept],
        rows.columns,
        labels,
        rows.Y[kept] if len(rows.Y) else rows.Y,
        tuple(rows.ids[row] for row in kept) if rows.ids else (),
        tuple(sorted(bad, key=lambda each: each.row)),
    )
