"""Missing values filled in by the means of the rows before, in plain loops."""

import numpy as np
from numpy.typing import NDArray


def filled(
    X: NDArray[np.float64], weights: NDArray[np.float64], forgetting: float = 1.0
) -> NDArray[np.float64]:
    """Each missing value becomes the mean of the earlier values of its column; at first, zero."""
    complete = X.copy()
    for j in range(X.shape[1]):
        total = weight = 0.0
        for i in range(X.shape[0]):
            if np.isnan(X[i, j]):
                complete[i, j] = total / weight if weight else 0.0
            else:
                total = forgetting * total + weights[i] * X[i, j]
                weight = forgetting * weight + weights[i]
    return complete
