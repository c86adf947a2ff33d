r"""Where the linear features of one side are measured from.

Features that are the inputs (or the response) themselves are summed in data units, as deviations
from the first row: differences of numbers far from zero then keep their digits.  What they are
divided by is known when the moment is asked for (:mod:`okspca.moments.units`).
"""

from typing import NamedTuple, Self

import numpy as np

from okspca.features.base import FeatureMap
from okspca.numerics.arrays import Floats


class Origin(NamedTuple):
    """The point that linear features are measured from.

    Attributes
    ----------
    point : ndarray of shape (n_inputs,)
        The first row; zeros before there was one.
    is_known : bool
        Whether there was a first row.

    Examples
    --------
    >>> Origin.unknown(2).after(np.array([[3.0, 4.0], [5.0, 6.0]])).point.tolist()
    [3.0, 4.0]
    """

    point: Floats
    is_known: bool

    @classmethod
    def unknown(cls, n_inputs: int) -> Self:
        """Make the origin of a stream that has not begun."""
        return cls(np.zeros(n_inputs), False)

    def after(self, rows: Floats) -> Self:
        """Return the origin once these rows have come."""
        return self if self.is_known else type(self)(rows[0].copy(), True)

    def shift_to(self, other: Self, feature_map: FeatureMap) -> Floats:
        """What must be added to features measured from here to measure them from there."""
        shift = np.zeros(feature_map.n_features)
        shift[feature_map.linear] = self.point - other.point
        return shift
