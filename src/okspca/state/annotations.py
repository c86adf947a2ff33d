"""Settings and states in files, by the annotations of the classes that hold them.

A setting may be a truth value, a whole number (within a ``range``, if it is annotated with one), a
number, a text or one of several texts, any of them optional.  A state consists of whole numbers and
of arrays annotated with :class:`okspca.services.stored.Stored`; named tuples of arrays lie flat in
it.
"""

import math
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from okspca.numerics.arrays import Integers
from okspca.services.stored import Stored
from okspca.state.fields import MOST, MOST_UNIT, Sink, Source


def parts_of(kind: type[Any]) -> dict[str, Any]:
    """Annotations of what a dataclass or a named tuple is made of, by name.

    Examples
    --------
    >>> from okspca.services import Cached, ExactEach
    >>> parts_of(Cached), parts_of(ExactEach)
    ({'every': <class 'int'>}, {})
    """
    hints = get_type_hints(kind, include_extras=True)
    if is_dataclass(kind):
        return {field.name: hints[field.name] for field in fields(kind) if field.init}
    return {name: hints[name] for name in kind._fields}


def required(hint: Any) -> tuple[Any, bool]:
    """Split an annotation into what stands there if anything does, and whether it is optional.

    Examples
    --------
    >>> required(int | None), required(float)
    ((<class 'int'>, True), (<class 'float'>, False))
    """
    if get_origin(hint) not in (Union, UnionType):
        return hint, False
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    is_optional = len(kinds) < len(get_args(hint))
    return (kinds[0] if len(kinds) == 1 else hint), is_optional


def read_setting(source: Source, name: str, hint: Any) -> Any:
    """Read a setting as its annotation says."""
    kind, is_optional = required(hint)
    if is_optional and source.is_none(name):
        return None
    if get_origin(kind) is Annotated:
        kind, within = get_args(kind)
        return source.count(name, least=within.start, most=within.stop - 1)
    if get_origin(kind) is Literal:
        return source.text(name, get_args(kind))
    readers: dict[Any, Callable[[str], Any]] = {
        bool: source.flag,
        int: source.count,
        float: source.number,
        str: source.text,
    }
    if kind not in readers:
        message = f"A setting annotated with {hint} has no form in files."
        raise TypeError(message)
    return readers[kind](name)


def write_arrays(sink: Sink, part: Any, hints: dict[str, Any]) -> None:
    """Write the counters and arrays of a state, or of a named tuple in it."""
    for name, hint in hints.items():
        value, (kind, _) = getattr(part, name), required(hint)
        if get_origin(kind) is Annotated:
            sink.array(name, value, finite=get_args(kind)[1].entries != "scratch")
        elif kind is int:
            sink.put(name, value)
        else:
            write_arrays(sink, value, parts_of(kind))


def read_arrays(source: Source, hints: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    """Read the counters and arrays of a state, whose lengths are known by their letters."""
    found = {}
    for name, hint in hints.items():
        kind, _ = required(hint)
        if get_origin(kind) is Annotated:
            found[name] = _read_array(source, name, get_args(kind), sizes)
        elif kind is int:
            found[name] = source.count(name, most=MOST)
        else:
            found[name] = kind(**read_arrays(source, parts_of(kind), sizes))
    return found


def _read_array(source: Source, name: str, kind: tuple[Any, Stored], sizes: dict[str, int]) -> Any:
    """Read one array of a state."""
    dtype, stored = kind
    if dtype == Integers:
        return source.integers(name, stored.lengths(sizes))
    most = MOST_UNIT if stored.entries == "unit" else math.inf
    finite = stored.entries != "scratch"
    return source.array(name, stored.lengths(sizes), finite=finite, most=most)
