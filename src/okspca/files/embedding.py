"""Embed rows of files with a saved model and write them to a file, in bounded memory.

Standard output gets every table at once, so that the next program in a pipe need not wait.
"""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, ipc, parquet

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.preparing import IMPUTE
from okspca.files.columns import check_present, inputs_of, is_text
from okspca.files.readers import format_of
from okspca.files.reading import COPY, TEXT
from okspca.outputs import STANDARD, is_null, replacing
from okspca.state.streams import StreamRecord

WRITERS = ("csv", "tsv", "parquet", "arrow")


def embedded(
    model: OKSPCA, batch: pa.RecordBatch, record: StreamRecord, keep: list[str]
) -> pa.Table:
    """Embed a batch; a row with a missing or infinite input gets none, so that rows line up.

    A model that fills in missing values embeds rows that lack some as well.
    """
    check_present([*record.columns, *keep], batch.schema.names)
    table = pa.Table.from_batches([batch])
    X = inputs_of(table, record.columns, record.encodings)
    is_usable = np.isfinite(X) | (np.isnan(X) & (model.missing == IMPUTE))
    present = is_usable.all(axis=1)
    Z = np.full((len(X), model.n_components_), np.nan)
    if present.any():
        Z[present] = np.asarray(model.transform(np.ascontiguousarray(X[present])))
    names = [str(name) for name in model.get_feature_names_out()]
    found = {name: table.column(name) for name in keep}
    for name, values in zip(names, Z.T, strict=True):
        found[name] = pa.chunked_array([pa.array(values, mask=~present)])
    return pa.table(found)


def kinds_for(keep: list[str], *, verbatim: bool) -> dict[str, str]:
    """What columns to be kept are read as: what they look like.

    The first row of a pipe does not show what later ones hold, so there it is kept as text.
    """
    return dict.fromkeys(keep, TEXT if verbatim else COPY)


def format_for(out: Path) -> str:
    """Tell the format of a result: CSV for standard output, else what its ending says."""
    if str(out) == STANDARD or is_null(out):
        return "csv"
    kind = format_of(str(out))
    if kind not in WRITERS or out.suffix == ".gz":
        message = f"{out} cannot be written; let it end in .csv, .tsv, .parquet or .arrow."
        raise DataError(message)
    return kind


def write(out: Path, tables: Iterable[pa.Table], inputs: Iterable[str] = ()) -> int:
    """Write tables to a new file, which appears only when it is whole; return the rows."""
    kind, found = format_for(out), iter(tables)
    first = next(found, None)
    if first is None:
        message = "The input holds no rows."
        raise DataError(message)
    rows = 0
    with _opened(out, inputs) as file, _writer(kind, file, first.schema) as writer:
        for table in chain([first], found):
            writer.write_table(table)
            rows += table.num_rows
    return rows


class _LinesAtOnce:
    """Writes tables as CSV, each as soon as it is there; the names come first, and once."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._is_begun = file, False

    def __enter__(self) -> "_LinesAtOnce":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the file open: it is everybody's."""

    def write_table(self, table: pa.Table) -> None:
        """Write a table."""
        lines = pa.BufferOutputStream()
        quoting = "needed" if _needs_quotes(table) else "none"
        options = csv.WriteOptions(include_header=not self._is_begun, quoting_style=quoting)
        csv.write_csv(table, lines, options)
        self._file.write(lines.getvalue())
        self._file.flush()
        self._is_begun = True


def _needs_quotes(table: pa.Table) -> bool:
    """Whether a value could be taken for several, or for a name."""
    texts = [column for column in table.columns if is_text(column.type)]
    special = (pc.match_substring_regex(column.cast(pa.string()), '[,"\r\n]') for column in texts)
    return any(pc.any(found).as_py() for found in special)


@contextmanager
def _opened(out: Path, inputs: Iterable[str]) -> Iterator[IO[bytes]]:
    """Open the result for writing."""
    if str(out) != STANDARD:
        with replacing(out, inputs=inputs) as file:
            yield file
        return
    yield sys.stdout.buffer


@contextmanager
def _writer(kind: str, file: IO[bytes], schema: pa.Schema) -> Iterator[Any]:
    """Open a writer of a format."""
    if file is sys.stdout.buffer:
        writer: Any = _LinesAtOnce(file)
    elif kind == "parquet":
        writer = parquet.ParquetWriter(file, schema)
    elif kind == "arrow":
        writer = ipc.new_file(file, schema)
    else:
        options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
        writer = csv.CSVWriter(file, schema, write_options=options)
    with writer:
        yield writer
