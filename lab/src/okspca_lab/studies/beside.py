"""Cores: the one that things are timed on, and work beside that on the others."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from rich.console import Console


def timed_core() -> int | None:
    """The core that timed processes are bound to: the last one, where the system can bind.

    Examples
    --------
    >>> core = timed_core()
    >>> core is None or core >= 0
    True
    """
    return max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None


def free_cores() -> list[int]:
    """Cores on which nothing is timed; none where the system cannot bind processes to cores.

    Examples
    --------
    >>> timed_core() in free_cores()
    False
    """
    if not hasattr(os, "sched_getaffinity"):
        return []
    return sorted(os.sched_getaffinity(0) - {timed_core()})


@contextmanager
def beside(
    console: Console, work: Callable[..., None], *arguments: Any, **options: Any
) -> Iterator[None]:
    """Do other work on the free cores meanwhile; wait for it at the end.

    If what runs here is stopped, so is that.

    Raises
    ------
    RuntimeError
        The other work failed.
    """
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(
        target=_work,
        args=(theirs, free_cores(), partial(work, *arguments, **options)),
        daemon=True,
    )
    process.start()
    theirs.close()
    try:
        yield
        _wait(console, process, ours)
    finally:
        process.terminate()
        process.join()


def _wait(console: Console, process: BaseProcess, pipe: Connection) -> None:
    """Wait until the other process says how it ended."""
    with console.status("Waiting for what runs beside"):
        try:
            failure = pipe.recv()
        except EOFError:
            process.join()
            failure = f"it ended with code {process.exitcode}"
    if failure:
        message = f"What ran beside failed: {failure}"
        raise RuntimeError(message)


def _work(pipe: Connection, cores: list[int], work: Callable[[], None]) -> None:
    """What the other process does; it says nothing but how it ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one that waits for it stops it
    os.sched_setaffinity(0, cores)
    failure = ""
    try:
        work()
    except Exception as error:  # whatever it was is told to whoever waits
        failure = f"{type(error).__name__}: {error}"
    with suppress(BrokenPipeError):
        pipe.send(failure)
