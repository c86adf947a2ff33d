"""One thread that decides about requests, writes what it decided to the journal, and says so.

Whatever has come while the disk was busy is one group: decided together, synced once, acknowledged
together.  Nothing is acknowledged that is not on the disk, and nothing is learned that is not:
entries go to the learner afterwards.

Rows that wait for their target expire by a clock that only goes forward and begins anew with the
process.  What it decides is an entry of the journal like any other, so a replay needs no clock.
"""

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from okspca.serve.applying import apply
from okspca.serve.deciding import Change, Draft, Expire, Labels, Learn, Store
from okspca.serve.entries import Entry, framed
from okspca.serve.journal import BrokenJournalError, Journal, NoRoomError
from okspca.serve.limits import Limits
from okspca.serve.refusals import RefusalError, broken, busy, no_room
from okspca.state.ledger import Ledger

#: A group that has as many requests, rows or bytes of rows takes no more.
MOST_REQUESTS, MOST_ROWS, MOST_BYTES = 512, 8192, 64 << 20
TICK = 1.0
LOGGER = logging.getLogger("okspca.serve")
Outcome = dict[str, Any] | Exception
#: Takes tickets with their outcomes, from another thread.
Settle = Callable[[list[tuple[Any, Outcome]]], None]


class Asked(NamedTuple):
    """A request on its way: what it asks for, and who waits for the outcome."""

    change: Change
    ticket: Any
    waits_for_learner: bool = False


