"""Standardisers that learn nothing: a fixed mean and scale, or none at all."""

from typing import Self

import numpy as np
from scipy.sparse import issparse

from okspca.errors import MergeError
from okspca.numerics.arrays import Floats
from okspca.numerics.sparse import divided
from okspca.standardize.base import Standardizer
from okspca.standardize.causal import CausalStandardizer


class FrozenStandardizer(Standardizer):
    """A fixed mean and scale, from a pilot sample or a first pass.

    With it the pipeline's features no longer depend on the order of the rows, so merging shards
    gives what one sequential run would have given.

    Parameters
    ----------
    mean, scale : ndarray of shape (n_features,)
        Subtracted, then divided by.

    Examples
    --------
    >>> import numpy as np
    >>> pilot = CausalStandardizer(1)
    >>> _ = pilot.scan(np.array([[1.0], [3.0]]), np.ones(2))
    >>> FrozenStandardizer.of(pilot).transform(np.array([[5.0]])).tolist()
    [[3.0]]
    """

    def __init__(self, mean: Floats, scale: Floats) -> None:
        self.mean = np.array(mean, dtype=np.float64)
        self.divisor = np.array(scale, dtype=np.float64)
        if self.mean.ndim != 1 or self.mean.shape != self.divisor.shape:
            message = (
                f"mean has shape {self.mean.shape} and scale {self.divisor.shape}; "
                "give one number per column for each."
            )
            raise ValueError(message)
        # NaN is not above zero, so it is refused with the rest.
        usable = np.isfinite(self.mean) & np.isfinite(self.divisor) & (self.divisor > 0.0)
        if not usable.all():
            column = int(np.argmin(usable))
            message = (
                f"Column {column} has mean {self.mean[column]:g} and scale "
                f"{self.divisor[column]:g}; the scale must be positive: 1 for a constant column."
            )
            raise ValueError(message)

    @property
    def n_features(self) -> int | None:
        """Number of columns it takes."""
        return int(self.mean.shape[0])

    @classmethod
    def of(cls, pilot: CausalStandardizer) -> Self:
        """Freeze the present state of a causal standardiser."""
        return cls(pilot.mean, pilot.scale())

    def transform(self, X: Floats) -> Floats:
        """Standardise rows with the fixed state; a mean of zero leaves sparse rows sparse."""
        return divided(X if issparse(X) else X - self.mean, self.divisor)

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Same as :meth:`transform`: there is nothing to learn."""
        return self.transform(X)

    def merge(self, other: Self) -> None:
        """Accept only an identical standardiser."""
        same = np.array_equal(self.mean, other.mean)
        if not (same and np.array_equal(self.divisor, other.divisor)):
            message = "The frozen standardisers differ; merge states that share one standardiser."
            raise MergeError(message)


class NoStandardizer(Standardizer):
    """Rows pass unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> NoStandardizer().transform(np.array([[5.0]])).tolist()
    [[5.0]]
    """

    def transform(self, X: Floats) -> Floats:
        """Return the rows as they are."""
        return X

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Return the rows as they are."""
        return X

    def merge(self, other: Self) -> None:
        """Nothing to merge."""
