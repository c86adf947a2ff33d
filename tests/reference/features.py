"""Finite feature maps of inputs and targets."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


def fourier(z: Array, weights: Array, phases: Array) -> Array:
    """Random Fourier features of one row, Eq. (6)."""
    n_features = weights.shape[0]
    result = np.zeros(n_features)
    for j in range(n_features):
        result[j] = np.sqrt(2.0 / n_features) * np.cos(np.dot(weights[j], z) + phases[j])
    return result


def one_hot(index: int, n_classes: int) -> Array:
    """Return the unit vector of a class index counted from zero (Algorithm 1, part A)."""
    if not 0 <= index < n_classes:
        raise ValueError(f"class index {index} is outside 0..{n_classes - 1}")
    result = np.zeros(n_classes)
    result[index] = 1.0
    return result
