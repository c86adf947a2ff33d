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


def symmetric_root(S: Floats, ridge: float) -> Floats:
    """Inverse symmetric root of the covariance with a ridge relative to the mean variance."""
    values, vectors = np.linalg.eigh(S)
    shifted = values + ridge * np.trace(S) / len(S)
    return np.asarray((vectors / np.sqrt(shifted)) @ vectors.T)


def whitened(
    Phi: Floats, Psi: Floats, weights: Floats, ridge: float, power: float = 0.0
) -> tuple[Floats, Floats, Any]:
    """Feature weights W = (S + l I)^-1/2 U, singular values, and the whitened matrix."""
    S, C, means = weighted_moments(Phi, Psi, weights)
    root = symmetric_root(S, ridge)
    shown = root @ C / means**power if power else root @ C
    U, sigma, _ = np.linalg.svd(shown, full_matrices=False)
    return root @ U, sigma, shown
