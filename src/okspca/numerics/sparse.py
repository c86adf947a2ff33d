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


def canonical(X: Any) -> Any:
    """Rows as CSR with sorted columns, each once; rows that are so already are not copied."""
    rows = csr_array(X)
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
    return float(np.abs(values).max(initial=0.0))


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
