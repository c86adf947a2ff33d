"""What a pipeline needs of a feature map."""

from abc import ABC, abstractmethod
from typing import ClassVar

from okspca.numerics.arrays import Floats

#: What features may be computed in.
FLOAT64, FLOAT32 = "float64", "float32"


class FeatureMap(ABC):
    """A fixed function of rows.  It holds no state that learning could change.

    Attributes
    ----------
    is_bounded : bool
        Whether no row, however far out, has large features.
    precision : {"float64", "float32"}
        What features are computed in; they are handed on as float64.
    linear : slice or None
        The features that are the columns of the rows themselves, in their order; all others are
        bounded by one.  Such features are summed in data units, so that no row counts more because
        it came before its scale was known.  None where there are none.

    Examples
    --------
    A map of your own:

    >>> import numpy as np
    >>> from okspca import OKSPCA
    >>> class Squares(FeatureMap):
    ...     n_inputs, n_features = 2, 4
    ...     def transform(self, Z):
    ...         return np.column_stack([Z, Z**2])
    ...     def equals(self, other):
    ...         return isinstance(other, Squares)
    >>> X = np.random.RandomState(0).normal(size=(100, 2))
    >>> OKSPCA(1, input_map=Squares(), random_state=0).fit(X, X[:, 0] ** 2).components_.shape
    (1, 4)
    """

    is_bounded: ClassVar[bool] = False
    precision: ClassVar[str] = FLOAT64

    @property
    def linear(self) -> slice | None:
        """The features that are the columns themselves."""
        return None

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
