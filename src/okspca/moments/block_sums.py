"""What a block adds to the sums of a whitened moment, found without the moment."""

from typing import NamedTuple

from okspca.moments.arrays import EncodedRows, MomentArrays
from okspca.moments.input_covariance import Squares, squares_of
from okspca.moments.recursions import block_summary, faded_weights


class BlockSums(NamedTuple):
    """The moment of a block, and the squares of its input features."""

    moment: MomentArrays
    squares: Squares


def block_sums(rows: EncodedRows, forgetting: float) -> BlockSums:
    """Sum a block by itself; see :func:`squares_of` for what its length must be."""
    squares = squares_of(rows.Phi, faded_weights(rows, forgetting))
    return BlockSums(block_summary(rows, forgetting), squares)
