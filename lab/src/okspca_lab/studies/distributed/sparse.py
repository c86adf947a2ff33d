"""A long stream of wide sparse rows, and the memory that learning it takes."""

import os
import time
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from okspca.numerics.arrays import Floats
from okspca_lab.studies.distributed.stream import settings
from okspca_lab.studies.rows import Cell, Row

BLOCK, POINTS = 2000, 20


def sparse_rows(number: int, width: int, entries: int) -> tuple[Any, Floats]:
    """Make block ``number``: ``entries`` values in random places per row, and a response.

    Examples
    --------
    >>> X, y = sparse_rows(0, 1000, 5)
    >>> X.shape, X.nnz <= 5 * BLOCK, y.shape
    ((2000, 1000), True, (2000,))
    """
    random = np.random.RandomState(number)
    columns = random.randint(width, size=(BLOCK, entries))
    values = random.exponential(size=(BLOCK, entries))
    places = np.repeat(np.arange(BLOCK), entries), columns.ravel()
    X = csr_array((values.ravel(), places), shape=(BLOCK, width))
    signs = np.where(columns % 2 == 0, 1.0, -1.0)
    return X, (signs * values).sum(axis=1) + random.normal(size=BLOCK)


def sparse(cell: Cell) -> list[Row]:
    """Learn block after block; note memory and processor time on the way."""
    n, width, entries = cell["rows"], cell["columns"], cell["entries"]
    model, points = settings(), []
    start = time.process_time()
    for number in range(n // BLOCK):
        model.partial_fit(*sparse_rows(number, width, entries))
        if (number + 1) % max(n // BLOCK // POINTS, 1) == 0:
            learned = (number + 1) * BLOCK
            points.append([learned, _peak_bytes(), round(time.process_time() - start, 2)])
    return [
        {
            **cell,
            "seconds": time.process_time() - start,
            "points": points,
            "block_bytes_if_filled": 8 * BLOCK * width,
            "stream_bytes_if_filled": 8 * n * width,
            "state_bytes": len(model.to_bytes()),
            "rows_learned": model.n_samples_seen_,
        }
    ]


def _peak_bytes() -> int:
    """The most memory that this process has had in use."""
    resource = import_module("resource")
    peak = int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return peak if os.uname().sysname == "Darwin" else 1024 * peak
