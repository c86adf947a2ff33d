"""What a consumer group has committed, and what that says about the file of one of its learners.

A commit of a learner says two things of a partition: the offset that follows the messages it has
saved, and, in the text that goes with it, where its span of them began.
"""

from typing import Any

from okspca.distributed.log_learner import Place
from okspca.distributed.spans import Span, spans_of
from okspca.errors import DataError
from okspca.state.streams import StreamRecord

#: Tells commits of learners from others; the number at which the span began follows.
MARK = "okspca "
#: Errors of Kafka's protocol: illegal generation, unknown member, rebalance in progress.  Calls for
#: giving up or taking partitions follow.
DEALT_ANEW = (22, 25, 27)
#: Seconds to wait for the group's offsets.
PATIENCE = 30.0


def mark(begin: int) -> str:
    """What a commit says beside the offset.

    Examples
    --------
    >>> mark(80)
    'okspca 80'
    """
    return f"{MARK}{begin}"


def commit(consumer: Any, offsets: list[Any]) -> bool:
    """Commit offsets; return False while the group is dealt anew, or where it left us out."""
    try:
        failed = [one for one in consumer.commit(offsets=offsets, asynchronous=False) or ()
                  if getattr(one, "error", None) is not None]  # fmt: skip
    except Exception as failure:
        if _code(*failure.args[:1]) in DEALT_ANEW:
            return False
        raise
    for one in failed:
        if _code(one.error) not in DEALT_ANEW:
            message = (
                f"The offset of {one.topic}[{one.partition}] cannot be committed: {one.error}."
            )
            raise DataError(message)
    return not failed


def _code(error: Any = None) -> int | None:
    """The number of an error of Kafka."""
    return int(error.code()) if hasattr(error, "code") else None


def committed(consumer: Any, places: list[Any]) -> dict[Place, tuple[int, int]]:
    """What the group has committed for each place, and where the span began that ends there."""
    found = {}
    for one in consumer.committed(places, timeout=PATIENCE):
        if getattr(one, "error", None) is not None:
            message = (
                f"The offset of {one.topic}[{one.partition}] cannot be asked for: {one.error}."
            )
            raise DataError(message)
        said = one.metadata or ""
        if one.offset < 0:
            found[one.topic, one.partition] = 0, 0
        elif said.startswith(MARK) and said.removeprefix(MARK).isdecimal():
            found[one.topic, one.partition] = one.offset, int(said.removeprefix(MARK))
        else:
            message = f"The offset of {one.topic}[{one.partition}] was committed by no such learner"
            remedy = "set enable.auto.commit to False and take a group.id of learners alone"
            raise DataError(f"{message} (its mark is {said!r}); {remedy}.")
    return found


def is_ahead(record: StreamRecord, group: dict[Place, tuple[int, int]]) -> bool:
    """Whether a file holds messages that the group did not hear of, or gave to another file."""
    own = set(spans_of(record))
    for topic, partition, known in record.offsets:
        committed, begin = group.get((topic, partition), (0, 0))
        is_own = Span(topic, partition, begin, committed) in own
        if known > committed or (begin < known and not is_own):
            return True
    return False
