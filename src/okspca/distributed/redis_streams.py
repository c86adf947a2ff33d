"""Learn from Redis Streams, exactly once (``pip install okspca[redis]``).

The client is anything with the interface of redis-py's.  A producer adds entries whose fields are
numbers, and the target; a learner reads them in blocks::

    from redis import Redis

    client = Redis("localhost")
    client.xadd("sales", {"price": 3.5, "size": 2, "sold": 17})
    learner = RedisLearner("model.okspca", OKSPCA(task="regression", random_state=0),
                           ["sales"], columns=["price", "size"], target="sold")
    while True:
        learner.learn_available(client)

The identifier of the last entry of every stream is saved with the model, in one file, atomically,
and reading goes on behind it.  So an entry is learned exactly once wherever the process ends,
while a consumer group of Redis delivers *at least* once: it cannot know whether the model was saved
before the acknowledgement was lost.  No group is needed.  A stream belongs to one learner; several
learners take a stream each, begun from one state of zero rows, and their models merge.

What is trimmed or deleted before it was learned would be lost without a word.  It is found out: the
stream is asked, in one transaction with reading, for the last identifier that was deleted (Redis 7
and later), and if that comes after the last learned entry, an error says so until
:meth:`RedisLearner.accept_deleted` is called.  A stream of which nothing was learned yet begins
with what it holds.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from okspca.distributed.log_learner import (
    MOST_SET_ASIDE,
    RAISE,
    Entry,
    EntryLearner,
    Place,
)
from okspca.distributed.set_aside import Line
from okspca.errors import DataError
from okspca.estimators import OKSPCA
from okspca.state.streams import StreamRecord

#: Identifiers are two numbers of so many bits: milliseconds, and one that tells equal ones apart.
BITS = 64


class RedisLearner(EntryLearner):
    """A model that follows Redis streams.

    Parameters
    ----------
    path : path
        File of the model and the last entries; where it exists, learning goes on from it.
    model : OKSPCA
        Where to begin otherwise; its task must be given.
    streams : sequence of str
        What to read.
    columns, target : sequence of str, str
        Fields of an entry that are inputs, and the one that is the target.  With
        ``task="classification"`` targets are labels as texts.
    block_rows : int
        Entries of all streams together to learn, and then save, at a time.
    on_error : {"raise", "set-aside"}
        Whether an entry that cannot be learned stops learning, or goes to a file of JSON lines
        beside the model (its name with ``.set-aside.ndjson``).
    most_set_aside : int
        How many entries that file holds; further ones are counted only.
    """

    def __init__(
        self,
        path: Path | str,
        model: OKSPCA,
        streams: Sequence[str],
        *,
        columns: Sequence[str],
        target: str,
        block_rows: int = 1024,
        on_error: str = RAISE,
        most_set_aside: int = MOST_SET_ASIDE,
    ) -> None:
        if not streams or len(set(streams)) < len(streams):
            message = f"streams={list(streams)}; name one or several, each once."
            raise ValueError(message)
        names = tuple(f"redis:{name}" for name in streams)
        record = StreamRecord(names, target, tuple(columns), "raise")
        settings: Any = {"on_error": on_error, "most_set_aside": most_set_aside}
        super().__init__(path, model, record, block_rows=block_rows, **settings)
        self.streams = tuple(streams)
        self._refused: Entry | None = None
        self._accepted: dict[str, int] = {}

    @property
    def last_entries(self) -> dict[str, str]:
        """Identifier of the last entry of each stream that was learned, or left out."""
        return {name: _identifier(self._last(name)) for name in self.streams}

    @property
    def offsets(self) -> dict[Place, int]:
        """One number for the first identifier of each stream that is not behind the model."""
        return {(name, 0): _number(ms, n) + 1 for name, ms, n in self.record.offsets}

    def recorded(self, offsets: dict[Place, int]) -> StreamRecord:
        """Return the present record with other last entries, as milliseconds and number."""
        found = [(name, *_parts(offset - 1)) for (name, _), offset in offsets.items()]
        return self.record._replace(offsets=tuple(found))

    def learn_available(self, client: Any, timeout: float = 1.0) -> int:
        """Learn what is there, a block at most, and save; return the number of entries.

        Parameters
        ----------
        client : redis.Redis
            Who reads.
        timeout : float
            Seconds to wait for a first entry, if there is none.
        """
        self.settle()
        entries = self._read(client)
        if not entries and timeout > 0:
            after = {name: _identifier(self._last(name)) for name in self.streams}
            if client.xread(after, count=1, block=max(1, round(1000 * timeout))):
                entries = self._read(client)
        return self.learn_block(entries)

    def skip(self) -> None:
        """Leave out the entry that the last error named; the file says so with the next block."""
        if self._refused is None:
            message = "No entry was refused; skip() leaves out the one that an error named."
            raise ValueError(message)
        self.settle()
        self.leave_out(self._refused.place, self._refused.offset)
        self._refused = None

    def accept_deleted(self, stream: str, client: Any) -> None:
        """Go on though entries of a stream were deleted, or trimmed, before they were learned."""
        self._accepted[stream] = _last_deleted(client.xinfo_stream(stream))

    def decoded(self, value: Any) -> tuple[list[float], Any]:
        """Inputs and target of one entry."""
        try:
            fields = {_text(name): _text(content) for name, content in value.items()}
            target: Any = fields[self.record.target]
            if self.model.task != "classification":
                target = float(target)
            return [float(fields[name]) for name in self.record.columns], target
        except (ValueError, KeyError, AttributeError) as failure:
            text = f"{type(failure).__name__} {failure}"
            raise DataError(text) from failure

    def named(self, entry: Entry) -> Line:
        """Stream and identifier."""
        return {"stream": entry.place[0], "id": _identifier(entry.offset)}

    def place_of(self, line: Line) -> tuple[Place, int]:
        """The same, read from a line."""
        milliseconds, number = line["id"].split("-")
        return (line["stream"], 0), _number(int(milliseconds), int(number))

    def refusal(self, entry: Entry, why: str) -> str:
        """Say which entry cannot be learned, why, and what to do."""
        self._refused = entry
        where = f"entry {_identifier(entry.offset)} of {entry.place[0]!r}"
        return f"The {where} cannot be learned: {why}. skip() leaves it out."

    def _last(self, name: str) -> int:
        """The last identifier that was learned, as a number; zero is before all."""
        return self.offsets.get((name, 0), 1) - 1

    def _read(self, client: Any) -> list[Entry]:
        """Read a block of the streams in turn, and see that nothing before it was deleted."""
        with client.pipeline(transaction=True) as together:
            for name in self.streams:
                together.exists(name)
                together.xinfo_stream(name)
                together.xrange(name, f"({_identifier(self._last(name))}", count=self.block_rows)
            found = together.execute(raise_on_error=False)
        entries: list[Entry] = []
        for name, exists, known, rows in zip(
            self.streams, found[::3], found[1::3], found[2::3], strict=True
        ):
            for answer in (known, rows) if exists else (rows,):
                if isinstance(answer, Exception):
                    raise answer
            if exists:
                self._check_deleted(name, _last_deleted(known))
            entries += [Entry((name, 0), _number_of(key), fields) for key, fields in rows]
        return sorted(entries, key=lambda entry: entry.offset)[: self.block_rows]

    def _check_deleted(self, name: str, deleted: int) -> None:
        """Raise where entries are gone that were not learned."""
        last = self._last(name)
        if last and deleted > max(last, self._accepted.get(name, 0)):
            message = (
                f"Entries of {name!r} up to {_identifier(deleted)} were deleted or trimmed, but "
                f"the model has learned up to {_identifier(last)} only; let streams keep more, "
                f"or go on without those by accept_deleted({name!r}, client)."
            )
            raise DataError(message)


def _number(milliseconds: int, number: int) -> int:
    """An identifier as one number, in the same order."""
    return (milliseconds << BITS) | number


def _parts(value: int) -> tuple[int, int]:
    """Milliseconds and number of an identifier."""
    return value >> BITS, value & ((1 << BITS) - 1)


def _identifier(value: int) -> str:
    """An identifier as Redis writes it."""
    milliseconds, number = _parts(value)
    return f"{milliseconds}-{number}"


def _number_of(key: Any) -> int:
    """The number of an identifier that Redis sent."""
    milliseconds, number = _text(key).split("-")
    return _number(int(milliseconds), int(number))


def _last_deleted(known: dict[Any, Any]) -> int:
    """The last identifier that was deleted; zero where the server does not tell."""
    found = known.get("max-deleted-entry-id", "0-0")
    return _number_of(found)


def _text(value: Any) -> str:
    """A text, which a client may give as bytes."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
