"""The whitened objective, dense, from the equations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def weighted_moments(Phi: Floats, Psi: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Input covariance, cross-covariance and target means, with the total weight as divisor."""
    share = weights / weights.sum()
    left, right = Phi - share @ Phi, Psi - share @ Psi
    return (left * share[:, None]).T @ left, (left * share[:, None]).T @ right, share @ Psi


def ridge_added(S: Floats, ridge: float, weight: float) -> float:
    """What a ridge adds to the variances: in the sums, so many of the nearest fourth root of two.

    ``weight`` is that of all rows together.
    """
    sums = weight * np.trace(S) / len(S)
    grid = 2.0 ** (np.arange(-4000, 4001) / 4.0)
    return float(ridge * grid[np.argmin(np.abs(np.log(grid) - np.log(sums)))] / weight)


def symmetric_root(S: Floats, ridge: float, weight: float) -> Floats:
    """Inverse symmetric root of the covariance with a ridge relative to the mean variance."""
    values, vectors = np.linalg.eigh(S)
    shifted = values + ridge_added(S, ridge, weight)
    return np.asarray((vectors / np.sqrt(shifted)) @ vectors.T)


def whitened(
    Phi: Floats, Psi: Floats, weights: Floats, ridge: float, power: float = 0.0
) -> tuple[Floats, Floats, Any]:
    """Feature weights W = (S + l I)^-1/2 U, singular values, and the whitened matrix."""
    S, C, means = weighted_moments(Phi, Psi, weights)
    root = symmetric_root(S, ridge, float(weights.sum()))
    shown = root @ C / means**power if power else root @ C
    U, sigma, _ = np.linalg.svd(shown, full_matrices=False)
    return root @ U, sigma, shown
