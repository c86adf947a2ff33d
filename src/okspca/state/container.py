r"""The bytes of a state file: a safetensors file whose metadata hold our header and a digest.

The metadata have one entry, ``okspca``, with strict JSON (no duplicate keys, NaN or infinity)::

    format   the version of the format, a whole number
    fields   how many fields all objects of the state have together (from version 2 on)
    sha256   digest of the whole file, taken with 64 zeros in place of the digest itself
    state    what the tensors mean

The digest covers every byte, padding included, so a file that was changed anywhere is refused.  A
file that lies with a right digest meets the checks of :mod:`okspca.state.fields`: nothing is sized
by a number in the header, only by tensors that are really there.  Some fields are written only
where they say something; the count of fields tells one that was never there from one that is lost.

What reading may allocate is bounded by :func:`allocation_limit`: a few copies of the file, which
has at most ``MAX_FILE`` bytes, and Python objects in proportion to the header, which has at most
``MAX_HEADER`` bytes.
"""

import json
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from okspca.errors import StateError

ENTRY, VERSION = "okspca", 3
MAX_FILE = 4 << 30
MAX_HEADER = 4 << 20
FILE_FACTOR, HEADER_FACTOR, SPARE = 5, 64, 1 << 20
LENGTH_BYTES = 8
#: Entries of the header by the version of the format.
_COUNTED = {"format", "fields", "sha256", "state"}
_ENTRIES = {1: {"format", "sha256", "state"}, 2: _COUNTED, 3: _COUNTED}
_NO_DIGEST = "0" * 64
_DTYPES = (np.dtype(np.float64), np.dtype(np.int64))

Tensors = dict[str, NDArray[Any]]


class Content(NamedTuple):
    """What a file holds: the header as plain Python values, and arrays by name.

    Examples
    --------
    >>> import numpy as np
    >>> data = pack(Content({"rows": 3}, {"mean": np.ones(2)}))
    >>> unpack(data).header, unpack(data).tensors["mean"].tolist()
    ({'rows': 3}, [1.0, 1.0])
    """

    header: dict[str, Any]
    tensors: Tensors


