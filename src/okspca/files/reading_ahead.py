"""Read in one thread while another learns, with a bounded number of things in between.

pyarrow parses and our kernels learn without the interpreter lock, so the two really overlap.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, Full, Queue
from typing import TypeVar

Item = TypeVar("Item")
DEPTH = 4
PATIENCE = 0.1


class _End:
    """The last thing in the queue: what stopped the reader, if anything did."""

    def __init__(self, failure: BaseException | None) -> None:
        self.failure = failure


def read_ahead(
    items: Iterable[Item], give_up: Callable[[], bool] = lambda: False, depth: int = DEPTH
) -> Iterator[Item]:
    """Hand out ``items``, which a thread of its own produces, at most ``depth`` ahead.

    Ends early once ``give_up()`` is true, even while the thread waits for a slow pipe.  An error in
    the thread is raised here, after what was read before it.

    Examples
    --------
    >>> list(read_ahead(range(3)))
    [0, 1, 2]
    """
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
                continue
            if isinstance(item, _End):
                reader.join()
                if item.failure is not None:
                    raise item.failure
                return
            yield item
    finally:
        closed.set()


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
