"""Standardisation by the last rows only: a sliding window made of row-numbered blocks.

As for moments, 15 of 16 whole blocks and the rows since then count; blocks are merged, never
subtracted (:mod:`okspca.numerics.two_stacks`).
"""

from typing import ClassVar, Self

import numpy as np

from okspca.errors import MergeError
from okspca.numerics.arrays import Floats
from okspca.numerics.two_stacks import TwoStacks
from okspca.standardize.causal import CausalStandardizer
from okspca.standardize.variance import RELATIVE, WEIGHT, VarianceRule

N_BLOCKS = 16


class WindowStandardizer(CausalStandardizer):
    """Mean and variance of the last rows, used before they are updated.

    Parameters
    ----------
    n_features : int
        Number of columns.
    window : int
        Number of rows, at least 16; at most so many count, and at least 15/16 of them.
    rule : VarianceRule
        When to divide by the standard deviation.

    Examples
    --------
    >>> standardizer = WindowStandardizer(1, window=16)
    >>> _ = standardizer.scan(np.arange(100.0)[:, np.newaxis], np.ones(100))
    >>> standardizer.mean.tolist(), standardizer.count
    ([92.0], 15.0)
    """

    copy_parts: ClassVar[tuple[str, ...]] = ("newest", "stacks")

    def __init__(self, n_features: int, window: int, rule: VarianceRule = RELATIVE) -> None:
        super().__init__(n_features, rule)
        self.window = window
        self.stacks: TwoStacks[CausalStandardizer] = TwoStacks(N_BLOCKS - 1)
        self.newest = CausalStandardizer(n_features, rule)

    def scan(self, X: Floats, weights: Floats) -> Floats:
        """Standardise each row with the rows before it, then learn it; old blocks leave."""
        Z, start = np.empty(X.shape), 0
        while start < len(X):
            # Blocks are full at fixed row numbers, however the stream is cut.
            room = max(self.window // N_BLOCKS, 1) - self.newest.rows
            rows = slice(start, start + room)
            Z[rows] = super().scan(X[rows], weights[rows])
            self.newest.scan(X[rows], weights[rows])
            start += room
            if self.newest.rows == max(self.window // N_BLOCKS, 1):
                self._next_block()
        return Z

    def merge(self, other: Self) -> None:
        """Refuse: windows of two streams have no common order."""
        message = "Models with a window cannot be merged; use forgetting=1 without a window."
        raise MergeError(message)

    def _next_block(self) -> None:
        """Let the oldest block leave and begin a new one."""
        self.stacks.push(self.newest)
        self.newest = CausalStandardizer(len(self.mean), self.rule)
        total = self.stacks.total()
        assert total is not None
        self.mean[...], self.variance[...] = total.mean, total.variance
        # The number of rows goes on counting: the first rows of a stream are told by it.
        self.counts[WEIGHT] = total.counts[WEIGHT]
