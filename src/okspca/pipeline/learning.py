"""Learning rows in a state: standardise, accumulate, follow.

For each row, in this order: the input and target are standardised with the rows *before* it, mapped
to features, added to the moment; the service follows; the standardisers learn the row last.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from okspca.moments import WhitenedMoment
from okspca.moments.arrays import Change, MomentArrays
from okspca.moments.block_sums import BlockSums
from okspca.moments.recursions import add_summary
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats, frozen
from okspca.numerics.crew import work_ahead
from okspca.pipeline.answers import delivered_columns, delivered_directions
from okspca.pipeline.chunks import Chunk, ChunkSums, chunk_rows, sums_of
from okspca.pipeline.front_end import (
    check_features,
    encoded,
    note_constancy,
    note_units,
    standardized,
)
from okspca.pipeline.schedule import (
    last_rebuild,
    next_anchor,
    next_fold,
    next_multiple,
    next_turn,
)
from okspca.pipeline.state import PipelineState
from okspca.pipeline.waiting import StandardizedRows, joined, n_rows


def learn(state: PipelineState, X: Floats, Y: Floats, weights: Floats) -> None:
    """Learn rows among which nothing is due except, possibly, after the last."""
    if X.shape[0] > chunk_rows(state):
        _learn_chunks(state, X, Y, weights)
        return
    rows, n = standardized(state, X, Y, weights), X.shape[0]
    _note_targets(state, Y, is_first=state.rows == 0)
    change = None
    if state.moment.folds:
        _let_wait(state, rows)
    else:
        note_units(state)
        change = _accumulate(state, rows)
        state.rows += n
    follow(state, change)


def _learn_chunks(state: PipelineState, X: Floats, Y: Floats, weights: Floats) -> None:
    """Learn chunks whose sums others find while this thread scans the next and adds them up."""
    before, size, moment = state.rows, chunk_rows(state), state.moment
    # What is no whole chunk may have to wait.
    n = len(Y) // size * size if moment.folds else len(Y)
    chunks: list[Chunk] = []

    def scanned() -> Iterator[Chunk]:
        for start in range(0, n, size):
            some = slice(start, min(start + size, n))
            rows = standardized(state, X[some], Y[some], weights[some])
            _note_targets(state, Y[some], is_first=before + start == 0)
            note_units(state)
            chunks.append(Chunk(rows, before + start, moment.units, moment.is_constant))
            yield chunks[-1]

    def added(found: ChunkSums | None) -> bool:
        if found is not None:
            _add_sums(state, chunks[(state.rows - before) // size], found)
        return found is not None

    taken, change = work_ahead(partial(sums_of, state), scanned(), added), None
    for chunk in chunks[taken:]:
        moment.units, moment.is_constant = chunk.units, chunk.is_constant
        change = _accumulate(state, chunk.rows)
        state.rows += len(chunk.rows.weights)
    follow(state, change)
    if n < len(Y):
        learn(state, X[n:], Y[n:], weights[n:])


def _add_sums(state: PipelineState, chunk: Chunk, found: ChunkSums) -> None:
    """Learn a chunk whose sums are known."""
    moment = state.moment
    moment.units, moment.is_constant = chunk.units, chunk.is_constant
    if isinstance(moment, WhitenedMoment) and isinstance(found.sums, BlockSums):
        assert found.rows is not None
        moment.add(found.rows, found.sums)
    elif isinstance(found.sums, MomentArrays):
        add_summary(moment.arrays, found.sums, moment.forgetting)
    state.rows += len(chunk.rows.weights)


def _note_targets(state: PipelineState, Y: Floats, *, is_first: bool) -> None:
    """Keep in mind whether all responses so far were alike, and whether there is a target."""
    if is_first and not state.moment.labels:
        state.constant_target = Y[0].copy()
    if state.constant_target is not None and (state.constant_target != Y).any():
        state.constant_target = None
    note_constancy(state)


def follow(state: PipelineState, change: Change | None) -> bool:
    """Do what is due after the observation that was learned last.

    Returns whether the coordinates of the moment were turned.
    """
    t, moment = state.rows, state.moment
    turns = _turns(state) and t == next_turn(t - 1)
    if turns:
        rotation = moment.concentrate()
        if rotation is not None and state.sub_moments is not None:
            state.sub_moments.turn(rotation)
    period = period_of(state)
    if period is not None and t % period == 0:
        state.service.observe(state.service_state, moment, change, t)
    if state.align and t == next_anchor(t - 1, lacks_directions=_lacks_directions(state)):
        # Classes that come later in the same call are known already, but must not widen the anchor.
        columns = delivered_directions if state.follows_classes else delivered_columns
        state.anchor = frozen(columns(settled(state)))
    return turns


def fold(state: PipelineState) -> None:
    """Put the waiting rows into the moment."""
    if state.waiting:
        rows, state.waiting = joined(state.waiting), ()
        note_units(state)
        _accumulate(state, rows)


def settled(state: PipelineState) -> PipelineState:
    """Return the state with all its rows in the moment; where rows are waiting, a copy.

    Rows after the last rebuild decide nothing (a ridge, what calibrates posteriors).
    """
    if not state.waiting:
        return state
    twin, rest = at_rebuild(state)
    moment = twin.moment
    if rest is not None:
        twin.waiting = (rest,)
        if isinstance(moment, WhitenedMoment):
            moment.go_ahead(len(rest.weights))
        fold(twin)
    return twin


def at_rebuild(state: PipelineState) -> tuple[PipelineState, StandardizedRows | None]:
    """Return a copy with the waiting rows up to the last rebuild in its moment, and the others."""
    twin, n = state.twin(), n_rows(state.waiting)
    rest = 0
    if isinstance(state.moment, WhitenedMoment) and state.moment.is_steady:
        rest = min(state.rows - last_rebuild(state.rows, state.moment.forgetting), n)
    if rest == 0:
        fold(twin)
        return twin, None
    rows = joined(twin.waiting)
    twin.waiting = (rows.between(0, n - rest),) if rest < n else ()
    fold(twin)
    return twin, rows.between(n - rest, n)


def next_due(state: PipelineState, n_chunks: int = 1) -> int:
    """Return the next observation after which something other than learning happens.

    With several chunks, that rows are folded after each does not count.
    """
    t, room = state.rows, chunk_rows(state) * n_chunks
    if state.window is not None:
        room = min(room, state.window.room() - n_rows(state.waiting))
    due = t + room
    if _turns(state):
        due = min(due, next_turn(t))
    if state.moment.folds and n_chunks == 1:
        due = min(due, next_fold(t))
    period = period_of(state)
    if period is not None:
        due = min(due, next_multiple(t, period))
    if state.align:
        due = min(due, next_anchor(t, lacks_directions=_lacks_directions(state)))
    return due


def period_of(state: PipelineState) -> int | None:
    """How often the service wants to be shown the moment; None for never."""
    return state.service.period(state.service_state, state.moment.width)


def _let_wait(state: PipelineState, rows: StandardizedRows) -> None:
    """Let rows wait, and fold all that wait once the row number says so."""
    check_features(state, rows)
    due = next_due(state)
    state.rows += len(rows.weights)
    is_due = state.rows == due
    state.waiting = (*state.waiting, rows if is_due else rows.owned())
    if is_due:
        fold(state)


def _accumulate(state: PipelineState, standardized_rows: StandardizedRows) -> Change | None:
    """Add rows to the moment; return the change that a single one made to it."""
    moment, clock, compression = state.moment, state.moment.rows, state.moment.compression
    rows, change = encoded(state, standardized_rows), None
    if state.tracker is not None:
        state.tracker.scan(state.service_state, moment, rows, state.rows)
    elif rows.Phi.shape[0] == 1:
        change = moment.add_one(rows)
    else:
        moment.add(rows)
    if compression is not None and moment.compression is None:
        _expand(state, compression)
    if state.sub_moments is not None:
        state.sub_moments.add(rows, clock)
    if state.window is not None:
        state.window.add(rows, moment)
    return change


def _expand(state: PipelineState, compression: TargetCompression) -> None:
    """Follow the moment, which has given up its compression, with what is kept beside it."""
    if state.sub_moments is not None:
        state.sub_moments.expand(compression)
    if state.window is not None:
        state.window.expand(compression)


def _turns(state: PipelineState) -> bool:
    """Whether compressed coordinates are turned at times; blocks of a window cannot follow."""
    return state.moment.compression is not None and state.window is None and not state.moment.folds


def _lacks_directions(state: PipelineState) -> bool:
    """Whether the target may have directions by now that the anchor has not."""
    if state.anchor is None:
        return False
    most = state.moment.width - 1 if state.moment.labels else state.n_components
    return int(np.count_nonzero(state.anchor.any(axis=0))) < min(state.n_components, most)
