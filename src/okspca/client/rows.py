"""Rows as they are sent: JSON where they are few, Arrow where they are many and it can be.

NumPy arrays, lists, dictionaries and frames are read through their own methods, so none of those
packages is imported here.  What is missing (NaN, NA, NaT) becomes null.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from okspca.client.requests import ARROW, JSON, NDJSON
from okspca.errors import DataError

#: From so many values on, rows are sent as Arrow.
MANY = 10_000
MISSING = ("NAType", "NaTType")


class Names(NamedTuple):
    """How a model calls its columns.

    Examples
    --------
    >>> Names(("flow", "level"), "y").target
    'y'
    """

    columns: tuple[str, ...]
    target: str


class Rows(NamedTuple):
    """What is sent of rows: inputs and, where they are there, targets and identifiers.

    Examples
    --------
    >>> Rows.of([[1.0, float("nan")]], [0]).json()
    [{'x': [1.0, None], 'y': 0}]
    """

    X: Any
    y: Any = None
    ids: Sequence[str] | None = None

    @classmethod
    def of(cls, X: Any, y: Any = None, ids: Sequence[str] | None = None) -> "Rows":
        """Check that everything has as many rows."""
        n = len(X)
        for name, given in (("y", y), ("ids", ids)):
            if given is not None and len(given) != n:
                message = f"{name} has {len(given)} rows, but X has {n}; give one for each."
                raise ValueError(message)
        if not n:
            message = "X has no rows; give one at least."
            raise ValueError(message)
        return cls(X, y, ids)

    def encoded(self, names: Callable[[], Names], many: int | None = None) -> tuple[str, bytes]:
        """Kind and body of a request; ``names`` is called where columns must have names."""
        is_long = is_arrow(self.X) or n_values(self.X) >= (MANY if many is None else many)
        if is_long and (is_arrow(self.X) or find_spec("pyarrow") is not None):
            arrow = import_module("okspca.client.arrow_rows")
            return ARROW, arrow.stream(self.X, self.y, self.ids, names())
        rows = self.json()
        if is_long:
            return NDJSON, b"\n".join(map(_text, rows)) + b"\n"
        return JSON, _text({"rows": rows} if len(rows) > 1 else rows[0])

    def json(self) -> list[dict[str, Any]]:
        """One object per row."""
        rows: list[dict[str, Any]] = [{"x": x} for x in _inputs(self.X)]
        if self.y is not None:
            for row, value in zip(rows, values(self.y, "y"), strict=True):
                row["y"] = value
        if self.ids is not None:
            for row, name in zip(rows, self.ids, strict=True):
                row["id"] = name
        return rows


def is_arrow(X: Any) -> bool:
    """Whether something is a table or a batch of pyarrow."""
    return type(X).__module__.partition(".")[0] == "pyarrow" and hasattr(X, "schema")


def is_frame(X: Any) -> bool:
    """Whether something has columns with names, as frames of pandas and polars do."""
    return hasattr(X, "columns") and not is_arrow(X)


def is_single(x: Any) -> bool:
    """Whether something is one row instead of several."""
    if isinstance(x, Mapping):
        return True
    if hasattr(x, "shape"):
        return len(x.shape) == 1
    return not any(isinstance(value, Mapping | Sequence) or hasattr(value, "shape") for value in x)


def n_values(X: Any) -> int:
    """About how many values rows hold."""
    if hasattr(X, "shape"):
        return math.prod(X.shape)
    return len(X) * len(X[0]) if hasattr(X[0], "__len__") else len(X)


def values(column: Any, where: str) -> list[Any]:
    """Entries of a list, an array or a series as they stand in JSON."""
    for method in ("to_list", "tolist"):
        if hasattr(column, method):
            column = getattr(column, method)()
            break
    return [_plain(value, row, where) for row, value in enumerate(column)]


def _inputs(X: Any) -> Iterable[Any]:
    """The inputs of each row."""
    if is_frame(X):
        names = [str(name) for name in X.columns]
        columns = [values(X[name], f"column {str(name)!r}") for name in X.columns]
        return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]
    if hasattr(X, "shape") and len(X.shape) != 2:
        message = f"X has the shape {tuple(X.shape)}; give rows and columns, or one row alone."
        raise ValueError(message)
    rows = X.tolist() if hasattr(X, "tolist") else X
    return [_row(row, i) for i, row in enumerate(rows)]


def _row(row: Any, i: int) -> Any:
    """One row, by name or by place."""
    if isinstance(row, Mapping):
        return {str(k): _plain(value, i, f"column {str(k)!r}") for k, value in row.items()}
    found = row.tolist() if hasattr(row, "tolist") else row
    return [_plain(value, i, f"column {j}") for j, value in enumerate(found)]


def _plain(value: Any, row: int, where: str) -> Any:
    """One value as it stands in JSON."""
    if isinstance(value, float):
        if math.isinf(value):
            message = f"There is {value} at row {row}, {where}; numbers that are sent are finite."
            raise DataError(message)
        return None if value != value else float(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if type(value).__name__ in MISSING:
        return None
    if hasattr(value, "tolist"):
        return _plain(value.tolist(), row, where)
    if isinstance(value, Sequence):
        return [_plain(part, row, where) for part in value]
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return _plain(float(value), row, where)


def _text(value: Any) -> bytes:
    """JSON in as few bytes as can be."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
