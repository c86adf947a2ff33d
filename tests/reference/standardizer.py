"""Causal standardiser recomputed from every stored row (supplement S1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
ScaleRule: TypeAlias = Callable[[Array, Array], NDArray[np.bool_]]


class ReferenceStandardizer:
    """Centre and scale a row by statistics of the rows learned before it.

    All learned rows are kept, so mean and variance are two-pass averages and share nothing
    with a running update.

    Parameters
    ----------
    clamp : float
        Smallest variance used as a squared divisor.
    threshold : float
        A coordinate is divided only when its clamped variance is strictly above this.
    scale_rule : callable, optional
        Replaces the threshold: receives the mean and the variance before clamping and returns
        which coordinates are divided. The clamp still applies; pass ``clamp=0.0`` to drop it.
    """

    def __init__(
        self,
        clamp: float = 1e-8,
        threshold: float = 1e-7,
        scale_rule: ScaleRule | None = None,
    ) -> None:
        self.clamp = clamp
        self.threshold = threshold
        self.scale_rule = scale_rule
        self.rows: list[Array] = []

    @property
    def count(self) -> int:
        """Number of learned rows."""
        return len(self.rows)

    def mean(self) -> Array:
        """Average of the learned rows."""
        return np.asarray(np.mean(np.stack(self.rows), axis=0), dtype=np.float64)

    def variance(self) -> Array:
        """Average squared deviation of the learned rows (divisor: the count), unclamped."""
        deviations = np.stack(self.rows) - self.mean()
        return np.asarray(np.mean(deviations**2, axis=0), dtype=np.float64)

    def transform(self, row: Array) -> Array:
        """Standardise one row with the current state; the state is left alone."""
        if self.count == 0:
            return np.array(row, dtype=np.float64)
        mean = self.mean()
        result = np.array(row, dtype=np.float64) - mean
        if self.count == 1:
            return result
        variance = self.variance()
        clamped = np.maximum(variance, self.clamp)
        if self.scale_rule is None:
            divide = clamped > self.threshold
        else:
            divide = self.scale_rule(mean, variance)
        for j in range(result.size):
            if divide[j]:
                result[j] = result[j] / np.sqrt(clamped[j])
        return result

    def learn(self, row: Array) -> None:
        """Add one raw row to the state."""
        self.rows.append(np.array(row, dtype=np.float64))
