"""Labels as indicator vectors, with classes that may appear at any time."""

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from okspca.features.base import FeatureMap
from okspca.numerics.arrays import Floats


class OneHotMap(FeatureMap):
    """Unweighted indicator vectors of class labels.

    Columns follow the order in which the classes became known.  A class that was never seen has had
    a zero in every earlier row, so adding its column later is exact.

    Parameters
    ----------
    classes : sequence of hashable, optional
        Classes known from the start, in column order.

    Examples
    --------
    >>> labels = OneHotMap(["a", "b"]).with_classes(["a", "c"])
    >>> labels.transform(labels.index(["c", "a"])).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """

    is_bounded = True

    def __init__(self, classes: Sequence[Hashable] = ()) -> None:
        self._columns: dict[Hashable, int] = {}
        for label in classes:
            self._columns.setdefault(label, len(self._columns))

    @property
    def classes(self) -> list[Hashable]:
        """The classes in column order."""
        return list(self._columns)

    @property
    def n_inputs(self) -> int:
        """One column of class indices."""
        return 1

    @property
    def n_features(self) -> int:
        """Number of classes known."""
        return len(self._columns)

    def with_classes(self, labels: Sequence[Hashable]) -> "OneHotMap":
        """Return a map in which every label has a column, new ones in order of appearance.

        This one stays as it is: whoever reads it while others learn keeps the columns he knows.
        """
        # The same object: whoever compares maps by identity sees that nothing changed.
        once = dict.fromkeys(labels)
        if all(label in self._columns for label in once):
            return self
        return OneHotMap([*self._columns, *once])

    def column_of(self, label: Hashable) -> int | None:
        """Return the column of a label, or None where it was never learned."""
        return self._columns.get(label)

    def index(self, labels: Sequence[Hashable]) -> Floats:
        """Return the column number of each known label."""
        columns: NDArray[np.float64] = np.array(list(map(self._columns.__getitem__, labels)), float)
        return columns.reshape(-1, 1)

    def transform(self, Z: Floats) -> Floats:
        """Turn column numbers (n x 1) into indicator rows."""
        indicators = np.zeros((Z.shape[0], self.n_features))
        indicators[np.arange(Z.shape[0]), Z[:, 0].astype(np.intp)] = 1.0
        return indicators

    def equals(self, other: FeatureMap) -> bool:
        """Tell whether the other map knows the same classes in the same columns."""
        return isinstance(other, OneHotMap) and self.classes == other.classes
