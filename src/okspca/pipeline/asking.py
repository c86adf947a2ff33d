"""Ask twice, solve once: what was found about a state is kept until the state changes.

A question is a function of a state.  Those marked :func:`answered_once` are remembered, together
with the state and the version of it that they were asked of, in one record that is replaced as a
whole.  So a reader meets all of it or nothing, and whatever changes the state makes it worthless
without touching it: nothing has to be cleared, and no reader and no writer waits for the other.

Answers belong to the process.  They are never part of a state, of a file or of a copy.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Self, TypeVar, cast

from okspca.pipeline.state import PipelineState

Answer = TypeVar("Answer")
Question = Callable[[PipelineState], Any]


Found = Mapping[Question, Any]
#: What is known about one version of a state: the state as its holder has it, the version, and
#: answers by question, from all sums of the rows and from a moment that has followed them.
Answers = tuple[PipelineState | None, int, tuple[Found, Found]]
NOTHING: Answers = None, 0, ({}, {})


class AskedState(PipelineState):
    """A state while it is asked: it collects the answers to questions that others rest on.

    Attributes
    ----------
    found : dict
        Answers by question.
    """

    found: dict[Question, Any]

    @classmethod
    def of(cls, fields: Mapping[str, Any], found: Found) -> Self:
        """Ask a state, given its fields, about which something may be known."""
        asked = object.__new__(cls)
        asked.__dict__ = {**fields, "found": {**found}}
        return asked

    def to_learn(self, *, only_wait: bool = False) -> Self:
        """Return a copy that can learn; nothing is known about what it will become."""
        twin = super().to_learn(only_wait=only_wait)
        twin.found = {}
        return twin


def answered_once(question: Callable[[PipelineState], Answer]) -> Callable[[PipelineState], Answer]:
    """Let a question be asked of each version of a state once.

    It must depend on the state alone, and return what nobody can change: read-only arrays.

    Examples
    --------
    >>> @answered_once
    ... def n_rows(state):
    ...     print("counting")
    ...     return state.rows
    >>> asked = AskedState.of({"rows": 3}, {})
    >>> n_rows(asked) + n_rows(asked)
    counting
    6
    """

    @wraps(question)
    def once(state: PipelineState) -> Answer:
        if not isinstance(state, AskedState):
            return question(state)
        known = state.found
        if once in known:
            return cast(Answer, known[once])
        known[once] = answer = question(state)
        return answer

    return once


def asked_ahead(question: Callable[[PipelineState], Answer]) -> Callable[[PipelineState], Answer]:
    """Let a question be answered from a moment that has followed the rows that wait.

    It must make do with what services and predictors ask of a moment; for other questions, rows
    that wait are folded (:mod:`okspca.pipeline.ahead`).
    """
    vars(question)["asks_ahead"] = True
    return question


def is_asked_ahead(question: Question) -> bool:
    """Whether a question is answered from a moment that has followed rows."""
    return getattr(question, "asks_ahead", False)


def recalled(state: PipelineState, question: Callable[[PipelineState], Answer]) -> Answer | None:
    """Return the answer to a question, if the state was asked it already."""
    found: Answer | None = state.found.get(question) if isinstance(state, AskedState) else None
    return found
