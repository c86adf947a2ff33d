"""Rows from files, in order and in bounded memory, as record batches of pyarrow.

The ending of a name tells the format: ``.csv``, ``.tsv``, ``.ndjson`` or ``.jsonl``, ``.parquet``,
``.arrow`` or ``.feather`` (Arrow IPC), the text ones also with ``.gz``.  A folder stands for the
Parquet files in it, sorted by name.  ``-`` is standard input, as CSV unless a format is given.
"""

import errno
import gzip
import io
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast

import pyarrow as pa
from pyarrow import csv, ipc, json, parquet

from okspca.errors import DataError
from okspca.files.lines import Lines, readable_part
from okspca.files.live import Live, arriving

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
#: Formats that are written line by line.
TEXT_FORMATS = ("csv", "tsv", "ndjson")
PEEK = 1 << 20
WRONG_VALUE = re.compile(r"In CSV column #(\d+): .*conversion error to (\S+): invalid value '(.*)'")
Types = dict[str, pa.DataType | None]
STANDARD_INPUT = "-"


class Position:
    """How far reading has come: bytes of all inputs, and bytes taken so far.

    Examples
    --------
    >>> position = Position(["-"])
    >>> position.total is None  # nobody knows how much will come
    True
    """

    def __init__(self, inputs: Sequence[str] = ()) -> None:
        known = STANDARD_INPUT not in inputs and all(Path(name).is_file() for name in inputs)
        self.total = sum(Path(name).stat().st_size for name in inputs) if known else None
        self.done = 0


class Reading(NamedTuple):
    """How inputs are read: the format if it is not told by the name, types, delimiter.

    Examples
    --------
    >>> Reading("csv").types
    {}
    """

    given: str | None = None
    #: How text formats read some columns (None: as it looks).
    types: Types = {}  # noqa: RUF012
    delimiter: str | None = None
    #: How inputs are read that are still on their way; if absent, like all others.
    live: Live | None = None


class Counted(io.RawIOBase):
    """A packed file that notes how much of it was read.

    Examples
    --------
    >>> position = Position()
    >>> Counted(io.BytesIO(b"abc"), position).read(2), position.done
    (b'ab', 2)
    """

    def __init__(self, file: Any, position: Position) -> None:
        self._file, self._position = file, position

    def readable(self) -> bool:
        """It can be read, and nothing else."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from the file."""
        piece = self._file.read(len(buffer))
        buffer[: len(piece)] = piece
        self._position.done += len(piece)
        return len(piece)

    def close(self) -> None:
        """Close the file as well."""
        self._file.close()
        super().close()


class Prefixed(io.RawIOBase):
    """A file of which the beginning was read already and is handed out again.

    Examples
    --------
    >>> Prefixed(b"ab", io.BytesIO(b"cd")).read()
    b'abcd'
    """

    def __init__(self, beginning: bytes, rest: BinaryIO) -> None:
        self._beginning, self._rest = beginning, rest

    def readable(self) -> bool:
        """It can be read, and nothing else."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer from the beginning, then from the rest."""
        piece, self._beginning = self._beginning[: len(buffer)], self._beginning[len(buffer) :]
        piece = piece or self._rest.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def expanded(inputs: Sequence[str]) -> tuple[str, ...]:
    """Replace folders by the Parquet files in them."""
    found: list[str] = []
    for name in inputs:
        if name != STANDARD_INPUT and Path(name).is_dir():
            if not os.access(name, os.R_OK | os.X_OK):
                raise PermissionError(errno.EACCES, "Permission denied", name)
            files = sorted(str(path) for path in Path(name).rglob("*.parquet"))
            if not files:
                message = f"The folder {name} holds no .parquet files."
                raise DataError(message)
            found += files
        else:
            found.append(name)
    return tuple(found)


