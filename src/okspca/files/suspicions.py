"""What first rows give away: a counting index, an input that is the target.

Nothing is changed here: it is said in a line, with the flag that would change it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from okspca.numerics.arrays import Floats

#: So many rows are looked at, and fewer prove nothing.
ROWS, FEWEST = 1000, 8
TOLERANCE = 1e-9


def suspicions(first: pa.Table, columns: Sequence[str], target: str, task: str) -> Iterator[str]:
    """Say what the first rows give away, one line for each thing.

    Examples
    --------
    >>> rows = pa.table({"c1": range(9), "a": [5.0, 1, 2] * 3, "y": [0.5, 0.1, 0.2] * 3})
    >>> for line in suspicions(rows, ["c1", "a"], "y", "auto"):
    ...     print(line)
    Column 'c1' counts the rows; leave it out with --drop c1.
    Column 'a' is the target 'y' times 10; leave it out with --drop a.
    """
    rows = first.slice(0, ROWS)
    if rows.num_rows < FEWEST:
        return
    y, is_label = _numbers(rows.column(target)), not pa.types.is_floating(first.field(target).type)
    codes = _codes(rows.column(target)) if is_label and task != "regression" else None
    first_column = _numbers(rows.column(columns[0]))
    if first_column is not None and _counts(first_column):
        yield f"Column {columns[0]!r} counts the rows; leave it out with --drop {columns[0]}."
    numbers = None if y is None else _Numbers.of(y)
    for name, place in zip(columns, _places(rows, columns), strict=True):
        told = _relation(rows.column(place), numbers, codes)
        if told:
            drop = f"leave it out with --drop {name}"
            yield f"Column {name!r} {told.format(repr(target))}; {drop}."


class _Numbers(NamedTuple):
    """A target of numbers: the rows of its ends, and whether it has more than two values."""

    values: Floats
    low: int
    high: int
    is_varied: bool

    @classmethod
    def of(cls, y: Floats) -> Self | None:
        """Look at a target once for all columns; None where it is constant."""
        low, high = int(np.argmin(y)), int(np.argmax(y))
        return cls(y, low, high, len(np.unique(y)) > 2) if y[high] > y[low] else None


def _places(rows: pa.Table, columns: Sequence[str]) -> list[int]:
    """Where columns stand: asked by name, a table looks through all of them each time."""
    places = {name: place for place, name in enumerate(rows.column_names)}
    return [places[name] for name in columns]


def _counts(values: Floats) -> bool:
    """Whether a column is 0, 1, 2, ... or the same from another start."""
    return bool((np.diff(values) == 1.0).all())


def _relation(column: pa.ChunkedArray, y: _Numbers | None, codes: NDArray[np.int64] | None) -> str:
    """How a column determines the target, or nothing."""
    x = _numbers(column)
    told = "" if x is None or y is None else _affine(x, y)
    return told or ("is the target {} in other words" if _relabels(column, x, codes) else "")


def _relabels(column: pa.ChunkedArray, x: Floats | None, codes: NDArray[np.int64] | None) -> bool:
    """Whether a column has one value for each class, and each of its own."""
    if codes is None or (n_classes := len(np.unique(codes))) < 2 or n_classes > len(codes) // 2:
        return False
    found = _codes(column) if x is None else np.unique(x, return_inverse=True)[1]
    if found is None or len(np.unique(found)) != n_classes:
        return False
    return len(np.unique(found * n_classes + codes)) == n_classes


def _affine(x: Floats, target: _Numbers) -> str:
    """Say by which factor and shift a column is the target, if it is."""
    y, low, high, is_varied = target
    if x[low] == x[high]:  # a multiple of the target, or its copy, would differ there
        return ""
    if x[low] == y[low] and (x == y).all():
        return "is the target {}"
    if not is_varied:
        return ""
    with np.errstate(all="ignore"):
        factor = (x[high] - x[low]) / (y[high] - y[low])
        shift = x[low] - factor * y[low]
        is_copy = np.abs(x - factor * y - shift).max() <= TOLERANCE * np.abs(x).max()
    if not is_copy:
        return ""
    is_shifted = abs(shift) > TOLERANCE * np.abs(x).max()
    return f"is the target {{}} times {factor:.6g}" + (f" plus {shift:.6g}" if is_shifted else "")


def _numbers(column: pa.ChunkedArray) -> Floats | None:
    """Finite numbers without a gap, or None."""
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)) or column.null_count:
        return None
    found = np.asarray(column.to_numpy(), dtype=np.float64)
    return found if np.isfinite(found).all() else None


def _codes(column: pa.ChunkedArray) -> NDArray[np.int64] | None:
    """A number for each distinct value; None for numbers that are no labels, and with gaps."""
    if column.null_count or pa.types.is_temporal(column.type) or pa.types.is_nested(column.type):
        return None
    values = column.combine_chunks()
    coded = values if pa.types.is_dictionary(values.type) else pc.dictionary_encode(values)
    return np.asarray(coded.indices.to_numpy(zero_copy_only=False), dtype=np.int64)
