"""Read one JSON object per line, in pieces, each parsed by pyarrow with the types of the first."""

import json as plain_json
from collections.abc import Iterator
from functools import partial
from typing import Any

import pyarrow as pa
from pyarrow import json

from okspca.errors import DataError
from okspca.files.position import Position
from okspca.files.reading import COPY, LABEL, Reading
from okspca.files.records import first_lines, n_lines, pieces, records_end, row_lines
from okspca.files.refusals import LineError
from okspca.files.sources import PIECE, Source, called, reason
from okspca.files.written_numbers import TypedColumns

PIPE_LINES = 200
NOUNS = {float: "a number", int: "a whole number", str: "a text", bool: "true or false"}


def read_ndjson(source: Source, reading: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read JSON lines; whole numbers become floating point, since later ones may not be whole."""
    name = called(source.name)
    head = _beginning(source)
    if not head.strip():
        if source.is_cut:
            return
        message = f"{name} is empty."
        raise DataError(message)
    columns, schema = _planned(head, reading, name, by_any_rows=source.is_live)
    options = json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
    for text, line in pieces(source, reading.encoding or "utf-8", None):
        yield from _batches(text, line, (name, columns, options), position)


def _beginning(source: Source) -> bytes:
    """Whole lines to go by; of a pipe, what comes soon."""
    lines = PIPE_LINES if source.is_pipe else None
    found = source.ahead(PIECE, lines, lambda held: b"\n" in held.lstrip())
    if source.is_pipe and n_lines(found) >= PIPE_LINES:
        return found[: first_lines(found, PIPE_LINES)]
    is_whole = source.has_ended and not source.is_cut
    return found if is_whole else found[: records_end(found, None)]


def _planned(
    head: bytes, reading: Reading, name: str, *, by_any_rows: bool
) -> tuple[TypedColumns, pa.Schema]:
    """Decide what columns hold by the first lines; before one that is refused if they may."""
    while True:
        lines = row_lines(head, 1, None)
        columns = TypedColumns(reading)
        try:
            first = _parsed(head, json.ParseOptions(), 1, name)
            columns.plan(_batch(first), lambda row, at=lines: f"{name}, line {at[row]:,}")  # type: ignore[misc]
        except LineError as refused:
            before = head[: first_lines(head, refused.line - 1)]
            if not by_any_rows or not before.strip():
                raise
            head = before
        else:
            return columns, _steady(first.schema, reading)


def _batches(
    text: bytes, line: int, how: tuple[str, TypedColumns, json.ParseOptions], position: Position
) -> Iterator[pa.RecordBatch]:
    """Parse a piece that begins on a line; what is wrong in it is named after what is right."""
    if not text.strip():
        return
    name, columns, options = how
    try:
        table = _parsed(text, options, line, name)
    except LineError as refused:
        yield from _batches(text[: first_lines(text, refused.line - line)], line, how, position)
        raise
    lines = None if table.num_rows == n_lines(text) else row_lines(text, line, None)
    position.note(name, table.num_rows, line, lines)
    before = position.rows - table.num_rows
    yield from columns.changed(_batch(table), partial(position.place_after, before))


def _batch(table: pa.Table) -> pa.RecordBatch:
    """A table as one batch."""
    found = table.combine_chunks().to_batches()
    return found[0] if found else pa.RecordBatch.from_pylist([], schema=table.schema)


def _steady(schema: pa.Schema, reading: Reading) -> pa.Schema:
    """The types that hold for the whole file."""
    fields = []
    for field in schema:
        kind = reading.kind_of(field.name)
        is_open = pa.types.is_null(field.type) or pa.types.is_integer(field.type)
        is_number = is_open and (kind not in (LABEL, COPY) or pa.types.is_null(field.type))
        fields.append(field.with_type(pa.float64()) if is_number else field)
    return pa.schema(fields)


def _parsed(text: bytes, options: json.ParseOptions, line: int, name: str) -> pa.Table:
    """Let pyarrow parse a piece; where it fails, say at which line and value."""
    try:
        read = json.ReadOptions(block_size=max(len(text) + 1, 1 << 16), use_threads=False)
        return json.read_json(pa.BufferReader(text), read, options)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as failure:
        found = _first_wrong(text, line, name, options.explicit_schema)
        if found is not None:
            raise found from failure
        message = f"{name}, from line {line:,} on: {reason(failure)}"
        raise DataError(message) from failure


def _first_wrong(text: bytes, line: int, name: str, schema: pa.Schema | None) -> LineError | None:
    """Name the first line that is no object, or the first value of another kind."""
    kinds: dict[str, type] = {} if schema is None else _kinds(schema)
    for number, each in enumerate(text.splitlines(), start=line):
        if not each.strip():
            continue
        if not each.lstrip().startswith(b"{"):
            told = "is not one JSON object, as each line must be."
            return LineError(f"{name}, line {number:,} {told}", number)
        try:
            found = plain_json.loads(each)
        except plain_json.JSONDecodeError as failure:
            told = f"is not JSON: {failure.msg} at sign {failure.colno}."
            return LineError(f"{name}, line {number:,} {told}", number)
        for column, value in found.items():
            wanted = kinds.setdefault(column, _kind(value)) if value is not None else None
            if wanted is not None and not _fits(value, wanted):
                shown = plain_json.dumps(value, ensure_ascii=False)
                told = f"{shown} is not {NOUNS.get(wanted, 'like those before it')}."
                return LineError(f"{name}, line {number:,}, column {column!r}: {told}", number)
    return None


def _kind(value: Any) -> type:
    """What a value is; whole numbers may be followed by others."""
    return float if type(value) is int else type(value)


def _kinds(schema: pa.Schema) -> dict[str, type]:
    """What the values of columns must be."""
    known = {pa.float64(): float, pa.int64(): int, pa.string(): str, pa.bool_(): bool}
    return {field.name: known[field.type] for field in schema if field.type in known}


def _fits(value: Any, wanted: type) -> bool:
    """Whether a value is of a kind."""
    return type(value) is wanted or (wanted is float and type(value) is int)
