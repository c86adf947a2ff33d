r"""Random Fourier features in single precision.

The frequencies are those of a :class:`~okspca.features.fourier.FourierMap`, in doubles; what is
computed from a row is single precision (:mod:`okspca.numerics.single`), and handed on as doubles:
whatever is summed or solved afterwards is double precision.  A row has the same bits alone and in
any block.

Rows so far out that single precision would not tell their angles (``|w| |z|`` above 1,024) get
features of double precision.  So for *every* row, no feature differs from that of double precision
by more than :attr:`SingleFourierMap.largest_error`.
"""

from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import issparse

from okspca.features.base import FLOAT32, FeatureMap
from okspca.features.cosines import CosineMap
from okspca.features.fourier import FourierMap
from okspca.features.structured import DENSE_AT_ONCE
from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import BoundKernel
from okspca.numerics.cosine import cosine_features
from okspca.numerics.crew import share_out
from okspca.numerics.single import (
    LARGEST_PRODUCT,
    SingleArrays,
    by_input,
    fill_single,
    packed,
    rounding_error,
    single_row,
)
from okspca.numerics.sums import row_squares

#: What a cosine in single precision costs, in multiplications with additions.
COSINE = 4
Map = TypeVar("Map", bound=FeatureMap)
_ROW: BoundKernel[bool] = BoundKernel(single_row)


class SingleFourierMap(FourierMap):
    """Cosine features of fixed frequencies, computed in single precision.

    Parameters
    ----------
    weights : ndarray of shape (n_features, n_inputs)
        Frequencies.
    phases : ndarray of shape (n_features,)
        Offsets in radians.

    Attributes
    ----------
    longest : float
        Norm of the longest frequency.

    Examples
    --------
    >>> Z = np.random.RandomState(0).normal(size=(5, 3))
    >>> double = FourierMap.sample(3, 8, bandwidth=1.0, seed=0)
    >>> single = SingleFourierMap(double.weights, double.phases)
    >>> differences = np.abs(single.transform(Z) - double.transform(Z)).max(axis=1)
    >>> bool((differences <= single.error_bounds(Z)).all()), single.largest_error < 1e-3
    (True, True)
    """

    precision = FLOAT32

    def __init__(self, weights: Floats, phases: Floats) -> None:
        super().__init__(weights, phases)
        # Scaled, so that no square overflows.
        largest = float(np.abs(self.weights).max()) or 1.0
        self.longest = largest * float(np.sqrt(row_squares(self.weights / largest).max()))

    @property
    def reach(self) -> float:
        """Norm of the standardised rows up to which single precision is used."""
        # Frequencies of zero reach any row that can be squared.
        return LARGEST_PRODUCT / max(self.longest, 1e-100)

    @property
    def largest_error(self) -> float:
        """What no feature of any row differs by from that of double precision, at most."""
        return float(self._amplitude * rounding_error(self.n_inputs, LARGEST_PRODUCT))

    def error_bounds(self, Z: Floats) -> Floats:
        """For each row, what its features differ by from those of double precision, at most."""
        norms = np.sqrt(row_squares(np.array(Z, dtype=np.float64, order="C")))
        bounds = self._amplitude * rounding_error(self.n_inputs, self.longest * norms)
        found: Floats = np.where(norms <= self.reach, bounds, 0.0)
        return found

    def fill(self, Z: Any, features: Floats) -> Floats:
        """Map rows, dense or sparse, to cosine features, in an array of the caller's."""
        if issparse(Z):
            size = max(DENSE_AT_ONCE // self.n_inputs, 1)
            for start in range(0, Z.shape[0], size):
                rows = slice(start, start + size)
                self._fill(Z[rows].toarray(), features[rows])
            return features
        # One kind of array for the kernel: in C order, and writable.
        Z = np.require(Z, np.float64, ["C", "W"])

        def work(start: int, stop: int) -> None:
            self._fill(Z[start:stop], features[start:stop])

        share_out(work, len(features), features.size * (self.n_inputs / 2.0 + COSINE))
        return features

    def of_row(self, z: Floats) -> Floats:
        """The features of one row, with the bits that it has in a block."""
        features = np.empty(self.n_features)
        if not _ROW.code(z, self.by_input, self.reach, features):
            return self.transform(z[np.newaxis])[0]
        return features

    @cached_property
    def by_input(self) -> SingleArrays:
        """Frequencies and phases as single rows need them."""
        return by_input(self.weights, self.phases)

    def _fill(self, Z: Floats, features: Floats) -> None:
        """Map some rows: in single precision those within reach, in double those that are not."""
        fill_single(Z, self._packed, self._amplitude, features)
        far = np.flatnonzero(~(row_squares(Z) <= self.reach * self.reach))
        if far.size:
            some = self.project(Z[far])
            cosine_features(some, self.phases, self._amplitude)
            features[far] = some

    @cached_property
    def _packed(self) -> SingleArrays:
        """Frequencies and phases as blocks of rows need them."""
        return packed(self.weights, self.phases)

    def __getstate__(self) -> dict[str, Any]:
        """Leave what can be computed again out of copies and files."""
        left_out = "_packed", "by_input"
        return {name: one for name, one in super().__getstate__().items() if name not in left_out}


def in_double(feature_map: CosineMap) -> CosineMap:
    """The same map computed in double precision."""
    if isinstance(feature_map, SingleFourierMap):
        return FourierMap(feature_map.weights, feature_map.phases)
    return feature_map


def in_precision(feature_map: Map, precision: str) -> Map | SingleFourierMap:
    """The same map computed in single precision, where that is asked for and it is a FourierMap.

    Examples
    --------
    >>> in_precision(FourierMap.sample(3, 8, bandwidth=1.0), "float32").precision
    'float32'
    """
    known: FeatureMap = feature_map
    if precision == FLOAT32 and type(known) is FourierMap:
        return SingleFourierMap(known.weights, known.phases)
    return feature_map
