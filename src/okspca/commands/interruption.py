"""Ctrl-C during a fit."""

import signal
from types import FrameType


class Interruption:
    """Ctrl-C or a request to end: noted, and acted on between two blocks."""

    def __init__(self) -> None:
        self.wanted = False
        self._before = {s: signal.signal(s, self._note) for s in (signal.SIGINT, signal.SIGTERM)}

    def _note(self, number: int, _: FrameType | None) -> None:
        self.wanted = True
        signal.signal(number, signal.SIG_DFL)  # a second one ends at once

    def restore(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
