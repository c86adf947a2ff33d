r"""The moment of the last rows only: a sliding window made of row-numbered blocks.

The window is cut into 16 blocks by row number.  15 whole blocks and the rows since then make up the
moment in use, so it covers at most the window and at least 15/16 of it (once there were so many
rows).  Rows are added to the moment in use and to the block that is being filled; when a block is
full, the moment is put together anew from the blocks that are left
(:mod:`okspca.numerics.two_stacks`): merges only, never a subtraction, so an outlier that has left
the window has left no trace.
"""

from okspca.moments.arrays import EncodedRows
from okspca.moments.moment import Moment
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import copied
from okspca.numerics.two_stacks import TwoStacks

N_BLOCKS = 16


def rows_per_block(window: int) -> int:
    """Rows of one block of a window.

    Examples
    --------
    >>> rows_per_block(1600), rows_per_block(20)
    (100, 1)
    """
    return max(window // N_BLOCKS, 1)


class MomentWindow:
    """The blocks behind a moment that covers a window.

    Parameters
    ----------
    window : int
        Number of rows, at least 16.
    moment : Moment
        The moment of the window, still empty.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.moments import CrossMoment
    >>> moment, x = CrossMoment(1, 1), np.arange(100.0)[:, np.newaxis]
    >>> window = MomentWindow(16, moment)
    >>> for i in range(100):
    ...     rows = moment.encode(x[i : i + 1], x[i : i + 1], np.ones(1))
    ...     moment.add(rows)
    ...     window.add(rows, moment)
    >>> moment.weight, moment.means()[0].tolist()
    (15.0, [92.0])
    """

    copy_parts = ("newest", "stacks")

    def __init__(self, window: int, moment: Moment) -> None:
        self.window = window
        self.stacks: TwoStacks[Moment] = TwoStacks(N_BLOCKS - 1)
        self.newest = moment.block_like()
        self.filled = 0

    def room(self) -> int:
        """Rows until the block that is being filled is full."""
        return rows_per_block(self.window) - self.filled

    def add(self, rows: EncodedRows, moment: Moment) -> None:
        """Follow rows that the moment has learned, at most as many as there is room for."""
        # A late class or direction widens the moment first; blocks follow.
        self.newest.widen(moment.width)
        self.newest.add(rows)
        self.filled += rows.Phi.shape[0]
        if self.room() == 0:
            self.stacks.push(self.newest)
            self.newest, self.filled = moment.block_like(), 0
            total = self.stacks.total()
            assert total is not None
            moment.adopt(total)

    def expand(self, compression: TargetCompression) -> None:
        """Follow the moment when it gives up its compression."""
        parts = {
            name: tuple(part.transformed(compression.directions[: part.width].T) for part in held)
            for name, held in self.stacks.parts().items()
        }
        self.stacks = copied(self.stacks)
        self.stacks.replace(parts)
        self.newest = self.newest.transformed(compression.directions[: self.newest.width].T)
