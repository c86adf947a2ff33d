"""Answers between two folds: a moment that has followed the rows that wait.

Questions marked :func:`okspca.pipeline.asking.asked_ahead` are answered from a
:class:`okspca.moments.UpdatedMoment`.  What it has followed so far is kept for the next question,
which finds a few more rows, as a rule.  It is a function of the stored moment and the rows that
wait, so whether it was kept decides nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from okspca.features import FourierMap, SingleFourierMap
from okspca.moments import Moment, UpdatedMoment, WhitenedMoment
from okspca.moments.followed_factor import Features, Followed
from okspca.pipeline.front_end import target_coordinates, units_of
from okspca.pipeline.learning import at_rebuild
from okspca.pipeline.schedule import FIRST_FOLD, last_rebuild
from okspca.pipeline.state import PipelineState
from okspca.pipeline.waiting import StandardizedRows, joined, n_rows
from okspca.services import ExactSnapshot


class Kept(NamedTuple):
    """A moment that has followed rows, and what it belongs to.

    Attributes
    ----------
    stored : Moment
        The moment of the state, which has only some of the rows.
    rebuilt_at, row : int
        Row numbers of the last rebuild, and of the row followed last.
    moment : UpdatedMoment
        The moment with all rows up to that one.
    """

    stored: Moment
    rebuilt_at: int
    row: int
    moment: UpdatedMoment


def may_follow(state: PipelineState) -> bool:
    """Whether the moment of a state can follow rows."""
    moment = state.moment
    return (
        type(moment) is WhitenedMoment
        and moment.is_steady
        and state.rows >= FIRST_FOLD
        and type(state.input_map) in (FourierMap, SingleFourierMap)
        and type(state.service) is ExactSnapshot
    )


def followed(state: PipelineState, kept: Kept | None) -> Kept:
    """Follow all rows of a state that may; ``kept`` goes on, if it belongs to this moment."""
    at = last_rebuild(state.rows, state.moment.forgetting)
    at = max(at, state.rows - n_rows(state.waiting))
    goes_on = kept is not None and (kept.stored, kept.rebuilt_at) == (state.moment, at)
    if kept is None or not goes_on or kept.row > state.rows:
        kept = Kept(state.moment, at, at, _rebuilt(state))
    if kept.row < state.rows:
        _follow(state, kept.moment, _last(state.waiting, state.rows - kept.row))
    return kept._replace(row=state.rows)


def _rebuilt(state: PipelineState) -> UpdatedMoment:
    """Begin at the last rebuild."""
    moment, feature_map = at_rebuild(state)[0].moment, state.input_map
    assert isinstance(moment, WhitenedMoment)
    assert isinstance(feature_map, FourierMap)
    if isinstance(feature_map, SingleFourierMap):
        return UpdatedMoment.at(moment, None)
    # Copies, since kernels want arrays that can be written.
    features = Features(feature_map.weights.copy(), feature_map.phases.copy())
    return UpdatedMoment.at(moment, features)


def _last(waiting: tuple[StandardizedRows, ...], n: int) -> StandardizedRows:
    """The last rows that wait; as a rule they came together."""
    together = len(waiting[-1].weights)
    if together < n:
        waiting, together = (joined(waiting),), n_rows(waiting)
    return waiting[-1].between(together - n, together)


def _follow(state: PipelineState, moment: UpdatedMoment, rows: StandardizedRows) -> None:
    """Let a moment follow rows of a state, one after the other."""
    for i in range(len(rows.weights)):
        row = rows.between(i, i + 1)
        psi, dropped = target_coordinates(state, row, moment)
        inputs: Any = row.inputs
        z = inputs[0] if isinstance(inputs, np.ndarray) else inputs.toarray()[0]
        z = np.ascontiguousarray(z)
        if isinstance(state.input_map, SingleFourierMap):
            z = state.input_map.of_row(z)
        moment.follow(Followed(z, psi, float(row.weights[0]), dropped))


def answering(state: PipelineState, kept: Kept) -> dict[str, Any]:
    """Fields of the state as questions find it."""
    moment = kept.moment
    moment.is_constant, moment.units = state.moment.is_constant, units_of(state)
    return {**state.__dict__, "moment": moment, "waiting": ()}
