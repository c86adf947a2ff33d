"""Tell the user that kernels are being compiled: at the first, and every two seconds.

Compiling takes seconds where a call otherwise takes microseconds, so it should not come as a
surprise.  The caches of our own kernels tell: what they do not hold is compiled next.  Other
packages' kernels are none of our business, so nothing is hooked into Numba itself; and calling a
kernel asks no cache, so this costs nothing while rows are learned.

The messages go to the logger ``okspca`` at level INFO.  Where logging does not show that level,
they are lines on standard error, whatever that is: a terminal, a file, a pipe or a notebook.
To silence them: ``logging.getLogger("okspca").setLevel(logging.WARNING)``.
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOGGER = logging.getLogger("okspca")
#: Seconds between two lines about compiling.
INTERVAL = 2.0


class Announcer:
    """Counts the kernels that are compiled, and speaks at the first and every few seconds.

    Examples
    --------
    >>> Announcer().compiled
    0
    """

    def __init__(self) -> None:
        #: How many kernels of okspca were compiled in this process, for all types taken together.
        self.compiled = 0
        self._told: float | None = None

    def count(self, cache_path: str | None) -> None:
        """Count a kernel that is compiled now and then kept in a folder, if there is one."""
        self.compiled += 1
        self._tell(cache_path, f"okspca has compiled {self.compiled - 1} kernels and goes on.")

    def wait(self, cache_path: str) -> None:
        """Take note that another process compiles a kernel for this one too."""
        self._tell(cache_path, "okspca waits for a kernel that another process is compiling.")

    def _tell(self, cache_path: str | None, message: str) -> None:
        """Tell what this is about, at first, and how it goes on, every few seconds."""
        now = time.monotonic()
        if self._told is None:
            announce(cache_path)
        elif now - self._told >= INTERVAL:
            tell(message)
        else:
            return
        self._told = now


def announce(cache_path: str | None) -> None:
    """Say that kernels are being compiled, and whether that will be so again."""
    often = (
        "once for each kind of work (`okspca warm` does it all ahead)"
        if cache_path
        else "in every process, because no cache folder can be written (set NUMBA_CACHE_DIR)"
    )
    tell(f"okspca is compiling its kernels; this takes seconds and happens {often}.")


def tell(message: str) -> None:
    """Log a line or, where that would not show it, write it to standard error."""
    if LOGGER.hasHandlers() and LOGGER.isEnabledFor(logging.INFO):
        LOGGER.info(message)
    elif max(LOGGER.level, logging.root.manager.disable) <= logging.INFO and sys.stderr is not None:
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


ANNOUNCER = Announcer()
