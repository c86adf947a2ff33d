"""Further processes that compile what this one will need soon.

Compiling the kernels of one model takes longer than anything else that its first use does, and most
of that is work of the interpreter, which threads cannot share.  So, when an estimator learns its
first rows and a kernel is missing, a process is started for every further core: it compiles the
kernels that such a model needs into the same cache, the last one first, while this process
compiles those that it needs now.  They meet in the middle (:mod:`okspca.numerics.claims`).

A helper is silent, works for the cache alone, and ends with the process that started it: it holds
the other end of a pipe (:mod:`okspca.numerics.helping`).  Where there is one core, no cache, no
lock or no interpreter to start, this process goes on alone.
"""

import atexit
import hashlib
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba

from okspca.numerics import claims
from okspca.numerics.routes import missing

#: However many cores there are: each takes memory, and there is less and less left to do.
MOST = 3
#: Missing kernels that are worth the start of a process.
FEWEST = 4
#: Where Linux says how much of the processors a container may use.
QUOTA = Path("/sys/fs/cgroup/cpu.max")
PROGRAM = "okspca.numerics.helping"


class Helpers:
    """The processes that this one has started to compile for it.

    Examples
    --------
    >>> helpers = Helpers()
    >>> helpers.start(Path("cache"))  # no route is expected
    >>> helpers.running
    []
    """

    def __init__(self) -> None:
        self.running: list[subprocess.Popen[bytes]] = []
        self._route: str | None = None
        self._served: set[str] = set()
        self._owner = os.getpid()
        self._is_off = False

    def expect(self, route: str) -> None:
        """Take note of the kernels that will be needed: a section of ``routes.txt``."""
        self._route = route

    def switch_off(self) -> None:
        """Start none from now on: a helper has no helpers."""
        self._is_off = True

    def start(self, folder: Path) -> None:
        """Start helpers, if the route ahead has none yet and that is worth it."""
        route = self._route
        if route is None or route in self._served or os.getpid() != self._owner:
            return
        self._served.add(route)
        if len(missing(route, folder)) >= FEWEST:
            self.work(folder, f"okspca.numerics.routes:compile_ahead:{route}")

    def work(self, folder: Path, task: str) -> None:
        """Let helpers do a task, ``module:function:argument``."""
        if self._is_off or not is_possible(folder):
            return
        for slot in range(n_helpers()):
            if not is_free(folder, slot):
                continue
            if not self.running:
                atexit.register(self.stop)
            # What a system refuses, a lack of memory say, costs only the help.
            with suppress(OSError, ValueError, subprocess.SubprocessError):
                self.running.append(started(folder, slot, task))

    def stop(self) -> None:
        """End them at once; what they have not finished is compiled when it is needed."""
        helpers, self.running = self.running, []
        if os.getpid() != self._owner:  # a fork has copied the list, not the helpers
            return
        for helper in helpers:
            helper.kill()
        for helper in helpers:
            helper.communicate()


def is_possible(folder: Path) -> bool:
    """Whether there is an interpreter to start, and a way to share the work.

    Programs that hold Python inside name themselves as the interpreter; they are left alone.
    """
    program = os.path.basename(sys.executable or "").lower()
    is_python = program.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)
    return is_python and claims.are_possible(folder)


def n_helpers() -> int:
    """How many processes can work beside this one."""
    return max(0, min(n_cores() - 1, MOST))


def n_cores() -> int:
    """Cores that this process may use, as far as the system says."""
    affinity: Any = getattr(os, "sched_getaffinity", None)
    n = len(affinity(0)) if affinity else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = QUOTA.read_text().split()
        if quota != "max":
            n = min(n, max(1, int(quota) // int(period)))
    return n


def slot_name(slot: int) -> str:
    """Return the claim that the helper of a number holds: all processes together have so many."""
    return f"helper {slot}"


def is_free(folder: Path, slot: int) -> bool:
    """Whether no process has a helper of this number for this cache."""
    free = claims.take(folder, slot_name(slot))
    if free:
        claims.give_back(folder, slot_name(slot))
    return free


def settings() -> str:
    """Digest of Numba's settings: code compiled with others need not be the same."""
    known = {name: value for name, value in vars(numba.config).items() if name.isupper()}
    return hashlib.sha256(repr(sorted(known.items())).encode()).hexdigest()


def started(folder: Path, slot: int, task: str) -> subprocess.Popen[bytes]:
    """Start a process that finds the modules this one has found, and none beside its folder."""
    command = [sys.executable, "-P", "-W", "ignore", "-m", PROGRAM]
    arguments = [str(folder), str(slot), settings(), str(os.getpid()), task]
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        command + arguments,
        env={**os.environ, "PYTHONPATH": paths},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


HELPERS = Helpers()
