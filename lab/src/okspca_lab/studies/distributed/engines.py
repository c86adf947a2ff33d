"""Dask and Spark against one sequential run of the same rows."""

import os
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from okspca.distributed import Survey, identity, learn, survey_of
from okspca.distributed.frames import block_of
from okspca.estimators import OKSPCA
from okspca_lab.studies.distributed.stream import BLOCK, COLUMNS, apart, ranges, rows, settings
from okspca_lab.studies.rows import Cell, Row


def engine(name: str) -> Any:
    """Import an engine's module, or say how to install it."""
    try:
        return import_module(f"okspca.distributed.{name}")
    except ImportError as failure:
        message = f"this part needs another package: pip install 'okspca[{name}]' ({failure})"
        raise ValueError(message) from failure


def cluster(workers: int) -> Any:
    """Start a Dask cluster of processes on this machine."""
    engine("dask")
    quiet = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    return import_module("distributed").LocalCluster(n_workers=workers, **quiet)


def client_of(running: Any) -> Any:
    """Connect to a cluster."""
    return import_module("distributed").Client(running)


def delayed(parts: Iterable[Any]) -> list[Any]:
    """Wrap ranges of rows, so that workers make them."""
    wrap = import_module("dask").delayed
    return [wrap(part, traverse=False) for part in parts]


def equal(cell: Cell) -> list[Row]:
    """Two passes of Dask over generated rows, and one frozen run in this process."""
    n, size = cell["rows"], cell["partition"]
    start = time.perf_counter()
    with cluster(2) as running, client_of(running):
        found = engine("dask").fit_blocks(delayed(ranges(n, size)), model=settings())
    seconds = time.perf_counter() - start
    parts = [rows(begin, min(begin + BLOCK, n)) for begin in range(0, n, BLOCK)]
    X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    begin = time.perf_counter()
    alone = settings(standardize="frozen").fit(X, y)
    alone_seconds = time.perf_counter() - begin
    return [
        {
            **cell,
            "apart": apart(found, alone),
            "seconds": seconds,
            "alone_seconds": alone_seconds,
            "rows_learned": found.n_samples_seen_,
        }
    ]


def spark(cell: Cell) -> list[Row]:
    """Two passes of Spark over temporary Parquet files, and one frozen run over the same."""
    engine("spark")
    with tempfile.TemporaryDirectory() as folder:
        size = write_parquet(Path(folder), cell["rows"], cell["files"])
        start = time.perf_counter()
        session = local_session()
        try:
            data = session.read.parquet(folder)
            found = engine("spark").fit(data, "y", model=settings())
        finally:
            session.stop()
        seconds = time.perf_counter() - start
        alone = sequential(Path(folder))
    return [
        {
            **cell,
            "apart": apart(found, alone),
            "seconds": seconds,
            "file_bytes": size,
            "rows_learned": found.n_samples_seen_,
        }
    ]


def write_parquet(folder: Path, n: int, files: int) -> int:
    """Write rows of the stream to files, in bounded memory; return their size."""
    size = -(-n // files)
    for number, part in enumerate(ranges(n, size)):
        path = folder / f"part-{number:04d}.parquet"
        with parquet.ParquetWriter(path, _table(*rows(0, 1)).schema) as writer:
            for X, y in part:
                writer.write_table(_table(X, y))
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))


def sequential(folder: Path) -> OKSPCA:
    """One frozen run over files, in this process and in bounded memory."""
    model = settings()
    survey = Survey.from_bytes(model, survey_of(model, _blocks(folder)))
    start = identity(model, survey).to_bytes()
    return OKSPCA.from_bytes(learn(OKSPCA, start, _blocks(folder)))


def _table(X: Any, y: Any) -> Any:
    """Rows as an Arrow table."""
    return pa.table({**dict(zip(COLUMNS, X.T, strict=True)), "y": y})


def _blocks(folder: Path) -> Iterator[Any]:
    """Rows of all files, in their order."""
    for path in sorted(folder.glob("*.parquet")):
        for batch in parquet.ParquetFile(path).iter_batches(BLOCK):
            yield block_of(batch, "y")


def local_session() -> Any:
    """Start Spark on two cores of this machine; its workers run this Python."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = import_module("pyspark.sql").SparkSession.builder.master("local[2]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
