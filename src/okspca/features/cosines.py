"""What maps of random cosines have in common, however their frequencies are held."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse

from okspca.features.base import FeatureMap
from okspca.numerics.arrays import LARGEST_VALUE, Floats, frozen
from okspca.numerics.cosine import cosine_features
from okspca.numerics.crew import share_out

#: What a cosine costs, in multiplications with additions.
COSINE = 16


class CosineMap(FeatureMap):
    """Features sqrt(2 / D) cos(W z + b); derived classes say how products with W are made.

    Parameters
    ----------
    phases : ndarray of shape (n_features,)
        Offsets b in radians.

    Examples
    --------
    >>> from okspca.features import FourierMap
    >>> phi = FourierMap(np.ones((2, 3)), np.zeros(2))
    >>> phi.project(np.ones((1, 3))).tolist(), phi.backproject(np.ones((1, 2))).tolist()
    ([[3.0, 3.0]], [[2.0, 2.0, 2.0]])
    """

    is_bounded = True

    def __init__(self, phases: Floats) -> None:
        self.phases = frozen(np.ravel(phases))
        check_numbers("phases", self.phases)
        self._amplitude = float(np.sqrt(2.0 / self.phases.size))

    @property
    def n_features(self) -> int:
        """Number of columns it returns."""
        return int(self.phases.size)

    def transform(self, Z: Floats) -> Floats:
        """Map rows to cosine features."""
        return self.fill(Z, np.empty((Z.shape[0], self.n_features)))

    def fill(self, Z: Any, features: Floats) -> Floats:
        """Map rows, dense or sparse, to cosine features, in an array of the caller's."""
        if issparse(Z):
            self.project(Z, features)
            cosine_features(features, self.phases, self._amplitude)
            return features

        def work(start: int, stop: int) -> None:
            some = features[start:stop]
            self.project(Z[start:stop], some)
            cosine_features(some, self.phases, self._amplitude)

        share_out(work, len(features), features.size * (self.n_inputs + COSINE))
        return features

    @abstractmethod
    def project(self, Z: Any, out: Floats | None = None) -> Floats:
        """``Z W^T`` of rows, dense or sparse."""

    @abstractmethod
    def backproject(self, V: Floats) -> Floats:
        """``V W`` of rows with one number per feature."""

    @abstractmethod
    def frequencies(self, some: slice) -> Floats:
        """Some of the rows of W."""

    @abstractmethod
    def rescaled(self, scales: Floats) -> Self:
        """Return the map of inputs that are multiplied first: by numbers, or by a matrix."""


def check_numbers(name: str, array: Floats) -> None:
    """Raise where a part of a map has a number that no row could be multiplied by."""
    if not np.abs(array).max(initial=0.0) <= LARGEST_VALUE:  # NaN fails this, too
        message = (
            f"The {name} of a map must be numbers up to {LARGEST_VALUE:g}; give a larger bandwidth."
        )
        raise ValueError(message)
