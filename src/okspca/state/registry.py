"""The forms of classes on disk: each class is registered once, with its name, writer and reader.

An object is written as its ``kind`` and what its writer puts beside it.  A dataclass of settings
needs no writer and reader: it is read by its annotations.  Objects of other classes, those of the
user's own making included, have no form, and saving says so.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from okspca.errors import StateError
from okspca.state.annotations import parts_of, read_setting, required
from okspca.state.fields import Sink, Source

Part = TypeVar("Part")


class Form(NamedTuple):
    """How objects of one class stand in a file; ``fits`` tells variants of one class apart."""

    kind: type[Any]
    write: Callable[[Sink, Any], None]
    read: Callable[[Source], Any]
    fits: Callable[[Any], bool]


class Registry(Generic[Part]):
    """Forms by name.

    Parameters
    ----------
    remedy : str
        What to do about an object that has no form.

    Examples
    --------
    >>> from okspca.services import Cached, Service
    >>> services = Registry[Service]("use another")
    >>> services.add("cached", Cached)
    >>> sink = Sink()
    >>> services.write(sink, Cached(every=3))
    >>> services.read(Source(sink.content()))
    Cached(every=3)
    """

    def __init__(self, remedy: str) -> None:
        self.remedy = remedy
        self._forms: dict[str, Form] = {}

    def add(
        self,
        name: str,
        kind: type[Part],
        write: Callable[[Sink, Any], None] | None = None,
        read: Callable[[Source], Part] | None = None,
        fits: Callable[[Any], bool] = lambda part: True,
    ) -> None:
        """Register a class under its name; without writer and reader, by its annotations."""
        self._forms[name] = Form(
            kind,
            write or self._write_settings,
            read or (lambda source: self._read_settings(source, kind)),
            fits,
        )

    def write(self, sink: Sink, part: Part) -> None:
        """Write an object as its name and what belongs to it."""
        name, form = self._form_of(part)
        sink.put("kind", name)
        form.write(sink, part)

    def read(self, source: Source, kind: type[Any] | None = None) -> Part:
        """Read an object, of a certain class if one is given."""
        allowed = [name for name, form in self._forms.items() if kind in (None, form.kind)]
        found: Part = self._forms[source.text("kind", allowed)].read(source)
        source.close()
        return found

    def _form_of(self, part: Part) -> tuple[str, Form]:
        """Find the form of an object, which must be of the very class."""
        for name, form in self._forms.items():
            if type(part) is form.kind and form.fits(part):
                return name, form
        raise no_form(part, f"{self.remedy}, or pickle the model")

    def _knows(self, kind: object) -> bool:
        """Whether a class is registered here."""
        return any(form.kind is kind for form in self._forms.values())

    def _write_settings(self, sink: Sink, part: Part) -> None:
        """Write what a dataclass was made with."""
        for name, hint in parts_of(type(part)).items():
            value, (kind, _) = getattr(part, name), required(hint)
            if not self._knows(kind):
                sink.put(name, value)
            elif type(value) is kind:
                self.write(sink.inside(name), value)
            else:
                raise no_form(value, f"use a {kind.__name__}, or pickle the model")

    def _read_settings(self, source: Source, kind: type[Any]) -> Part:
        """Read what a dataclass was made with; it checks the values itself."""
        settings: dict[str, Any] = {}
        for name, hint in parts_of(kind).items():
            inner = required(hint)[0]
            is_part = self._knows(inner)
            settings[name] = (
                self.read(source.inside(name), inner)
                if is_part
                else read_setting(source, name, hint)
            )
        source.close()
        try:
            made: Part = kind(**settings)
        except ValueError as failure:
            return source.refuse("kind", str(failure))
        return made


def no_form(part: object, remedy: str) -> StateError:
    """Make the error for a part that only its author knows how to write."""
    return StateError(
        f"The model cannot be saved: {type(part).__name__} is not a built-in part; {remedy}."
    )
