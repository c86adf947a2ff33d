"""Cross-moments: the raw recursion and direct sums over stored features."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]


class RawMoment:
    """Running means and raw moment of Eq. (7), starting from zero."""

    def __init__(self, n_phi: int, n_psi: int) -> None:
        self.t = 0
        self.mu_phi: Array = np.zeros(n_phi)
        self.mu_psi: Array = np.zeros(n_psi)
        self.raw: Array = np.zeros((n_phi, n_psi))

    def update(self, phi: Array, psi: Array) -> None:
        """Take in one pair of feature vectors with step 1/t."""
        self.t += 1
        step = 1.0 / self.t
        self.mu_phi = (1.0 - step) * self.mu_phi + step * phi
        self.mu_psi = (1.0 - step) * self.mu_psi + step * psi
        self.raw = (1.0 - step) * self.raw + step * np.outer(phi, psi)

    def centred(self) -> Array:
        """Centred moment with divisor t, last line of Eq. (7)."""
        return self.raw - np.outer(self.mu_phi, self.mu_psi)

    def bessel(self) -> Array:
        """Centred moment with divisor t - 1; zero until two observations exist."""
        if self.t < 2:
            return np.zeros_like(self.raw)
        return self.t / (self.t - 1.0) * self.centred()

    def copy(self) -> RawMoment:
        """Independent snapshot of the current state."""
        other = RawMoment(self.mu_phi.size, self.mu_psi.size)
        other.t = self.t
        other.mu_phi = self.mu_phi.copy()
        other.mu_psi = self.mu_psi.copy()
        other.raw = self.raw.copy()
        return other


def forgetting_weights(t: int, factor: float) -> Array:
    """Weights ``factor ** (t - i)`` of observations i = 1, ..., t."""
    return np.array([factor ** (t - i) for i in range(1, t + 1)], dtype=np.float64)


def weighted_centred(phis: Sequence[Array], psis: Sequence[Array], weights: Array) -> Array:
    """Weighted form of Eq. (8): weights are normalised to sum to one."""
    w = np.asarray(weights, dtype=np.float64) / math.fsum(weights)
    left = np.array(phis, dtype=np.float64)
    right = np.array(psis, dtype=np.float64)
    left = left - np.array([math.fsum(w * column) for column in left.T])
    right = right - np.array([math.fsum(w * column) for column in right.T])
    result = np.zeros((left.shape[1], right.shape[1]))
    for a in range(left.shape[1]):
        for b in range(right.shape[1]):
            result[a, b] = math.fsum(w * left[:, a] * right[:, b])
    return result


def centred_sum(phis: Sequence[Array], psis: Sequence[Array]) -> Array:
    """Centred moment straight from the stored features, Eq. (8)."""
    return weighted_centred(phis, psis, np.ones(len(phis)))
