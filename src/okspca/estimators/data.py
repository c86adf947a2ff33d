"""What comes in from outside is checked here, once, before anything is learned from it."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import check_array, validate_data

from okspca.errors import DataError
from okspca.estimators.missing import (
    ENCODE,
    ENCODE_FRAME,
    REMEDY,
    as_array,
    check_present,
    column_names,
    numbers_with_gaps,
)
from okspca.numerics.arrays import LARGEST_VALUE, Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.scalars import plain
from okspca.numerics.sparse import canonical, fault

REGRESSION, CLASSIFICATION = "regression", "classification"
#: So many different whole numbers may be labels; more are taken for quantities where both can be.
MOST_LABELS = 30
#: What the labels in a plain array are, by the kind of its dtype.
KINDS = {"b": "truth values", "i": "numbers", "u": "numbers", "U": "text"}


class Labels(NamedTuple):
    """Class labels of a block as plain Python values, and what kind they are."""

    values: list[Hashable]
    kind: str


def check_values(array: Any, name: str, columns: Any = None, *, gaps: bool = False) -> None:
    """Raise one error naming row and column where a value is not finite or is above 1e150.

    Columns are called by ``columns``, where they have names; ``gaps`` says that NaN stands for a
    missing value and is none of this function's business.
    """
    if array.size == 0:
        return
    entries = _entries(array)
    checked = np.where(np.isnan(entries), 0.0, entries) if gaps else entries
    found = _first_bad(checked, LARGEST_VALUE)
    if found < 0:
        return
    row, column = divmod(found, entries.shape[1])
    value = float(entries[row, column])
    if issparse(array):
        row, column = _place_of(array, found)
    called = column if columns is None else repr(columns[column])
    _refuse(name, value, f"row {row}" if array.ndim == 1 else f"row {row}, column {called}")


def _entries(array: Any) -> Floats:
    """Values as contiguous rows; those that sparse rows store, as one column."""
    rows = array.data[:, np.newaxis] if issparse(array) else array.reshape(array.shape[0], -1)
    return np.ascontiguousarray(rows)


def _place_of(rows: Any, entry: int) -> tuple[int, int]:
    """Row and column of an entry of sparse rows."""
    row = int(np.searchsorted(rows.indptr, entry, side="right")) - 1
    return row, int(rows.indices[entry])


def sound(X: Any) -> Any:
    """Sparse rows as CSR of float64, each column once, if their indices hold; all else as it is.

    Entries of one row in the same column are added, as SciPy does where it fills them in.

    Raises
    ------
    DataError
        An index or a pointer leads out of the matrix; the message says in which row.
    """
    if not issparse(X) or X.ndim != 2:
        return X
    found = fault(X)
    if found is None:
        rows = X.tocsr()
        # Lists of lists can hold any index, and become CSR unchecked.
        found = None if X.format == "csr" else fault(rows)
    if found is not None:
        message = f"X cannot be read: {found}; build it anew, or see its check_format()."
        raise DataError(message)
    is_real = rows.dtype.kind in "biuf"
    return canonical(rows.astype(np.float64, copy=False)) if is_real else rows


def _refuse(name: str, value: float, place: str) -> None:
    """Raise because of a value."""
    if np.isnan(value):
        problem = f"{name} contains NaN at {place}; {REMEDY}"
    elif np.isinf(value):
        problem = f"{name} contains inf (infinity) at {place}; replace or drop it first."
    else:
        problem = (
            f"{name} contains {value:g} at {place}, beyond the largest magnitude that can be "
            f"squared safely, {LARGEST_VALUE:g}; rescale that column."
        )
    raise DataError(f"{problem} Nothing was learned from this block.")


def validated(model: Any, X: Any, *, reset: bool | None, **checks: Any) -> Any:
    """scikit-learn's checks of X (None: without names), with errors of the documented type."""
    if not checks.get("skip_check_array"):
        check_present(X, "X")
        X = sound(X)
    try:
        if reset is None:
            return check_array(X, dtype=np.float64, estimator=model, accept_sparse="csr", **checks)
        return validate_data(model, X, reset=reset, **checks)
    except ValueError as failure:
        # Where only columns were compared, text in them is no concern.
        is_text = None if checks.get("skip_check_array") else where_not_numbers(X)
        raise DataError(is_text or str(failure)) from failure


def where_not_numbers(X: Any) -> str | None:
    """Say where X holds text that is no number; None where that is not the trouble."""
    array = np.asarray(X)
    if array.ndim != 2 or array.dtype.kind not in "OUS":
        return None
    for (row, column), value in np.ndenumerate(array):
        if isinstance(value, str) and not is_numeric(value):
            names = column_names(X)
            place = f"row {row}, column {column if names is None else repr(names[column])}"
            remedy = ENCODE if names is None else ENCODE_FRAME
            return f"X contains {str(value)!r} at {place}, which is not a number; {remedy}"
    return None


