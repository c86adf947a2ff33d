"""How many cores a call may use: what was asked for, and never more than the user's settings allow.

Libraries are told by environment variables, or while a program runs, how many threads they may use.
Whoever limits them means this one, too.  Where others already share out the work (a worker of
joblib, Dask or Spark, a child of :mod:`multiprocessing`), one core is used.
"""

import multiprocessing
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from typing import Any

import numba

#: Variables by which libraries are limited; a list is about nested regions, the outermost first.
VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
_ALONE: ContextVar[bool] = ContextVar("ALONE", default=False)


@contextmanager
def one_core() -> Iterator[None]:
    """Use one core for what is called from here, whatever is asked for.

    Examples
    --------
    >>> with one_core():
    ...     allowed(8)
    1
    """
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


def allowed(n: int) -> int:
    """Return how many cores may be used where ``n`` are asked for."""
    if n <= 1 or _ALONE.get() or _is_worker():
        return 1
    return max(1, min(n, _n_cores(), *_variables(), *_limits()))


def _n_cores() -> int:
    """Count the cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _variables() -> Iterator[int]:
    """Limits in the environment."""
    for name in VARIABLES:
        first = os.environ.get(name, "").partition(",")[0].strip()
        if first.isdecimal() and int(first) > 0:
            yield int(first)


def _limits() -> Iterator[int]:
    """Limits that were set while the program runs: of linear-algebra libraries and of Numba."""
    for library in _controller().lib_controllers:
        limit = library.num_threads
        if limit is not None and limit > 0:
            yield limit
    yield int(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    # Asked only where Numba's own threads have been started: asking would start them.
    with suppress(ValueError):
        numba.threading_layer()  # type: ignore[attr-defined]
        yield numba.get_num_threads()


@cache
def _controller() -> Any:
    """What knows the linear-algebra libraries of the process; finding them takes milliseconds."""
    return import_module("threadpoolctl").ThreadpoolController()


def _is_worker() -> bool:
    """Whether others share out work, of which this is a part."""
    if multiprocessing.parent_process() is not None:
        return True
    joblib: Any = sys.modules.get("joblib.parallel")
    return joblib is not None and (joblib.get_active_backend()[0].nesting_level or 0) > 0
