"""One thread changes a state, any number of threads read it, and no reader ever locks.

A long change (a block of rows) is made in a copy, which takes the place of the state when it is
whole: a reader meets the state before it or the one after it, and a change that fails has not
happened.

A short change (one row) is made in place, by kernels that hold no interpreter lock, so a reader
could meet a state half way between two rows.  A version number tells: it is odd while something is
being changed.  A reader asks its question of the state and keeps the answer if the version was even
and stayed the same.  Else it asks a copy that was made between two rows.  The single-threaded case
pays for comparing two numbers.
"""

import time
from collections.abc import Callable
from typing import Any, Generic, Protocol, Self, TypeVar

Answer = TypeVar("Answer")


class Copyable(Protocol):
    """State that can be copied."""

    def twin(self) -> Self:
        """Return a copy that shares nothing that a change in place would alter."""


StateT = TypeVar("StateT", bound=Copyable)


class Readable(Generic[StateT]):
    """Holder of a state with one writer.

    Parameters
    ----------
    state : object with a method ``twin``
        The state that is read.

    Attributes
    ----------
    state : object
        The state in use.  A writer replaces it by another one, or changes it in place; then it
        makes ``version`` odd before and even again afterwards.
    version : int
        Odd while ``state`` is being changed in place.

    Examples
    --------
    >>> class Counter:
    ...     value = 0
    ...     def twin(self):
    ...         twin = Counter()
    ...         twin.value = self.value
    ...         return twin
    >>> Readable(Counter()).read_as_is(lambda state: state.value)
    0
    """

    version = 0

    def __init__(self, state: StateT) -> None:
        self.state = state

    def read_as_is(self, question: Callable[[StateT], Answer]) -> Answer:
        """Answer a question about the state between two changes.

        ``question`` must change nothing, and return nothing that a later change would alter.
        """
        before = self.version
        if not before & 1:
            try:
                answer = question(self.state)
            except Exception:
                # A state half way between two rows may well fail; one that stayed put has failed.
                if self.version == before:
                    raise
            else:
                if self.version == before:
                    return answer
        return question(self.snapshot())

    def snapshot(self) -> StateT:
        """Return a copy of the state between two changes."""
        while True:
            before = self.version
            if not before & 1:
                try:
                    twin = self.state.twin()
                except Exception:
                    if self.version == before:
                        raise
                else:
                    if self.version == before:
                        return twin
            time.sleep(0.0)

    def __getstate__(self) -> dict[str, Any]:
        """Leave what belongs to this process out of copies and files."""
        return {"state": self.state}
