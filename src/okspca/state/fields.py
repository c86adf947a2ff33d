"""Reading and writing one object of the header with its arrays, strictly.

:class:`Sink` collects what a part consists of, :class:`Source` hands it out again.  A source checks
the type and range of every value and the shape of every array before anything is made of it, and
:meth:`Source.close` refuses what nobody asked for.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from okspca.errors import StateError
from okspca.numerics.arrays import LARGEST_VALUE, Floats, Integers
from okspca.state.container import Content, Tensors

#: Whole numbers up to here are exact as float64; no counter gets there.
MOST = 1 << 53
#: Data up to the largest value that is accepted have means and origins up to here, ...
MOST_DATA = 2.0 * LARGEST_VALUE
#: ... and entries of unit vectors are up to here, with room for rounding.
MOST_UNIT = 1.0 + 1e-6
Shape = tuple[int | None, ...]


class Sink:
    """One object being written.

    Examples
    --------
    >>> sink = Sink()
    >>> sink.put("rows", 3)
    >>> sink.inside("map").put("kind", "identity")
    >>> sink.content().header
    {'rows': 3, 'map': {'kind': 'identity'}}
    """

    def __init__(self, path: str = "", tensors: Tensors | None = None) -> None:
        self._path = path
        self._values: dict[str, Any] = {}
        self._tensors: Tensors = {} if tensors is None else tensors

    def put(self, name: str, value: Any) -> None:
        """Write a plain value; NumPy's numbers become Python's."""
        self._values[name] = value.item() if isinstance(value, np.generic) else value

    def array(self, name: str, array: NDArray[Any], *, finite: bool = True) -> None:
        """Write an array."""
        path = f"{self._path}{name}"
        if finite and not np.isfinite(array).all():
            message = f"The model cannot be saved: {path} holds a value that is not finite."
            raise StateError(message)
        self._tensors[path] = np.ascontiguousarray(array)

    def inside(self, name: str) -> "Sink":
        """Begin an object inside this one."""
        child = Sink(f"{self._path}{name}/", self._tensors)
        self._values[name] = child._values
        return child

    def content(self) -> Content:
        """Everything that was written."""
        return Content(self._values, self._tensors)


class Source:
    """One object being read; every value is asked for once, by its type.

    Examples
    --------
    >>> source = Source(Content({"rows": -3}, {}))
    >>> source.count("rows")
    Traceback (most recent call last):
    okspca.errors.StateError: its field rows is -3, which is not possible there.
    """

    def __init__(self, content: Content, path: str = "") -> None:
        self._values = dict(content.header)
        self._tensors = content.tensors
        self._path = path

    def raw(self, name: str) -> Any:
        """Return a value of any type."""
        if name not in self._values:
            message = f"its field {self._path}{name} is missing."
            raise StateError(message)
        return self._values.pop(name)

    def text(self, name: str, allowed: Sequence[str] = ()) -> str:
        """Return a text, one of the allowed ones if any are given."""
        value = self.raw(name)
        fits = isinstance(value, str) and (not allowed or value in allowed)
        return value if fits else self.refuse(name, value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self.raw(name)
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
        return tuple(value) if fits else self.refuse(name, value)

    def flag(self, name: str) -> bool:
        """Return a truth value."""
        value = self.raw(name)
        return value if isinstance(value, bool) else self.refuse(name, value)

    def count(self, name: str, *, least: int = 0, most: int = MOST) -> int:
        """Return a whole number within limits."""
        value = self.raw(name)
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return value if is_whole and least <= value <= most else self.refuse(name, value)

    def number(self, name: str, *, least: float = -math.inf, most: float = math.inf) -> float:
        """Return a number within limits, whole or not as it was written."""
        value = self.raw(name)
        is_number = isinstance(value, float | int) and not isinstance(value, bool)
        return value if is_number and least <= value <= most else self.refuse(name, value)

    def is_none(self, name: str) -> bool:
        """Whether a value is null; if so, it counts as read."""
        if self._values.get(name, ...) is not None:
            return False
        del self._values[name]
        return True

    def is_object(self, name: str) -> bool:
        """Whether a value is a JSON object; it does not count as read."""
        return isinstance(self._values.get(name), dict)

    def is_text(self, name: str) -> bool:
        """Whether a value is a text; it does not count as read."""
        return isinstance(self._values.get(name), str)

    def inside(self, name: str) -> "Source":
        """Return an object inside this one."""
        value = self.raw(name)
        if not isinstance(value, dict):
            return self.refuse(name, value)
        return Source(Content(value, self._tensors), f"{self._path}{name}/")

    def names(self) -> list[str]:
        """Names of the values that were not read yet."""
        return list(self._values)

    def array(
        self, name: str, shape: Shape, *, finite: bool = True, most: float = math.inf
    ) -> Floats:
        """Return an array of numbers up to ``most``; None in the shape stands for any length."""
        array: Floats = self._tensor(name, shape, np.float64)
        if finite and not np.isfinite(array).all():
            message = f"its array {self._path}{name} holds a value that is not finite."
            raise StateError(message)
        if finite and np.abs(array).max(initial=0.0) > most:
            message = f"its array {self._path}{name} holds a value that is impossibly large."
            raise StateError(message)
        return array

    def tallies(self, name: str, length: int, place: int) -> Floats:
        """Return sums that cannot be negative; the one at ``place`` counts rows."""
        array = self.array(name, (length,))
        rows = array[place]
        if array.min() < 0.0 or rows > MOST or rows != int(rows):
            self.refuse(name, "impossible sums")
        return array

    def integers(self, name: str, shape: Shape) -> Integers:
        """Return an array of whole numbers."""
        return self._tensor(name, shape, np.int64)

    def close(self) -> None:
        """Refuse values that nobody asked for."""
        if self._values:
            message = f"its field {self._path}{next(iter(self._values))} is unknown."
            raise StateError(message)

    def close_all(self) -> None:
        """Refuse values and arrays that nobody asked for."""
        self.close()
        if self._tensors:
            message = f"its array {next(iter(self._tensors))} is unknown."
            raise StateError(message)

    def refuse(self, name: str, value: object) -> Any:
        """Raise because of a value."""
        shown = "of a wrong kind"
        if value is None or isinstance(value, bool | int | float | str):
            shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:60]}..."
        message = f"its field {self._path}{name} is {shown}, which is not possible there."
        raise StateError(message)

    def _tensor(self, name: str, shape: Shape, dtype: type[np.generic]) -> NDArray[Any]:
        """Take an array out of the file, if it is as expected."""
        path = f"{self._path}{name}"
        array = self._tensors.pop(path, None)
        if array is None:
            message = f"its array {path} is missing."
            raise StateError(message)
        fits = len(array.shape) == len(shape) and all(
            wanted is None or wanted == length
            for wanted, length in zip(shape, array.shape, strict=True)
        )
        if array.dtype != dtype or not fits:
            message = f"its array {path} has type {array.dtype} and shape {array.shape}."
            raise StateError(message)
        return array