def format_of(name: str, given: str | None = None) -> str:
    """Tell the format from the ending of a name.

    Examples
    --------
    >>> format_of("rows.csv.gz"), format_of("-")
    ('csv', 'csv')
    """
    if given is not None:
        if given not in _READERS:
            message = f"--format {given} is not known; give one of {', '.join(_READERS)}."
            raise DataError(message)
        return given
    if name == STANDARD_INPUT:
        return "csv"
    ending = Path(name.removesuffix(".gz")).suffix.lower()
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        message = f"{name} has none of the endings {known}; say what it is with --format."
        raise DataError(message)
    return FORMATS[ending]


def batches(
    name: str, reading: Reading | None = None, position: Position | None = None
) -> Iterator[pa.RecordBatch]:
    """Read one input."""
    reading, position = reading or Reading(), position or Position()
    kind = format_of(name, reading.given)
    try:
        yield from _READERS[kind](name, reading, position)
    except (pa.ArrowInvalid, pa.ArrowKeyError, EOFError, gzip.BadGzipFile) as failure:
        if _is_stopped(reading):  # in the middle of something
            return
        message = f"{_called(name)} could not be read as {kind}: {_reason(failure)}"
        raise DataError(message) from failure


def _called(name: str) -> str:
    """What people call an input."""
    return "Standard input" if name == STANDARD_INPUT else name


def _reason(failure: BaseException) -> str:
    """The first line of an error, as a sentence."""
    return f"{str(failure).splitlines()[0].rstrip(': .')}."


def _with_name(failure: BaseException, names: Sequence[str]) -> BaseException:
    """Say the name of the column where pyarrow says its number."""
    found = WRONG_VALUE.search(str(failure))
    if found is None:
        return failure
    number, kind, value = int(found[1]), found[2], found[3]
    held = "numbers" if kind == "double" else kind
    return pa.ArrowInvalid(f"column {names[number]!r} holds {value!r} among {held}")


def _opened(name: str, live: Live | None, position: Position) -> BinaryIO:
    """Open an input for reading bytes, unpacked; packed bytes are counted here."""
    coming = arriving(name, live)
    raw: Any = coming
    if coming is None and name == STANDARD_INPUT:
        raw = Prefixed(b"", getattr(sys.stdin.buffer, "raw", sys.stdin.buffer))
    elif coming is None:
        raw = io.FileIO(name)
    if name.endswith(".gz"):
        counted = cast(Any, Counted(raw, position))
        packed = counted if coming else io.BufferedReader(counted, PEEK)
        return cast(BinaryIO, gzip.GzipFile(fileobj=packed))
    return cast(BinaryIO, raw)


def _lines(name: str, file: Any, reading: Reading, position: Position) -> Lines:
    """The lines of an opened text, of which the bytes are counted."""

    def count(n_bytes: int) -> None:
        is_plain = not name.endswith(".gz") and name != STANDARD_INPUT
        position.done += n_bytes if is_plain else 0

    return Lines(file, reading.live, PEEK, count)


def _delimited(
    delimiter: str, name: str, reading: Reading, position: Position
) -> Iterator[pa.RecordBatch]:
    """Read CSV: whole numbers become floating point, since later rows may not be whole."""
    sign = reading.delimiter or delimiter
    if len(sign) != 1:
        message = f"--delimiter {sign!r} is not a single sign."
        raise DataError(message)
    with _opened(name, reading.live, position) as file:
        lines, parser = _lines(name, file, reading, position), None
        for piece in lines.pieces(sign.encode()):
            if parser is None:
                parser = _CsvParser(piece, sign, reading.types)
            try:
                yield from lines.parsed(piece, parser, sign.encode())
            except pa.ArrowInvalid as failure:
                raise _with_name(failure, parser.names) from failure
            parser.is_begun = True
        if parser is None and not _is_stopped(reading):
            message = f"{_called(name)} is empty."
            raise DataError(message)


