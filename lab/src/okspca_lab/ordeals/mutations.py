"""Ways to spoil a saved model: raw damage, and lies that carry a right digest.

Each mutation takes the bytes of a valid file and a random generator and returns bytes that are no
valid file of a model.
"""

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import load, save

from okspca.state.container import ENTRY, LENGTH_BYTES, header_length, sealed

Mutation = Callable[[bytes, Random], bytes]
HUGE = (1 << 31, 1 << 40, (1 << 53) + 1, 1 << 62, 1 << 64, 10**30)
#: Fields of the header whose size decides how large something is.
SIZES = ("width", "n_right", "n_groups", "n_features_in", "rows", "reinitialised", "built_at")
#: Fields of the record of a stream that need not be there: a file without them is whole.
OPTIONAL = ("encodings", "offsets", "others", "flags")
#: Arrays that are scratch: they may hold anything, so spoiling their values spoils nothing.
SCRATCH = ("service_state/",)


def truncated(data: bytes, random: Random) -> bytes:
    """Cut off the end."""
    return data[: random.randrange(len(data))]


def extended(data: bytes, random: Random) -> bytes:
    """Append bytes."""
    return data + random.randbytes(random.randint(1, 4096))


def flipped(data: bytes, random: Random) -> bytes:
    """Flip one to eight different bits anywhere."""
    changed = bytearray(data)
    for place in random.sample(range(8 * len(data)), random.randint(1, 8)):
        changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def overwritten(data: bytes, random: Random) -> bytes:
    """Replace a stretch by noise that differs from it."""
    start = random.randrange(len(data))
    stop = min(len(data), start + random.randint(1, 256))
    noise = bytes(byte ^ random.randint(1, 255) for byte in data[start:stop])
    return data[:start] + noise + data[stop:]


def cut_out(data: bytes, random: Random) -> bytes:
    """Leave a stretch out."""
    start = random.randrange(len(data))
    return data[:start] + data[start + random.randint(1, 512) :]


def lying_length(data: bytes, random: Random) -> bytes:
    """State another length of the header."""
    true = header_length(data)
    lie = random.choice([*HUGE[:4], (1 << 64) - 1, true + 1, true - 1, 0, len(data)])
    return lie.to_bytes(LENGTH_BYTES, "little") + data[LENGTH_BYTES:]


def lying_table(data: bytes, random: Random) -> bytes:
    """Change the type, shape or place of one tensor in the table of safetensors; seal again."""
    end = LENGTH_BYTES + header_length(data)
    table = json.loads(data[LENGTH_BYTES:end])
    entry = table[random.choice([name for name in table if name != "__metadata__"])]
    what = random.choice(["dtype", "shape", "data_offsets"])
    if what == "dtype":
        types = ["F32", "F16", "BF16", "U8", "BOOL", "F64", "I64", "X99", 7]
        entry[what] = random.choice([name for name in types if name != entry[what]])
    elif what == "shape":
        lies = [[n, *entry[what]] for n in (0, 2, *HUGE)] + [[-1], [1.5], "x", [HUGE[3], HUGE[3]]]
        entry[what] = random.choice(lies)
    else:
        start, stop = entry[what]
        entry[what] = random.choice([[start + 8, stop + 8], [stop + 1, start], [0, HUGE[3]], [0]])
    header = json.dumps(table, separators=(",", ":")).encode()
    return resealed(len(header).to_bytes(LENGTH_BYTES, "little") + header + data[end:])


def field_missing(data: bytes, random: Random) -> bytes:
    """Delete a field of the header."""
    return _with_header(data, random, lambda holder, key: holder.pop(key), _needed)


def field_added(data: bytes, random: Random) -> bytes:
    """Add a field to an object of the header."""
    return _with_header(data, random, lambda holder, _: holder.update(surplus=0), fields_of)


def field_impossible(data: bytes, random: Random) -> bytes:
    """Put an object where a number, text or list belongs."""
    return _with_header(data, random, _set({"impossible": [1]}), fields_of)


def field_negative(data: bytes, random: Random) -> bytes:
    """Make a whole number negative."""
    return _with_header(data, random, _set(-1), _counts)


def field_huge(data: bytes, random: Random) -> bytes:
    """Claim a huge size."""
    return _with_header(data, random, _set(random.choice(HUGE[2:])), _sizes)


def tensor_missing(data: bytes, random: Random) -> bytes:
    """Leave a tensor out."""
    return _with_tensors(data, random, lambda tensors, name: tensors.pop(name))


def tensor_added(data: bytes, random: Random) -> bytes:
    """Add a tensor, which may be large."""
    size = random.choice([1, 100, 20_000])
    return _with_tensors(data, random, lambda tensors, _: tensors.update(surplus=np.zeros(size)))


