"""What a fit costs: processor time of this process, and how far its memory grew.

Wall clocks mean little on machines that are shared, so seconds are those that the processor worked
for this process, which has one thread.  Memory is the highest that was resident during the work
less what was before it; where the system does not tell (Linux does), it is not known.
"""

import ctypes
import gc
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
#: Work that is timed again until it took so long together.
LEAST_SECONDS = 0.02


class Cost(NamedTuple):
    """Processor seconds, and bytes or None."""

    seconds: float
    memory: int | None


def spent(work: Callable[[], Any]) -> tuple[Any, Cost]:
    """Do some work; return what it gave and what it cost.

    Examples
    --------
    >>> made, cost = spent(lambda: bytearray(32 * 2**20))
    >>> len(made), cost.memory is None or cost.memory > 2**24
    (33554432, True)
    """
    before = _settled()
    start = time.process_time()
    found = work()
    seconds = time.process_time() - start
    peak = _told("VmHWM")
    memory = None if before is None or peak is None else max(peak - before, 0)
    return found, Cost(seconds, memory)


def seconds_of(work: Callable[[], Any]) -> float:
    """Processor seconds of some work, short work being repeated."""
    start, times = time.process_time(), 0
    while times == 0 or time.process_time() - start < LEAST_SECONDS:
        work()
        times += 1
    return (time.process_time() - start) / times


def _settled() -> int | None:
    """Give back what is not in use, forget the last peak, and return the resident bytes."""
    gc.collect()
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
    try:
        RESET.write_text("5", encoding="ascii")
    except OSError:
        return None
    return _told("VmRSS")


def _told(name: str) -> int | None:
    """A number of bytes that the system tells about this process."""
    if not STATUS.is_file():
        return None
    lines = (line.split() for line in STATUS.read_text(encoding="ascii").splitlines())
    return next((1024 * int(words[1]) for words in lines if words[0] == f"{name}:"), None)
