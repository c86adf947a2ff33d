"""Which messages of a log a model has learned, and merging models that must not share any.

A span is a run of messages of one partition.  Models whose spans are disjoint have no message in
common, so the merge of such models counts every message once.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from okspca.errors import MergeError
from okspca.estimators import OKSPCA
from okspca.estimators.saving import load_model
from okspca.state.streams import StreamRecord


class Span(NamedTuple):
    """Messages of a partition that a model has learned, from ``begin`` to ``end - 1``.

    Examples
    --------
    >>> Span("sales", 0, 80, 100).overlaps(Span("sales", 0, 99, 120))
    True
    """

    topic: str
    partition: int
    begin: int
    end: int

    def overlaps(self, other: "Span") -> bool:
        """Whether both hold a message."""
        both = max(self.begin, other.begin) < min(self.end, other.end)
        return self[:2] == other[:2] and both


def spans_of(record: StreamRecord) -> tuple[Span, ...]:
    """The messages that a file's model has learned, or left out."""
    return tuple(Span(*span) for span in record.spans) or tuple(from_zero(record))


def merge_files(kind: type[OKSPCA], paths: Iterable[Path | str]) -> OKSPCA:
    """Merge the models of one group's learners, in which every message must count once.

    Parameters
    ----------
    kind : type
        Their estimator.
    paths : iterable of path
        Their files.

    Raises
    ------
    MergeError
        Two files hold the same messages; the error names them.
    """
    merged: OKSPCA | None = None
    held: list[tuple[Path | str, Span]] = []
    for path in paths:
        model, record = load_model(kind, path)
        if record is None or bool(record.rows_read) is not bool(record.offsets):
            message = f"{path} is not the file of a learner of a log."
            raise MergeError(message)
        if not record.rows_read:
            continue
        new = [(path, span) for span in spans_of(record)]
        for (one, ours), (other, theirs) in ((a, b) for a in held for b in new):
            if ours.overlaps(theirs):
                raise MergeError(_overlap(one, ours, other, theirs))
        held += new
        merged = model if merged is None else merged.merge(model, distinct=True)
    if merged is None:
        message = "There are no files to merge."
        raise ValueError(message)
    return merged


def _overlap(one: Path | str, ours: Span, other: Path | str, theirs: Span) -> str:
    """Say what two files both hold, and what to do."""
    begin, end = max(ours.begin, theirs.begin), min(ours.end, theirs.end)
    what = f"{ours.topic}[{ours.partition}] from offset {begin} to {end - 1}"
    remedy = "take the .previous of the file whose process was killed, which ends before that block"
    return f"{one} and {other} both hold {what}; {remedy}."


def from_zero(record: StreamRecord) -> list[Span]:
    """The spans of a record that holds every message before its offsets."""
    places = sorted(record.offsets)
    return [Span(topic, partition, 0, end) for topic, partition, end in places if end > 0]