def tensor_renamed(data: bytes, random: Random) -> bytes:
    """Give a tensor another name."""

    def rename(tensors: dict[str, Any], name: str) -> None:
        tensors[name + "x"] = tensors.pop(name)

    return _with_tensors(data, random, rename)


def tensor_of_another_type(data: bytes, random: Random) -> bytes:
    """Store a tensor as another type."""
    dtype = random.choice([np.float32, np.int32, np.uint8, np.bool_])

    def convert(tensors: dict[str, Any], name: str) -> None:
        tensors[name] = np.zeros(tensors[name].shape, dtype)

    return _with_tensors(data, random, convert)


def tensor_of_another_shape(data: bytes, random: Random) -> bytes:
    """Give a tensor one more dimension or one more column."""
    deeper = random.random() < 0.5

    def reshape(tensors: dict[str, Any], name: str) -> None:
        array = tensors[name]
        wider = [(0, 0)] * (array.ndim - 1) + [(0, 1)]
        tensors[name] = array[np.newaxis].copy() if deeper else np.pad(array, wider)

    return _with_tensors(data, random, reshape)


def tensor_not_finite(data: bytes, random: Random) -> bytes:
    """Put NaN or infinity into a tensor."""
    bad = random.choice([np.nan, np.inf, -np.inf])

    def spoil(tensors: dict[str, Any], name: str) -> None:
        tensors[name].flat[random.randrange(tensors[name].size)] = bad

    return _with_tensors(data, random, spoil, values=True)


MUTATIONS: tuple[Mutation, ...] = (
    truncated,
    extended,
    flipped,
    overwritten,
    cut_out,
    lying_length,
    lying_table,
    field_missing,
    field_added,
    field_impossible,
    field_negative,
    field_huge,
    tensor_missing,
    tensor_added,
    tensor_renamed,
    tensor_of_another_type,
    tensor_of_another_shape,
    tensor_not_finite,
)

Place = tuple[Any, Any]


def _set(value: Any) -> Callable[[Any, Any], None]:
    """Make a change that puts one value in a place."""

    def change(holder: Any, key: Any) -> None:
        holder[key] = value

    return change


def _with_header(
    data: bytes,
    random: Random,
    change: Callable[[Any, Any], object],
    places: Callable[[Any], Iterator[Place]],
) -> bytes:
    """Change one place of the state in the header, and seal again."""
    header = header_of(data)
    change(*random.choice(list(places(header["state"]))))
    return assembled(header, load(data))


def _with_tensors(
    data: bytes,
    random: Random,
    change: Callable[[dict[str, Any], str], object],
    *,
    values: bool = False,
) -> bytes:
    """Change one tensor, and seal again; ``values``: one whose values matter and that has some."""
    # They come in any order, but the same choice must be made again.
    tensors = {name: np.array(array) for name, array in sorted(load(data).items())}
    names = [
        name
        for name, array in tensors.items()
        if not values
        or (array.size and array.dtype == np.float64 and not any(part in name for part in SCRATCH))
    ]
    change(tensors, random.choice(names))
    return assembled(header_of(data), tensors)


def header_of(data: bytes) -> dict[str, Any]:
    """Our header of a valid file."""
    end = LENGTH_BYTES + header_length(data)
    return json.loads(json.loads(data[LENGTH_BYTES:end])["__metadata__"][ENTRY])


def assembled(header: dict[str, Any], tensors: dict[str, Any]) -> bytes:
    """Make a file with a right digest."""
    text = json.dumps({**header, "sha256": "0" * 64}, separators=(",", ":"))
    return sealed(save(tensors, {ENTRY: text}))


def resealed(data: bytes) -> bytes:
    """Give changed bytes a right digest."""
    digest = header_of(data)["sha256"]
    return sealed(data.replace(digest.encode(), b"0" * 64, 1))


def fields_of(holder: Any) -> Iterator[Place]:
    """Every field of every object, however deep."""
    for key, value in holder.items():
        yield holder, key
        if isinstance(value, dict):
            yield from fields_of(value)


def _needed(holder: Any) -> Iterator[Place]:
    """Fields that must be there."""
    return (place for place in fields_of(holder) if place[1] not in OPTIONAL)


def _counts(holder: Any) -> Iterator[Place]:
    """Fields that hold a whole number."""
    return (place for place in fields_of(holder) if type(place[0][place[1]]) is int)


def _sizes(holder: Any) -> Iterator[Place]:
    """Fields that state a size."""
    return (place for place in _counts(holder) if place[1] in SIZES)
