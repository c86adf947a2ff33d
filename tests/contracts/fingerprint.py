"""A byte fingerprint of everything a model holds, however deep."""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from hashlib import sha256
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from numpy.random import RandomState


def fingerprint(thing: object) -> str:
    """Return a digest that changes with any bit of any array, number, text or order of keys."""
    digest = sha256()
    for piece in _pieces(thing):
        digest.update(len(piece).to_bytes(8, "little") + piece)
    return digest.hexdigest()


def state_of(model: object) -> str:
    """Fingerprint of all attributes of an object, parameters included."""
    return fingerprint(dict(sorted(vars(model).items())))


def _pieces(thing: object) -> Iterator[bytes]:
    """Walk a value depth first, with its type and, for arrays, its dtype and shape."""
    yield type(thing).__qualname__.encode()
    if isinstance(thing, np.ndarray):
        yield f"{thing.dtype} {thing.shape}".encode()
        if thing.dtype.hasobject:
            yield from _all(thing.ravel().tolist())
        else:
            yield thing.tobytes()
    elif isinstance(thing, Enum):
        yield thing.name.encode()
    elif isinstance(thing, bool | int | str | bytes | None | np.generic):
        yield repr(thing).encode()
    elif isinstance(thing, float):
        yield thing.hex().encode()
    elif isinstance(thing, RandomState):
        yield from _pieces(thing.get_state())
    elif isinstance(thing, Mapping):
        yield from _all(value for pair in thing.items() for value in pair)
    elif isinstance(thing, list | tuple):
        yield from _all(thing)
    elif isinstance(thing, set | frozenset):
        yield from _all(sorted(thing, key=repr))
    elif isinstance(thing, type | FunctionType | BuiltinFunctionType):
        yield thing.__qualname__.encode()
    else:
        yield from _attributes(thing)


def _all(things: Iterable[Any]) -> Iterator[bytes]:
    """Walk the members of a collection."""
    for number, thing in enumerate(things):
        yield str(number).encode()
        yield from _pieces(thing)


def _attributes(thing: object) -> Iterator[bytes]:
    """Walk the attributes of an object that belong to its state; refuse one that hides them.

    State is what a copy would take along (``__getstate__``), so scratch memory does not count; nor
    does the order in which attributes were set.
    """
    if not hasattr(thing, "__dict__"):
        message = f"no fingerprint for {type(thing)}"
        raise TypeError(message)
    state: Any = thing.__getstate__()
    yield from _pieces(dict(sorted(state.items())) if isinstance(state, dict) else state)
