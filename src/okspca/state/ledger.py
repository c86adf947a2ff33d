"""What a service keeps beside its model: how far each source has come, and rows without a label.

A service learns what its journal says, entry by entry.  The ledger is what all entries up to one
come to, apart from the model; both are saved together, so that after a restart the entries after
it, and no others, are applied to both.

Names can be many, so they are stored as arrays: the header of a file is bounded.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from okspca.numerics.arrays import LARGEST_VALUE, Floats, Integers
from okspca.state.fields import Sink, Source

#: A class label, as JSON can say it.
Label = int | float | str | bool
#: What labels are, as :mod:`okspca.estimators.data` calls it; empty before the first one.
KINDS = ("", "numbers", "text", "truth values")
SEPARATOR = "\0"
WORD = 8
COUNTS = ("n_labelled", "n_expired", "n_evicted", "n_set_aside", "n_failed")


@dataclass
class Ledger:
    """Where a service stands.

    Attributes
    ----------
    applied : int
        Number of the last entry of the journal that was applied; 0 before the first one.
    n_inputs, n_outputs : int
        Inputs of a row and numbers of a response; 0 where no row has told yet.
    label_kind : str
        What labels are.
    labels : dict
        All labels that were met, in their order.
    sources : dict of str to int
        The next sequence number of each source.
    pending : dict of str to ndarray
        Rows that wait for their target, by identifier, the oldest first.
    is_monitored : bool
        Whether every row is compared with rows in control before it is learned.
    n_labelled, n_expired, n_evicted : int
        Rows that got their target, that waited too long, and that had to make room.
    n_set_aside, n_failed : int
        Rows that were set aside when they came, and rows that could not be learned later.

    Examples
    --------
    >>> Ledger(sources={"line-3": 8}).sources["line-3"]
    8
    """

    applied: int = 0
    n_inputs: int = 0
    n_outputs: int = 0
    label_kind: str = ""
    labels: dict[Label, None] = field(default_factory=dict)
    sources: dict[str, int] = field(default_factory=dict)
    pending: dict[str, Floats] = field(default_factory=dict)
    is_monitored: bool = False
    n_labelled: int = 0
    n_expired: int = 0
    n_evicted: int = 0
    n_set_aside: int = 0
    n_failed: int = 0

    def twin(self) -> "Ledger":
        """Return a copy that goes its own way."""
        own = {name: dict(getattr(self, name)) for name in ("labels", "sources", "pending")}
        return Ledger(**{**vars(self), **own})


def write_ledger(sink: Sink, ledger: Ledger) -> None:
    """Write it."""
    for name in ("applied", "n_inputs", "n_outputs", "label_kind", "is_monitored", *COUNTS):
        sink.put(name, getattr(ledger, name))
    sink.put("labels", list(ledger.labels))
    _write_names(sink, "sources", ledger.sources)
    sink.array("numbers", np.array(list(ledger.sources.values()), dtype=np.int64))
    _write_names(sink, "pending", ledger.pending)
    rows = np.array(list(ledger.pending.values()), dtype=np.float64)
    shape = len(ledger.pending), ledger.n_inputs
    # A row may lack values where the model fills them in.
    sink.array("waiting", rows.reshape(shape), finite=False)


def read_ledger(source: Source) -> Ledger:
    """Read it; whatever is impossible is refused."""
    ledger = Ledger(
        source.count("applied"),
        source.count("n_inputs"),
        source.count("n_outputs"),
        source.text("label_kind", KINDS),
        is_monitored=source.flag("is_monitored"),
    )
    for name in COUNTS:
        setattr(ledger, name, source.count(name))
    ledger.labels = _read_labels(source, ledger.label_kind)
    names = _read_names(source, "sources")
    numbers = source.integers("numbers", (len(names),))
    if (numbers < 1).any():
        source.refuse("sources", "a number below one")
    ledger.sources = dict(zip(names, numbers.tolist(), strict=True))
    names = _read_names(source, "pending")
    rows = source.array("waiting", (len(names), ledger.n_inputs), finite=False)
    if not (np.isnan(rows) | (np.abs(rows) <= LARGEST_VALUE)).all():
        source.refuse("waiting", "a value too large")
    ledger.pending = dict(zip(names, rows, strict=True))
    source.close()
    return ledger


def _read_labels(source: Source, kind: str) -> dict[Label, None]:
    """Read labels, which are all of one kind and different."""
    values = source.raw("labels")
    types = {"text": (str,), "truth values": (bool,), "numbers": (int, float), "": ()}[kind]
    if not isinstance(values, list) or any(type(value) not in types for value in values):
        source.refuse("labels", "not of their kind")
    labels: dict[Label, None] = dict.fromkeys(values)
    if len(labels) != len(values):
        source.refuse("labels", "one of them twice")
    return labels


def _write_names(sink: Sink, name: str, names: Iterable[str]) -> None:
    """Write names: their number, and their letters as an array."""
    listed = list(names)
    sink.put(name, len(listed))
    sink.array(f"{name}_letters", packed(listed))


def _read_names(source: Source, name: str) -> list[str]:
    """Read names, which all differ."""
    n = source.count(name)
    names = unpacked(source.integers(f"{name}_letters", (None,)))
    if names is None or len(names) != n or len(set(names)) != n or "" in names:
        source.refuse(name, "names that cannot be read")
        return []
    return names


def packed(names: list[str]) -> Integers:
    """Names as whole numbers, eight letters in each; none of them holds a zero byte.

    Examples
    --------
    >>> unpacked(packed(["line-3", "line-4"]))
    ['line-3', 'line-4']
    """
    letters = SEPARATOR.join(names).encode()
    letters += bytes(-len(letters) % WORD)
    return np.frombuffer(letters, dtype="<i8").astype(np.int64)


def unpacked(numbers: Integers) -> list[str] | None:
    """The names; None where these are not names."""
    letters = numbers.astype("<i8").tobytes()
    try:
        text = letters.rstrip(SEPARATOR.encode()).decode()
    except UnicodeDecodeError:
        return None
    names = text.split(SEPARATOR) if text else []
    return names if packed(names).tolist() == numbers.tolist() else None
