"""Where a model stands in the files it is being fitted to, so that a run can be resumed.

Fields that were added later are written only where they say something, so files without them, old
or new, have one form.
"""

import math
import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from okspca.state.evaluations import Evaluation, read_evaluation, write_evaluation
from okspca.state.fields import Sink, Source
from okspca.state.ledger import Ledger, read_ledger, write_ledger
from okspca.state.said import parsed, typed

MISSING = ("raise", "skip", "impute")
NUMBER, DATE, ONE_HOT = "number", "date", "one-hot"
#: Stands in files for what is not known, since those hold only finite numbers; it is above every
#: share and every score.
UNKNOWN = 2.0
KINDS = (NUMBER, DATE, ONE_HOT)


class Encoding(NamedTuple):
    """How one column becomes numbers.

    Examples
    --------
    >>> Encoding("one-hot", ("blue", "red")).categories
    ('blue', 'red')
    """

    kind: str
    categories: tuple[str, ...] = ()


class Standing(NamedTuple):
    """How things stood after so many rows of the input; NaN where nothing is known.

    Examples
    --------
    >>> Standing(1024, 0.5, 1.0, 2).rank
    2
    """

    rows: float
    objective: float
    rho_lower: float
    rank: float
    embedding_score: float = math.nan
    input_score: float = math.nan


class StreamRecord(NamedTuple):
    """What `okspca fit` notes beside the model.

    Attributes
    ----------
    inputs : tuple of str
        The files, in the order in which they are read.
    target : str
        Name of the target column.
    columns : tuple of str
        Names of the input columns, in the order of the model's inputs.
    missing : {"raise", "skip", "impute"}
        What is done with missing values.
    rows_read : int
        Rows taken from the files so far, whatever became of them.
    rows_skipped : int
        Rows among them that were left out.
    values_imputed : int
        Values that were filled in.
    encodings : tuple of Encoding
        How each column becomes numbers; empty where all of them hold numbers.
    history : tuple of Standing
        How good the basis was on the way.
    evaluation : Evaluation, optional
        Running scores of predictions made before a row was learned, if asked for.
    offsets : tuple of (topic, partition, offset)
        For a log such as Kafka: the next message of each partition that was not learned.  For
        Spark: the query, 0, and its next batch.
    others : tuple of int
        For each column, how many of its texts were no category; empty where there were none.
    flags : tuple of str
        What was said about reading the files, as it is typed; see :mod:`okspca.state.said`.
    spans : tuple of (topic, partition, begin, end)
        For a log whose partitions moved between models: the messages that this one holds; empty
        where those are all before the offsets.
    entries : tuple of (stream, identifier, count)
        For Redis: the last entry of each stream that was learned, and how many were before it.
    ledger : Ledger, optional
        For a service: how far its sources have come, and rows that wait for their target.

    Examples
    --------
    >>> StreamRecord(("a.csv",), "y", ("x",), "raise").rows_read
    0
    """

    inputs: tuple[str, ...]
    target: str
    columns: tuple[str, ...]
    missing: str
    rows_read: int = 0
    rows_skipped: int = 0
    values_imputed: int = 0
    encodings: tuple[Encoding, ...] = ()
    history: tuple[Standing, ...] = ()
    evaluation: Evaluation | None = None
    offsets: tuple[tuple[str, int, int], ...] = ()
    others: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    spans: tuple[tuple[str, int, int, int], ...] = ()
    entries: tuple[tuple[str, str, int], ...] = ()
    ledger: Ledger | None = None

    @property
    def has_dates(self) -> bool:
        """Whether a column holds dates or times."""
        return any(encoding.kind == DATE for encoding in self.encodings)

    def reads_as(self, other: "StreamRecord") -> bool:
        """Whether another run reads the same columns of the same inputs in the same way."""
        same = ("inputs", "target", "columns", "missing", "encodings")
        evaluated = (self.evaluation is None) == (other.evaluation is None)
        return evaluated and all(getattr(self, name) == getattr(other, name) for name in same)


def write_stream(sink: Sink, stream: StreamRecord | None) -> None:
    """Write the record, if there is one."""
    if stream is None:
        sink.put("stream", None)
        return
    inner = sink.inside("stream")
    for name in ("inputs", "target", "columns", "missing", *StreamRecord._fields[4:7]):
        value = getattr(stream, name)
        inner.put(name, list(value) if isinstance(value, tuple) else value)
    if stream.encodings:
        inner.put("encodings", [[e.kind, *e.categories] for e in stream.encodings])
    if stream.history:
        inner.put("moments", len(stream.history))
        history = np.array(stream.history, dtype=np.float64)
        inner.array("history", np.where(np.isnan(history), UNKNOWN, history))
    if stream.offsets:
        inner.put("offsets", [list(offset) for offset in stream.offsets])
    if stream.spans:
        inner.put("spans", [list(span) for span in stream.spans])
    if stream.entries:
        inner.put("entries", [list(entry) for entry in stream.entries])
    if stream.others:
        inner.put("others", list(stream.others))
    if stream.flags:
        inner.put("flags", list(stream.flags))
    if stream.evaluation is not None:
        write_evaluation(inner.inside("evaluation"), stream.evaluation)
    if stream.ledger is not None:
        write_ledger(inner.inside("ledger"), stream.ledger)


