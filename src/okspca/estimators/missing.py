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
        _refuse(array[place], name, place)


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


def _refuse(value: Any, name: str, place: tuple[int, ...]) -> None:
    """Raise because of a missing entry."""
    shown = "NaN" if isinstance(value, float) else str(value)
    if isinstance(value, np.ma.MaskedArray) or not _is_missing(value):
        shown = "a masked value"
    axes = zip(("row", "column"), place or (0,), strict=False)
    where = ", ".join(f"{axis} {at}" for axis, at in axes)
    message = f"{name} contains {shown} at {where}; fill or drop missing values first."
    raise DataError(f"{message} Nothing was learned from this block.")
