"""Start timed processes: fresh, one thread, one core, and never two at a time on this machine."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from okspca_lab.studies.rows import Cell, Row

LIBRARIES = ("OPENBLAS", "OMP", "MKL", "NUMBA")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in LIBRARIES}
LOCK = "okspca-timed.lock"


def timed_in_a_process(
    build: str, cells: Sequence[Cell], n_rows: int | None, core: int | None
) -> list[Row]:
    """Time cells in a fresh process and return their rows.

    Raises
    ------
    RuntimeError
        The process failed; its last words are in the message.
    """
    job = json.dumps({"build": build, "cells": list(cells), "n_rows": n_rows, "core": core})
    with alone() as lock:
        done = subprocess.run(
            [sys.executable, "-m", "okspca_lab.studies.services.process"],
            input=job,
            capture_output=True,
            text=True,
            env={**os.environ, **ONE_THREAD},
            pass_fds=lock,
            check=False,
        )
    if done.returncode != 0:
        message = f"A timed process failed: {done.stderr.strip()[-500:]}"
        raise RuntimeError(message)
    rows: list[Row] = json.loads(done.stdout)["rows"]
    return rows


@contextmanager
def alone() -> Iterator[tuple[int, ...]]:
    """Wait until no other timed process runs; a killed one leaves nothing behind.

    Gives the lock's file, if there is one: a process that inherits it holds the lock as long as it
    lives, even if the one that started it is killed.
    """
    try:
        fcntl: Any = import_module("fcntl")
    except ImportError:  # no such lock on this system: its user sees to it
        yield ()
        return
    handle = _lock_file(Path(tempfile.gettempdir()) / LOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield (handle,)
    finally:
        os.close(handle)


def _lock_file(path: Path) -> int:
    """Open the file of the lock, which all users share; a link that somebody put there is refused.

    It is only read: to lock it, nobody has to be able to write what belongs to someone else.
    """
    while True:
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with suppress(FileExistsError):
            return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL, 0o644)
