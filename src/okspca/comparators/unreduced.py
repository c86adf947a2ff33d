"""No reduction at all: the standardised inputs or their random features, as a control."""

from typing import NamedTuple

import numpy as np
from numpy.random import RandomState

from okspca.comparators.causal_reducer import CausalReducer, Projection
from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats


class NoArrays(NamedTuple):
    """Nothing to keep beside the standardiser."""


class Unreduced(CausalReducer):
    """Causally standardised inputs (Raw-X), or all their random Fourier features (RFF-X).

    The paper's controls: what a predictor gets that is given everything.

    Parameters
    ----------
    n_random_features : int, optional
        Number of random Fourier features; by default the inputs themselves are returned.
    bandwidth : "sqrt-dim" or float, default="sqrt-dim"
        Bandwidth of the kernel, where features are drawn.
    standardize : {"causal", None}, default="causal"
        Standardise inputs by the rows before, or take them as they are.
    variance_floor : {"relative", "paper"} or float, default="relative"
        When a column is too constant to be scaled.
    input_map : FeatureMap, optional
        A ready-made map.
    random_state : int, RandomState or None, default=None
        Seed of the map.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.comparators import Unreduced
    >>> X = np.random.RandomState(0).normal(size=(100, 3))
    >>> Unreduced(n_random_features=16, random_state=0).fit(X).transform(X).shape
    (100, 16)
    """

    def __init__(
        self,
        *,
        n_random_features: int | None = None,
        bandwidth: str | float = "sqrt-dim",
        standardize: str | None = "causal",
        variance_floor: str | float = "relative",
        input_map: FeatureMap | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_random_features = n_random_features
        self.bandwidth = bandwidth
        self.standardize = standardize
        self.variance_floor = variance_floor
        self.input_map = input_map
        self.random_state = random_state

    def start(self, n_features: int) -> NoArrays:
        """Make the state for rows of so many features."""
        return NoArrays()

    def scan(self, state: NoArrays, Phi: Floats, y: Floats) -> None:
        """Learn rows in order, changing the arrays of the state in place."""

    def projection(self, state: NoArrays) -> Projection:
        """Return what embeds features with the present state."""
        return np.array

    def width(self, n_features: int) -> int:
        """Number of columns of an embedding."""
        return n_features
