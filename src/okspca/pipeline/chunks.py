"""Chunks of rows whose sums other threads find ahead, while one scans rows and adds up.

A chunk is what is learned together also by a single thread.  What a chunk adds to the moment
depends on its rows alone, unless they need something new: a direction of the target, the column of
a late class.
"""

from typing import NamedTuple

from okspca.features import ChebyshevMap, FourierMap, OneHotMap, SingleFourierMap
from okspca.moments.arrays import EncodedRows, MomentArrays
from okspca.moments.block_sums import BlockSums, block_sums
from okspca.moments.recursions import block_summary
from okspca.moments.units import Units
from okspca.numerics.crew import n_threads
from okspca.pipeline.front_end import described
from okspca.pipeline.schedule import CHUNK_ROWS, FOLD_ROWS
from okspca.pipeline.state import PipelineState
from okspca.pipeline.waiting import StandardizedRows

#: Maps that are known to be pure functions, which threads may share.
OF_INPUTS = (FourierMap, SingleFourierMap)
OF_TARGETS = (FourierMap, OneHotMap, ChebyshevMap)
#: Chunks that are scanned ahead, at most, and the numbers that may be kept for them.
AHEAD, MOST_NUMBERS = 16, 2**22


class Chunk(NamedTuple):
    """Rows to be learned together, and what the moment was told once they had been scanned."""

    rows: StandardizedRows
    before: int
    units: Units
    is_constant: bool


class ChunkSums(NamedTuple):
    """What a chunk adds: rows as a whitened moment scores them, and its sums."""

    rows: EncodedRows | None
    sums: BlockSums | MomentArrays


def chunk_rows(state: PipelineState) -> int:
    """Number of rows that are learned together: those that are folded at once, or a chunk."""
    return FOLD_ROWS if state.moment.folds else CHUNK_ROWS


def chunks_at_once(state: PipelineState) -> int:
    """How many chunks may be learned by one call: several where threads can work ahead."""
    moment, input_map = state.moment, state.input_map
    others = state.tracker, state.sub_moments, state.window
    is_served = n_threads() > 1 and others == (None, None, None)
    if not is_served or type(input_map) not in OF_INPUTS:
        return 1
    if type(state.target_map) not in OF_TARGETS:
        return 1
    numbers = max(moment.n_left * moment.width, CHUNK_ROWS * input_map.n_inputs, 1)
    if moment.folds:
        if state.waiting or state.rows == 0 or state.rows % FOLD_ROWS:
            return 1
        numbers += moment.n_left * (moment.n_left + FOLD_ROWS)
    return max(1, min(AHEAD, MOST_NUMBERS // numbers))


def sums_of(state: PipelineState, chunk: Chunk) -> ChunkSums | None:
    """Find what a chunk adds, changing nothing; None where it must be learned in its turn."""
    # A single row changes the sums in another way.
    if len(chunk.rows.weights) == 1:
        return None
    rows, forgetting = described(state, chunk.rows, chunk.before), state.moment.forgetting
    if rows is None:
        return None
    if not state.moment.folds:
        return ChunkSums(None, block_summary(rows, forgetting))
    # The features are in memory that the next chunk uses again.
    return ChunkSums(rows._replace(Phi=rows.Phi.copy()), block_sums(rows, forgetting))
