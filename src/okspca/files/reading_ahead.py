"""Read in one thread while another learns, with a bounded number of things in between.

pyarrow parses and our kernels learn without the interpreter lock, so the two really overlap.  The
thread never outlives its reader: it is joined on every way out, after it was told to stop waiting.
"""

import threading
from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from queue import Empty, Full, Queue
from typing import TypeVar

from okspca.files.live import CAN_WAIT

Item = TypeVar("Item")
DEPTH = 4
PATIENCE = 0.1


class Nothing:
    """Stands for a time in which nothing came."""


class _End:
    """The last thing in the queue: what stopped the reader, if anything did."""

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure


def read_ahead(
    items: Iterable[Item],
    give_up: Callable[[], bool] = lambda: False,
    depth: int = DEPTH,
    release: Callable[[], None] = lambda: None,
) -> Generator[Item, None, None]:
    """Hand out ``items``, which a thread of its own produces, at most ``depth`` ahead.

    Ends early once ``give_up()`` is true.  An error in the thread is raised here, after what was
    read before it.  However it ends, the thread is joined: ``release()`` makes one that waits for
    input return.

    Examples
    --------
    >>> list(read_ahead(range(3)))
    [0, 1, 2]
    """
    with closing(read_as_it_comes(items, give_up, depth, release)) as coming:
        for item in coming:
            if not isinstance(item, Nothing):
                yield item


def read_as_it_comes(
    items: Iterable[Item],
    give_up: Callable[[], bool] = lambda: False,
    depth: int = DEPTH,
    release: Callable[[], None] = lambda: None,
) -> Generator[Item | Nothing, None, None]:
    """Do the same, and say every ``PATIENCE`` seconds if nothing came."""
    queue: Queue[Item | _End] = Queue(depth)
    closed = threading.Event()
    reader = threading.Thread(
        target=_read, args=(items, queue, closed), daemon=True, name="okspca reader"
    )
    reader.start()
    try:
        while not give_up():
            try:
                item = queue.get(timeout=PATIENCE)
            except Empty:
                yield Nothing()
                continue
            if isinstance(item, _End):
                if item.failure is not None:
                    raise item.failure
                return
            yield item
    finally:
        closed.set()
        release()
        reader.join(None if CAN_WAIT else PATIENCE)


def _read(items: Iterable[Item], queue: "Queue[Item | _End]", closed: threading.Event) -> None:
    """Fill the queue until the items or the consumer's interest end."""
    failure: BaseException | None = None
    try:
        for item in items:
            if not _put(queue, item, closed):
                return
    except BaseException as caught:
        failure = caught
    _put(queue, _End(failure), closed)


def _put(queue: "Queue[Item | _End]", item: Item | _End, closed: threading.Event) -> bool:
    """Wait for room in the queue; False once nobody takes from it any more."""
    while not closed.is_set():
        try:
            queue.put(item, timeout=PATIENCE)
        except Full:
            continue
        return True
    return False
