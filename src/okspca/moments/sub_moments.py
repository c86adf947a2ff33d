r"""Moments of disjoint parts of one stream, kept beside the moment of all of it.

Rows are dealt to G groups in rounds (:mod:`okspca.moments.dealing`), so the groups see the same
stream at the same time.  Each is an ordinary :class:`CrossMoment` over the stored target
coordinates of the main moment: a row changes one group, memory is G moments whatever the length of
the stream, and pooling all groups gives the main moment back.

Forgetting: a group is kept as it was after its own last row.  It fades by ``forgetting`` to the
power of the rows between when its next row comes, or when it is read.

Merging: groups are alike, so what counts is their place in the round that is being dealt.  Where
nothing is forgotten the other stream counts as the continuation of this one: its groups are put to
the places that come next, and all groups stay equally full.  Moments that forget meet at equal
clocks, where equal places are equally old.
"""

import numpy as np

from okspca.moments.arrays import ROWS, WEIGHT, EncodedRows, GroupArrays
from okspca.moments.cross_moment import CrossMoment
from okspca.moments.dealing import SEED, Dealing
from okspca.moments.moment import Moment
from okspca.moments.recursions import add_single
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats, copied


class SubMoments:
    """G disjoint moments, equally full.

    Parameters
    ----------
    n_groups : int
        Number of groups G.
    moment : Moment
        The moment of all rows, still empty; dimensions and forgetting are taken from it.
    seed : int or None
        Seed of the order in which rows are dealt; None deals in turn.

    Examples
    --------
    >>> import numpy as np
    >>> main, x = CrossMoment(1, 1), np.arange(8.0)[:, np.newaxis]
    >>> groups = SubMoments(4, main, seed=None)
    >>> groups.add(main.encode(x, 3.0 * x, np.ones(8)), clock=0)
    >>> groups.arrays(clock=8).left_means.ravel().tolist()
    [2.0, 3.0, 4.0, 5.0]
    """

    def __init__(self, n_groups: int, moment: Moment, seed: int | None = SEED) -> None:
        self.forgetting = moment.forgetting
        self.seed = seed
        width, n_left = moment.arrays.sums.shape
        self.groups: list[Moment] = [CrossMoment(n_left, width) for _ in range(n_groups)]

    def __len__(self) -> int:
        """Number of groups."""
        return len(self.groups)

    @property
    def rows(self) -> int:
        """Number of rows in all groups."""
        return sum(group.rows for group in self.groups)

    @property
    def dealing(self) -> Dealing:
        """The rule by which rows join groups."""
        return Dealing(len(self), self.seed)

    def add(self, rows: EncodedRows, clock: int) -> None:
        """Learn rows in the main moment's coordinates; ``clock`` rows came before them.

        The groups that get rows are replaced, not changed: whoever kept the old list has the old
        state, without having copied all groups for a single row.
        """
        groups, n = self.groups.copy(), rows.Phi.shape[0]
        numbers, last = self.dealing.groups(clock, n), self.dealing.last_rows(clock)
        for j in np.unique(numbers):
            own = np.flatnonzero(numbers == j)
            groups[j] = copied(groups[j])
            self._fade(groups[j], int(clock + own[-1] - last[j]))
            weights = rows.weights[own] * self.forgetting ** (own[-1] - own).astype(np.float64)
            groups[j].update(rows.Phi[own], rows.coordinates[own], weights)
        self.groups = groups

    def prepare(self, width: int) -> None:
        """Give every group arrays of its own, ``width`` coordinates wide, for :meth:`add_one`."""
        self.groups = [copied(group) for group in self.groups]
        for group in self.groups:
            group.widen(width)

    def add_one(self, rows: EncodedRows, clock: int) -> None:
        """Learn one row in place; the groups were prepared for its width."""
        number = self.dealing.group(clock)
        if self.forgetting < 1.0:
            self._fade(self.groups[number], clock - int(self.dealing.last_rows(clock)[number]))
        add_single(self.groups[number].arrays, rows, 1.0)

    def expand(self, compression: TargetCompression) -> None:
        """Follow the main moment when it gives up its compression."""
        self.groups = [
            group.transformed(compression.directions[: group.width].T) for group in self.groups
        ]

    def turn(self, rotation: Floats) -> None:
        """Follow the main moment when its coordinates are turned."""
        self.groups = [group.transformed(rotation[:, : group.width]) for group in self.groups]

    def merge(self, others: list[Moment], dealing: Dealing, clocks: tuple[int, int]) -> None:
        """Merge groups that are in the same coordinates.

        ``dealing`` is the rule of the others; ``clocks`` tells how many rows were learned here and
        there.  An empty state takes over the others' rule.
        """
        mine, theirs = clocks
        if mine == 0:
            self.seed = dealing.seed
        forgets = self.forgetting < 1.0
        shift = 0 if forgets else mine % len(self)
        after = max(mine, theirs) if forgets else mine + theirs
        here, there = self.dealing.order(mine), dealing.order(theirs)
        label = self.dealing.order(after)
        groups = [copied(self.groups[j]) for j in here]
        for place, j in enumerate(there):
            _pool(groups[(place + shift) % len(self)], others[j], keep_clock=forgets and mine > 0)
        self.groups = [groups[place] for place in np.argsort(label)]

    def arrays(self, clock: int) -> GroupArrays:
        """Snapshot of all groups after ``clock`` rows, padded to one width and equally faded."""
        width = max(group.width for group in self.groups)
        ages = clock - 1 - self.dealing.last_rows(clock)
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

    def _fade(self, group: Moment, n_rows: int) -> None:
        """Let a group fade as it does while so many rows are learned."""
        if self.forgetting < 1.0:
            # Means do not fade, only what they weigh.
            factor = self.forgetting**n_rows
            group.arrays.sums[...] *= factor
            group.arrays.totals[WEIGHT] *= factor


def _pool(group: Moment, other: Moment, *, keep_clock: bool) -> None:
    """Merge another group into one; at equal clocks, which stay."""
    rows = group.rows
    group.merge(other)
    if keep_clock:
        group.arrays.totals[ROWS] = rows
