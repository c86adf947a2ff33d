r"""Moments of disjoint parts of one stream, kept beside the moment of all of it.

Row i (counted from zero) belongs to group ``i mod G``, so the groups see the same stream at the
same time.  Each is an ordinary :class:`CrossMoment` over the stored target coordinates of the main
moment: a row changes one group, memory is G moments whatever the length of the stream, and pooling
all groups gives the main moment back.

Forgetting: the rows of a group are G apart, so a group fades by ``forgetting^G`` per row of its own
and, when it is read, by ``forgetting^age`` for the rows that came since its last one.

Merging: where nothing is forgotten the other stream counts as the continuation of this one, so its
groups are turned by the number of rows already here and all groups stay equally full.  Moments that
forget meet at equal clocks, where equal groups are equally old.
"""

import numpy as np

from okspca.moments.arrays import EncodedRows, GroupArrays
from okspca.moments.cross_moment import CrossMoment
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats, copied


class SubMoments:
    """G disjoint moments, filled in turn.

    Parameters
    ----------
    n_groups : int
        Number of groups G.
    moment : CrossMoment
        The moment of all rows, still empty; dimensions and forgetting are taken from it.

    Examples
    --------
    >>> import numpy as np
    >>> main, x = CrossMoment(1, 1), np.arange(8.0)[:, np.newaxis]
    >>> groups = SubMoments(4, main)
    >>> groups.add(main.encode(x, 3.0 * x, np.ones(8)), clock=0)
    >>> groups.arrays(clock=8).left_means.ravel().tolist()
    [2.0, 3.0, 4.0, 5.0]
    """

    def __init__(self, n_groups: int, moment: CrossMoment) -> None:
        self.forgetting = moment.forgetting
        width, n_left = moment.arrays.sums.shape
        fade = moment.forgetting**n_groups
        self.groups = [CrossMoment(n_left, width, forgetting=fade) for _ in range(n_groups)]

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @property
    def rows(self) -> int:
        """Number of rows in all groups."""
        return sum(group.rows for group in self.groups)

    def add(self, rows: EncodedRows, clock: int) -> None:
        """Learn rows in the main moment's coordinates; ``clock`` rows came before them.

        The groups that get rows are replaced, not changed: whoever kept the old list has the old
        state, without having copied all groups for a single row.
        """
        groups = self.groups.copy()
        for j in range(len(self)):
            own = slice((j - clock) % len(self), None, len(self))
            Phi = np.ascontiguousarray(rows.Phi[own])
            if Phi.shape[0]:
                groups[j] = copied(groups[j])
                coordinates = np.ascontiguousarray(rows.coordinates[own])
                groups[j].update(Phi, coordinates, np.ascontiguousarray(rows.weights[own]))
        self.groups = groups

    def prepare(self, width: int) -> None:
        """Give every group arrays of its own, ``width`` coordinates wide, for :meth:`add_one`."""
        self.groups = [copied(group) for group in self.groups]
        for group in self.groups:
            group.widen(width)

    def add_one(self, rows: EncodedRows, clock: int) -> None:
        """Learn one row in place; the groups were prepared for its width."""
        self.groups[clock % len(self)].add_one(rows)

    def expand(self, compression: TargetCompression) -> None:
        """Follow the main moment when it gives up its compression."""
        self.groups = [
            group.transformed(compression.directions[: group.width].T) for group in self.groups
        ]

    def turn(self, rotation: Floats) -> None:
        """Follow the main moment when its coordinates are turned."""
        self.groups = [group.transformed(rotation[:, : group.width]) for group in self.groups]

    def merge(self, others: list[CrossMoment], clock: int) -> None:
        """Pool groups that are in the same coordinates; ``clock`` rows were here before."""
        turn = clock if self.forgetting == 1.0 else 0
        self.groups = [copied(group) for group in self.groups]
        for j, other in enumerate(others):
            self.groups[(turn + j) % len(self)].merge(other)

    def arrays(self, clock: int) -> GroupArrays:
        """Snapshot of all groups after ``clock`` rows, padded to one width and equally faded."""
        width = max(group.width for group in self.groups)
        ages = (clock - 1 - np.arange(len(self))) % len(self)
        fades: Floats = np.power(self.forgetting, ages, dtype=np.float64)
        parts = [group.arrays for group in self.groups]
        sums = [np.pad(part.sums, ((0, width - len(part.sums)), (0, 0))) for part in parts]
        right = [np.pad(part.right_mean, (0, width - len(part.right_mean))) for part in parts]
        return GroupArrays(
            np.array([float(group.rows) for group in self.groups]),
            fades * np.array([group.weight for group in self.groups]),
            fades[:, np.newaxis, np.newaxis] * np.array(sums),
            np.array([part.left_mean for part in parts]),
            np.array(right),
        )
