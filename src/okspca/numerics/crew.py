"""Threads among which the work of long blocks is shared out.

Compiled kernels release the interpreter's lock, so that plain threads can run them side by side.
Work is shared out by ranges: of rows, or of the columns of a result.  Each number of a result comes
from one thread, by the operations that a single thread would use, in the same order; so the bits do
not depend on how many threads there are, nor on where the ranges end.

Threads live as long as the call that asked for them.  A process that is forked later has none to
miss, and none are left behind.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import pairwise
from typing import Any, TypeVar

from okspca.numerics.cores import allowed

#: Multiplications with additions that are worth handing over to another thread.
LEAST = 2**17

Work = Callable[[int, int], None]
Item = TypeVar("Item")
Found = TypeVar("Found")


class Crew:
    """The present thread and some more, which start when there is work for them.

    Parameters
    ----------
    size : int
        Number of threads, the present one included.

    Examples
    --------
    >>> crew, found = Crew(2), [0, 0]
    >>> def work(start, stop):
    ...     found[start:stop] = range(start, stop)
    >>> crew.do(work, [(0, 1), (1, 2)])
    >>> crew.leave()
    >>> found
    [0, 1]
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool: ThreadPoolExecutor | None = None

    def do(self, work: Work, ranges: Sequence[tuple[int, int]]) -> None:
        """Do the work of all ranges, the first of them here; come back when all is done."""
        others = [self._opened().submit(work, *one) for one in ranges[1:]]
        try:
            work(*ranges[0])
        finally:
            # They write to arrays that are used again, so nothing goes on before they are done.
            _uninterrupted(lambda: wait(others))
        for other in others:
            other.result()

    def do_ahead(
        self, work: Callable[[Item], Found], items: Iterable[Item], take: Callable[[Found], bool]
    ) -> int:
        """Do as :func:`work_ahead`."""
        pool, given, begun = self._opened(), list[tuple[Item, Future[Found]]](), 0
        taken = 0
        try:
            for item in items:
                given.append((item, pool.submit(work, item)))
            here: dict[int, Future[Found]] = {}
            while taken < len(given):
                # While others are busy with it, do the next one that nobody has begun.
                while taken not in here and not given[taken][1].done() and begun < len(given):
                    if given[begun][1].cancel():
                        here[begun] = _done(work, given[begun][0])
                    begun += 1
                # An error waits for its turn as well: the first one is told, whoever met it.
                if not take(here.pop(taken, given[taken][1]).result()):
                    break
                taken += 1
        finally:
            _uninterrupted(lambda: _ended([future for _, future in given]))
        return taken

    def _opened(self) -> ThreadPoolExecutor:
        """The other threads."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.size - 1, "okspca")
        return self._pool

    def leave(self) -> None:
        """End the threads."""
        if self._pool is not None:
            _uninterrupted(self._pool.shutdown)


def _done(work: Callable[[Item], Found], item: Item) -> Future[Found]:
    """Do it here, and keep what came of it."""
    future: Future[Found] = Future()
    try:
        future.set_result(work(item))
    except Exception as failure:
        future.set_exception(failure)
    return future


#: Who works for the calls that this thread makes; the threads of a crew have none of their own.
_CREW: ContextVar[Crew | None] = ContextVar("CREW", default=None)


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Let what is called from here share out its work among ``n`` threads, if so many may be used.

    Examples
    --------
    >>> with threads(4):
    ...     n_threads() <= 4
    True
    >>> n_threads()
    1
    """
    n = allowed(n) if n > 1 else 1
    if n == 1:
        yield
        return
    crew = Crew(n)
    token = _CREW.set(crew)
    try:
        yield
    finally:
        _CREW.reset(token)
        crew.leave()


def n_threads() -> int:
    """Return how many threads share out their work here."""
    crew = _CREW.get()
    return 1 if crew is None else crew.size


def share_out(
    work: Work, n: int, operations: float, *, step: int = 1, triangle: bool = False
) -> None:
    """Call ``work(start, stop)`` for ranges that make up ``range(n)``.

    Parameters
    ----------
    work : callable
        What it does for a range must depend on no other range.
    n : int
        Number of rows, or of columns.
    operations : float
        What all of it takes, in multiplications with additions; a thread gets no less than is worth
        the trouble.
    step : int
        Ranges begin at multiples of this.
    triangle : bool
        The work for an index grows with it, as in a triangle.
    """
    crew = _CREW.get()
    most = 1 if crew is None else min(crew.size, int(operations / LEAST))
    if crew is None or min(most, n) < 2:
        work(0, n)
        return
    shares = ((i / most) ** (0.5 if triangle else 1.0) for i in range(1, most))
    cuts = sorted({0, *(int(share * n / step) * step for share in shares), n})
    with _alone():
        crew.do(work, list(pairwise(cuts)))


def work_ahead(
    work: Callable[[Item], Found], items: Iterable[Item], take: Callable[[Found], bool]
) -> int:
    """Call ``take(work(item))`` for each of the items, in their order, until it says no.

    Other threads begin to work on items as soon as there are any, so ``work`` must depend on
    nothing that ``items`` or ``take`` change; these two run in this thread.  Nobody is at work any
    more when this returns.

    Returns
    -------
    taken : int
        Number of items to which ``take`` did not say no.

    Examples
    --------
    >>> found = []
    >>> work_ahead(abs, [-1, 2, -3], lambda size: found.append(size) or size < 3), found
    (2, [1, 2, 3])
    """
    crew = _CREW.get()
    if crew is not None:
        with _alone():
            return crew.do_ahead(work, items, take)
    taken = 0
    for item in items:
        if not take(work(item)):
            break
        taken += 1
    return taken


@contextmanager
def _alone() -> Iterator[None]:
    """Share out nothing more of what is shared out already."""
    token = _CREW.set(None)
    try:
        yield
    finally:
        _CREW.reset(token)


def _ended(futures: Sequence[Future[Any]]) -> None:
    """Wait until all have ended, well or not; those that nobody has begun are called off."""
    begun = [future for future in futures if not future.cancel()]
    for future in begun:
        future.exception()


def _uninterrupted(wait_for_all: Callable[[], object]) -> None:
    """Wait to the end, and only then raise the interrupt that came meanwhile."""
    interrupt: KeyboardInterrupt | None = None
    while True:
        try:
            wait_for_all()
            break
        except KeyboardInterrupt as one:
            interrupt = one
    if interrupt is not None:
        raise interrupt
