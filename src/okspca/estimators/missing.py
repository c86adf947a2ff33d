"""Entries that are marked as missing in a way that turning them into numbers would lose.

NaN stays NaN as a number, and is found there.  A masked entry becomes whatever lies under its mask,
NaT a date before all others, and None and NA raise something that names no place.  So they are
looked for first.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from okspca.errors import DataError

_DATES, _NUMBERS = "mM", "biuf"
#: What to do about a missing value.
REMEDY = "fill or drop missing values first (OKSPCA takes missing='skip' or missing='impute')."
#: What to do about text, and about text in a data frame.
ENCODE = "encode it first."
ENCODE_FRAME = "encode it first (OKSPCA takes categories='one-hot')."
_NAMES = ("NaTType", "NAType")  # the scalars of pandas, which need not be installed


def check_present(values: Any, name: str) -> None:
    """Raise one error naming row and column where an entry is masked, NaT, NA, None or hidden NaN.

    Examples
    --------
    >>> check_present(np.array([["2024-02-29"], ["NaT"]], dtype="datetime64[D]"), "X")
    Traceback (most recent call last):
    okspca.errors.DataError: X contains NaT at row 1, column 0; ...
    """
    if values is None or _needs_no_look(values):
        return
    if issparse(values):
        _check_stored(values, name)
        return
    try:
        array = as_array(values)
        missing = missing_entries(array)
    except (TypeError, ValueError):  # not a table at all: whoever makes numbers of it says so
        return
    if missing.any():
        place = tuple(np.argwhere(missing)[0])
        _refuse(array[place], name, place, column_names(values))


def missing_entries(array: NDArray[Any]) -> NDArray[np.bool_]:
    """Tell which entries are marked as missing; NaN among numbers is not looked for.

    Examples
    --------
    >>> missing_entries(np.ma.array([1.0, 2.0], mask=[False, True])).tolist()
    [False, True]
    """
    missing: NDArray[np.bool_] = np.ma.getmaskarray(array).copy()
    bare = np.asarray(array)
    if bare.dtype.kind in _DATES:
        missing |= np.isnat(bare)
    elif bare.dtype.kind == "O":
        missing |= np.asarray(np.frompyfunc(_is_missing, 1, 1)(bare), dtype=bool)
    return missing


def numbers_with_gaps(X: Any) -> Any:
    """Rows as float64, NaN where an entry is marked as missing in whatever way.

    Sparse rows, and all that is no table, pass as they are: whoever checks them says what is wrong.

    Examples
    --------
    >>> numbers_with_gaps([[1, None], [2, 3]]).tolist()
    [[1.0, nan], [2.0, 3.0]]
    """
    if issparse(X):
        return _with_stored_gaps(X)
    names = column_names(X)
    if names is None or not len(names):
        return _numbers(as_array(X), "X contains", ENCODE)
    columns = [X[name] for name in names] if len(set(names)) == len(names) else X.to_numpy().T
    named = zip(names, columns, strict=True)
    return np.column_stack([column_numbers(name, column) for name, column in named])


def column_numbers(name: Any, column: Any, remedy: str = ENCODE_FRAME) -> Any:
    """One column of a frame as float64, NaN where an entry is missing."""
    return _numbers(as_array(column), f"Column {name!r} of X contains", remedy)


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a data frame; None for anything else."""
    # The columns of Arrow are the columns themselves.
    names = getattr(X, "column_names" if hasattr(X, "append_column") else "columns", None)
    return None if names is None else list(names)


def present_targets(y: Any) -> NDArray[np.bool_]:
    """Tell which rows have a target; of several outputs, all of them.

    Examples
    --------
    >>> present_targets([1.0, None, float("nan")]).tolist()
    [True, False, False]
    """
    array = _targets(y)
    missing = missing_entries(array).reshape(len(array), -1)
    if array.dtype.kind == "f":
        missing |= np.asarray(np.isnan(array).reshape(missing.shape), dtype=np.bool_)
    return np.asarray(~missing.any(axis=1))


