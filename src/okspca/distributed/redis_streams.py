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

What is trimmed or deleted before it was learned would be lost without a word.  It is found out
(with Redis 7 and later): in one transaction with reading, the stream is asked how many entries have
left it, which may not be more than were learned, and which was the last that was deleted, which may
not come after the last that was learned.  Otherwise an error says so, until
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
        #: For entries that were read: how many their streams have had, up to and with them.
        self._counts: dict[tuple[Place, int], int] = {}

    @property
    def last_entries(self) -> dict[str, str]:
        """Identifier of the last entry of each stream that was learned, or left out."""
        return {name: _identifier(self._last(name)) for name in self.streams}

    @property
    def offsets(self) -> dict[Place, int]:
        """One number for the first identifier of each stream that is not behind the model."""
        return {(name, 0): _number_of(last) + 1 for name, last, _ in self.record.entries}

    def recorded(self, offsets: dict[Place, int]) -> StreamRecord:
        """Return the present record with other last entries."""
        known = {(name, 0): count for name, _, count in self.record.entries}
        found = [
            (place[0], _identifier(offset - 1), self._counts.get((place, offset)) or known[place])
            for place, offset in offsets.items()
        ]
        return self.record._replace(entries=tuple(found))

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
        known = client.xinfo_stream(stream)
        self._accepted[stream] = _last_deleted(known)
        entries = [
            (name, last, max(count, _gone(known)) if name == stream else count)
            for name, last, count in self.record.entries
        ]
        self.follower.record = self.record._replace(entries=tuple(entries))
        self.follower.save()

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
        return (line["stream"], 0), _number_of(line["id"])

    def refusal(self, entry: Entry, why: str) -> str:
        """Say which entry cannot be learned, why, and what to do."""
        self._refused = entry
        where = f"entry {_identifier(entry.offset)} of {entry.place[0]!r}"
        return f"The {where} cannot be learned: {why}. skip() leaves it out."

    def _last(self, name: str) -> int:
        """The last identifier that was learned, as a number; zero is before all."""
        return self.offsets.get((name, 0), 1) - 1

    def _read(self, client: Any) -> list[Entry]:
        """Read a block of all streams, and see that nothing before it was deleted."""
        with client.pipeline(transaction=True) as together:
            for name in self.streams:
                together.exists(name)
                together.xinfo_stream(name)
                together.xrange(name, f"({_identifier(self._last(name))}", count=self.block_rows)
            found = together.execute(raise_on_error=False)
        entries: list[Entry] = []
        self._counts = {}
        for i, name in enumerate(self.streams):
            exists, known, rows = found[3 * i : 3 * i + 3]
            if not exists:
                continue
            for answer in (known, rows):
                if isinstance(answer, Exception):
                    raise answer
            count = self._checked(name, known)
            for key, fields in rows:
                count += 1
                entries.append(Entry((name, 0), _number_of(key), fields))
                self._counts[(name, 0), entries[-1].offset + 1] = count
        return sorted(entries, key=lambda entry: entry.offset)[: self.block_rows]

    def _checked(self, name: str, known: dict[str, Any]) -> int:
        """Return how many entries of a stream are behind the model; raise where some are gone."""
        last, count = self._last(name), {n: c for n, _, c in self.record.entries}.get(name, 0)
        gone, deleted = _gone(known), _last_deleted(known)
        if last and (gone > count or deleted > max(last, self._accepted.get(name, 0))):
            message = (
                f"Entries of {name!r} behind {_identifier(last)}, the last that the model has "
                "learned, were deleted or trimmed; let streams keep more, or go on without "
                f"those by accept_deleted({name!r}, client)."
            )
            raise DataError(message)
        return max(count, gone)


def _identifier(value: int) -> str:
    """An identifier as Redis writes it."""
    return f"{value >> BITS}-{value & ((1 << BITS) - 1)}"


def _number_of(key: Any) -> int:
    """An identifier as one number, in the same order."""
    milliseconds, number = _text(key).split("-")
    return (int(milliseconds) << BITS) | int(number)


def _gone(known: dict[str, Any]) -> int:
    """How many entries have left a stream; zero where the server does not tell."""
    return int(known.get("entries-added", known["length"])) - int(known["length"])


def _last_deleted(known: dict[str, Any]) -> int:
    """The last identifier that was deleted; zero where the server does not tell."""
    return _number_of(known.get("max-deleted-entry-id", "0-0"))


def _text(value: Any) -> str:
    """A text, which a client may give as bytes."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
