"""Which process compiles which kernel: processes that share a cache do not do the same work twice.

A claim is a lock on one byte of a file in the cache; which byte, the name of the kernel and its
types say.  The system gives a lock back when its process ends, however it ends, so no claim is left
behind.  Locks of this kind do not pass to processes that are forked.

Where the system or the drive has no such locks, every process goes on as if it were alone.
"""

import hashlib
import os
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

FILE = "claims"
#: Claims lie at places from 0 to this.
PLACES = 2**31


def take(folder: Path, name: str) -> bool:
    """Claim a name, again if need be; False where another process has it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     take(Path(folder), "a kernel"), take(Path(folder), "a kernel")
    (True, True)
    """
    locks, file = _locks(), _file(folder)
    if locks is None or file is None:
        return True
    try:
        locks.lockf(file, locks.LOCK_EX | locks.LOCK_NB, 1, place_of(name))
    except (BlockingIOError, PermissionError):  # systems differ in what they say
        return False
    except OSError:  # some network drives have no locks
        return True
    return True


def give_back(folder: Path, name: str) -> None:
    """Give up what this process claimed; nothing happens if it did not."""
    locks, file = _locks(), _file(folder)
    if locks is None or file is None:
        return
    try:
        locks.lockf(file, locks.LOCK_UN, 1, place_of(name))
    except OSError:
        return


def are_possible(folder: Path) -> bool:
    """Whether processes can tell one another what they work on."""
    return _locks() is not None and _file(folder) is not None


def place_of(name: str) -> int:
    """Return the byte that stands for a name."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) % PLACES


@cache
def _locks() -> Any:
    """Return the module of locks; None on Windows."""
    try:
        return import_module("fcntl")
    except ImportError:
        return None


@cache
def _file(folder: Path) -> int | None:
    """Open the file of claims, once: closing any copy of it would give up all claims."""
    try:
        return os.open(folder / FILE, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        return None
