"""Rows of the inputs for pictures, and a profile of what the columns hold."""

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.estimators.preparing import IMPUTE
from okspca.files.columns import check_present, input_names, inputs_of
from okspca.files.fitting import target_of
from okspca.files.readers import expanded, rows_of
from okspca.files.reading import LABEL, NUMBER, Reading
from okspca.files.saved import reading_for
from okspca.numerics.arrays import Floats
from okspca.state.streams import StreamRecord

#: No more numbers than this are looked at, so that memory stays bounded for wide files too.
MOST_VALUES = 5_000_000


class Sample(NamedTuple):
    """The first rows of the inputs: all for the profile, those that can be embedded to draw."""

    names: list[str]
    X: Floats
    y: NDArray[Any]
    known: NDArray[np.bool_]
    #: Whether the model fills gaps, so that rows with gaps can be drawn too.
    fills: bool = False

    def drawn(self, most: int) -> tuple[Floats, NDArray[Any]]:
        """At most so many rows to draw, chosen at random but always the same ones."""
        fits = ~np.isinf(self.X) if self.fills else np.isfinite(self.X)
        whole = np.flatnonzero(self.known & fits.all(axis=1))
        if len(whole) > most:
            whole = np.sort(RandomState(0).choice(whole, most, replace=False))
        return self.X[whole], self.y[whole]


class ColumnProfile(NamedTuple):
    """What one input column holds."""

    name: str
    missing: int
    mean: float
    sd: float
    least: float
    most: float


def read_sample(
    record: StreamRecord, inputs: list[str], reading: Reading, classes: bool, most_rows: int
) -> Sample:
    """Read the first rows of inputs, as the model sees them."""
    names = input_names(record.columns, record.encodings)
    limit = max(min(most_rows, MOST_VALUES // len(names)), 1)
    target = {record.target: LABEL if classes else NUMBER}
    reading = reading_for(record, reading, inputs, target, needed=[record.target])
    parts: list[tuple[Floats, NDArray[Any], NDArray[np.bool_]]] = []
    found = 0
    for batch in rows_of(expanded(inputs), reading):
        check_present([*record.columns, record.target], batch.schema.names)
        table = pa.Table.from_batches([batch.slice(0, limit - found)])
        if table.num_rows:
            X = inputs_of(table, record.columns, record.encodings)
            parts.append((X, *target_of(table, record.target)))
        found += table.num_rows
        if found >= limit:
            break
    if not found:
        message = f"{inputs[0]} holds no rows."
        raise DataError(message)
    X, y, known = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Sample(names, X, y, known, record.missing == IMPUTE)


def usable_inputs(record: StreamRecord) -> list[str]:
    """The inputs that the model was fitted to, if they are still there."""
    there = [name for name in record.inputs if Path(name).is_file()]
    return there if len(there) == len(record.inputs) else []


def profile(sample: Sample) -> list[ColumnProfile]:
    """Say what each input column holds.

    Examples
    --------
    >>> rows = Sample(["a"], np.array([[1.0], [np.nan], [3.0]]), np.zeros(3), np.ones(3, bool))
    >>> profile(rows)[0].mean, profile(rows)[0].missing
    (2.0, 1)
    """
    found = []
    for name, column in zip(sample.names, sample.X.T, strict=True):
        there = column[np.isfinite(column)]
        gaps = len(column) - len(there)
        if not len(there):
            found.append(ColumnProfile(name, gaps, *[float("nan")] * 4))
            continue
        with np.errstate(over="ignore", invalid="ignore"):
            mean, sd = float(there.mean()), float(there.std())
        found.append(ColumnProfile(name, gaps, mean, sd, float(there.min()), float(there.max())))
    return found


def target_profile(sample: Sample, classes: bool, most: int = 15) -> list[tuple[str, int]]:
    """Rows of each class, most frequent first; of a number, rows in ten equal ranges."""
    known = sample.y[sample.known]
    if classes:
        counts = Counter(str(value) for value in known.tolist())
        ranked = counts.most_common(most)
        rest = counts.total() - sum(count for _, count in ranked)
        return [*ranked, *([("all others", rest)] if rest else [])]
    counted, edges = np.histogram(known.astype(np.float64), bins=10)
    words = [f"{low:.4g} to {high:.4g}" for low, high in pairwise(edges)]
    return list(zip(words, counted.tolist(), strict=True))