def is_numeric(text: str) -> bool:
    """Whether a text can be read as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def row_of_numbers(x: Any, caller: str, *, gaps: bool) -> Floats:
    """Return the inputs of one observation as numbers, NaN where a value may be missing (gaps)."""
    row: Floats = numbers_with_gaps(x) if gaps else _complete_row(x)
    if row.ndim != 1:
        message = f"{caller} takes a one-dimensional x, not one of shape {row.shape}."
        raise DataError(message)
    return row


def _complete_row(x: Any) -> Floats:
    """Return them as numbers, none of which may be marked as missing."""
    try:
        row = as_array(x)
        if np.iscomplexobj(row):
            message = "complex numbers are not supported"
            raise TypeError(message)
        check_present(row[np.newaxis], "x")
        return np.asarray(row, dtype=np.float64)
    except DataError:
        raise
    except (TypeError, ValueError, OverflowError) as failure:
        message = f"x must hold numbers ({failure})."
        raise DataError(message) from failure


def check_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return one non-negative weight per row."""
    if sample_weight is None:
        return np.ones(n_rows)
    check_present(sample_weight, "sample_weight")
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as failure:
        message = f"sample_weight must hold numbers ({failure})."
        raise DataError(message) from failure
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        message = f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}!"
        raise DataError(message)
    check_values(weights, "sample_weight")
    if weights.min(initial=0.0) < 0.0:
        row = int(np.argmin(weights))
        message = f"sample_weight is {weights[row]:g} at row {row}; weights cannot be negative."
        raise DataError(message)
    return weights


def task_of(y: Any) -> str:
    """Tell the task from the dtype alone: floating point means regression, all else labels."""
    dtype = getattr(y, "dtype", None)
    if is_categorical(dtype):
        return CLASSIFICATION
    array = np.asarray(y)
    if array.dtype.kind in "mMcV":
        message = f"y has dtype {array.dtype}; give numbers, or labels as whole numbers or text."
        raise DataError(message)
    if array.dtype.kind == "O":
        _refuse_hidden_floats(array)
    return REGRESSION if array.dtype.kind == "f" else CLASSIFICATION


def look_like_labels(values: Floats) -> bool:
    """Whether numbers may be labels: few different whole ones, each twice or more on average.

    Examples
    --------
    >>> look_like_labels(np.array([1.0, 2.0, 1.0, 2.0])), look_like_labels(np.array([1.0, 2.0]))
    (True, False)
    """
    if not values.size or (values != np.rint(values)).any():
        return False
    return len(np.unique(values)) <= min(MOST_LABELS, values.size // 2)


def _refuse_hidden_floats(array: NDArray[Any]) -> None:
    """Raise where an array of objects holds floating-point numbers, which may be either kind."""
    for place, value in np.ndenumerate(array):
        if isinstance(value, float):
            what = f"y contains {value!r} at row {place[0]}, and has dtype object"
            message = f"{what}; drop missing values, and use astype(float) for regression."
            raise DataError(message)


def check_numbers(y: Any, n_rows: int) -> Floats:
    """Return a numeric response as an n x d_y matrix."""
    check_present(y, "y")
    try:
        numbers = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as failure:
        message = (
            f"y must be numeric for a regression target ({failure}); "
            "for labels use a model with task='classification'."
        )
        raise DataError(message) from failure
    if numbers.ndim not in (1, 2):
        message = (
            f"y has {numbers.ndim} dimensions; give one value or one row of values per row of X."
        )
        raise DataError(message)
    check_values(numbers, "y")
    _check_length(numbers.shape[0], n_rows)
    if numbers.ndim == 2 and numbers.shape[1] == 0:
        message = "y has no columns; give at least one response per row of X."
        raise DataError(message)
    return np.ascontiguousarray(numbers.reshape(n_rows, -1))


def check_labels(y: Any, n_rows: int, name: str = "y") -> Labels:
    """Return class labels as plain values of one kind: number, text or truth value."""
    check_present(y, name)
    # A plain list of mixed labels would silently become text.
    array = np.array(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        message = f"{name} has shape {array.shape}; class labels must be one value each."
        raise DataError(message)
    _check_length(array.shape[0], n_rows)
    if array.dtype.kind == "f":
        check_values(array, name)
    values = array.tolist()
    if array.dtype.kind in KINDS:
        return Labels(values, KINDS[array.dtype.kind] if values else "numbers")
    if array.dtype.kind == "O":
        values = [plain(value) for value in values]
    kinds = {_kind(value, row, name) for row, value in enumerate(values)}
    if len(kinds) > 1:
        message = f"{name} mixes {' and '.join(sorted(kinds))}; labels must be of one kind."
        raise DataError(message)
    return Labels(values, kinds.pop() if kinds else "numbers")


def _check_length(n_targets: int, n_rows: int) -> None:
    """Raise where X and y differ in length."""
    if n_targets != n_rows:
        message = f"X has {n_rows} rows but y has {n_targets}: inconsistent numbers of samples."
        raise DataError(message)


def is_categorical(dtype: Any) -> bool:
    """Recognise categorical types of pandas, polars and Arrow by name, importing none of them."""
    return str(dtype).lower().startswith(("category", "categorical", "enum", "dictionary"))


def _kind(value: object, row: int, name: str) -> str:
    """Name the kind of one label."""
    if isinstance(value, bool):
        return "truth values"
    if isinstance(value, int | float) and value == value:
        return "numbers"
    if isinstance(value, str):
        return "text"
    message = (
        f"{name} contains {value!r} at row {row}; a label must be a whole number, text or bool."
    )
    raise DataError(message)


@compiled
def _first_bad(rows: NDArray[np.float64], limit: float) -> int:
    """Flat position of the first value not finite or above ``limit``; -1 if there is none."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            if not abs(rows[i, j]) <= limit:
                return i * rows.shape[1] + j
    return -1
