"""Whether something fits into memory, asked before it is made.

A system may promise memory that it does not have and end the process once it is used, so what
cannot fit is refused by its size.
"""

import os
from contextlib import suppress
from pathlib import Path

#: So much is asked for without a question.
MODEST = 1 << 30
BYTES = 8
#: Where Linux keeps the limit of a container, by the version of its control groups.
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def memory() -> float:
    """Bytes of memory that this process could have at most; infinite where nobody tells.

    Examples
    --------
    >>> memory() > 1 << 20
    True
    """
    known = [float("inf")]
    with suppress(AttributeError, OSError, ValueError):  # Windows has other calls
        known.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    for place in LIMITS:
        with suppress(OSError, ValueError):  # also where it says "max"
            known.append(float(Path(place).read_text(encoding="ascii")))
    return min(known)


def check_room(n_numbers: int, what: str, remedy: str) -> None:
    """Raise where so many numbers of double precision cannot fit into memory.

    Parameters
    ----------
    n_numbers : int
        A lower bound on what will be kept.
    what : str
        What asks for them, such as ``n_random_features=1000``.
    remedy : str
        What to do instead.

    Examples
    --------
    >>> check_room(10**15, "n_random_features=1000000000000000", "lower it")
    Traceback (most recent call last):
    ValueError: n_random_features=1000000000000000 needs at least 8,000,000,000,000,000 bytes, ...
    """
    needed = BYTES * n_numbers
    if needed <= MODEST or needed <= memory():
        return
    message = f"{what} needs at least {needed:,} bytes, more than the memory there is; {remedy}."
    raise ValueError(message)
