"""Embed rows of files with a saved model and write them to a file, in bounded memory."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv, ipc, parquet

from okspca.columns import check_present, inputs_of
from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.state.streams import StreamRecord
from okspca.streams import format_of

WRITERS = ("csv", "tsv", "parquet", "arrow")


def embedded(
    model: OKSPCA, batch: pa.RecordBatch, record: StreamRecord, keep: list[str]
) -> pa.Table:
    """Embed a batch; a row with a missing input gets an empty embedding, so that rows line up."""
    for name in (*record.columns, *keep):
        check_present(name, batch.schema.names)
    table = pa.Table.from_batches([batch])
    X = inputs_of(table, record.columns, record.encodings)
    present = ~np.isnan(X).any(axis=1)
    Z = np.full((len(X), model.n_components), np.nan)
    if present.any():
        Z[present] = np.asarray(model.transform(np.ascontiguousarray(X[present])))
    names = [str(name) for name in model.get_feature_names_out()]
    found = {name: table.column(name) for name in keep}
    for name, values in zip(names, Z.T, strict=True):
        found[name] = pa.chunked_array([pa.array(values, mask=~present)])
    return pa.table(found)


def write(out: Path, tables: Iterable[pa.Table]) -> int:
    """Write tables to a new file, which appears only when it is whole; return the rows."""
    kind = format_of(str(out))
    if kind not in WRITERS or out.suffix == ".gz":
        message = f"{out} cannot be written; let it end in .csv, .tsv, .parquet or .arrow."
        raise DataError(message)
    part = out.with_name(f".{out.name}.{os.getpid()}.part")
    rows, found = 0, iter(tables)
    first = next(found, None)
    if first is None:
        message = "The input holds no rows."
        raise DataError(message)
    try:
        with _writer(kind, part, first.schema) as writer:
            writer.write_table(first)
            rows += first.num_rows
            for table in found:
                writer.write_table(table)
                rows += table.num_rows
        os.replace(part, out)
    finally:
        part.unlink(missing_ok=True)
    return rows


@contextmanager
def _writer(kind: str, part: Path, schema: pa.Schema) -> Iterator[Any]:
    """Open a writer of a format."""
    if kind == "parquet":
        writer: Any = parquet.ParquetWriter(part, schema)
    elif kind == "arrow":
        writer = ipc.new_file(part, schema)
    else:
        options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",")
        writer = csv.CSVWriter(part, schema, write_options=options)
    with writer:
        yield writer
