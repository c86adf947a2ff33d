"""What the page shows, once a second: computed once for each model, told to all who listen.

A listener that does not keep up is told the latest, not everything: what it has not read yet is
replaced.  The thread that computes is neither that of the requests nor one that learns.
"""

import asyncio
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

from okspca.serve.hosted import Hosted
from okspca.serve.panel import Panel
from okspca.serve.refusals import busy

PERIOD, HEARTBEAT = 1.0, 15.0
MOST_LISTENERS = 200
LOGGER = logging.getLogger("okspca.serve")
GONE = b"event: gone\ndata: {}\n\n"


class Listener:
    """Somebody who listens to one model.

    Parameters
    ----------
    loop : asyncio.AbstractEventLoop
        Where it listens.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._ready = loop, asyncio.Event()
        self._state: bytes = b""
        self._others: list[bytes] = []
        self.is_over = False

    def tell(self, state: bytes, others: list[bytes]) -> None:
        """Tell the latest state, and what must not be lost; from another thread."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.take, state, others)

    def take(self, state: bytes, others: list[bytes]) -> None:
        """Keep it until it is read."""
        self._state = state or self._state
        self._others = [*self._others, *others][-100:]
        if self._state or self._others:
            self._ready.set()

    def end(self) -> None:
        """Let it listen no more; from the thread of its loop."""
        self.is_over = True
        self._ready.set()

    async def messages(self) -> AsyncIterator[bytes]:
        """What was told, as it comes; a comment where nothing has come for long."""
        while not self.is_over:
            try:
                await asyncio.wait_for(self._ready.wait(), HEARTBEAT)
            except TimeoutError:
                yield b": nothing new\n\n"
                continue
            self._ready.clear()
            told, self._state, self._others = [*self._others, self._state], b"", []
            yield b"".join(told)
            if GONE in told:
                return


class Board:
    """What is known of one model for those who watch it."""

    def __init__(self, hosted: Hosted) -> None:
        self.hosted = hosted
        self.panel = Panel(hosted.model, hosted.name)
        hosted.watch(self.panel.learned)
        self.listeners: set[Listener] = set()
        self.awaiting: set[Listener] = set()
        self.number = 0
        self._rows, self._then = 0, time.monotonic()
        self._n_alarms = 0
        self.last: dict[str, Any] = {}

    def look(self, requests: dict[str, Any]) -> tuple[bytes, list[bytes]]:
        """Return how the model stands now, and alarms that were raised since the last look."""
        status, now = self.hosted.status(), time.monotonic()
        seconds = max(now - self._then, 1e-9)
        rate = max(status["rows"] - self._rows, 0) / seconds
        self._rows, self._then = status["rows"], now
        beside = {
            **{name: status[name] for name in SHOWN},
            **requests,
            "rows_per_second": rate,
            "latest_set_aside": list(self.hosted.learner.latest_set_aside),
        }
        self.panel.columns = self.hosted.recorder.columns
        found = self.panel.snapshot(time.time(), beside)
        n_new = min(found["n_alarms"] - self._n_alarms, len(found["alarms"]))
        new = found["alarms"][-n_new:] if n_new else []
        alarms = [message("alarm", alarm, None) for alarm in new]
        self._n_alarms = found["n_alarms"]
        self.number += 1
        self.last = found
        return message("state", found, self.number), alarms

    def keep(self, listener: Listener) -> None:
        """Let one who awaited the first look listen on; from the thread that looks."""
        self.listeners.add(listener)
        self.awaiting.discard(listener)
        # It may have gone in between.
        if listener.is_over:
            self.listeners.discard(listener)

    def leave(self, listener: Listener) -> None:
        """Tell somebody nothing any more; from the thread of the loop."""
        listener.end()
        self.listeners.discard(listener)
        self.awaiting.discard(listener)

    def first(self) -> bytes:
        """What somebody is told who begins to listen: the latest state, with what was before."""
        if not self.last:
            return b""
        before = {"history": self.panel.history(), "alarms": self.panel.alarms}
        return message("state", {**self.last, **before}, self.number)


#: What is told of drift.
OF_DRIFT = ("rows", "n_alarms", "alarms", "monitor")
#: What the page shows of a model's status.
SHOWN = (
    "rows_waiting",
    "rows_set_aside",
    "pending",
    "sources",
    "trouble",
)


class Events:
    """Looks at all models once a second.

    Parameters
    ----------
    requests : callable
        Returns what is known about requests.
    """

    def __init__(self, requests: Callable[[], dict[str, Any]]) -> None:
        self._requests = requests
        self._boards: dict[str, Board] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="okspca events", daemon=True)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin to look."""
        self._loop = loop
        self._thread.start()

    def end(self) -> None:
        """Stop, and let nobody listen any more; from the thread of the loop."""
        self._ended.set()
        for board in self._boards.values():
            for listener in (*board.listeners, *board.awaiting):
                listener.end()

    def begin(self, hosted: Hosted) -> None:
        """Look at a model from now on."""
        self._boards[hosted.name] = Board(hosted)

    def forget(self, name: str) -> None:
        """Look at a model no more, and tell those who listen."""
        board = self._boards.pop(name, None)
        listeners = [] if board is None else [*board.listeners, *board.awaiting]
        for listener in listeners:
            listener.tell(b"", [GONE])

    def drift(self, name: str) -> dict[str, Any]:
        """Alarms of a model so far, and its last row beside the limits."""
        board = self._boards.get(name)
        last = {} if board is None else board.last
        return {name: last.get(name, [] if name == "alarms" else None) for name in OF_DRIFT}

    @property
    def n_listeners(self) -> int:
        """How many listen."""
        boards = list(self._boards.values())
        return sum(len(board.listeners) + len(board.awaiting) for board in boards)

    def check_room(self) -> None:
        """Refuse one listener too many."""
        if self.n_listeners >= MOST_LISTENERS:
            message = f"{MOST_LISTENERS} listen already; close a page, or come back later."
            raise busy(message, 10)

    async def listen(
        self, name: str, may_listen: Callable[[], bool] = lambda: True
    ) -> AsyncIterator[bytes]:
        """Everything about a model, as it happens, for as long as somebody may listen."""
        board = self._boards.get(name)
        if board is None or self.n_listeners >= MOST_LISTENERS:
            yield GONE
            return
        listener = Listener(asyncio.get_running_loop())
        # Where nobody has looked yet, the first look comes with what was before, too.
        (board.listeners if board.last else board.awaiting).add(listener)
        listener.take(board.first(), [])
        try:
            async for told in listener.messages():
                if not may_listen():
                    return
                yield told
        finally:
            board.leave(listener)

    def _run(self) -> None:
        """Look once a second until the end."""
        while not self._ended.wait(PERIOD):
            requests = self._requests()
            for board in list(self._boards.values()):
                try:
                    state, alarms = board.look(requests)
                except Exception:
                    LOGGER.exception("%s could not be looked at", board.hosted.name)
                    continue
                for listener in list(board.listeners):
                    listener.tell(state, alarms)
                for listener in list(board.awaiting):
                    listener.tell(board.first(), alarms)
                    board.keep(listener)


def message(event: str, data: Any, number: int | None) -> bytes:
    r"""One event as it goes over the wire.

    Examples
    --------
    >>> message("state", {"rows": 3}, 7)
    b'event: state\nid: 7\ndata: {"rows": 3}\n\n'
    """
    numbered = "" if number is None else f"id: {number}\n"
    return f"event: {event}\n{numbered}data: {json.dumps(data, allow_nan=False)}\n\n".encode()
