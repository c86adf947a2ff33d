"""Where a model stands in the files it is being fitted to, so that a run can be resumed."""

from typing import NamedTuple

from okspca.state.fields import Sink, Source

MISSING = ("raise", "skip", "impute")


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


def write_stream(sink: Sink, stream: StreamRecord | None) -> None:
    """Write the record, if there is one."""
    if stream is None:
        sink.put("stream", None)
        return
    inner = sink.inside("stream")
    for name, value in stream._asdict().items():
        inner.put(name, list(value) if isinstance(value, tuple) else value)


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
    inner.close()
    return record
