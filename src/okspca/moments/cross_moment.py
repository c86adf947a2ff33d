"""The centred cross-moment, shown to services as it is: the objective "covariance"."""

from typing import ClassVar, Self

from okspca.errors import MergeError
from okspca.moments.arrays import Change, EncodedRows, GroupArrays
from okspca.moments.moment import Moment
from okspca.moments.recursions import add_block, add_single, turned
from okspca.moments.scaled_moment import ScaledMoment, groups_in_units
from okspca.numerics.arrays import Floats, Integers, unit_scaled
from okspca.numerics.leading import target_directions


class CrossMoment(Moment):
    """Weighted centred cross-moment: update by row or block, merge, forget.

    Parameters
    ----------
    n_left, n_right : int
        Number of input and target features.
    forgetting : float
        Factor applied to everything seen, once per row; 1 forgets nothing.
    labels : bool
        Target features are class indicators (columns may be added later).
    compression : TargetCompression, optional
        Store the moment in the compressed coordinates of the target.

    Examples
    --------
    >>> import numpy as np
    >>> moment = CrossMoment(1, 1)
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> moment.update(x, 3.0 * x, np.ones(3))
    >>> moment.matrix().tolist(), moment.bessel().tolist()
    ([[2.0]], [[3.0]])
    """

    folds: ClassVar[bool] = False

    @property
    def is_shown_as_stored(self) -> bool:
        """Whether the target is the stored sums, over their weight."""
        return self.units.are_plain

    def scaled(self) -> ScaledMoment:
        """Snapshot of C̄ for services."""
        return self._plain_scaled()

    def feature_weights(self, vectors: Floats) -> Floats:
        """Turn directions that services found into weights of the features: here, the same."""
        return vectors

    def in_target_coordinates(self, groups: GroupArrays) -> GroupArrays:
        """Show sub-moments in the units in which services see this moment."""
        return groups_in_units(groups, self.units)

    def add(self, rows: EncodedRows) -> None:
        """Learn a block of rows that :meth:`encode` has described."""
        if rows.Phi.shape[0] == 1:
            # A single row costs less this way, and is the same to the last bit as in a scan.
            add_single(self.arrays, rows, self.forgetting)
        else:
            add_block(self.arrays, rows, self.forgetting)

    def add_one(self, rows: EncodedRows) -> Change:
        """Learn the one row that :meth:`encode` has described; return how ``sums`` changed."""
        return add_single(self.arrays, rows, self.forgetting)

    def merge(self, other: Self) -> None:
        """Merge another moment over the same feature maps into this one."""
        if not isinstance(other, CrossMoment):
            message = "The models differ in their objective."
            raise MergeError(message)
        self._merge_sums(other)

    def with_columns(self, columns: Integers, n_right: int) -> Self:
        """Return a copy whose target coordinate ``j`` is column ``columns[j]`` of ``n_right``."""
        moved = type(self)(self.n_left, n_right, forgetting=self.forgetting, labels=self.labels)
        moved.fill_columns(self.arrays, columns)
        return moved

    def transformed(self, basis: Floats) -> Self:
        """Return a plain copy whose target coordinates are ``basis`` times the stored ones."""
        made = type(self)(self.n_left, basis.shape[0], forgetting=self.forgetting)
        made.fill(turned(self.arrays, basis))
        return made

    def concentrate(self) -> Floats | None:
        """Turn compressed target coordinates to the directions of the moment, strongest first."""
        compression = self.compression
        if compression is None or not 0 < self.width == compression.rank:
            return None
        rotation = target_directions(unit_scaled(self.arrays.sums)[0])
        self.fill(turned(self.arrays, rotation))
        compression.turn(rotation)
        return rotation

    def block_like(self) -> Self:
        """Make an empty moment for some of the rows of this one, in its stored coordinates."""
        return type(self)(self.n_left, self.width)

    def adopt(self, other: Self) -> None:
        """Take over what another moment in these stored coordinates holds; the clock goes on."""
        self._adopt_sums(other.arrays)

    def drop_coordinates(self) -> None:
        """Nothing beside the sums refers to compressed coordinates."""
