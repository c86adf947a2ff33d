"""Learn from a log such as Kafka, exactly once: the offsets live in the state.

Model and offsets are saved in one file, atomically.  Whatever happens in between (a crash, a second
delivery, another consumer taking over), the file says how far *this* model has learned; messages
before that are left out and reading goes on from there.  The broker's own record of offsets is not
needed.

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

    @property
    def offsets(self) -> dict[Place, int]:
        """The next message of every partition that the model has not learned."""
        return {(topic, partition): offset for topic, partition, offset in self.record.offsets}

    def attach(self, consumer: Consumer, place: Callable[[str, int, int], Any]) -> None:
        """Let a consumer begin where the model is; ``place`` is such as ``TopicPartition``."""
        consumer.assign([place(*offset) for offset in self.record.offsets])

    def learn_available(self, consumer: Consumer, timeout: float = 1.0) -> int:
        """Learn what is there, a block at most, and save; return the number of messages.

        Where a message cannot be learned, an error names it and nothing has changed.
        """
        rows: list[list[Any]] = []
        offsets = self.offsets
        while len(rows) < self.block_rows:
            message = consumer.poll(timeout)
            if message is None:
                break
            place = message.topic(), message.partition()
            if message.error() is not None or place not in offsets:
                raise DataError(f"{place[0]}[{place[1]}] cannot be read: {message.error()}.")
            if message.offset() >= offsets[place]:  # an earlier one was delivered again
                rows.append(self._decoded(message))
                offsets[place] = message.offset() + 1
        if rows:
            values = np.array([row[:-1] for row in rows], dtype=np.float64)
            self.model.partial_fit(values, np.array([row[-1] for row in rows]))
            places = tuple((*place, offset) for place, offset in offsets.items())
            read = self.record.rows_read + len(rows)
            self.record = self.record._replace(offsets=places, rows_read=read)
            save_model(self.model, self.path, self.record)
        return len(rows)

    def _decoded(self, message: Message) -> list[Any]:
        """Inputs and target of one message."""
        where = f"{message.topic()}[{message.partition()}] at offset {message.offset()}"
        try:
            fields = json.loads(message.value())
            row = [float(fields[name]) for name in self.record.columns]
            return [*row, fields[self.record.target]]
        except (ValueError, TypeError, KeyError) as failure:
            text = f"The message in {where} cannot be learned: {type(failure).__name__} {failure}."
            raise DataError(text) from failure
