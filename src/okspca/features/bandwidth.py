"""Bandwidth rules for stationary kernels."""

import numpy as np

from okspca.errors import DataError
from okspca.numerics.arrays import Floats
from okspca.numerics.sparse import pair_distances

MEDIAN_ROWS = 512


def sqrt_dimension(n_inputs: int) -> float:
    """Square root of the number of standardised inputs.

    Examples
    --------
    >>> sqrt_dimension(16)
    4.0
    """
    return float(np.sqrt(n_inputs))


def median_distance(Z: Floats) -> float:
    """Median positive pairwise distance of standardised rows, divided by the square root of two.

    At most the first ``MEDIAN_ROWS`` rows are used.

    Examples
    --------
    >>> import numpy as np
    >>> round(median_distance(np.array([[0.0], [0.0], [2.0]])), 6)
    1.414214
    """
    distances = pair_distances(Z[:MEDIAN_ROWS])
    # Rows that repeat tell nothing about a width, and a median of zero is none.
    positive = distances[distances > 0.0]
    if positive.size == 0:
        message = (
            "bandwidth='median' found no two different rows among the first "
            f"{min(Z.shape[0], MEDIAN_ROWS)}; give a number or 'sqrt-dim' instead."
        )
        raise DataError(message)
    return float(np.median(positive) / np.sqrt(2.0))
