"""The identity map: linear supervised reduction, and the population study."""

from okspca.features.base import FeatureMap
from okspca.numerics.arrays import Floats


class IdentityMap(FeatureMap):
    """Features equal to the rows themselves.

    Parameters
    ----------
    n_inputs : int
        Number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> IdentityMap(2).transform(np.array([[1.0, 2.0]])).tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, n_inputs: int) -> None:
        self._n_inputs = n_inputs

    @property
    def n_inputs(self) -> int:
        """Number of columns it takes."""
        return self._n_inputs

    @property
    def n_features(self) -> int:
        """Number of columns it returns."""
        return self._n_inputs

    @property
    def linear(self) -> slice | None:
        """All of them."""
        return slice(None)

    def transform(self, Z: Floats) -> Floats:
        """Return the rows as they are."""
        return Z

    def equals(self, other: FeatureMap) -> bool:
        """Tell whether the other map is an identity of the same width."""
        return isinstance(other, IdentityMap) and other.n_inputs == self.n_inputs
