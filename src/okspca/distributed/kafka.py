"""Learn from a log such as Kafka, exactly once: the offsets live in the state.

Model and offsets are saved in one file, atomically.  Whatever happens in between (a crash, a second
delivery, another consumer taking over), the file says how far *this* model has learned; messages
before that are left out and reading goes on from there.  The broker's own record of offsets is not
needed.

A consumer that was polled has moved on, whether the message was learned or not.  So what was polled
waits in the learner until it is learned: an error in between loses nothing.

The consumer is anything with the interface of confluent-kafka's: ``assign`` places, ``poll`` a
message.  For example::

    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": "...", "group.id": "x", "enable.auto.commit": False})
    learner = LogLearner("model.okspca", OKSPCA(task="regression", random_state=0),
                         [("sales", 0), ("sales", 1)], columns=["price", "size"], target="sold")
    learner.attach(consumer, TopicPartition)
    while True:
        learner.learn_available(consumer)
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.estimators.saving import load_model, save_model
from okspca.state.streams import StreamRecord

Place = tuple[str, int]


class Message(Protocol):
    """One entry of the log."""

    def topic(self) -> str: ...  # noqa: D102
    def partition(self) -> int: ...  # noqa: D102
    def offset(self) -> int: ...  # noqa: D102
    def value(self) -> bytes: ...  # noqa: D102
    def error(self) -> Any: ...  # noqa: D102


class Consumer(Protocol):
    """Who reads the log."""

    def assign(self, places: list[Any]) -> None: ...  # noqa: D102
    def poll(self, timeout: float) -> Message | None: ...  # noqa: D102


class LogLearner:
    """A model that follows partitions of a log of JSON objects.

    Parameters
    ----------
    path : path
        File of the model and its offsets; where it exists, learning goes on from it.
    model : OKSPCA
        Where to begin otherwise; its task must be given.
    places : sequence of (topic, partition)
        What to read.
    columns, target : sequence of str, str
        Fields of a message that are inputs, and the one that is the target.
    block_rows : int
        Messages to learn, and then save, at a time.
    """

    def __init__(
        self,
        path: Path | str,
        model: OKSPCA,
        places: Sequence[Place],
        *,
        columns: Sequence[str],
        target: str,
        block_rows: int = 1024,
    ) -> None:
        if model.task == "auto":
            message = (
                "task='auto' cannot be told from JSON, where a block of whole numbers may be "
                "quantities; make the model with task='regression' or task='classification'."
            )
            raise ValueError(message)
        self.path, self.block_rows = Path(path), block_rows
        topics = tuple(sorted({topic for topic, _ in places}))
        offsets = tuple((topic, partition, 0) for topic, partition in places)
        self.record = StreamRecord(topics, target, tuple(columns), "raise", offsets=offsets)
        self.model = model
        if self.path.exists():
            self.model, found = load_model(type(model), self.path)
            if found is None or not found.reads_as(self.record):
                message = f"{path} belongs to other topics, columns or another target."
                raise DataError(message)
            known = {place[:2]: place for place in found.offsets}
            begun = tuple(known.get(place[:2], place) for place in offsets)
            self.record = found._replace(offsets=begun)
        self._saved = self.record
        #: Polled, not learned.
        self._waiting: list[Message] = []
        #: Rows of the model before a block, and the record of when it is learned.
        self._underway: tuple[int, StreamRecord] | None = None

    @property
    def offsets(self) -> dict[Place, int]:
        """The next message of every partition that the model has not learned."""
        return {(topic, partition): offset for topic, partition, offset in self.record.offsets}

    def attach(self, consumer: Consumer, place: Callable[[str, int, int], Any]) -> None:
        """Let a consumer begin where the model is; ``place`` is such as ``TopicPartition``."""
        self._settle()
        self._waiting = []
        consumer.assign([place(*offset) for offset in self.record.offsets])

    def learn_available(self, consumer: Consumer, timeout: float = 1.0) -> int:
        """Learn what is there, a block at most, and save; return the number of messages.

        Where a message cannot be learned, those before it are learned and saved, and an error names
        it, now and in every later call, until :meth:`skip` leaves it out.
        """
        self._settle()
        before = self.record.rows_read
        try:
            self._poll(consumer, timeout)
            if self._waiting:
                self._learn(self._waiting)
        finally:
            self._settle()
            if self.record is not self._saved:
                save_model(self.model, self.path, self.record)
                self._saved = self.record
        return self.record.rows_read - before

    def skip(self, topic: str, partition: int) -> None:
        """Leave out the next message of a partition; the file says so with the next block."""
        self._settle()
        read, skipped = self.record.rows_read, self.record.rows_skipped
        offsets, place = self.offsets, (topic, partition)
        waiting = (message.offset() for message in self._waiting if _place(message) == place)
        offsets[place] = next(waiting, offsets[place]) + 1
        self.record = self._at(offsets, read + 1)._replace(rows_skipped=skipped + 1)
        self._forget_learned()

    def _poll(self, consumer: Consumer, timeout: float) -> None:
        """Let messages that were not met before wait, until they are a block."""
        reached = self.offsets
        for known in self._waiting:
            reached[_place(known)] = known.offset() + 1
        while len(self._waiting) < self.block_rows:
            message = consumer.poll(timeout)
            if message is None:
                return
            place = _place(message)
            if message.error() is not None or place not in reached:
                raise DataError(f"{place[0]}[{place[1]}] cannot be read: {message.error()}.")
            if message.offset() >= reached[place]:  # an earlier one was delivered again
                self._waiting.append(message)
                reached[place] = message.offset() + 1

    def _learn(self, messages: list[Message]) -> None:
        """Learn messages in order, up to the first that cannot be; raise for that one."""
        try:
            rows = [self._decoded(message) for message in messages]
            self._take(messages, [row[:-1] for row in rows], [row[-1] for row in rows])
        except DataError as failure:
            if len(messages) == 1:
                raise DataError(_refusal(messages[0], failure)) from failure
            # A block is refused whole, and how rows are cut into blocks changes no result.
            half = len(messages) // 2
            self._learn(messages[:half])
            self._learn(messages[half:])

    def _take(self, messages: list[Message], inputs: list[Any], targets: list[Any]) -> None:
        """Learn a block, and only then count it."""
        offsets = self.offsets
        for message in messages:
            offsets[_place(message)] = message.offset() + 1
        learned = self._at(offsets, self.record.rows_read + len(messages))
        self._underway = self._rows(), learned
        self.model.partial_fit(np.array(inputs, dtype=np.float64), targets)
        self._settle()

    def _settle(self) -> None:
        """Count a block if the model has learned it, even if Ctrl-C came just after."""
        if self._underway is not None:
            before, learned = self._underway
            if self._rows() > before:
                self.record = learned
            self._underway = None
            self._forget_learned()

    def _rows(self) -> int:
        """Rows that the model has learned."""
        return int(getattr(self.model, "n_samples_seen_", 0))

    def _at(self, offsets: dict[Place, int], read: int) -> StreamRecord:
        """Return the record of a model that has got to these offsets."""
        places = tuple((*place, offset) for place, offset in offsets.items())
        return self.record._replace(offsets=places, rows_read=read)

    def _forget_learned(self) -> None:
        """Keep of the polled messages those that the offsets have not passed."""
        offsets = self.offsets
        self._waiting = [m for m in self._waiting if m.offset() >= offsets[_place(m)]]

    def _decoded(self, message: Message) -> list[Any]:
        """Inputs and target of one message."""
        try:
            fields = json.loads(message.value())
            row = [float(fields[name]) for name in self.record.columns]
            return [*row, fields[self.record.target]]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as failure:
            text = f"{type(failure).__name__} {failure}"
            raise DataError(text) from failure


def _place(message: Message) -> Place:
    """Topic and partition."""
    return message.topic(), message.partition()


def _refusal(message: Message, failure: DataError) -> str:
    """Say which message cannot be learned, why, and what to do."""
    where = f"{message.topic()}[{message.partition()}] at offset {message.offset()}"
    why = str(failure).removesuffix(".")
    remedy = f"skip({message.topic()!r}, {message.partition()}) leaves it out"
    return f"The message in {where} cannot be learned: {why}. {remedy}."
