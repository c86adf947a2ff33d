"""What learners of logs have in common: blocks of messages, bad ones, saving after each block.

A log holds messages with numbers that grow, in one or more places (partitions, or streams).  A
learner takes them in the order in which they come, and after every block saves the model together
with the next number of each place; see :mod:`okspca.distributed.following` for what follows.

A message that cannot be learned is found by halving the block it is in: blocks are refused whole,
and how messages are cut into blocks changes no result.  With ``on_error="raise"`` those before it
are learned and saved, and an error names it, now and in every later call, until it is skipped.
With ``on_error="set-aside"`` it goes to a file beside the model, is counted, and learning goes on.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from okspca.distributed.following import Follower
from okspca.distributed.set_aside import Line, SetAside
from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.state.streams import StreamRecord

RAISE, SET_ASIDE = "raise", "set-aside"
MOST_SET_ASIDE = 1000
#: Topic and partition.
Place = tuple[str, int]


class Entry(NamedTuple):
    """One message.

    Examples
    --------
    >>> Entry(("sales", 0), 7, b"{}").offset
    7
    """

    place: Place
    offset: int
    value: Any


class EntryLearner(ABC):
    """A model that follows a log; one class for every kind of log.

    Parameters
    ----------
    path : path
        File of the model and of how far it has got; where it exists, learning goes on from it.
    model : OKSPCA
        Where to begin otherwise; its task must be given.
    record : StreamRecord
        What is read.
    block_rows : int
        Messages to learn, and then save, at a time.
    on_error : {"raise", "set-aside"}
        What is done with a message that cannot be learned.
    most_set_aside : int
        How many messages the file beside the model holds.
    """

    def __init__(
        self,
        path: Path | str,
        model: OKSPCA,
        record: StreamRecord,
        *,
        block_rows: int,
        on_error: str,
        most_set_aside: int,
    ) -> None:
        if on_error not in (RAISE, SET_ASIDE):
            message = f"on_error={on_error!r}, but it must be 'raise' or 'set-aside'."
            raise ValueError(message)
        if block_rows < 1:
            message = f"block_rows={block_rows}, but a block has at least one message."
            raise ValueError(message)
        self.block_rows, self.on_error = block_rows, on_error
        self.follower = Follower(path, model, record)
        self._most_set_aside = most_set_aside
        #: Messages that could not be learned.
        self.set_aside = self.open_set_aside()

    @property
    def path(self) -> Path:
        """The file."""
        return self.follower.path

    @property
    def model(self) -> OKSPCA:
        """The model, with what is learned but not yet saved."""
        return self.follower.model

    @property
    def record(self) -> StreamRecord:
        """What was read, and how much of it was left out."""
        return self.follower.record

    @property
    def offsets(self) -> dict[Place, int]:
        """The next message of every place that the model has not learned."""
        return {(topic, partition): offset for topic, partition, offset in self.record.offsets}

    def recorded(self, offsets: dict[Place, int]) -> StreamRecord:
        """Return the present record with other offsets."""
        found = tuple((*place, offset) for place, offset in offsets.items())
        return self.record._replace(offsets=found)

    @abstractmethod
    def decoded(self, value: Any) -> tuple[list[float], Any]:
        """Return inputs and target of a message, or raise a DataError."""

    @abstractmethod
    def named(self, entry: Entry) -> Line:
        """Say where a message is, for the file of those that were set aside."""

    @abstractmethod
    def place_of(self, line: Line) -> tuple[Place, int]:
        """Read from such a line where the message was."""

    @abstractmethod
    def refusal(self, entry: Entry, why: str) -> str:
        """Say which message cannot be learned, why, and what to do."""

    def learn_block(self, entries: Sequence[Entry]) -> int:
        """Learn messages and save; return how many were taken, learned or set aside."""
        before = self.record.rows_read
        try:
            if entries:
                self._learn(entries)
        finally:
            self.settle()
            self.set_aside.save()
            self.follower.save()
        return self.record.rows_read - before

    def open_set_aside(self) -> SetAside:
        """Read the file beside the model, without what the model does not count."""
        path = self.path.with_name(self.path.name + ".set-aside.ndjson")
        return SetAside(path, self._most_set_aside, self._is_counted)

    def settle(self) -> None:
        """Count a block if the model has learned it, even if Ctrl-C came just after."""
        self.follower.settle()

    def leave_out(self, place: Place, offset: int) -> None:
        """Go past a message without learning it."""
        read, skipped = self.record.rows_read, self.record.rows_skipped
        record = self.recorded({**self.offsets, place: offset + 1})
        self.follower.record = record._replace(rows_read=read + 1, rows_skipped=skipped + 1)

    def _learn(self, entries: Sequence[Entry]) -> None:
        """Learn messages in order; deal with each that cannot be."""
        try:
            rows = [self.decoded(entry.value) for entry in entries]
            self.follower.learn([X for X, _ in rows], [y for _, y in rows], self._after(entries))
        except DataError as failure:
            if len(entries) == 1:
                self._refuse(entries[0], failure)
                return
            half = len(entries) // 2
            self._learn(entries[:half])
            self._learn(entries[half:])

    def _after(self, entries: Sequence[Entry]) -> StreamRecord:
        """The record of when these messages are learned."""
        reached = {entry.place: entry.offset + 1 for entry in entries}
        record = self.recorded({**self.offsets, **reached})
        return record._replace(rows_read=self.record.rows_read + len(entries))

    def _refuse(self, entry: Entry, failure: DataError) -> None:
        """Set a message aside, or raise."""
        why = str(failure).removesuffix(".")
        if self.on_error == RAISE:
            raise DataError(self.refusal(entry, why)) from failure
        # After Ctrl-C between the two the message is met again, and has its line already.
        self.set_aside.add(self.named(entry), why, entry.value)
        self.leave_out(entry.place, entry.offset)

    def _is_counted(self, line: Line) -> bool:
        """Whether the record counts a message that was set aside."""
        place, offset = self.place_of(line)
        return offset < self.offsets.get(place, 0)
