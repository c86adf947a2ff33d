r"""Learn from a log such as Kafka, exactly once: the offsets live in the state.

The consumer is anything with the interface of confluent-kafka's (``pip install okspca[kafka]``);
brokers are whatever that speaks to.  For example::

    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({"bootstrap.servers": "...", "group.id": "x", "enable.auto.commit": False,
                         "auto.offset.reset": "error"})
    learner = LogLearner("model.okspca", OKSPCA(task="regression", random_state=0),
                         [("sales", 0), ("sales", 1)], columns=["price", "size"], target="sold")
    learner.attach(consumer, TopicPartition)
    while True:
        learner.learn_available(consumer)

A consumer that was polled has moved on, whether the message was learned or not.  So what was polled
waits in the learner until it is learned: an error in between loses nothing.

**One learner**, which names its partitions (``attach``).  The broker's record of offsets is neither
read nor written.  Every message is learned exactly once, whatever is delivered twice and wherever
the process ends.

**Several learners**, each with a file of its own, whose consumers are one group (``subscribe``).
The group deals out the partitions and moves them.  What a file has learned stays in that model and
does not move: the model of all rows is the merge of the files, :func:`merge_files`.  So every file
holds the *spans* of offsets it has learned, and the rules are:

1. A block is saved first, then its offsets are committed for the group, and only then the next
   block is learned.
2. Before partitions are given up, what was learned is saved and committed, and what was polled but
   not learned is dropped: whoever gets them reads it again.
3. A partition that comes begins at the larger of two offsets: where this file has got, and what the
   group has committed.  Below the first, this model has learned; below the second, some file has.
4. A learner that joins, or that the group took for dead, compares its file with what is committed.
   If it saved a block and did not come to commit it, it takes that block back: the state before the
   last save is kept beside the file (``.previous``).

What follows:

* No file holds a message twice, whatever the group does.
* No message is left out: all below a committed offset are in the spans of some file.
* No message is in two files, if every learner that was killed joined again, by rule 4.  One that
  was killed between saving and committing and never came back leaves a file with one block too
  many, as may one that came back after *two* others had gone on with the partition.  Two systems
  cannot be changed at once, so this cannot be prevented.  It is found out: :func:`merge_files`
  refuses files whose spans overlap, and the ``.previous`` of that file merges.

The group's identifier must belong to such learners alone.  Commits carry a mark, and one without it
(by ``enable.auto.commit``, or another program) is refused.
"""

import json
from collections.abc import Callable, Container, Sequence
from pathlib import Path
from typing import Any, Protocol

from okspca.distributed.consumer_groups import commit, committed, is_ahead, mark
from okspca.distributed.log_learner import (
    MOST_SET_ASIDE,
    RAISE,
    Entry,
    EntryLearner,
    Place,
)
from okspca.distributed.set_aside import Line
from okspca.distributed.spans import Span, from_zero, merge_files, spans_of
from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.state.streams import StreamRecord

__all__ = ["LogLearner", "merge_files"]

#: Where the log begins, wherever that is now; other negative offsets mean that there is none.
BEGINNING = -2
#: Makes such as ``TopicPartition(topic, partition, offset)``.
PlaceOf = Callable[..., Any]


class Message(Protocol):
    """One entry of the log."""

    def topic(self) -> str: ...
    def partition(self) -> int: ...
    def offset(self) -> int: ...
    def value(self) -> bytes: ...
    def error(self) -> Any: ...


class Consumer(Protocol):
    """Who reads the log; one that can also ``consume`` many messages at once is asked to."""

    def assign(self, places: list[Any]) -> None: ...
    def poll(self, timeout: float) -> Message | None: ...


