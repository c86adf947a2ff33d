"""Rows from files, in order and in bounded memory, as record batches of pyarrow.

The ending of a name tells the format: ``.csv``, ``.tsv``, ``.ndjson`` or ``.jsonl``, ``.parquet``,
``.arrow`` or ``.feather`` (Arrow IPC), the text ones also with ``.gz``, ``.bz2``, ``.xz`` or
``.zst``.  A folder stands for the Parquet files in it, and a pattern such as ``data/*.csv`` for the
files that fit, sorted by name.  ``-`` is standard input, whose format shows in its first bytes.
"""

import errno
import glob
import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO

import pyarrow as pa
from pyarrow import ipc, parquet

from okspca.errors import DataError
from okspca.files.aligning import Aligned
from okspca.files.delimited import read_delimited
from okspca.files.live import is_pipe
from okspca.files.ndjson import read_ndjson
from okspca.files.position import Position
from okspca.files.reading import Reading
from okspca.files.sources import Source, called, copied, open_source, reason
from okspca.files.written_numbers import TypedColumns
from okspca.outputs import STANDARD

__all__ = ["Position", "Reading", "batches", "expanded", "format_of", "rows_of"]

FORMATS = {
    ".csv": "csv",
    ".txt": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".ndjson": "ndjson",
    ".jsonl": "ndjson",
    ".json": "ndjson",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}
PACKED = (".gz", ".bz2", ".xz", ".zst")
#: Formats that are written line by line, and all.
TEXT_FORMATS = ("csv", "tsv", "ndjson")
KNOWN = (*TEXT_FORMATS, "parquet", "arrow")
DELIMITERS = {"csv": "", "tsv": "\t"}
#: How Arrow's stream begins.
CONTINUATION = b"\xff\xff\xff\xff"


def expanded(inputs: Sequence[str]) -> tuple[str, ...]:
    """Replace folders by the Parquet files in them, and patterns by the files that fit."""
    return tuple(file for name in inputs for file in _files(name))


def _files(name: str) -> list[str]:
    """The files that a name stands for."""
    if name == STANDARD or Path(name).is_file():
        return [name]
    if Path(name).is_dir():
        if not os.access(name, os.R_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "Permission denied", name)
        files = sorted(str(path) for path in Path(name).rglob("*.parquet"))
        missing = f"The folder {name} holds no .parquet files."
    elif glob.has_magic(name):
        files = sorted(path for path in glob.glob(name, recursive=True) if Path(path).is_file())
        missing = f"No file fits the pattern {name}."
    else:
        return [name]
    if not files:
        raise DataError(missing)
    return files


def format_of(name: str, given: str | None = None) -> str:
    """Tell the format from the ending of a name.

    Examples
    --------
    >>> format_of("rows.csv.gz"), format_of("-")
    ('csv', 'csv')
    """
    if given is not None:
        if given not in KNOWN:
            message = f"--format {given} is not known; give one of {', '.join(KNOWN)}."
            raise DataError(message)
        return given
    if name == STANDARD:
        return "csv"
    ending = _ending(name)
    if ending not in FORMATS:
        known = ", ".join(FORMATS)
        message = f"{name} has none of the endings {known}; say what it is with --format."
        raise DataError(message)
    return FORMATS[ending]


def _ending(name: str) -> str:
    """How a name ends, before what says that the file is packed."""
    path = Path(name)
    return (path.with_suffix("") if path.suffix.lower() in PACKED else path).suffix.lower()


def rows_of(
    inputs: Sequence[str], reading: Reading | None = None, position: Position | None = None
) -> Iterator[pa.RecordBatch]:
    """Read inputs one after the other; all have the columns of the first, in any order.

    On a request to stop (see :class:`okspca.files.live.Live`), what has come through a pipe is
    still handed out, and no more of a file.
    """
    reading, position = reading or Reading(), position or Position()
    aligned: Aligned | None = None
    for name in inputs:
        for batch in batches(name, reading, position):
            if aligned is None:
                aligned = Aligned(batch.schema, called(name), reading)
            yield aligned.take(batch, called(name))
            if _is_left(name, reading):
                return
        if reading.is_cut:
            return
        if aligned is not None:
            reading = aligned.reading._replace(needed=())


