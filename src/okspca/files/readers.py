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

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
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


def _standard_input() -> Any:
    """Standard input without a buffer: a thread that waits in one would block the exit."""
    return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)


def _bytes(name: str, position: Position) -> BinaryIO:
    """Open an input for reading bytes, unpacked; packed bytes are counted here."""
    if name == STANDARD_INPUT:
        return io.BufferedReader(Prefixed(b"", _standard_input()), PEEK)
    if name.endswith(".gz"):
        counted = io.BufferedReader(Counted(io.FileIO(name), position), PEEK)
        unpacked = gzip.GzipFile(fileobj=counted)
        return cast(BinaryIO, io.BufferedReader(cast(Any, unpacked), PEEK))
    return io.BufferedReader(io.FileIO(name), PEEK)


def _counted(
    name: str, found: Iterator[pa.RecordBatch], position: Position
) -> Iterator[pa.RecordBatch]:
    """Count the bytes of text as it becomes batches: pyarrow makes one of every PEEK bytes."""
    before, is_plain = position.done, not name.endswith(".gz") and name != STANDARD_INPUT
    size = Path(name).stat().st_size if is_plain else 0
    for number, batch in enumerate(found, start=1):
        if is_plain:
            position.done = before + min(number * PEEK, size)
        yield batch


def _delimited(
    delimiter: str, name: str, reading: Reading, position: Position
) -> Iterator[pa.RecordBatch]:
    """Read CSV: whole numbers become floating point, since later rows may not be whole."""
    if len(reading.delimiter or delimiter) != 1:
        message = f"--delimiter {reading.delimiter!r} is not a single sign."
        raise DataError(message)
    parse = csv.ParseOptions(delimiter=reading.delimiter or delimiter)
    with _bytes(name, position) as file:
        beginning = file.read(PEEK)
        if not beginning.strip():
            message = f"{_called(name)} is empty."
            raise DataError(message)
        whole = beginning[: beginning.rfind(b"\n") + 1] or beginning
        seen = csv.open_csv(io.BytesIO(whole), parse_options=parse).schema
        steady = {field.name: _type_of(field, reading.types) for field in seen}
        options = csv.ConvertOptions(column_types=steady, strings_can_be_null=True)
        source = pa.PythonFile(io.BufferedReader(Prefixed(beginning, file), PEEK), "r")
        try:
            found = csv.open_csv(source, csv.ReadOptions(block_size=PEEK), parse, options)
            yield from _counted(name, found, position)
        except pa.ArrowInvalid as failure:
            raise _with_name(failure, seen.names) from failure


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


def _ndjson(name: str, _: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read one JSON object per line."""
    with _bytes(name, position) as file:
        found = json.open_json(pa.PythonFile(file, "r"), json.ReadOptions(block_size=PEEK))
        yield from _counted(name, found, position)


def _parquet(name: str, _: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read a Parquet file."""
    before, size = position.done, Path(name).stat().st_size
    with parquet.ParquetFile(name) as file:
        read, rows = 0, max(file.metadata.num_rows, 1)
        for batch in file.iter_batches():
            read += batch.num_rows
            position.done = before + size * read // rows
            yield batch


def _arrow(name: str, _: Reading, position: Position) -> Iterator[pa.RecordBatch]:
    """Read an Arrow IPC file, or a stream of the same."""
    if name == STANDARD_INPUT:
        yield from ipc.open_stream(_bytes(name, position))
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
