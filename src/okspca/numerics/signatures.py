"""Types of a kernel's arguments as text: what ``routes.txt`` holds of them.

=====================  ==============================================================
``float64``            a number; ``int64`` and ``bool`` likewise
``float64:2C``         an array: its dimensions and layout
``float64:2C:read``    one that cannot be written
``(a,b)``              a tuple
``module.Name(a,b)``   a named tuple
=====================  ==============================================================
"""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from numba.core import types

# Numba's own types do not describe what follows.
_array: Any = types.Array
_tuple: Any = types.BaseTuple
_NUMBERS: dict[str, Any] = {str(kind): kind for kind in (types.float64, types.int64, types.boolean)}


def written(kind: Any) -> str:
    """Write a type.

    Examples
    --------
    >>> written(types.UniTuple(types.float64, 2))
    '(float64,float64)'
    """
    if isinstance(kind, _array):
        tail = "" if kind.mutable else ":read"
        return f"{kind.dtype}:{kind.ndim}{kind.layout}{tail}"
    if isinstance(kind, _tuple):
        made: Any = getattr(kind, "instance_class", None)
        name = "" if made is None else f"{made.__module__}.{made.__name__}"
        return f"{name}({','.join(map(written, kind.types))})"
    if str(kind) not in _NUMBERS:
        message = f"A type of this kind cannot be written: {kind}."
        raise ValueError(message)
    return str(kind)


def read(text: str) -> Any:
    """Read a type.

    Examples
    --------
    >>> read("float64:2C:read")
    Array(float64, 2, 'C', True, aligned=True)
    """
    name, is_tuple, rest = text.partition("(")
    if is_tuple:
        members = [read(member) for member in _split(rest[:-1])]
        module, _, own = name.rpartition(".")
        made = getattr(import_module(module), own) if module else None
        return _tuple.from_types(members, made)
    name, is_array, rest = text.partition(":")
    if is_array:
        shape, _, tail = rest.partition(":")
        return _array(_NUMBERS[name], int(shape[:-1]), shape[-1], readonly=tail == "read")
    return _NUMBERS[name]


def _split(text: str) -> Iterator[str]:
    """Split at the commas that are in no bracket."""
    depth, start = 0, 0
    for i, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            yield text[start:i]
            start = i + 1
    if text:
        yield text[start:]
