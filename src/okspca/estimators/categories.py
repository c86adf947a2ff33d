"""Text columns of data frames as numbers: codes at the door, indicators for the pipeline.

A text column becomes one indicator column for each of the most frequent values among the first
rows of a stream.  Until so many rows are there they wait, and their values are codes: places in a
list of the values seen so far.  Then the list is fixed for good.  A value that is not on it has
zeros in all indicators of its column, and is counted.

Which columns hold text is told by their first value, not by the type of a block: a column that is
empty at first is undecided until a value comes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.estimators.data import is_categorical, is_numeric
from okspca.estimators.missing import as_array, column_names, column_numbers, missing_entries
from okspca.numerics.arrays import Floats

#: Values are counted in so many rows.  Other rules that wait for first rows wait for as many, and a
#: value in one row of a hundred escapes them once in 170 streams.
CATEGORY_ROWS = 512
#: The code of a value without an indicator.
UNSEEN = -1.0
#: What to do about text in a column that began with a number.
_REMEDY = "make all of the column labels with astype('category'), or numbers."
_TEXT, _NUMBER, _UNDECIDED = "text", "number", "undecided"


Seen = TypeVar("Seen", bound="Categories")


class Column(NamedTuple):
    """A column of a frame, or of one row: what messages call it, and its values."""

    name: Any
    values: Any


@dataclass(frozen=True, eq=False)
class Categories:
    """The text columns of a frame and their values.

    Parameters
    ----------
    texts : dict of int to tuple of str
        By the place of each text column, its values: in the order of their first rows while rows
        wait, afterwards those that have an indicator, in the order of the alphabet.
    undecided : frozenset of int
        Places of columns that had no value yet.
    is_fixed : bool
        Whether the values stay as they are.
    n_unseen : dict of int to int
        Rows learned, by text column, whose value has no indicator.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.0, 2.0, 3.0], "colour": ["red", "blue", "red"]})
    >>> seen, X = Categories.start(2).coded(frame)
    >>> X.tolist()
    [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]
    >>> fixed = seen.fixed(X, most=1)
    >>> fixed.names(["size", "colour"]), fixed.indicators(seen.recoded(X, fixed)).tolist()
    (['size', 'colour=red'], [[1.0, 1.0], [2.0, 0.0], [3.0, 1.0]])
    """

    texts: dict[int, tuple[str, ...]]
    undecided: frozenset[int] = frozenset()
    is_fixed: bool = False
    n_unseen: dict[int, int] = field(default_factory=dict)

    @classmethod
    def start(cls, n_columns: int) -> Self:
        """Nothing is known yet."""
        return cls({}, frozenset(range(n_columns)))

    @property
    def read_text(self) -> bool:
        """Whether rows must be coded; not where all columns are known to hold numbers."""
        return bool(self.texts or self.undecided)

    @property
    def waits(self) -> bool:
        """Whether rows must wait until the values are fixed."""
        return self.read_text and not self.is_fixed

    def width(self, n_columns: int) -> int:
        """Number of columns with indicators in place of text."""
        return n_columns + sum(len(values) - 1 for values in self.texts.values())

    def names(self, columns: Sequence[str]) -> list[str]:
        """Names of these columns."""
        made = (
            [f"{name}={value}" for value in self.texts[place]] if place in self.texts else [name]
            for place, name in enumerate(columns)
        )
        return [name for names in made for name in names]

    def coded(self, X: Any) -> tuple[Self, Any]:
        """Rows of a frame as numbers, text as codes, NaN where a value is missing.

        Returned with the values seen so far; X passes as it is where no column can hold text.
        """
        if column_names(X) is None:
            kind = type(X).__name__
            message = f"X must be a data frame, since the model learned text columns, not {kind}."
            raise DataError(message)
        columns = _columns_of(X)
        seen = self._told_by(columns)
        return _coded(seen, columns) if seen.read_text else (seen, X)

    def coded_row(self, x: Any, names: Sequence[Any]) -> tuple[Self, Any]:
        """One row as :meth:`coded` gives it: a mapping by names, or values in their order."""
        if isinstance(x, Mapping):
            _check_names(x, names)
            x = [x[name] for name in names]
        values = np.empty(len(x), dtype=object)
        values[:] = list(x)
        if len(values) != len(names):
            message = f"x has {len(values)} values, but the model learned {len(names)}."
            raise DataError(message)
        columns = [
            Column(name, values[place : place + 1].copy()) for place, name in enumerate(names)
        ]
        return _coded(self._told_by(columns), columns)

    def fixed(self, X: Floats, most: int) -> Self:
        """Fix the values by coded rows: the most frequent, ties in the order of the alphabet."""
        texts = {}
        for place, values in self.texts.items():
            counts = _counts(X[:, place], len(values))
            ranked = sorted(range(len(values)), key=lambda code: (-counts[code], values[code]))
            texts[place] = tuple(sorted(values[code] for code in ranked[:most] if counts[code]))
        return type(self)(texts, is_fixed=True, n_unseen=dict.fromkeys(texts, 0))

    def compact(self, X: Floats) -> Self:
        """Keep only the values of these coded rows, in the order of their first rows."""
        texts = {}
        for place, values in self.texts.items():
            codes, first = np.unique(X[~np.isnan(X[:, place]), place], return_index=True)
            texts[place] = tuple(values[int(code)] for code in codes[np.argsort(first)])
        return replace(self, texts=texts)

    def recoded(self, X: Floats, into: Self) -> Floats:
        """Coded rows with the codes of another list of values."""
        X = X.copy()
        for place, values in self.texts.items():
            places = {value: code for code, value in enumerate(into.texts[place])}
            table = np.array([places.get(value, UNSEEN) for value in values])
            there = ~np.isnan(X[:, place])
            X[there, place] = table[X[there, place].astype(np.intp)]
        return X

    def counting(self, X: Floats) -> Self:
        """Count values of coded rows that have no indicator."""
        n_unseen = {
            place: n + int((X[:, place] == UNSEEN).sum()) for place, n in self.n_unseen.items()
        }
        return replace(self, n_unseen=n_unseen)

    def indicators(self, X: Floats) -> Floats:
        """Coded rows with indicators in place of text; a missing value is missing in all."""
        sizes = np.ones(X.shape[1], dtype=np.intp)
        for place, values in self.texts.items():
            sizes[place] = len(values)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        found = np.empty((X.shape[0], starts[-1]))
        numbers = [place for place in range(X.shape[1]) if place not in self.texts]
        found[:, starts[numbers]] = X[:, numbers]
        for place, values in self.texts.items():
            codes = X[:, place, np.newaxis]
            hot = np.where(np.isnan(codes), np.nan, codes == np.arange(len(values)))
            found[:, starts[place] : starts[place + 1]] = hot
        return found

    def merged(self, other: Self) -> Self:
        """The same values; counts of both."""
        return replace(
            self, n_unseen={place: n + other.n_unseen[place] for place, n in self.n_unseen.items()}
        )

    def _told_by(self, columns: list[Column]) -> Self:
        """Decide about columns that have their first value here."""
        if not self.undecided:
            return self
        kinds = {place: _kind_of(columns[place].values) for place in self.undecided}
        new = {place: () for place, kind in kinds.items() if kind == _TEXT}
        texts: dict[int, tuple[str, ...]] = dict(sorted((self.texts | new).items()))
        left = frozenset(place for place, kind in kinds.items() if kind == _UNDECIDED)
        return replace(self, texts=texts, undecided=left)


def _coded(known: Seen, columns: list[Column]) -> tuple[Seen, Floats]:
    """Columns as one matrix, with the values seen so far."""
    texts, parts = dict(known.texts), []
    for place, column in enumerate(columns):
        if place in texts:
            codes, texts[place] = _codes(column, texts[place], fixed=known.is_fixed)
            parts.append(codes)
        else:
            parts.append(_numbers(column))
    return replace(known, texts=texts), np.column_stack(parts)


def difference(mine: Categories | None, theirs: Categories | None, names: Sequence[Any]) -> str:
    """Say in which column the values of two models differ; empty where they are the same."""
    here, there = ({} if one is None else one.texts for one in (mine, theirs))
    for place in sorted(here.keys() | there.keys()):
        lists = [_listed(texts.get(place)) for texts in (here, there)]
        if lists[0] != lists[1]:
            return f"column {names[place]!r}: {lists[0]} here, {lists[1]} there"
    return ""


def _listed(values: tuple[str, ...] | None) -> str:
    """Values in words."""
    return "numbers" if values is None else ", ".join(map(repr, values)) or "no value"


def _columns_of(X: Any) -> list[Column]:
    """Columns of a frame of pandas, polars or Arrow, by their places: names may occur twice."""
    names = enumerate(column_names(X) or [])
    if hasattr(X, "iloc"):
        return [Column(name, X.iloc[:, place]) for place, name in names]
    if hasattr(X, "append_column"):
        return [Column(name, X.column(place)) for place, name in names]
    return [Column(name, X[:, place]) for place, name in names]


def _check_names(x: Mapping[Any, Any], names: Sequence[Any]) -> None:
    """Raise where a row given by names has others than those that were learned."""
    for name in names:
        if name not in x:
            message = f"x has no value for the column {name!r}."
            raise DataError(message)
    for name in x:
        if name not in names:
            message = f"x has a value for {name!r}, which is no column the model learned."
            raise DataError(message)


def _kind_of(values: Any) -> str:
    """Tell by the first value what a column holds; categories are text whatever they are."""
    if is_categorical(getattr(values, "dtype", getattr(values, "type", None))):
        return _TEXT
    array = as_array(values)
    if array.dtype.kind == "f":
        return _UNDECIDED if np.isnan(array).all() else _NUMBER
    present = np.flatnonzero(~missing_entries(array))
    if not len(present):
        return _UNDECIDED
    first = array[present[0]]
    return _TEXT if isinstance(first, str) and not is_numeric(first) else _NUMBER


def _numbers(column: Column) -> Any:
    """A column that does not hold text, as numbers."""
    kind = as_array(column.values).dtype.kind
    if kind in "mMc":
        what = "complex numbers" if kind == "c" else "dates or times"
        message = f"Column {column.name!r} of X holds {what}; turn it into numbers first."
        raise DataError(message)
    return column_numbers(*column, remedy=_REMEDY)


def _codes(
    column: Column, known: tuple[str, ...], *, fixed: bool
) -> tuple[Floats, tuple[str, ...]]:
    """Codes of a text column, and the values there are afterwards."""
    objects = _objects(column.values)
    places = {value: code for code, value in enumerate(known)}
    codes = np.full(len(objects), np.nan)
    for row in np.flatnonzero(~missing_entries(objects)):
        text = str(objects[row])
        code = places.get(text)
        if code is None and not fixed:
            code = places[text] = len(places)
        codes[row] = UNSEEN if code is None else code
    return codes, tuple(places)


def _objects(values: Any) -> NDArray[Any]:
    """Values of a text column as objects: whole numbers stay whole beside missing ones."""
    values = values.astype(object) if hasattr(values, "iloc") else values
    return as_array(values).astype(object)


def _counts(codes: Floats, n_values: int) -> NDArray[np.intp]:
    """How many rows have each value."""
    there = codes[~np.isnan(codes)].astype(np.intp)
    return np.bincount(there, minlength=n_values)
