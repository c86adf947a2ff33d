"""Rows in compressed sparse form (CSR): the few operations that learning needs, none of them dense.

They take dense arrays as well, so that callers need not ask.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse, vstack
from scipy.spatial.distance import pdist

from okspca.numerics.arrays import Floats

#: Squared distances below this share of the squared norms are rounding.
_ROUNDING = 1e-13


def fault(X: Any) -> str | None:
    """Say where the indices or pointers of a sparse matrix lead out of it; None where none does.

    SciPy trusts them: a product or a change of format with wrong ones reads and writes memory that
    is not the matrix's.

    Examples
    --------
    >>> import numpy as np
    >>> fault(csr_array((np.ones(2), np.array([0, 5]), np.array([0, 1, 2])), shape=(2, 3)))
    'row 1 has an entry in column 5, but there are 3 columns'
    """
    if X.format == "coo":
        return _fault_of_places(X)
    return _fault_of_pointers(X) if X.format in ("csr", "csc", "bsr") else None


def _fault_of_places(X: Any) -> str | None:
    """Check the row and column of every entry."""
    if not len(X.row) == len(X.col) == len(X.data):
        return f"{len(X.data)} values have {len(X.row)} rows and {len(X.col)} columns"
    for name, places, most in (("row", X.row, X.shape[0]), ("column", X.col, X.shape[1])):
        k = _first_outside(places, most)
        if k is not None:
            at = f"row {X.row[k]}, column {X.col[k]}"
            return f"entry {k} is at {at}, but there are {most} {name}s"
    return None


def _fault_of_pointers(X: Any) -> str | None:
    """Check where each row (for CSC, column) begins, and the columns (rows) of its entries."""
    tall, wide = X.blocksize if X.format == "bsr" else (1, 1)
    line, other = ("column", "row") if X.format == "csc" else ("row", "column")
    n_lines, n_others = X.shape[::-1] if X.format == "csc" else (X.shape[0] // tall, X.shape[1])
    starts, places = X.indptr, X.indices
    if starts.dtype.kind != "i" or places.dtype.kind != "i":
        return f"its indices are {places.dtype} and {starts.dtype}, not whole numbers"
    if starts.shape != (n_lines + 1,):
        return f"it has {n_lines} {line}s but {len(starts)} pointers, not one more"
    if len(places) != len(X.data):
        return f"it has {len(X.data)} values but {len(places)} {other} indices"
    if starts[0] != 0:
        return f"{line} 0 begins at entry {starts[0]}, not 0"
    ends = starts[1:]
    wrong = np.flatnonzero((ends < starts[:-1]) | (ends > len(places)))
    if wrong.size:
        i = wrong[0]
        return f"{line} {i} is from entry {starts[i]} to {ends[i]} of {len(places)}"
    k = _first_outside(places[: starts[-1]], n_others // wide)
    if k is None:
        return None
    i = int(np.searchsorted(starts, k, side="right")) - 1
    return f"{line} {i} has an entry in {other} {places[k]}, but there are {n_others} {other}s"


def _first_outside(places: Any, most: int) -> int | None:
    """Which index is the first that is negative or not below ``most``."""
    # Two quick passes; the slow one only tells where.
    if not places.size or (places.min() >= 0 and places.max() < most):
        return None
    return int(np.argmax((places < 0) | (places >= most)))


def canonical(X: Any) -> Any:
    """Rows as CSR with sorted columns, each once; rows that are so already are not copied."""
    rows = csr_array(X)
    if len(rows.data) > rows.indptr[-1]:  # room that no row uses
        used = slice(rows.indptr[-1])
        rows = csr_array((rows.data[used], rows.indices[used], rows.indptr), rows.shape)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def largest_entry(X: Any) -> float:
    """Largest absolute value of rows.

    Examples
    --------
    >>> import numpy as np
    >>> largest_entry(csr_array(np.array([[0.0, -3.0]])))
    3.0
    """
    values = X.data if issparse(X) else X
    # Not the largest of np.abs: fresh memory for a wide block takes longer than the arithmetic.
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def divided(X: Any, divisor: Floats) -> Any:
    """Rows whose columns are divided by one number each."""
    if not issparse(X):
        return X / divisor
    rows = csr_array(X)
    return csr_array((rows.data / divisor[rows.indices], rows.indices, rows.indptr), rows.shape)


def stacked(*parts: Any) -> Any:
    """Blocks of rows, one after the other."""
    if any(issparse(part) for part in parts):
        return csr_array(vstack([csr_array(part) for part in parts]))
    return np.concatenate(parts)


def pair_distances(X: Any) -> Floats:
    """Distances of all pairs of rows."""
    if not issparse(X):
        found: Floats = pdist(X)
        return found
    products = (X @ X.T).toarray()
    squares = np.diag(products)
    sums = squares[:, np.newaxis] + squares
    between = sums - 2.0 * products
    upper = np.triu_indices(len(squares), 1)
    exact: Floats = np.where(between > _ROUNDING * sums, between, 0.0)[upper]
    return np.sqrt(exact)
