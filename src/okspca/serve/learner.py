"""One thread that learns what the journal says, in its order, and writes checkpoints.

A block that the model refuses as a whole is learned row by row, and rows that it refuses are set
aside.  That follows from the block and the model alone, so a replay decides the same.

A checkpoint is the model with its ledger, written between two entries.  When it was written is no
part of the state: the entries after the last one are replayed, and give the same bytes.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from okspca.distributed.set_aside import Line, SetAside
from okspca.errors import DataError, NotReadyError
from okspca.estimators.monitored import Monitored
from okspca.estimators.saving import save_model
from okspca.serve.applying import apply
from okspca.serve.entries import Entry
from okspca.serve.journal import Journal
from okspca.serve.recorder import Outcome, Settle
from okspca.serve.refusals import broken, unwritten
from okspca.state.ledger import Ledger
from okspca.state.streams import StreamRecord

MODEL_FILE, SET_ASIDE_FILE = "model.okspca", "set-aside.ndjson"
#: Rows in control from which limits are made.
MONITOR_EVERY = 1000
TICK = 0.5
#: A checkpoint that could not be written is tried again after so many seconds.
RETRY_SECONDS = 5.0
LOGGER = logging.getLogger("okspca.serve")
#: Told of every block that was learned: inputs, targets, and what a monitor found.
Learned = Callable[[Any, Any, tuple[Monitored, ...]], None]


class Schedule(NamedTuple):
    """When checkpoints are written: after so many seconds, or rows."""

    seconds: float = 30.0
    rows: int = 1_000_000


class Learner:
    """The one who learns.

    Parameters
    ----------
    folder : path
        Where the checkpoint is.
    model : OKSPCA
        The model; it is changed in place.
    record : StreamRecord
        Its columns and its ledger, which says how far the model has come.
    journal : Journal
        Lets go of what a checkpoint holds.
    settle : callable
        Tells those who wait until their rows are learned.
    learned : callable
        Told of every block.
    schedule : Schedule
        When checkpoints are written.
    most_set_aside : int
        How many rows the file of those set aside holds.
    """

    def __init__(
        self,
        folder: Path,
        model: Any,
        record: StreamRecord,
        journal: Journal,
        settle: Settle,
        learned: Learned = lambda X, y, found: None,
        *,
        schedule: Schedule | None = None,
        most_set_aside: int = 1000,
    ) -> None:
        assert record.ledger is not None
        self.folder, self.model, self.record = folder, model, record
        self.ledger: Ledger = record.ledger
        self._journal, self._settle, self._learned = journal, settle, learned
        self._schedule = schedule or Schedule()
        path = folder / SET_ASIDE_FILE
        self.set_aside = SetAside(path, most_set_aside, self._is_counted)
        #: The last rows that were set aside, for those who watch.
        self.latest_set_aside: deque[Line] = deque(maxlen=10)
        self._entries: deque[tuple[int, Entry, list[tuple[Any, Outcome]]]] = deque()
        self._condition = threading.Condition()
        self._bytes = self._rows = 0
        self._saved, self._saved_at, self._saved_rows = self.ledger.applied, time.monotonic(), 0
        self._wanted: list[Any] = []
        self._is_ending = self._is_over = False
        #: Why no checkpoint can be written at the moment; empty where it can.
        self.hindrance = ""
        #: Why learning has stopped; empty while it has not.
        self.trouble = ""
        self._thread = threading.Thread(target=self._run, name="okspca learner", daemon=True)

    @property
    def bytes_waiting(self) -> int:
        """Memory of rows that are in the journal, and not in the model yet."""
        return self._bytes

    @property
    def rows_waiting(self) -> int:
        """Their number."""
        return self._rows

    @property
    def rows_since_checkpoint(self) -> int:
        """Rows learned since the last checkpoint."""
        return self._saved_rows

    def start(self) -> None:
        """Begin to learn."""
        self._thread.start()

    def put(self, number: int, entry: Entry, waiting: list[tuple[Any, Outcome]]) -> None:
        """Take the next entry, and those who wait until it is learned."""
        with self._condition:
            self._bytes += entry.n_bytes
            self._rows += entry.n_rows
            self._entries.append((number, entry, waiting))
            self._condition.notify()
            is_over = self._is_over
        if is_over:
            self._give_up()

    def ask_checkpoint(self, ticket: Any) -> None:
        """Write a checkpoint as soon as the entry underway is learned."""
        with self._condition:
            if self._is_over:
                message = "The model is ending, or has stopped to learn; its last checkpoint stays."
                raise broken(message)
            self._wanted.append(ticket)
            self._condition.notify()

    def end(self, seconds: float = 10.0) -> None:
        """Learn what waits, for so long at most, write a checkpoint and stop."""
        deadline = time.monotonic() + seconds
        with self._condition:
            while self._entries and not self.trouble and time.monotonic() < deadline:
                self._condition.wait(0.05)
            self._is_ending = True
            self._condition.notify()
        if self._thread.is_alive():
            self._thread.join()
        if not self.trouble:
            self._told_checkpoint([])

    def _run(self) -> None:
        """Learn entries until the end; stop at what nobody has foreseen."""
        try:
            while not self._is_ending:
                self._step()
        except Exception as failure:
            self.trouble = f"Learning stopped ({type(failure).__name__}: {failure})."
            LOGGER.exception("%s: %s", self.folder.name, self.trouble)
        with self._condition:
            self._is_over = True
        self._give_up()

    def _give_up(self) -> None:
        """Tell those who wait until their rows are learned that it will not be soon."""
        with self._condition:
            waiting = [ticket for _, _, told in self._entries for ticket, _ in told]
            tickets, self._wanted = [*waiting, *self._wanted], []
        why = self.trouble or "The service is ending."
        refusal = broken(f"{why} What is in the journal is learned when it starts again.")
        self._settle([(ticket, refusal) for ticket in tickets])

    def _step(self) -> None:
        """Learn the next entry, or write a checkpoint that is due."""
        with self._condition:
            if not self._entries and not self._wanted:
                self._condition.wait(TICK)
            found = self._entries[0] if self._entries else None
        if found is not None:
            number, entry, waiting = found
            self.apply(number, entry)
            with self._condition:
                self._entries.popleft()
                self._bytes -= entry.n_bytes
                self._rows -= entry.n_rows
                self._condition.notify_all()
            if waiting:
                self._settle(waiting)
        with self._condition:
            wanted, self._wanted = self._wanted, []
        if wanted or self._is_due():
            self._told_checkpoint(wanted)

    def apply(self, number: int, entry: Entry) -> None:
        """Learn one entry."""
        for place, line in enumerate(entry.aside):
            self._put_aside({"entry": number, "place": place, **line})
        if entry.n_rows:
            self._learn(number, entry)
            self._watch()
        if entry.columns:
            self.record = self.record._replace(columns=entry.columns)
        if entry.is_relearning:
            self._relearn()
        apply(self.ledger, number, entry)
        self._saved_rows += entry.n_rows

    def checkpoint(self) -> None:
        """Write model and ledger, and let go of what the journal has of them."""
        self.set_aside.save()
        record = self.record._replace(ledger=self.ledger)
        save_model(self.model, self.folder / MODEL_FILE, record)
        self._saved, self._saved_rows = self.ledger.applied, 0
        self._journal.truncate(self._saved)

    def _learn(self, number: int, entry: Entry) -> None:
        """Learn a block, or those of its rows that can be learned."""
        X, targets = entry.X, entry.targets
        try:
            found = self._fit(X, targets)
        except (DataError, ArithmeticError, ValueError):
            self._learn_singly(number, X, targets)
            return
        self._learned(X, targets, found)

    def _learn_singly(self, number: int, X: Any, targets: Any) -> None:
        """Learn a block row by row; set aside what is refused."""
        for row in range(len(X)):
            x, y = X[row : row + 1], targets[row : row + 1]
            try:
                found = self._fit(x, y)
            except (DataError, ArithmeticError, ValueError) as failure:
                self.ledger.n_failed += 1
                place = {"entry": number, "learning": row}
                self._put_aside({**place, "reason": str(failure), "value": str(x.tolist())})
            else:
                self._learned(x, y, found)

    def _fit(self, X: Any, targets: Any) -> tuple[Monitored, ...]:
        """Learn rows, after they were compared with rows in control where that is wanted."""
        if self._is_monitored():
            found: tuple[Monitored, ...] = self.model.learn_monitored(X, targets)
            return found
        self.model.partial_fit(X, targets)
        return ()

    def _watch(self) -> None:
        """Begin to compare rows with those in control, once the model can."""
        if not self.ledger.is_monitored or self._is_monitored():
            return
        try:
            self.model.start_live_monitor(MONITOR_EVERY)
        except NotReadyError:
            return

    def _is_monitored(self) -> bool:
        """Whether limits follow the model."""
        return self.model.learned is not None and self.model.learned.live is not None

    def _relearn(self) -> None:
        """Begin a fresh pilot, where the model can have one."""
        try:
            self.model.relearn_features()
        except (NotReadyError, ValueError) as failure:
            LOGGER.warning("%s: features stay as they are: %s", self.folder.name, failure)

    def _put_aside(self, line: Line) -> None:
        """Note a row that is not learned."""
        place = {name: line[name] for name in line if name not in ("reason", "value")}
        self.set_aside.add(place, line["reason"], line["value"])
        self.latest_set_aside.append(line)

    def _is_counted(self, line: Line) -> bool:
        """Whether a line belongs to an entry that the checkpoint has."""
        return int(line["entry"]) <= self.ledger.applied

    def _is_due(self) -> bool:
        """Whether it is time for a checkpoint."""
        if self.hindrance:
            return time.monotonic() - self._saved_at >= RETRY_SECONDS
        if self.ledger.applied == self._saved:
            return False
        is_late = time.monotonic() - self._saved_at >= self._schedule.seconds
        return is_late or self._saved_rows >= self._schedule.rows or self._journal.is_full

    def _told_checkpoint(self, tickets: list[Any]) -> None:
        """Write a checkpoint and tell those who asked for it; without room, try again later."""
        outcome: Outcome = {"checkpoint": self.ledger.applied}
        try:
            self._checkpoint_if_new()
            self.hindrance = ""
        except (OSError, ValueError) as failure:
            LOGGER.warning("%s: no checkpoint was written: %s", self.folder.name, failure)
            outcome = unwritten(failure, "no checkpoint can be written, the journal keeps all")
            self.hindrance = outcome.sentence
        self._saved_at = time.monotonic()
        self._settle([(ticket, outcome) for ticket in tickets])

    def _checkpoint_if_new(self) -> None:
        """Write a checkpoint if something was learned since the last one."""
        if self.ledger.applied > self._saved:
            self.checkpoint()
        else:
            self._journal.truncate(self._saved)