def read_stream(source: Source) -> StreamRecord | None:
    """Read the record, if there is one."""
    if source.is_none("stream"):
        return None
    inner = source.inside("stream")
    record = StreamRecord(
        inner.texts("inputs"),
        inner.text("target"),
        inner.texts("columns"),
        inner.text("missing", MISSING),
        inner.count("rows_read"),
        inner.count("rows_skipped"),
        inner.count("values_imputed"),
    )
    if record.rows_skipped > record.rows_read:
        inner.refuse("rows_skipped", record.rows_skipped)
    later = inner.names()
    if "encodings" in later:
        record = record._replace(encodings=_read_encodings(inner, len(record.columns)))
    if "moments" in later:
        shape = inner.count("moments", least=1), len(Standing._fields)
        stored = inner.array("history", shape)
        bounded = np.isin(Standing._fields, ("rho_lower", "embedding_score", "input_score"))
        history = np.where(bounded & (stored == UNKNOWN), np.nan, stored)
        record = record._replace(history=tuple(Standing(*row) for row in history.tolist()))
    if "offsets" in later:
        record = record._replace(offsets=_read_offsets(inner))
    if "spans" in later:
        record = record._replace(spans=_read_spans(inner, record.offsets))
    if "entries" in later:
        record = record._replace(entries=_read_entries(inner))
    if "others" in later:
        record = record._replace(others=_read_others(inner, len(record.encodings)))
    if "flags" in later:
        record = record._replace(flags=_read_flags(inner))
    if "evaluation" in later:
        record = record._replace(evaluation=read_evaluation(inner.inside("evaluation")))
    if "ledger" in later:
        record = record._replace(ledger=read_ledger(inner.inside("ledger")))
    inner.close()
    return record


def _read_others(source: Source, n_columns: int) -> tuple[int, ...]:
    """Read how many texts were no category."""
    value = source.raw("others")
    counts = value if isinstance(value, list) else []
    if len(counts) != n_columns or not any(counts):
        source.refuse("others", value)
    if any(type(count) is not int or count < 0 for count in counts):
        source.refuse("others", value)
    return tuple(counts)


def _read_flags(source: Source) -> tuple[str, ...]:
    """Read what was said about reading the files; each thing that can be said has one form."""
    words = source.texts("flags")
    said = parsed(words)
    if not words or said is None or typed(said) != words:
        source.refuse("flags", " ".join(words))
    return words


def _read_offsets(source: Source) -> tuple[tuple[str, int, int], ...]:
    """Read how far partitions of a log were learned."""
    value = source.raw("offsets")
    for entry in value if isinstance(value, list) else [value]:
        match entry:
            case [str(), int(partition), int(offset)] if min(partition, offset) >= 0:
                continue
        source.refuse("offsets", entry)
    found = tuple((str(topic), int(part), int(offset)) for topic, part, offset in value)
    if not found or len({place[:2] for place in found}) != len(found):
        source.refuse("offsets", "not one per partition")
    return found


def _read_spans(
    source: Source, offsets: tuple[tuple[str, int, int], ...]
) -> tuple[tuple[str, int, int, int], ...]:
    """Read which messages were learned: in order, apart, and none past the offsets."""
    value = source.raw("spans")
    for entry in value if isinstance(value, list) else [value]:
        match entry:
            case [str(), int(partition), int(begin), int(end)] if min(partition, begin) >= 0:
                if begin < end:
                    continue
        source.refuse("spans", entry)
    found = tuple((str(topic), int(p), int(begin), int(end)) for topic, p, begin, end in value)
    ends = {(topic, partition): offset for topic, partition, offset in offsets}
    if not found or any(end > ends.get((topic, p), 0) for topic, p, _, end in found):
        source.refuse("spans", "they go past the offsets")
    if any(b <= a or (a[:2] == b[:2] and b[2] <= a[3]) for a, b in pairwise(found)):
        source.refuse("spans", "not in order and apart")
    return found


def _read_entries(source: Source) -> tuple[tuple[str, str, int], ...]:
    """Read how far streams of Redis were learned."""
    value = source.raw("entries")
    for entry in value if isinstance(value, list) else [value]:
        match entry:
            case [str(), str(identifier), int(count)] if count > 0:
                if re.fullmatch(r"[0-9]{1,20}-[0-9]{1,20}", identifier):
                    continue
        source.refuse("entries", entry)
    found = tuple((str(stream), str(identifier), int(n)) for stream, identifier, n in value)
    if not found or len({stream for stream, _, _ in found}) != len(found):
        source.refuse("entries", "not one per stream")
    return found


def _read_encodings(source: Source, n_columns: int) -> tuple[Encoding, ...]:
    """Read how columns become numbers."""
    value = source.raw("encodings")
    if not isinstance(value, list) or len(value) != n_columns:
        source.refuse("encodings", value)
    for entry in value:
        texts = isinstance(entry, list) and all(isinstance(text, str) for text in entry)
        if not texts or not entry or entry[0] not in KINDS:
            source.refuse("encodings", entry)
        if (entry[0] == ONE_HOT) != (len(entry) > 1) or len(set(entry[1:])) != len(entry) - 1:
            source.refuse("encodings", entry)
    return tuple(Encoding(kind, tuple(categories)) for kind, *categories in value)
