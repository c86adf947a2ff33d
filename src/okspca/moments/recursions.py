r"""How centred sums change: by a row, by a block, by another moment, by a turn of the target.

A row is a rank-one change, a block a matrix product, a merge is Chan's formula
(:mod:`okspca.numerics.running`).  All of them change the arrays in place.
"""

import numpy as np

from okspca.moments.arrays import (
    LEFT_SQUARE,
    ROWS,
    WEIGHT,
    Change,
    EncodedRows,
    MomentArrays,
    add_encoded,
    summary,
)
from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import product
from okspca.numerics.running import pooled_mean
from okspca.numerics.scratch import scratch


def add_single(arrays: MomentArrays, rows: EncodedRows, forgetting: float) -> Change:
    """Learn one row; return how ``sums`` changed."""
    left, right = np.empty(rows.Phi.shape[1]), np.empty(arrays.right_mean.shape[0])
    scale = add_encoded(arrays, rows, 0, forgetting, left, right)
    return Change(left, right, scale)


def add_block(arrays: MomentArrays, rows: EncodedRows, forgetting: float) -> None:
    """Learn several rows at once."""
    add_summary(arrays, block_summary(rows, forgetting), forgetting)


def add_summary(arrays: MomentArrays, block: MomentArrays, forgetting: float) -> None:
    """Learn the rows of a :func:`block_summary`."""
    n = int(block.totals[ROWS])
    pool(arrays, block, forgetting**n, n)


def block_summary(rows: EncodedRows, forgetting: float) -> MomentArrays:
    """Moment of several rows by themselves, as it is after the last of them."""
    faded = faded_weights(rows, forgetting)
    weight = float(faded.sum())
    work = scratch("left deviations", rows.Phi.shape), np.empty(rows.coordinates.shape)
    return summary(rows, faded / weight, weight, work)


def faded_weights(rows: EncodedRows, forgetting: float) -> Floats:
    """What the rows of a block count after its last."""
    n = rows.Phi.shape[0]
    return np.asarray(rows.weights * forgetting ** np.arange(n - 1.0, -1.0, -1.0))


def pool(mine: MomentArrays, theirs: MomentArrays, fade: float = 1.0, n_rows: int = 0) -> None:
    """Chan's formula, after ``mine`` has faded; the clock goes on by ``n_rows``."""
    my_weight, their_weight = fade * float(mine.totals[WEIGHT]), float(theirs.totals[WEIGHT])
    total = my_weight + their_weight
    if total <= 0.0:  # two empty moments
        return
    share = their_weight / total
    left = theirs.left_mean - mine.left_mean
    right = theirs.right_mean - mine.right_mean
    # Sums before means: they need how far the old means lie apart.
    mine.sums[...] = fade * mine.sums + theirs.sums + np.outer(my_weight * share * right, left)
    mine.left_mean[...] = pooled_mean(mine.left_mean, theirs.left_mean, share)
    mine.right_mean[...] = pooled_mean(mine.right_mean, theirs.right_mean, share)
    squares = slice(LEFT_SQUARE, None)
    mine.totals[squares] = pooled_mean(mine.totals[squares], theirs.totals[squares], share)
    mine.totals[WEIGHT] = total
    mine.totals[ROWS] += n_rows


def turned(arrays: MomentArrays, basis: Floats) -> MomentArrays:
    """The same moment over target coordinates that are ``basis`` times the stored ones."""
    return arrays._replace(
        sums=product(basis, arrays.sums), right_mean=product(basis, arrays.right_mean)
    )