class _CsvParser:
    """Parses pieces of a CSV, the first of which has the names and shows the types."""

    def __init__(self, first: bytes, delimiter: str, types: Types) -> None:
        self._parse = csv.ParseOptions(delimiter=delimiter)
        seen = self._seen(first, delimiter.encode())
        steady = {field.name: _type_of(field, types) for field in seen}
        self._convert = csv.ConvertOptions(column_types=steady, strings_can_be_null=True)
        self.names, self.is_begun = seen.names, False

    def _seen(self, first: bytes, delimiter: bytes) -> pa.Schema:
        """What columns hold in the first rows, up to a line that cannot be read."""

        def infer(piece: bytes) -> pa.Schema:
            return csv.read_csv(pa.BufferReader(piece), _all_of(piece), self._parse).schema

        try:
            return infer(first)
        except pa.ArrowInvalid:
            good = readable_part(first, infer, pa.ArrowInvalid, delimiter)
            if not good:
                raise
            return infer(first[:good])

    def __call__(self, piece: bytes) -> pa.Table:
        """Parse one piece."""
        read = _all_of(piece, self.names if self.is_begun else None)
        return csv.read_csv(pa.BufferReader(piece), read, self._parse, self._convert)


def _all_of(piece: bytes, names: list[str] | None = None) -> csv.ReadOptions:
    """Options by which a piece is parsed at once, by this thread."""
    return csv.ReadOptions(block_size=len(piece) + 1, use_threads=False, column_names=names)


def _csv(name: str, reading: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read comma-separated values."""
    return _delimited(",", name, reading, position)


def _tsv(name: str, reading: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read tab-separated values."""
    return _delimited("\t", name, reading, position)


def _type_of(field: pa.Field, types: Types) -> pa.DataType:
    """The type that a column of text is read as in all its rows."""
    if field.name in types:
        return types[field.name] or field.type
    is_open = pa.types.is_integer(field.type) or pa.types.is_null(field.type)
    return pa.float64() if is_open else field.type


def _ndjson(name: str, reading: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read one JSON object per line; fields that the first rows do not have are left out."""
    with _opened(name, reading.live, position) as file:
        lines, schema = _lines(name, file, reading, position), None

        def parse(piece: bytes) -> pa.Table:
            read = json.ReadOptions(block_size=len(piece) + 1, use_threads=False)
            known = json.ParseOptions(schema, unexpected_field_behavior="ignore")
            return json.read_json(pa.BufferReader(piece), read, known if schema else None)

        for piece in lines.pieces():
            if schema is None:
                seen = next(batch.schema for batch in lines.parsed(piece, parse))
                kinds = (_type_of(field, reading.types) for field in seen)
                schema = pa.schema(list(zip(seen.names, kinds, strict=True)))
            yield from lines.parsed(piece, parse)


def _is_stopped(reading: Reading) -> bool:
    """Whether an input was left before its end."""
    return reading.live is not None and reading.live.is_cut


def _parquet(name: str, _: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read a Parquet file."""
    before, size = position.done, Path(name).stat().st_size
    with parquet.ParquetFile(name) as file:
        read, rows = 0, max(file.metadata.num_rows, 1)
        for batch in file.iter_batches():
            read += batch.num_rows
            position.done = before + size * read // rows
            yield batch


def _arrow(name: str, reading: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read an Arrow IPC file, or a stream of the same."""
    if name == STANDARD_INPUT:
        with _opened(name, reading.live, position) as stream:
            yield from ipc.open_stream(stream)
        return
    before, size = position.done, Path(name).stat().st_size
    with open(name, "rb") as file:
        try:
            opened = ipc.open_file(file)
        except pa.ArrowInvalid:
            file.seek(0)
            yield from ipc.open_stream(file)
            return
        for number in range(opened.num_record_batches):
            yield opened.get_batch(number)
            position.done = before + size * (number + 1) // opened.num_record_batches


_READERS = {"csv": _csv, "tsv": _tsv, "ndjson": _ndjson, "parquet": _parquet, "arrow": _arrow}
