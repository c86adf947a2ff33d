"""Ctrl-C, a closed terminal or a request to end, during a fit."""

import signal
from types import FrameType

from okspca.cli.stopping import SIGNALLED
from okspca.files.live import Stop

#: A closed terminal counts, unless the program was started to outlive it (nohup).
HANGUP = getattr(signal, "SIGHUP", None)


class Interruption:
    """A signal that asks to end: noted, and acted on between two blocks.

    Whoever waits for input is woken by ``stop``.
    """

    def __init__(self) -> None:
        self.stop = Stop()
        self.wanted, self.code = False, 0
        numbers = [signal.SIGINT, signal.SIGTERM]
        if HANGUP is not None and signal.getsignal(HANGUP) is not signal.SIG_IGN:
            numbers.append(HANGUP)
        self._before = {number: signal.signal(number, self._note) for number in numbers}

    def _note(self, number: int, _: FrameType | None) -> None:
        self.wanted, self.code = True, SIGNALLED + number
        signal.signal(number, signal.SIG_DFL)  # a second one ends at once
        self.stop.request()

    def restore(self) -> None:
        """Give the signals back."""
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self.stop.close()
