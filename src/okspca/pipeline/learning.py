"""Learning rows in a state: standardise, accumulate, follow.

For each row, in this order: the input and target are standardised with the rows *before* it, mapped
to features, added to the moment; the service follows; the standardisers learn the row last.
"""

import numpy as np

from okspca.moments.arrays import Change
from okspca.moments.target_compression import TargetCompression
from okspca.numerics.arrays import Floats, frozen
from okspca.pipeline.answers import delivered_columns, delivered_directions
from okspca.pipeline.front_end import (
    check_features,
    encoded,
    note_constancy,
    note_units,
    standardized,
)
from okspca.pipeline.schedule import (
    CHUNK_ROWS,
    next_anchor,
    next_fold,
    next_multiple,
    next_turn,
)
from okspca.pipeline.state import PipelineState
from okspca.pipeline.waiting import StandardizedRows, joined, n_rows


def learn(state: PipelineState, X: Floats, Y: Floats, weights: Floats) -> None:
    """Learn rows among which nothing is due except, possibly, after the last."""
    rows, n = standardized(state, X, Y, weights), X.shape[0]
    if state.rows == 0 and not state.moment.labels:
        state.constant_target = Y[0].copy()
    if state.constant_target is not None and (state.constant_target != Y).any():
        state.constant_target = None
    note_constancy(state)
    change = None
    if state.moment.folds:
        _let_wait(state, rows)
    else:
        note_units(state)
        change = _accumulate(state, rows)
        state.rows += n
    follow(state, change)


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
    """Return the state with all its rows in the moment; where rows are waiting, a copy."""
    if not state.waiting:
        return state
    twin = state.twin()
    fold(twin)
    return twin


def next_due(state: PipelineState) -> int:
    """Return the next observation after which something other than learning happens."""
    t, room = state.rows, CHUNK_ROWS
    if state.window is not None:
        room = state.window.room() - n_rows(state.waiting)
    due = t + room
    if _turns(state):
        due = min(due, next_turn(t))
    if state.moment.folds:
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
