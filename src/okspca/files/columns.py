"""From columns of a table to numbers: which columns are inputs, and how each becomes numbers.

Numbers and truth values are taken as they are.  Dates and times become days since 1970 where that
was asked for.  Text becomes indicator columns, one for each of the most frequent values among the
first rows; a value without a column of its own has zeros in all of them.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from okspca.errors import DataError
from okspca.files import reading
from okspca.numerics.arrays import Floats
from okspca.state.streams import DATE, NUMBER, ONE_HOT, Encoding, StreamRecord

NUMBERS = (
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_boolean,
    pa.types.is_decimal,
    pa.types.is_null,
)
TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary)
MICROSECONDS_PER_DAY = 86_400_000_000.0
#: Values of text columns are counted in so many rows from the start.
CATEGORY_ROWS = 8192
SHOWN = 12


def chosen_columns(
    names: Sequence[str], target: str, columns: list[str] | None, drop: list[str]
) -> tuple[str, ...]:
    """Choose the input columns; a message names the column and what to do."""
    columns, drop = listed(columns or [], names), listed(drop, names)
    check_present([target, *columns, *drop], names)
    left_out = {target, *drop}
    chosen = [name for name in (columns or names) if name not in left_out]
    if not chosen:
        message = f"No input columns are left beside the target {target!r}; check the delimiter."
        raise DataError(message)
    wanted = set(chosen)
    twice = [name for name, times in Counter(names).items() if times > 1 and name in wanted]
    if twice:
        message = f"There are several columns {twice[0]!r}; give each its own name."
        raise DataError(message)
    return tuple(dict.fromkeys(chosen))


def listed(given: Sequence[str], names: Sequence[str]) -> list[str]:
    """Columns that were named one by one or in lists such as ``a,b``.

    Examples
    --------
    >>> listed(["a,b", "c,d"], ["a", "b", "c,d"])
    ['a', 'b', 'c,d']
    """
    there = set(names)
    parts = [[each] if each in there else each.split(",") for each in given]
    return [name for part in parts for name in part]


def check_present(wanted: Sequence[str], names: Sequence[str]) -> None:
    """Raise where a column is missing, and say which there are."""
    there = set(names)
    name = next((each for each in wanted if each not in there), None)
    if name is None:
        return
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    hint = ""
    if len(names) == 1 and any(sign in names[0] for sign in ";\t|"):
        hint = " The values seem to be separated by another sign: try --delimiter."
    message = f"There is no column {name!r}; the columns are {shown}.{hint}"
    raise DataError(message)


def encodings_of(
    first: pa.Table, columns: Sequence[str], one_hot: int, dates: bool
) -> tuple[Encoding, ...]:
    """Say how each column becomes numbers, from the first rows; empty where all are numbers."""
    found = tuple(_encoding_of(first.column(name), name, one_hot, dates) for name in columns)
    return () if all(encoding.kind == NUMBER for encoding in found) else found


def input_names(columns: Sequence[str], encodings: Sequence[Encoding]) -> list[str]:
    """Names of the model's inputs.

    Examples
    --------
    >>> colour = Encoding("one-hot", ("red", "blue"))
    >>> input_names(["size", "colour"], [Encoding("number"), colour])
    ['size', 'colour=red', 'colour=blue']
    """
    names: list[str] = []
    for name, encoding in zip(columns, encodings or [Encoding(NUMBER)] * len(columns), strict=True):
        is_text = encoding.kind == ONE_HOT
        names += [f"{name}={value}" for value in encoding.categories] if is_text else [name]
    return names


def kinds_of(record: StreamRecord) -> dict[str, str]:
    """What the inputs of a model are read as in another file: numbers, or texts.

    Examples
    --------
    >>> kinds_of(StreamRecord((), "y", ("a",), "raise", encodings=(Encoding("one-hot", ("x",)),)))
    {'a': 'text'}
    """
    encodings = record.encodings or [Encoding(NUMBER)] * len(record.columns)
    words = {NUMBER: reading.NUMBER, ONE_HOT: reading.TEXT}
    known = zip(record.columns, encodings, strict=True)
    return {name: words[each.kind] for name, each in known if each.kind in words}


def inputs_of(table: pa.Table, columns: Sequence[str], encodings: Sequence[Encoding]) -> Floats:
    """Return the inputs of rows as one matrix, NaN where a value is missing."""
    if not encodings and all(table.field(name).type == pa.float64() for name in columns):
        batch = table.select(list(columns)).combine_chunks().to_batches()[0]
        matrix: Floats = batch.to_tensor(null_to_nan=True, row_major=True).to_numpy()
        return matrix
    parts = []
    for name, encoding in zip(columns, encodings or [Encoding(NUMBER)] * len(columns), strict=True):
        try:
            parts.append(_ENCODERS[encoding.kind](table.column(name), encoding))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as failure:
            message = f"Column {name!r} holds {_kind(table.column(name).type)}, not what it held."
            raise DataError(message) from failure
    return np.ascontiguousarray(np.concatenate(parts, axis=1))


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds text."""
    return any(is_kind(kind) for is_kind in TEXTS)