def pack(content: Content) -> bytes:
    """Write header and tensors as the bytes of a file."""
    header = {
        "format": VERSION,
        "fields": n_fields(content.header),
        "sha256": _NO_DIGEST,
        "state": content.header,
    }
    try:
        text = json.dumps(header, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as failure:
        message = f"The model has a setting that cannot be written to a file ({failure})."
        raise StateError(message) from failure
    data = sealed(save_tensors(content.tensors, {ENTRY: text}))
    if header_length(data) > MAX_HEADER or len(data) > MAX_FILE:
        message = (
            f"The model needs a header of {header_length(data)} and a file of {len(data)} bytes; "
            f"at most {MAX_HEADER} and {MAX_FILE} can be read back."
        )
        raise StateError(message)
    return data


def sealed(data: bytes) -> bytes:
    """Put the digest into a file that has zeros in its place."""
    return data.replace(_field(_NO_DIGEST), _field(sha256(data).hexdigest()), 1)


def unpack(data: bytes) -> Content:
    """Check the bytes of a file and return what it holds; the tensors are private copies."""
    header = _header(data)
    digest = str(header["sha256"])
    if sha256(data.replace(_field(digest), _field(_NO_DIGEST), 1)).hexdigest() != digest:
        message = "its content does not match its checksum: the file was damaged or changed."
        raise StateError(message)
    state = _object(header["state"])
    if header.get("fields", n_fields(state)) != n_fields(state):
        message = "its header has lost or gained a field: the file was damaged or changed."
        raise StateError(message)
    return Content(state, _tensors(data))


def n_fields(header: dict[str, Any]) -> int:
    """Count the fields of an object and of all objects inside it.

    Examples
    --------
    >>> n_fields({"rows": 3, "map": {"kind": "identity"}})
    3
    """
    counted, waiting = 0, [header]
    while waiting:  # a loop: a header made to be deep must not exhaust the stack
        values = waiting.pop().values()
        counted += len(values)
        waiting.extend(value for value in values if isinstance(value, dict))
    return counted


def header_length(data: bytes) -> int:
    """Length of the header in bytes, as the first eight bytes state it."""
    return int.from_bytes(data[:LENGTH_BYTES], "little")


def allocation_limit(data: bytes) -> int:
    """Return what reading a file may allocate, in bytes; a header that lies is not read at all."""
    length = header_length(data)
    header = length if length <= min(MAX_HEADER, len(data)) else 0
    return FILE_FACTOR * len(data) + HEADER_FACTOR * header + SPARE


def is_model(start: bytes) -> bool:
    """Whether a file that begins with these bytes was meant as a model, whole or not.

    Examples
    --------
    >>> is_model(pack(Content({}, {}))[:40]), is_model(b"a,b,c")
    (True, False)
    """
    return start[LENGTH_BYTES:].startswith(f'{{"__metadata__":{{"{ENTRY}":'.encode())


def check_start(start: bytes, size: int) -> None:
    """Refuse a file by its first bytes and its size, before the rest of it is read."""
    if size > MAX_FILE:
        message = f"it has {size} bytes, more than the {MAX_FILE} that a model may have."
        raise StateError(message)
    length = header_length(start)
    if len(start) <= LENGTH_BYTES or start[LENGTH_BYTES:][:1] != b"{":
        message = "it is not a model saved by okspca."
        raise StateError(message)
    if length > min(MAX_HEADER, size - LENGTH_BYTES):
        message = f"its header claims {length} bytes; the file is cut short or not a model."
        raise StateError(message)


def strict_json(text: str | bytes) -> Any:
    """Read JSON without the liberties that Python takes."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as failure:
        message = "its header is not valid JSON: the file was damaged or is not a model."
        raise StateError(message) from failure


def _header(data: bytes) -> dict[str, Any]:
    """Return our header, which must be the only metadata."""
    check_start(data[: LENGTH_BYTES + 1], len(data))
    end = LENGTH_BYTES + header_length(data)
    metadata = _object(strict_json(data[LENGTH_BYTES:end])).get("__metadata__")
    if not isinstance(metadata, dict) or set(metadata) != {ENTRY}:
        message = "it is not a model saved by okspca."
        raise StateError(message)
    text = metadata[ENTRY]
    header = _object(strict_json(text) if isinstance(text, str) else None)
    version = header.get("format")
    if type(version) is not int or version not in _ENTRIES:
        message = f"it is not of format version 1 to {VERSION}; use the okspca that wrote it."
        raise StateError(message)
    if set(header) != _ENTRIES[version]:
        message = "its header is incomplete: the file was damaged."
        raise StateError(message)
    return header


def _tensors(data: bytes) -> Tensors:
    """Let safetensors check the layout, then take writable copies of the arrays."""
    try:
        found = load_tensors(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as failure:
        message = f"its arrays cannot be read ({failure})."
        raise StateError(message) from failure
    for name, array in found.items():
        if array.dtype not in _DTYPES:
            message = f"its array {name} has type {array.dtype} instead of float64 or int64."
            raise StateError(message)
    return {name: np.array(array) for name, array in found.items()}


def _object(value: object) -> dict[str, Any]:
    """Return a JSON object."""
    if not isinstance(value, dict):
        message = "its header is not a JSON object: the file was damaged or is not a model."
        raise StateError(message)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary of pairs whose keys all differ."""
    found = dict(pairs)
    if len(found) != len(pairs):
        message = "a key occurs twice"
        raise ValueError(message)
    return found


def _no_constant(name: str) -> None:
    """Refuse NaN and infinity."""
    message = f"{name} is not JSON"
    raise ValueError(message)


def _field(digest: str) -> bytes:
    """The digest as it stands in the file: JSON inside a JSON text, so quotes are escaped once.

    In a name or label quotes are escaped twice, so this cannot occur there.
    """
    return rf"\"sha256\":\"{digest}\"".encode("ascii", "replace")
