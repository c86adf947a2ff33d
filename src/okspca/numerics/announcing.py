"""Tell the user, once in a process, that kernels are being compiled.

Compiling takes seconds where a call otherwise takes microseconds, so it should not come as a
surprise.  The caches of our own kernels tell: what they do not hold is compiled next.  Other
packages' kernels are none of our business, so nothing is hooked into Numba itself; and calling a
kernel asks no cache, so this costs nothing while rows are learned.

The message goes to the logger ``okspca`` at level INFO.  Where logging has not been set up, it is
one line on standard error, if somebody is there to read it (a terminal, an interactive session).
To silence it: ``logging.getLogger("okspca").setLevel(logging.WARNING)``.
"""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

LOGGER = logging.getLogger("okspca")


class Announcer:
    """Counts the kernels that are compiled, and speaks at the first.

    Examples
    --------
    >>> Announcer().compiled
    0
    """

    def __init__(self) -> None:
        #: How many kernels of okspca were compiled in this process, for all types taken together.
        self.compiled = 0

    def count(self, cache_path: str | None) -> None:
        """Count a kernel that is compiled now and then kept in a folder, if there is one."""
        self.compiled += 1
        if self.compiled == 1:
            announce(cache_path)


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
