r"""Which group of a stream a row joins.

Rows are dealt in rounds of G, one to each group, so that all groups are equally full.  In which
order a round is dealt is drawn anew for every round: dealt always in the same order, a stream with
a period would give each group a phase of its own, and the spread between groups would tell of the
phases instead of the sampling error.

The order of round r sorts the groups by the words ``w_{rG}, ..., w_{rG+G-1}`` of the counter-based
generator SplitMix64 with a stored seed.  It needs the row number only, so it is the same however
the stream is cut.  Without a seed rows are dealt in turn, as states of earlier versions do.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from okspca.numerics.arrays import Integers

#: A hash of the row number does not fall in step with a stream, so all models may share it; then
#: models of parts of a stream can be merged even where they forget.
SEED = 20_240_229
_ROUNDS = 64
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


class Dealing(NamedTuple):
    """The rule by which rows join groups.

    Attributes
    ----------
    n_groups : int
        Number of groups G.
    seed : int or None
        Seed of the orders; None deals in turn.

    Examples
    --------
    >>> Dealing(4, None).groups(3, 6).tolist()
    [3, 0, 1, 2, 3, 0]
    >>> sorted(Dealing(4, 1).groups(8, 4).tolist())
    [0, 1, 2, 3]
    """

    n_groups: int
    seed: int | None = SEED

    def group(self, row: int) -> int:
        """Group of one row, counted from zero."""
        page, place = divmod(row, _ROUNDS * self.n_groups)
        return int(_page(self, page)[place])

    def groups(self, start: int, n: int) -> Integers:
        """Groups of ``n`` rows from row ``start`` on."""
        length = _ROUNDS * self.n_groups
        first, last = start // length, (start + n - 1) // length
        pages = [_page(self, number) for number in range(first, last + 1)]
        skipped = start - first * length
        return np.concatenate(pages)[skipped : skipped + n]

    def order(self, clock: int) -> Integers:
        """Groups in the order of the round that row ``clock`` belongs to."""
        return self.groups(clock - clock % self.n_groups, self.n_groups)

    def last_rows(self, clock: int) -> Integers:
        """Last row of each group, of ``clock`` rows; negative for one that has none."""
        G = self.n_groups
        begin = clock - clock % G
        last = np.empty(G, dtype=np.int64)
        last[self.order(max(begin - G, 0))] = np.arange(begin - G, begin)
        last[self.order(clock)[: clock - begin]] = np.arange(begin, clock)
        return last


@lru_cache(maxsize=8)
def _page(dealing: Dealing, number: int) -> Integers:
    """Groups of the rows of some whole rounds, read-only."""
    G, seed = dealing
    rows = np.arange(number * _ROUNDS * G, (number + 1) * _ROUNDS * G, dtype=np.int64)
    groups = rows % G
    if seed is not None:
        words = _words(rows.astype(np.uint64), seed).reshape(_ROUNDS, G)
        groups = np.argsort(words, axis=1, kind="stable").ravel()
    groups.flags.writeable = False
    return groups


def _words(counters: NDArray[np.uint64], seed: int) -> NDArray[np.uint64]:
    """Words of SplitMix64 at these places; whole numbers wrap around at 2^64."""
    z = np.uint64(seed) + (counters + np.uint64(1)) * np.uint64(_STEP)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(_FIRST)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(_SECOND)
    return z ^ (z >> np.uint64(31))