def chosen_targets(y: Any, kept: NDArray[np.bool_]) -> Any:
    """Some of the targets; numbers are numbers again where only gaps made objects of them."""
    chosen = _targets(y)[kept]
    chosen = chosen.data if isinstance(chosen, np.ma.MaskedArray) else chosen
    values = chosen.ravel().tolist() if chosen.dtype.kind == "O" else []
    are_numbers = all(isinstance(value, int | float) and value is not True for value in values)
    has_floats = any(isinstance(value, float) for value in values)
    return chosen.astype(np.float64) if are_numbers and has_floats else chosen


def _targets(y: Any) -> NDArray[Any]:
    """Targets as an array; a list of text keeps NaN, which would become text as well."""
    array = as_array(y)
    return np.array(y, dtype=object) if isinstance(y, list) and array.dtype.kind == "U" else array


def _numbers(array: NDArray[Any], what: str, remedy: str) -> Any:
    """Numbers of an array, NaN where an entry is missing."""
    if array.dtype.kind in "fiub" and not isinstance(array, np.ma.MaskedArray):
        return array.astype(np.float64, copy=False)
    missing = missing_entries(array)
    numbers = np.full(array.shape, np.nan)
    present = np.asarray(array)[~missing]
    try:
        numbers[~missing] = present.astype(np.float64)
    except (TypeError, ValueError) as failure:
        message = f"{what} {_first_text(present)!r}, which is not a number; {remedy}"
        raise DataError(message) from failure
    return numbers


def _first_text(values: NDArray[Any]) -> object:
    """The first value that is no number."""
    for value in values.tolist():
        try:
            float(value)
        except (TypeError, ValueError):
            return value
    return values


def _with_stored_gaps(rows: Any) -> Any:
    """Sparse rows with NaN where a mask was put on the values they store."""
    data = getattr(rows, "data", None)
    if not (isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any()):
        return rows
    filled = rows.copy()
    filled.data = np.where(np.ma.getmaskarray(data), np.nan, np.asarray(data, dtype=np.float64))
    return filled


def as_array(values: Any) -> NDArray[Any]:
    """Return values as an array that keeps their masks, also those of rows in a list."""
    is_list = isinstance(values, list | tuple)
    if is_list and any(isinstance(part, np.ma.MaskedArray) for part in values):
        return np.ma.array([np.ma.asanyarray(part) for part in values])
    if is_list:
        # Mixed with numbers, dates would be refused, and missing ones become numbers.
        values = np.array(values)
    return np.asanyarray(values)


def _needs_no_look(values: Any) -> bool:
    """Whether the types alone tell that nothing can be missing but NaN among numbers."""
    if type(values) is np.ndarray:
        return values.dtype.kind not in (*_DATES, "O")
    types = getattr(values, "dtypes", None)  # of a frame
    return types is not None and all(
        getattr(kind, "kind", None) in tuple(_NUMBERS) for kind in np.atleast_1d(types)
    )


def _check_stored(rows: Any, name: str) -> None:
    """Check the values that sparse rows hold; SciPy drops masks, but one can be put there."""
    data = getattr(rows, "data", None)
    if isinstance(data, np.ma.MaskedArray) and np.ma.getmaskarray(data).any():
        at, entry = rows.tocoo(), int(np.argmax(np.ma.getmaskarray(data)))
        _refuse(np.ma.masked, name, (at.row[entry], at.col[entry]))


def _is_missing(value: Any) -> bool:
    """Whether one object stands for a missing value."""
    if value is None or type(value).__name__ in _NAMES:
        return True
    if isinstance(value, np.ma.MaskedArray):
        return bool(np.ma.getmaskarray(value).any())
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float) and value != value


def _refuse(
    value: Any, name: str, place: tuple[int, ...], columns: list[Any] | None = None
) -> None:
    """Raise because of a missing entry."""
    shown = "NaN" if isinstance(value, float) else str(value)
    if isinstance(value, np.ma.MaskedArray) or not _is_missing(value):
        shown = "a masked value"
    at: list[Any] = list(place or (0,))
    if columns is not None and len(at) == 2:
        at[1] = repr(columns[at[1]])
    where = ", ".join(f"{axis} {one}" for axis, one in zip(("row", "column"), at, strict=False))
    message = f"{name} contains {shown} at {where}; {REMEDY}"
    raise DataError(f"{message} Nothing was learned from this block.")
