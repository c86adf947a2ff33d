"""One thread changes a state, any number of threads read it, and no reader ever locks.

Kernels change arrays in place and without the interpreter lock, so a reader could meet a state half
way between two rows.  A version number tells: it is odd while something is being changed.  A reader
asks its question of the live state and keeps the answer if the version was even and stayed the
same.  Else it asks a snapshot: the one that was taken before the block that is being learned, or a
copy made between two rows.  The single-threaded case pays for comparing two numbers.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self, TypeVar

Answer = TypeVar("Answer")


class Readable(ABC):
    """State with one writer.

    A writer makes :attr:`version` odd before it changes anything and even again afterwards, and may
    publish the state before a long change.

    Examples
    --------
    >>> class Counter(Readable):
    ...     def __init__(self):
    ...         self.value = 0
    ...     def twin(self):
    ...         twin = Counter()
    ...         twin.value = self.value
    ...         return twin
    >>> counter = Counter()
    >>> counter.read(lambda state: state.value)
    0
    """

    version: int = 0
    published: Any = None

    @abstractmethod
    def twin(self) -> Self:
        """Return a copy that shares nothing that learning changes."""

    def read(self, question: Callable[[Self], Answer]) -> Answer:
        """Answer a question about the state between two changes.

        ``question`` must change nothing, and return nothing that a later change would alter.
        """
        before = self.version
        if not before & 1:
            try:
                answer = question(self)
            except Exception:
                # A state half way between two rows may well fail; one that stayed put has failed.
                if self.version == before:
                    raise
            else:
                if self.version == before:
                    return answer
        return question(self.snapshot())

    def snapshot(self) -> Self:
        """Return the published state, or a copy of the present one between two changes."""
        while True:
            before = self.version
            published: Self | None = self.published
            if published is not None:
                return published
            if not before & 1:
                try:
                    twin = self.twin()
                except Exception:
                    if self.version == before:
                        raise
                else:
                    if self.version == before:
                        return twin
            time.sleep(0.0)

    def __getstate__(self) -> dict[str, Any]:
        """Leave what belongs to this process out of copies and files."""
        return {**self.__dict__, "version": 0, "published": None}
