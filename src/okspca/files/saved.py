"""How files are read for a saved model: as it remembers it, unless something else is said."""

from collections.abc import Mapping, Sequence

from okspca.files.columns import kinds_of
from okspca.files.live import is_pipe
from okspca.files.readers import expanded
from okspca.files.reading import Reading
from okspca.state.streams import StreamRecord


def reading_for(
    record: StreamRecord,
    reading: Reading,
    inputs: Sequence[str],
    others: Mapping[str, str],
    *,
    needed: Sequence[str] = (),
) -> Reading:
    """Say how files with the columns of a model are read.

    Parameters
    ----------
    record : StreamRecord
        What the model knows about its columns.
    reading : Reading
        What was said now.
    inputs : sequence of str
        The files; where the model was fitted to all of them, they are read as they were then.
    others : mapping of str to str
        What columns beside the inputs of the model are read as.
    needed : sequence of str
        Those of them that must be there.

    Examples
    --------
    >>> record = StreamRecord(("a.csv",), "y", ("x",), "raise", flags=("--delimiter", ";"))
    >>> found = [reading_for(record, Reading(), [name], {}) for name in ("a.csv", "b.csv")]
    >>> [each.delimiter for each in found]
    [';', None]
    """
    files = expanded(inputs)
    is_own = set(files) <= set(record.inputs) and not any(map(is_pipe, files))
    found = reading.remembering(record.flags, own=is_own)
    return found._replace(
        kinds={**others, **kinds_of(record), **found.kinds},
        columns=frozenset([*record.columns, *others]),
        needed=(*record.columns, *needed),
        advised=frozenset(),
    )
