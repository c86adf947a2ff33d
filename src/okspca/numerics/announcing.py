"""Tell the user, once in a process, that kernels are being compiled.

Compiling takes seconds where a call otherwise takes microseconds, so it should not come as a
surprise.  Numba reports each compilation as an event; loading from the cache is none, and neither
is calling a kernel, so this costs nothing while rows are learned.

The message goes to the logger ``okspca`` at level INFO.  Where logging has not been set up, it is
one line on standard error, if somebody is there to read it (a terminal, an interactive session).
To silence it: ``logging.getLogger("okspca").setLevel(logging.WARNING)``.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

LOGGER = logging.getLogger("okspca")


class Announcer(event.Listener):
    """Listens to Numba and speaks when the first of our kernels is compiled.

    Examples
    --------
    >>> Announcer().compiled
    0
    """

    def __init__(self) -> None:
        #: How many kernels of okspca were compiled in this process, for all types taken together.
        self.compiled = 0

    def on_start(self, event: Any) -> None:
        """Count a kernel of ours; announce the first."""
        dispatcher = event.data["dispatcher"]
        if dispatcher.py_func.__module__.partition(".")[0] != "okspca":
            return
        self.compiled += 1
        if self.compiled == 1:
            announce(dispatcher.stats.cache_path)

    def on_end(self, event: Any) -> None:
        """Nothing is said when a compilation ends."""


def announce(cache_path: str | None) -> None:
    """Say that kernels are being compiled, and whether that will be so again."""
    often = (
        "once for this version (`okspca warm` does it ahead)"
        if cache_path
        else "in every process, because no cache folder can be written (set NUMBA_CACHE_DIR)"
    )
    message = f"okspca is compiling its kernels; this takes a while and happens {often}."
    if LOGGER.hasHandlers():
        LOGGER.info(message)
    elif max(LOGGER.level, logging.root.manager.disable) <= logging.INFO and _somebody_reads():
        print(message, file=sys.stderr, flush=True)


@contextmanager
def unannounced() -> Iterator[None]:
    """Say nothing inside: for commands that tell of compiling in their own words."""
    before = LOGGER.level
    LOGGER.setLevel(logging.WARNING)
    try:
        yield
    finally:
        LOGGER.setLevel(before)


def _somebody_reads() -> bool:
    """Whether standard error is a terminal, or Python waits for someone's next line."""
    stream = sys.stderr
    return stream is not None and (stream.isatty() or hasattr(sys, "ps1"))


ANNOUNCER = Announcer()