def _encoding_of(column: pa.ChunkedArray, name: str, one_hot: int, dates: bool) -> Encoding:
    """Choose how one column becomes numbers, or say what can be done about it."""
    kind = column.type
    if any(is_kind(kind) for is_kind in NUMBERS):
        return Encoding(NUMBER)
    if pa.types.is_temporal(kind):
        if dates:
            return Encoding(DATE)
        message = f"Column {name!r} holds dates or times; use --dates, or leave it out with --drop."
        raise DataError(message)
    if is_text(kind):
        if one_hot:
            return Encoding(ONE_HOT, _most_frequent(column, one_hot, name))
        message = (
            f"Column {name!r} holds text; make indicator columns of its values with --one-hot 20, "
            f"or leave it out with --drop {name!r}."
        )
        raise DataError(message)
    message = f"Column {name!r} holds {kind}, not numbers; leave it out with --drop {name!r}."
    raise DataError(message)


def _most_frequent(column: pa.ChunkedArray, most: int, name: str) -> tuple[str, ...]:
    """The most frequent values of the first rows, ties in the order of the alphabet."""
    counts = Counter(_texts(column.slice(0, CATEGORY_ROWS)).drop_null().to_pylist())
    if not counts:
        message = f"Column {name!r} has no value in the first rows; leave it out with --drop."
        raise DataError(message)
    ranked = sorted(counts, key=lambda value: (-counts[value], value))
    return tuple(ranked[:most])


def _numbers(column: pa.ChunkedArray, _: Encoding) -> Floats:
    """A column of numbers."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    numbers = column.cast(pa.float64(), safe=False).to_numpy()
    return np.asarray(numbers, dtype=np.float64)[:, np.newaxis]


def _days(column: pa.ChunkedArray, _: Encoding) -> Floats:
    """Days since 1970; a time of day alone is a share of a day."""
    if pa.types.is_time(column.type) or pa.types.is_duration(column.type):
        unit = pa.duration("us") if pa.types.is_duration(column.type) else pa.time64("us")
        counted = column.cast(unit, safe=False)
    else:
        counted = column.cast(pa.timestamp("us", tz=getattr(column.type, "tz", None)), safe=False)
    counts = counted.cast(pa.int64()).cast(pa.float64(), safe=False)
    return np.asarray(counts.to_numpy(), dtype=np.float64)[:, np.newaxis] / MICROSECONDS_PER_DAY


def _indicators(column: pa.ChunkedArray, encoding: Encoding) -> Floats:
    """One column for each category; a missing value is missing in all of them."""
    texts = _texts(column)
    places = pc.index_in(texts, value_set=pa.array(encoding.categories, pa.string()))
    chosen = places.fill_null(-1).to_numpy()
    indicators = (chosen[:, np.newaxis] == np.arange(len(encoding.categories))).astype(np.float64)
    indicators[texts.is_null().to_numpy()] = np.nan
    return indicators


def _texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as text, whatever it was stored as."""
    return column.cast(pa.string())


def _kind(kind: pa.DataType) -> str:
    """The type of a column in a word."""
    return "text" if is_text(kind) else str(kind)


_ENCODERS = {NUMBER: _numbers, DATE: _days, ONE_HOT: _indicators}
