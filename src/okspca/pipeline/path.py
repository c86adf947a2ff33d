r"""The path of one observation: standardise, map, accumulate, serve.

A block is transport only: it is cut at the observations where something is due (a cache, a warm
block, an alignment anchor), so where a block ends decides nothing.  A single row takes a faster way
to the same sums where it can (:mod:`okspca.pipeline.fast_row`).

A moment from whose sums something is decided (a ridge) gets its rows together at fixed row numbers
(:mod:`okspca.pipeline.waiting`): then all answers are the same to the last bit however the stream
was cut.
"""

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, cast

from okspca.features import FeatureMap
from okspca.numerics.arrays import Floats
from okspca.pipeline.ahead import Kept, answering, followed, may_follow
from okspca.pipeline.asking import NOTHING, Answers, AskedState, is_asked_ahead
from okspca.pipeline.chunks import chunks_at_once
from okspca.pipeline.front_end import widened
from okspca.pipeline.learning import learn, next_due, settled
from okspca.pipeline.snapshot import Answer, Readable
from okspca.pipeline.state import PipelineState

if TYPE_CHECKING:
    from okspca.pipeline.fast_row import FastRow, RowInputs, RowTarget
    from okspca.pipeline.waiting_row import WaitingRow

# Imported with the first single row.
_FAST_ROW, _WAITING_ROW = "okspca.pipeline.fast_row", "okspca.pipeline.waiting_row"


class Pipeline(Readable[PipelineState]):
    """Causal front end, moment and service, advanced together by one thread and read by any.

    Parameters
    ----------
    state : PipelineState
        The state to go on from.

    Examples
    --------
    >>> import numpy as np
    >>> from okspca.features import IdentityMap
    >>> from okspca.moments import CrossMoment
    >>> from okspca.pipeline.answers import request
    >>> from okspca.services import Exact
    >>> from okspca.standardize import NoStandardizer
    >>> side = NoStandardizer(), IdentityMap(1)
    >>> state = PipelineState.start(side, side, CrossMoment(1, 1), Exact(), n_components=1)
    >>> pipeline = Pipeline(state)
    >>> pipeline.run(np.array([[0.0], [1.0]]), np.array([[1.0], [3.0]]), np.ones(2))
    >>> pipeline.read(request).singular_values.tolist()
    [0.5]
    """

    _fast_row: "FastRow | WaitingRow | None" = None
    #: A state with waiting rows and its version, and what became of it when they were folded.
    _folded: tuple[PipelineState, int, PipelineState] | None = None
    _answers: Answers = NOTHING
    #: A moment that has followed waiting rows, for whoever takes it first.
    _spare: Kept | None = None

    def run(
        self,
        X: Floats,
        Y: Floats,
        weights: Floats,
        *,
        target_map: FeatureMap | None = None,
        **companions: Any,
    ) -> None:
        """Learn rows in order (n x d inputs, n x d_y targets or column numbers of classes).

        ``target_map`` (one with more classes) and ``companions`` replace the present ones in the
        same change, so that whoever reads meets all of it or nothing.

        All or nothing: whatever interrupts it (an error in a map or a factorisation, Ctrl-C), the
        state is what it was before the first row.
        """
        before, n = self.state, X.shape[0]
        only_wait = before.moment.folds and before.rows + n < next_due(before)
        state = before.to_learn(only_wait=only_wait)
        state.target_map = state.target_map if target_map is None else target_map
        state.companions = {**state.companions, **companions}
        start = 0
        while start < n:
            due = next_due(state, chunks_at_once(state))
            stop = start + min(n - start, due - state.rows)
            learn(state, X[start:stop], Y[start:stop], weights[start:stop])
            start = stop
        self._replace(state)

    def learn_row(self, x: "RowInputs", target: "RowTarget", **companions: Any) -> bool:
        """Learn one row by one compiled call (``target``: the response, or the column of a class).

        ``companions`` are as for :meth:`run`.  False where that must take the row; nothing was
        learned then.
        """
        fast_row = self._fast_row or self._open_fast_row()
        if fast_row is None:
            return False
        self.version += 1
        try:
            return fast_row.learn(x, target, companions)
        except BaseException:
            self._fast_row = None  # its table may be out of date
            fast_row.count_row()
            raise
        finally:
            self.version += 1

    def read(self, question: Callable[[PipelineState], Answer]) -> Answer:
        """Answer a question about the settled state between two changes; at best, remember it."""
        state, version, found = self._answers
        if state is self.state and version == self.version:
            known = found[_is_ahead(question, state)]
            if question in known:
                return cast(Answer, known[question])
        return self.read_as_is(partial(self._ask, question, self.version))

    def twin(self) -> Self:
        """Return a pipeline that goes on from a copy of the state."""
        return type(self)(self.state.twin())

    def widen_inputs(self, input_map: FeatureMap) -> None:
        """Go on with a map of more inputs, of which all rows so far count as zero."""
        self._replace(widened(self.state, input_map))

    def _ask(
        self, question: Callable[[PipelineState], Answer], version: int, state: PipelineState
    ) -> Answer:
        """Ask a state: the one in use, as of a version, or a copy; remember what was found."""
        known = self._answers
        is_current = state is self.state
        # Of a copy, or of a row more, nothing is known.
        is_known = is_current and state is known[0] and version == known[1] == self.version
        found = known[2] if is_known else ({}, {})
        kept, ahead = None, _is_ahead(question, state)
        if ahead:
            # Taken away in one step, so that no two threads go on with the same one.
            kept = followed(state, vars(self).pop("_spare", None) if is_current else None)
            asked = AskedState.of(answering(state, kept), found[1])
        else:
            asked = AskedState.of(self._settled(state, version).__dict__, found[0])
        answer = question(asked)
        if is_current and state is self.state and version == self.version:
            both = (found[0], asked.found) if ahead else (asked.found, found[1])
            self._answers = state, version, both
            if kept is not None:
                self._spare = kept
        return answer

    def _settled(self, state: PipelineState, version: int) -> PipelineState:
        """Return a state with its waiting rows in the moment, kept for the next question."""
        if not state.waiting:
            return state
        known = self._folded
        if known is not None and known[0] is state and known[1] == version == self.version:
            return known[2]
        found = settled(state)
        if state is self.state and version == self.version:
            self._folded = state, version, found
        return found

    def _open_fast_row(self) -> "FastRow | WaitingRow | None":
        """Bind the kernel that learns rows, where the state is of a kind that is served."""
        waiting, fast = import_module(_WAITING_ROW), import_module(_FAST_ROW)
        waits = waiting.waits_here(self.state)
        if not (waits or fast.is_served(self.state)):
            return None
        if not self.state.is_writable():
            self.state = self.state.to_learn()
        self._fast_row = waiting.WaitingRow(self.state) if waits else fast.FastRow(self.state)
        return self._fast_row

    def _replace(self, state: PipelineState) -> None:
        """Go on with another state; the present one never changes again."""
        # In this order: interrupted in between, no row is lost in the state that is left behind.
        self._fast_row = self._folded = None
        self._answers = NOTHING
        self.state = state


def _is_ahead(question: Callable[[PipelineState], Answer], state: PipelineState) -> bool:
    """Whether a question to a state is answered from a moment that has followed rows."""
    return is_asked_ahead(question) and may_follow(state)
