"""What single precision does to the input features, apart from what a certificate is about.

A certificate compares a basis with the sums that are stored.  With features in single precision
these are sums, in double precision, of features that are slightly other ones: by how much is
computed here, from the sizes of frequencies and rows (:mod:`okspca.numerics.single`).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from okspca.features import FeatureMap, SingleFourierMap
from okspca.features.single import in_double


class FeatureError(NamedTuple):
    """How far input features are from those of double precision.

    All of it is about single features; ``amplitude`` is the largest value that one can have.

    Attributes
    ----------
    precision : {"float64", "float32"}
        What features are computed in.
    amplitude : float
        sqrt(2 / D); zero where all errors are.
    bound : float
        No feature of any row differs by more.
    usual : float
        The same for rows of the usual norm, the root of the number of inputs, and shorter ones.
    of_rows, largest : float or None
        The same for the rows that were given, and the largest difference that was found in them.

    Examples
    --------
    >>> single = SingleFourierMap.sample(3, 8, bandwidth=1.0, seed=0)
    >>> found = feature_error(single, np.random.RandomState(0).normal(size=(5, 3)))
    >>> found.largest <= found.of_rows <= found.bound
    True
    >>> print(feature_error(in_double(single)))
    features in double precision
    """

    precision: str
    amplitude: float = 0.0
    bound: float = 0.0
    usual: float = 0.0
    of_rows: float | None = None
    largest: float | None = None

    def __str__(self) -> str:
        """Say it in a line."""
        if not self.amplitude:
            return "features in double precision"
        rows = ""
        if self.of_rows is not None:
            rows = f"; in these rows {self.largest:.1e}, proven to be below {self.of_rows:.1e}"
        return (
            f"features up to {self.amplitude:.2g} in single precision, off by at most "
            f"{self.bound:.1e}, in rows of usual size by at most {self.usual:.1e}{rows}"
        )


def feature_error(feature_map: FeatureMap, Z: Any = None) -> FeatureError:
    """Bound what single precision does to features; with standardised rows, measure it too.

    The rows may be sparse.
    """
    if not isinstance(feature_map, SingleFourierMap):
        return FeatureError(feature_map.precision)
    amplitude = float(np.sqrt(2.0 / feature_map.n_features))
    bound = feature_map.largest_error
    usual = float(feature_map.error_bounds(np.ones((1, feature_map.n_inputs)))[0])
    if Z is None:
        return FeatureError(feature_map.precision, amplitude, bound, usual)
    rows = Z.toarray() if issparse(Z) else Z
    differences = np.abs(feature_map.transform(rows) - in_double(feature_map).transform(rows))
    of_rows = float(feature_map.error_bounds(rows).max(initial=0.0))
    largest = float(differences.max(initial=0.0))
    return FeatureError(feature_map.precision, amplitude, bound, usual, of_rows, largest)
