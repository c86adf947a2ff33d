"""Messages that cannot be learned, in a file of their own beside the model.

Each line is a JSON object: where the message was, why it was not learned, and what it held.  The
file is bounded: the first ``most`` messages stay, each cut to ``MOST_CHARACTERS``; further ones are
only counted, in the model's file.  Move it away, and it begins anew.

It is written before the model is saved.  A process that dies in between leaves lines which the
model's file does not count; they are dropped when it is opened again, since those messages will be
read again.  So the lines, too, are there exactly once.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from okspca import outputs
from okspca.errors import StateError

MOST_CHARACTERS = 2000
Line = dict[str, Any]


class SetAside:
    """The file of messages that were set aside.

    Parameters
    ----------
    path : path
        The file.
    most : int
        How many messages it holds.
    is_counted : callable
        Whether the model's file counts the message of a line; other lines are dropped.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = SetAside(Path(folder) / "bad.ndjson", 1, lambda line: True)
    ...     file.add({"offset": 7}, "not JSON", b"{")
    ...     file.add({"offset": 9}, "not JSON", b"}")  # there is no more room
    ...     file.save()
    ...     json.loads(file.path.read_text())
    {'offset': 7, 'reason': 'not JSON', 'value': '{'}
    """

    def __init__(self, path: Path, most: int, is_counted: Callable[[Line], bool]) -> None:
        self.path, self.most = path, most
        found = _read(path, is_counted) if path.exists() else []
        #: Lines by the places of their messages, of which each has one however often it is met.
        self._lines = {_key(line): line for line, is_kept in found if is_kept}
        self._changed = len(self._lines) < len(found)

    def add(self, place: Line, reason: str, value: Any) -> None:
        """Set a message aside; ``place`` says where it was, in one or several fields."""
        line = {**place, "reason": _cut(reason), "value": _as_text(value)}
        if len(self._lines) < self.most and _key(line) not in self._lines:
            self._lines[_key(line)] = line
            self._changed = True

    def save(self) -> None:
        """Write the file, if there is something new."""
        if self._changed:
            outputs.write(self.path, self.text(), outputs.TEXT)
            self._changed = False

    def text(self) -> str:
        """The content of the file, with what is not written yet."""
        return "".join(json.dumps(line) + "\n" for line in list(self._lines.values()))


def _read(path: Path, is_counted: Callable[[Line], bool]) -> list[tuple[Line, bool]]:
    """All lines of a file, each with whether it stays."""
    try:
        lines = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        return [(line, is_counted(line)) for line in lines]
    except (ValueError, TypeError, KeyError) as failure:
        why = f"{type(failure).__name__} {failure}"
        message = f"{path} does not hold messages that were set aside ({why}); move it away."
        raise StateError(message) from failure


def _key(line: Line) -> str:
    """Where the message of a line was."""
    return json.dumps({name: line[name] for name in line if name not in ("reason", "value")})


def _as_text(value: Any) -> Any:
    """What a message held, as JSON can say it."""
    if isinstance(value, dict):
        return {_as_text(name): _as_text(content) for name, content in value.items()}
    if isinstance(value, bytes):
        value = value[: 4 * MOST_CHARACTERS].decode("utf-8", "backslashreplace")
    return None if value is None else _cut(str(value))


def _cut(text: str) -> str:
    """A text that is not too long."""
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + " …"
