"""What the journal consists of: entries, each the outcome of a group of requests, as bytes.

An entry holds decisions and no clock: which rows are learned as one block, which numbers of which
sources are used up, which rows wait for their target, which got it, which waited too long, which
were set aside.  So whoever applies the same entries in the same order comes to the same state.

::

    entry   = magic (4) | length of content (4) | number (8) | CRC-32 (4) | content
    content = length of header (4) | header, JSON | arrays, float64

The check is one of number and content; all numbers are little-endian.
"""

import json
import struct
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.state.ledger import Label

MAGIC = b"OKS1"
HEAD = struct.Struct("<4sIQI")
LENGTH = struct.Struct("<I")
NUMBER = struct.Struct("<Q")
#: A longer entry is not one of ours.
MOST_BYTES = 1 << 30
NO_ROWS: Floats = np.empty((0, 0))
Line = dict[str, Any]


class Entry(NamedTuple):
    """The outcome of a group of requests.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Rows to learn, in this order, as one block.
    labels : list or None
        Their targets where these are labels.
    Y : ndarray of shape (n, m)
        Their targets where these are numbers.
    taken : tuple of (source, number)
        Sequence numbers that are used up.
    stored : tuple of str
        Identifiers of rows that wait from now on; ``S`` holds the rows.
    labelled, expired, evicted : tuple of str
        Identifiers of rows that wait no longer: theirs are among the rows to learn, they waited too
        long, or they had to make room.
    aside : tuple of dict
        Rows that were set aside, with the reason.
    forgotten : tuple of str
        Sources that are no longer known.
    columns : tuple of str
        Names of the inputs, in the entry that fixes them.
    is_relearning : bool
        Whether the features are learned again from the rows after these.

    Examples
    --------
    >>> entry = Entry(np.ones((1, 2)), None, np.zeros((1, 1)), taken=(("line-3", 7),))
    >>> number, again = next(entries(framed(4, entry)))
    >>> number, again.X.tolist(), again.taken
    (4, [[1.0, 1.0]], (('line-3', 7),))
    """

    X: Floats = NO_ROWS
    labels: list[Label] | None = None
    Y: Floats = NO_ROWS
    taken: tuple[tuple[str, int], ...] = ()
    stored: tuple[str, ...] = ()
    S: Floats = NO_ROWS
    labelled: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    evicted: tuple[str, ...] = ()
    aside: tuple[Line, ...] = ()
    forgotten: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    is_relearning: bool = False

    @property
    def n_rows(self) -> int:
        """Number of rows to learn."""
        return len(self.X)

    @property
    def n_bytes(self) -> int:
        """Memory of its rows."""
        return self.X.nbytes + self.Y.nbytes + self.S.nbytes

    @property
    def targets(self) -> Any:
        """Targets as a model takes them."""
        if self.labels is None:
            return self.Y[:, 0] if self.Y.shape[1] == 1 else self.Y
        return label_array(self.labels)


#: Arrays of an entry, in the order in which they are stored.
ARRAYS = ("X", "Y", "S")


def label_array(labels: list[Label]) -> Any:
    """Labels of one kind as an array that models take quickly."""
    kinds = {type(label) for label in labels}
    if kinds <= {int} or kinds <= {str} or kinds <= {bool}:
        return np.array(labels)
    return np.array(labels, dtype=object)


def framed(number: int, entry: Entry) -> bytes:
    """Return an entry as bytes."""
    arrays = [np.ascontiguousarray(getattr(entry, name), dtype="<f8") for name in ARRAYS]
    header: dict[str, Any] = {
        name: value
        for name, value in zip(Entry._fields, entry, strict=True)
        if name not in ARRAYS and value not in ((), None, False)
    }
    header["shapes"] = [list(array.shape) for array in arrays]
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    content = b"".join([LENGTH.pack(len(text)), text, *(array.tobytes() for array in arrays)])
    check = zlib.crc32(content, zlib.crc32(NUMBER.pack(number)))
    return HEAD.pack(MAGIC, len(content), number, check) + content


def entries(data: bytes) -> Iterator[tuple[int, Entry]]:
    """Read all whole entries from the start of some bytes, with their numbers."""
    for _, number, content in frames(data):
        yield number, entry_of(content)


def frames(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Read whole frames: where each ends, its number and its content; stop at what is none."""
    start = 0
    while (found := frame_at(data, start)) is not None:
        start = found[0]
        yield found


def frame_at(data: bytes, start: int) -> tuple[int, int, bytes] | None:
    """Read the frame at a place, if there is a whole one."""
    begin = start + HEAD.size
    if begin > len(data):
        return None
    magic, length, number, check = HEAD.unpack_from(data, start)
    if magic != MAGIC or length > MOST_BYTES or begin + length > len(data):
        return None
    content = data[begin : begin + length]
    if zlib.crc32(content, zlib.crc32(NUMBER.pack(number))) != check:
        return None
    return begin + length, number, content


def entry_of(content: bytes) -> Entry:
    """Read the content of a frame."""
    start = LENGTH.size + LENGTH.unpack_from(content)[0]
    header = json.loads(content[LENGTH.size : start])
    for name, shape in zip(ARRAYS, header.pop("shapes"), strict=True):
        size = int(np.prod(shape))
        array = np.frombuffer(content, "<f8", size, start).astype(np.float64).reshape(shape)
        header[name], start = array, start + array.nbytes
    for name, value in header.items():
        if isinstance(value, list) and name != "labels":
            header[name] = tuple(tuple(v) if isinstance(v, list) else v for v in value)
    return Entry(**header)