class Recorder:
    """The one who decides.

    Parameters
    ----------
    ledger : Ledger
        How things stand after all entries of the journal; it is kept up to date here.
    columns : tuple of str
        Names of the inputs, if they are known.
    task : {"classification", "regression"}
        What targets are.
    journal : Journal
        Where decisions go, ready to append.
    learn : callable
        Takes number and entry, and a ticket with its outcome for each who waits for the learner.
    settle : callable
        Tells those who wait.
    limits : Limits
        How much there may be of what grows.
    pending_seconds : float
        How long a row waits for its target.
    most_waiting : int
        How many requests may wait to be decided.
    """

    def __init__(
        self,
        ledger: Ledger,
        columns: tuple[str, ...],
        task: str,
        journal: Journal,
        learn: Callable[[int, Entry, list[tuple[Any, Outcome]]], None],
        settle: Settle,
        *,
        limits: Limits,
        pending_seconds: float = 86_400.0,
        most_waiting: int = 10_000,
    ) -> None:
        self.ledger, self.columns, self.task = ledger, columns, task
        self._journal, self._learn, self._settle = journal, learn, settle
        self._limits, self._pending_seconds = limits, pending_seconds
        self._asked: queue.Queue[Asked | None] = queue.Queue(most_waiting)
        #: When rows began to wait, the oldest first.
        self._since = dict.fromkeys(ledger.pending, time.monotonic())
        self._thread = threading.Thread(target=self._run, name="okspca recorder", daemon=True)
        #: Nobody asks between the last request and the end.
        self._door, self._is_ending = threading.Lock(), False
        #: Why nothing can be written at the moment; empty where it can.
        self.trouble = ""

    def start(self) -> None:
        """Begin to decide."""
        self._thread.start()

    def ask(self, asked: Asked) -> None:
        """Ask for a change; the outcome comes to the ticket."""
        with self._door:
            if self._is_ending:
                raise broken(self.trouble or "The service is ending.")
            try:
                self._asked.put_nowait(asked)
            except queue.Full:
                message = "Too many requests wait to be written."
                raise busy(message) from None

    def end(self) -> None:
        """Decide about what has come, and stop."""
        with self._door:
            self._is_ending = True
        if self._thread.is_alive():
            self._asked.put(None)
            self._thread.join()

    def _run(self) -> None:
        """Take groups until the end; stop at what nobody has foreseen."""
        group, goes_on = list[Asked](), True
        try:
            while goes_on:
                group, goes_on = self._group()
                group += self._expired()
                if group:
                    self._record(group)
                elif self.trouble and self._journal.has_room():
                    # Who reads that nothing can be written may not try again by himself.
                    self.trouble = ""
        except Exception as failure:
            LOGGER.exception("%s: recording stopped", self._journal.folder)
            self._give_up(group, f"Recording stopped ({type(failure).__name__}: {failure}).")

    def _give_up(self, group: list[Asked], sentence: str) -> None:
        """Tell all who wait, and take nothing any more: nobody knows how things stand."""
        self.trouble, self._is_ending = f"{sentence} Start the service again.", True
        with contextlib.suppress(queue.Empty):
            while True:
                asked = self._asked.get_nowait()
                group += [] if asked is None else [asked]
        self._settle([(asked.ticket, broken(self.trouble)) for asked in group])

    def _group(self) -> tuple[list[Asked], bool]:
        """What has come, and whether more may come; wait for the first, but not for long."""
        group: list[Asked] = []
        rows = n_bytes = 0
        try:
            asked = self._asked.get(timeout=TICK)
            while asked is not None:
                group.append(asked)
                n, each = _size(asked.change)
                rows, n_bytes = rows + n, n_bytes + each
                if len(group) >= MOST_REQUESTS or rows >= MOST_ROWS or n_bytes >= MOST_BYTES:
                    return group, True
                asked = self._asked.get_nowait()
        except queue.Empty:
            return group, True
        return group, False

    def _expired(self) -> list[Asked]:
        """A change of our own, where rows have waited too long."""
        oldest = time.monotonic() - self._pending_seconds
        ids = []
        for name, since in self._since.items():
            if since > oldest:
                break
            ids.append(name)
        return [Asked(Expire(ids), None)] if ids else []

    def _record(self, group: list[Asked]) -> None:
        """Decide about a group, write it, and tell."""
        draft = Draft(self.ledger, self.columns, self.task, self._limits)
        outcomes = [_decided(draft, asked.change) for asked in group]
        told: list[tuple[Any, Outcome]] = []
        later: list[tuple[Any, Outcome]] = []
        for asked, outcome in zip(group, outcomes, strict=True):
            waits = asked.waits_for_learner and isinstance(outcome, dict)
            (later if waits else told).append((asked.ticket, outcome))
        number = self.ledger.applied + 1
        try:
            entry = draft.entry()
            if entry is None:
                self._settle(told)
                if later:
                    # What was sent again may be on its way to the model.
                    self._learn(self.ledger.applied, Entry(), later)
                return
            self._journal.append(number, framed(number, entry))
        except Exception as failure:
            # Refusals, too, were decided on top of what is not on the disk.
            refusal = _refusal_of(failure)
            self.trouble = refusal.sentence
            self._settle([(asked.ticket, refusal) for asked in group])
            return
        self.trouble = ""
        self._take(number, entry, draft.columns)
        self._settle(told)
        self._learn(number, entry, later)

    def _take(self, number: int, entry: Entry, columns: tuple[str, ...]) -> None:
        """Keep up with an entry that is on the disk."""
        # Names first: whoever knows how many inputs there are must know what they are called.
        self.columns = columns
        apply(self.ledger, number, entry)
        now = time.monotonic()
        for name in (*entry.labelled, *entry.expired, *entry.evicted):
            self._since.pop(name, None)
        self._since |= dict.fromkeys(entry.stored, now)


def _decided(draft: Draft, change: Change) -> Outcome:
    """What becomes of a change; a fault in it harms no other."""
    try:
        return draft.decide(change)
    except Exception as failure:
        return failure


def _refusal_of(failure: Exception) -> RefusalError:
    """Say why something could not be written."""
    if isinstance(failure, NoRoomError):
        return no_room(
            f"The disk is full ({failure.strerror}); nothing was learned. Send it again."
        )
    if isinstance(failure, BrokenJournalError):
        message = f"The journal cannot be written ({failure.strerror}); start the service again."
        return broken(message)
    return broken(f"The journal cannot be written ({type(failure).__name__}: {failure}).")


def _size(change: Change) -> tuple[int, int]:
    """Rows that a change brings, and their bytes."""
    if isinstance(change, Learn | Store):
        return len(change.rows.X), change.rows.X.nbytes
    return (len(change.ids), 0) if isinstance(change, Labels) else (1, 0)
