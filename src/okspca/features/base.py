"""What a pipeline needs of a feature map."""

from abc import ABC, abstractmethod

from okspca.numerics.arrays import Floats


class FeatureMap(ABC):
    """A fixed function of rows.  It holds no state that learning could change."""

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Number of columns it takes."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns it returns."""

    @abstractmethod
    def transform(self, Z: Floats) -> Floats:
        """Map rows (n x n_inputs) to features (n x n_features)."""

    @abstractmethod
    def equals(self, other: "FeatureMap") -> bool:
        """Tell whether the other map is the same function, by content."""
