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


def committed(consumer: Any, places: list[Any]) -> dict[Place, tuple[int, int]]:
    """What the group has committed for each place, and where the span began that ends there."""
    found = {}
    for one in consumer.committed(places, timeout=PATIENCE):
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
