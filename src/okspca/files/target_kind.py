"""Labels or quantities?  A table does not say, so its first rows decide, and the command tells.

Text and truth values are labels.  Numbers are quantities, unless the first rows hold few different
whole ones (:func:`okspca.estimators.data.look_like_labels`).  The decision is made once, before the
first row is learned, and stands in the model; a run that is resumed keeps it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from okspca.errors import DataError
from okspca.estimators.data import CLASSIFICATION, REGRESSION, look_like_labels


class Decision(NamedTuple):
    """What a target was taken for, and the sentence that says so."""

    task: str
    told: str


def decided(column: pa.ChunkedArray, name: str) -> Decision | None:
    """Take a target for labels or quantities by its first rows; None where it can be neither.

    Examples
    --------
    >>> decided(pa.chunked_array([[1.5, 2.0]]), "price").task
    'regression'
    >>> print(decided(pa.chunked_array([[3, 1, 3, 1]]), "speed").told)
    Target column 'speed': 2 labels (classification), since the first 4 rows hold so few ...
    """
    kind = column.type
    rows = f"the first {len(column):,} row{'s' * (len(column) != 1)}"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        values = np.asarray(column.drop_null().cast(pa.float64(), safe=False).to_numpy())
        values = values[~np.isnan(values)]
        if look_like_labels(values):
            why = f"{len(np.unique(values))} labels (classification), since {rows} hold so few"
            told = f"{why} whole numbers; use --task regression if they are quantities"
            return Decision(CLASSIFICATION, f"Target column {name!r}: {told}.")
        told = f"a number (regression), by {rows}; use --task classification if these are labels"
        return Decision(REGRESSION, f"Target column {name!r}: {told}.")
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_boolean(kind):
        found = len(column.drop_null().unique())
        told = f"{found} label{'s' * (found != 1)} (classification) in {rows}"
        return Decision(CLASSIFICATION, f"Target column {name!r}: {told}.")
    return None


def check_whole(y: NDArray[Any], name: str, place: Callable[[int], str]) -> None:
    """Raise where labels that were whole numbers are followed by others."""
    if y.dtype.kind != "f":
        return
    broken = np.flatnonzero(np.isfinite(y) & (y != np.rint(y)))
    if len(broken):
        where = f"{place(int(broken[0]))}, column {name!r}: {y[broken[0]]:g} is not a whole number"
        message = (
            f"{where}, but the target was taken for labels, since its first rows held few "
            "whole numbers; use --task regression, or --task classification if it is a label."
        )
        raise DataError(message)