class LogLearner(EntryLearner):
    """A model that follows partitions of a log of JSON objects.

    Parameters
    ----------
    path : path
        File of the model and its offsets; where it exists, learning goes on from it.
    model : OKSPCA
        Where to begin otherwise; its task must be given.
    places : sequence of (topic, partition)
        What to read with :meth:`attach`.
    columns, target : sequence of str, str
        Fields of a message that are inputs, and the one that is the target.
    topics : sequence of str
        What to read with :meth:`subscribe`, instead of ``places``.
    block_rows : int
        Messages to learn, and then save, at a time.
    on_error : {"raise", "set-aside"}
        Whether a message that cannot be learned stops learning, or goes to a file of JSON lines
        beside the model (its name with ``.set-aside.ndjson``).
    most_set_aside : int
        How many messages that file holds; further ones are counted only.
    """

    def __init__(
        self,
        path: Path | str,
        model: OKSPCA,
        places: Sequence[Place] = (),
        *,
        columns: Sequence[str],
        target: str,
        topics: Sequence[str] = (),
        block_rows: int = 1024,
        on_error: str = RAISE,
        most_set_aside: int = MOST_SET_ASIDE,
    ) -> None:
        if bool(places) is bool(topics):
            message = f"places={list(places)} and topics={list(topics)}; give one of the two."
            raise ValueError(message)
        names = tuple(sorted(set(topics) or {topic for topic, _ in places}))
        record = StreamRecord(names, target, tuple(columns), "raise")
        settings: Any = {"on_error": on_error, "most_set_aside": most_set_aside}
        self._places, self._group, self._committed = tuple(places), _no_group, record
        #: Partitions of this learner now, and the numbers at which it began or begins their spans.
        self._begun: dict[Place, int] = {}
        #: Polled, not learned; and the numbers that follow in their partitions.
        self._waiting: list[Message] = []
        self._met: dict[Place, int] = {}
        super().__init__(path, model, record, block_rows=block_rows, **settings)
        if places:
            self.follower.begin(self.recorded({**dict.fromkeys(places, 0), **self.offsets}))
            self._begin_places()

    @property
    def spans(self) -> tuple[Span, ...]:
        """The messages that this model has learned, or left out."""
        return spans_of(self.record)

    @property
    def offsets(self) -> dict[Place, int]:
        """The next message of every partition, where it was not learned, here or elsewhere."""
        known = super().offsets
        return known | {place: max(known.get(place, 0), at) for place, at in self._begun.items()}

    def attach(self, consumer: Consumer, place: PlaceOf) -> None:
        """Let a consumer begin where the model is; ``place`` is such as ``TopicPartition``."""
        self.settle()
        self._forget_waiting()
        self._group = _no_group
        self._begin_places()
        consumer.assign([place(*p, self.offsets[p] or BEGINNING) for p in self._places])

    def subscribe(self, consumer: Any, place: PlaceOf, *, cooperative: bool = False) -> None:
        """Read the partitions that the consumer's group gives it, and give them up in good order.

        Parameters
        ----------
        consumer : confluent_kafka.Consumer
            A member of a group of which all members are such learners, with files of their own.
            Its close() gives everything up in good order.
        place : callable
            ``TopicPartition``.
        cooperative : bool
            Whether its ``partition.assignment.strategy`` is "cooperative-sticky", which gives and
            takes single partitions.
        """
        self.settle()
        self._forget_waiting()
        self._begun, self._group = {}, place
        self._take_back(consumer)

        def come(consumer: Any, places: list[Any]) -> None:
            begun = self._take(consumer, places)
            (consumer.incremental_assign if cooperative else consumer.assign)(begun)

        consumer.subscribe(
            list(self.record.inputs),
            on_assign=come,
            on_revoke=lambda consumer, places: self._give_up(consumer, places, commits=True),
            on_lost=lambda consumer, places: self._give_up(consumer, places, commits=False),
        )

    def learn_available(self, consumer: Any, timeout: float = 1.0) -> int:
        """Learn what is there, a block at most, and save; return the number of messages.

        While a group is dealt anew, nothing can be committed and nothing is learned.

        Where a message cannot be learned and ``on_error="raise"``, those before it are learned and
        saved, and an error names it, now and in every later call, until :meth:`skip` leaves it out.
        """
        self.learn_block([])  # saves what could not be saved before
        learned = 0
        try:
            self._poll(consumer, timeout)
        finally:  # what was polled before an error is learned all the same
            if self._commit(consumer):  # and no block before the one before is committed
                block = self._waiting[: self.block_rows]
                learned = self.learn_block([_entry(message) for message in block])
                self._commit(consumer)
        return learned

    def skip(self, topic: str, partition: int) -> None:
        """Leave out the next message of a partition; the file says so with the next block."""
        self.settle()
        place = topic, partition
        waiting = (message.offset() for message in self._waiting if _place(message) == place)
        self.leave_out(place, next(waiting, self.offsets[place]))
        self._forget_learned()

    def settle(self) -> None:
        """Count a block if the model has learned it, even if Ctrl-C came just after."""
        super().settle()
        self._forget_learned()

    def recorded(self, offsets: dict[Place, int]) -> StreamRecord:
        """Return the record of a model that has got to these offsets, and learned these spans."""
        found = {(span.topic, span.partition, span.begin): span for span in self.spans}
        for place, begin in self._begun.items():
            found[(*place, begin)] = Span(*place, begin, offsets[place])
        spans = sorted(span for span in found.values() if span.begin < span.end)
        reached = {place: 0 for place, at in offsets.items() if at == 0}
        record = super().recorded(
            reached | {(span.topic, span.partition): span.end for span in spans}
        )
        return record._replace(spans=() if spans == from_zero(record) else tuple(spans))

    def decoded(self, value: Any) -> tuple[list[float], Any]:
        """Inputs and target of one message."""
        try:
            fields = json.loads(value)
            return [float(fields[name]) for name in self.record.columns], fields[self.record.target]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as failure:
            text = f"{type(failure).__name__} {failure}"
            raise DataError(text) from failure

    def named(self, entry: Entry) -> Line:
        """Topic, partition and offset."""
        topic, partition = entry.place
        return {"topic": topic, "partition": partition, "offset": entry.offset}

    def place_of(self, line: Line) -> tuple[Place, int]:
        """The same, read from a line."""
        return (line["topic"], line["partition"]), line["offset"]

    def refusal(self, entry: Entry, why: str) -> str:
        """Say which message cannot be learned, why, and what to do."""
        topic, partition = entry.place
        where = f"{topic}[{partition}] at offset {entry.offset}"
        remedy = f"skip({topic!r}, {partition}) leaves it out"
        return f"The message in {where} cannot be learned: {why}. {remedy}."

    def _poll(self, consumer: Any, timeout: float) -> None:
        """Let messages that were not met before wait, until they are a block."""
        # The group has to be heard, room or not, where something could not be committed.
        least = 0 if self._is_told() else 1
        while (room := max(least, self.block_rows - len(self._waiting))) > 0:
            least = 0
            messages = _polled(consumer, room, timeout)
            # Polling may have called for partitions to be given up, or taken: ask for them anew.
            self._let_wait(messages, self.offsets)
            for message in messages:
                self._check(message)
            if len(messages) < (room if hasattr(consumer, "consume") else 1):
                return

    def _let_wait(self, messages: list[Message], offsets: dict[Place, int]) -> None:
        """Keep what is ours and was not met before, whatever was delivered again."""
        for message in messages:
            place, offset = _place(message), message.offset()
            if message.error() is not None or place not in self._begun:
                continue
            if offset >= max(self._met.get(place, 0), offsets[place]):
                self._waiting.append(message)
                self._met[place] = offset + 1

    def _check(self, message: Message) -> None:
        """Raise for an error of the broker, and for a partition that is none of ours."""
        topic, partition = _place(message)
        if message.error() is not None:
            raise DataError(f"{topic}[{partition}] cannot be read: {message.error()}.")
        # In a group, a partition may have been given up while it was polled.
        if (topic, partition) not in self._begun and self._group is _no_group:
            raise DataError(f"{topic}[{partition}] cannot be read: attach() did not name it.")

    def _take(self, consumer: Any, places: list[Any]) -> list[Any]:
        """Begin partitions that come where this file and the group allow; return them so."""
        self.settle()
        self._take_back(consumer)
        begun, offsets = [], self.offsets
        for place, (elsewhere, _) in committed(consumer, places).items():
            at = max(offsets.get(place, 0), elsewhere)
            self._begun[place] = self._begin_of(place, at)
            begun.append(self._group(*place, at or BEGINNING))
        if not self.path.exists():  # without rows, so that the first block can be taken back
            self.follower.write()
        return begun

    def _give_up(self, consumer: Any, places: list[Any], *, commits: bool) -> None:
        """Save and commit what is learned; what was polled is for whoever comes next."""
        self.settle()
        given = {(place.topic, place.partition) for place in places}
        self._forget_waiting(given)
        is_told = False
        try:
            self.learn_block([])
            is_told = commits and self._commit(consumer)
        finally:
            self._begun = {p: begin for p, begin in self._begun.items() if p not in given}
        if not is_told:
            self._take_back(consumer)

    def _take_back(self, consumer: Any) -> None:
        """Undo the last block, if it was learned and then not committed."""
        group = committed(consumer, [self._group(*place) for place in self.offsets])
        if not is_ahead(self.record, group):
            return
        for path, record in self.follower.earlier():
            if not is_ahead(record, group):
                self.follower.go_back(path)
                self.follower.save()
                self.set_aside = self.open_set_aside()
                self.set_aside.save()
                break
        self._forget_waiting()
        for place in self._begun:  # the rest of the block, which is still ours
            consumer.seek(self._group(*place, self.offsets[place] or BEGINNING))

    def _is_told(self) -> bool:
        """Whether the group knows how far the file has got."""
        return self._group is _no_group or self._committed is self.record

    def _commit(self, consumer: Any) -> bool:
        """Tell the group how far the file has got; return whether it knows."""
        if self._is_told():
            return True
        learned = [p for p, begin in self._begun.items() if self.offsets[p] > begin]
        offsets = [self._group(*p, self.offsets[p], mark(self._begun[p])) for p in learned]
        if not offsets or commit(consumer, offsets):
            self._committed = self.record
        return self._is_told()

    def _begin_places(self) -> None:
        """Go on with the partitions that were named."""
        self._begun = {place: self._begin_of(place, self.offsets[place]) for place in self._places}

    def _begin_of(self, place: Place, at: int) -> int:
        """Where the span of a partition began that goes on at this offset."""
        ends = {((span.topic, span.partition), span.end): span.begin for span in self.spans}
        return ends.get((place, at), at)

    def _forget_waiting(self, places: Container[Place] | None = None) -> None:
        """Let nothing of these places wait, or of any; whoever reads them next polls it again."""
        kept = [m for m in self._waiting if places is not None and _place(m) not in places]
        self._waiting, self._met = kept, {_place(m): m.offset() + 1 for m in kept}

    def _forget_learned(self) -> None:
        """Keep of the polled messages those that the offsets have not passed."""
        offsets = self.offsets
        self._waiting = [m for m in self._waiting if m.offset() >= offsets[_place(m)]]


def _no_group(*_: Any) -> Any:
    """Stands for ``TopicPartition`` where nothing is committed."""


def _polled(consumer: Any, room: int, timeout: float) -> list[Message]:
    """Messages that are there: at most so many, or one from a consumer that gives single ones."""
    if hasattr(consumer, "consume"):
        return list(consumer.consume(room, timeout))
    message = consumer.poll(timeout)
    return [] if message is None else [message]


def _place(message: Message) -> Place:
    """Topic and partition."""
    return message.topic(), message.partition()


def _entry(message: Message) -> Entry:
    """A message as learners know it."""
    return Entry(_place(message), message.offset(), message.value())