def _is_left(name: str, reading: Reading) -> bool:
    """Whether an input that can be read again is left here."""
    if reading.live is None or not reading.live.stop.wanted or is_pipe(name):
        return False
    reading.live.is_cut = True
    return True


def batches(
    name: str, reading: Reading | None = None, position: Position | None = None
) -> Iterator[pa.RecordBatch]:
    """Read one input."""
    reading, position = reading or Reading(), position or Position()
    is_unnamed = name == STANDARD or is_pipe(name)
    kind = "csv" if is_unnamed else format_of(name, reading.given)
    source = open_source(name, position, reading.live)
    try:
        if is_unnamed:
            kind = _format_inside(source, reading.given or FORMATS.get(_ending(name)))
        yield from _read(kind, source, reading, position)
    except (pa.ArrowInvalid, pa.ArrowKeyError) as failure:
        if reading.is_cut:  # in the middle of something
            return
        message = f"{called(name)} could not be read as {kind}: {reason(failure)}"
        raise DataError(message) from failure
    finally:
        source.close()


def _format_inside(source: Source, given: str | None) -> str:
    """Tell the format of a pipe from its first bytes, unless it is known."""
    if given is not None:
        return format_of(source.name, given)
    beginning = source.ahead(8, lines=1)
    if beginning.startswith(b"PAR1"):
        return "parquet"
    if beginning.startswith((b"ARROW1", CONTINUATION)):
        return "arrow"
    return "ndjson" if beginning.lstrip()[:1] == b"{" else "csv"


def _read(
    kind: str, source: Source, reading: Reading, position: Position
) -> Iterator[pa.RecordBatch]:
    """Read a format."""
    if kind in DELIMITERS:
        return read_delimited(source, reading, position, DELIMITERS[kind])
    if kind == "ndjson":
        return read_ndjson(source, reading, position)
    found = (_parquet if kind == "parquet" else _arrow)(source, position)
    return _typed(found, source, reading, position)


def _typed(
    found: Iterator[pa.RecordBatch], source: Source, reading: Reading, position: Position
) -> Iterator[pa.RecordBatch]:
    """Count the rows of a file that has no lines, and decide about its columns by the first."""
    columns = TypedColumns(reading)
    for batch in found:
        place = partial(position.place_after, position.rows)
        position.note(called(source.name), batch.num_rows)
        if not columns.is_planned:
            columns.plan(batch, place)
        yield from columns.changed(batch, place)


def _seekable(source: Source) -> IO[bytes]:
    """The file itself, or a copy of what comes through a pipe."""
    return copied(source.read) if source.is_pipe else open(source.name, "rb")


def _parquet(source: Source, position: Position) -> Iterator[pa.RecordBatch]:
    """Read a Parquet file."""
    before = position.done
    with _seekable(source) as bare, parquet.ParquetFile(bare) as file:
        size = os.fstat(bare.fileno()).st_size
        read, rows = 0, max(file.metadata.num_rows, 1)
        for batch in file.iter_batches():
            read += batch.num_rows
            position.done = before + size * read // rows
            yield batch


def _arrow(source: Source, position: Position) -> Iterator[pa.RecordBatch]:
    """Read an Arrow IPC file, or a stream of the same."""
    if not source.ahead(6).startswith(b"ARROW1"):
        yield from _arrow_stream(source)
        return
    before = position.done
    with _seekable(source) as file:
        opened, size = ipc.open_file(file), os.fstat(file.fileno()).st_size
        for number in range(opened.num_record_batches):
            yield opened.get_batch(number)
            position.done = before + size * (number + 1) // opened.num_record_batches


def _arrow_stream(source: Source) -> Iterator[pa.RecordBatch]:
    """Read a stream as it comes."""
    yield from ipc.open_stream(source.file())
