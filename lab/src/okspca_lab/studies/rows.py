"""Results on disk as they come: a run that was stopped goes on where it was.

One line of JSON per finished cell, appended and flushed at once::

    {"cell": {"task": "Kin8nm", "seed": 100}, "seconds": 3.1, "rows": [{...}, ...]}

The first line holds the settings of the run; a file with other settings is not continued.  A line
that was cut off by an interrupt is dropped when the file is opened again.  Beside the rows, a
:class:`Record` tells how they were made.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from okspca import outputs

Row = dict[str, Any]
#: What is computed at a time, in plain values: it names the rows that come of it.
Cell = dict[str, Any]
#: Cells that share a process or a stream.
Group = list[Cell]


class OtherSettingsError(ValueError):
    """The rows on disk belong to a run with other settings."""


class RowFile:
    """The rows of a run.

    Parameters
    ----------
    path : Path
        File of JSON lines; it is created, and continued where it exists.
    settings : mapping
        What the rows depend on, in plain values; continuing with other settings is refused.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = RowFile(Path(folder.name) / "rows.jsonl", {"seeds": 2})
    >>> file.add({"seed": 100}, [{"seed": 100, "score": 0.5}], seconds=0.1)
    >>> file.has({"seed": 100}), file.has({"seed": 101})
    (True, False)
    >>> RowFile(file.path, {"seeds": 2}).rows
    [{'seed': 100, 'score': 0.5}]
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        outputs.check(path)
        self.settings = json.loads(json.dumps(dict(settings)))
        self._lines: dict[str, Row] = {}
        if path.exists():
            self._read()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._append({"settings": self.settings})

    @property
    def rows(self) -> list[Row]:
        """All rows of all finished cells, in the order in which the cells were finished."""
        return [row for line in self._lines.values() for row in line["rows"]]

    @property
    def seconds(self) -> float:
        """What the finished cells took, added up."""
        return float(sum(line["seconds"] for line in self._lines.values()))

    def has(self, cell: Cell) -> bool:
        """Whether a cell is finished."""
        return _key(cell) in self._lines

    def add(self, cell: Cell, rows: Sequence[Row], *, seconds: float) -> None:
        """Append a finished cell."""
        line = {"cell": dict(cell), "seconds": round(seconds, 3), "rows": list(rows)}
        self._append(line)
        self._lines[_key(cell)] = line

    def _append(self, line: Mapping[str, Any]) -> None:
        """Write one line, whole."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")

    def _read(self) -> None:
        """Take over what is there; cut off a line that was not finished."""
        text = self.path.read_text(encoding="utf-8")
        whole = text[: text.rfind("\n") + 1]
        lines = list(_parsed(whole))  # first, so that a file of something else is left as it is
        if whole != text:
            outputs.write(self.path, whole)
        if not lines:
            self._append({"settings": self.settings})
            return
        _check_settings(self.path, lines[0], self.settings)
        self._lines = {_key(line["cell"]): line for line in lines[1:]}


@dataclass(frozen=True)
class Record:
    """How rows were made, in words and on disk.

    Attributes
    ----------
    path : Path
        The file.
    name : str
        What the words stand under, in a file about several parts.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> record = Record(Path(folder.name) / "provenance.json", "merge")
    >>> record.read() is None
    True
    >>> record.write({"command": "okspca reproduce distributed"})
    >>> record.read()
    {'command': 'okspca reproduce distributed'}
    >>> folder.cleanup()
    """

    path: Path
    name: str = ""

    def read(self) -> dict[str, str] | None:
        """What was told; None where nothing was."""
        found = self._file()
        return found.get(self.name) if self.name else found or None

    def write(self, told: Mapping[str, str]) -> None:
        """Tell it anew."""
        content = {**self._file(), self.name: dict(told)} if self.name else dict(told)
        outputs.write(self.path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def _file(self) -> dict[str, Any]:
        """All that the file holds."""
        if not self.path.exists():
            return {}
        found: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return found


def read_rows(path: Path, settings: Mapping[str, Any]) -> list[Row]:
    """Read the rows of a run that may still be going on elsewhere; change nothing.

    Rows of other settings are refused; where there is no file, there are no rows.
    """
    if not path.exists():
        return []
    lines = list(_parsed(path.read_text(encoding="utf-8").rpartition("\n")[0]))
    _check_settings(path, lines[0], json.loads(json.dumps(dict(settings))))
    return [row for line in lines[1:] for row in line["rows"]]


def _check_settings(path: Path, first: Row, settings: Mapping[str, Any]) -> None:
    """Refuse rows that belong to a run with other settings."""
    if first.get("settings") != settings:
        message = (
            f"{path} holds rows of a run with other settings; "
            "choose another --out, or remove that file to start again."
        )
        raise OtherSettingsError(message)


def _parsed(text: str) -> Iterator[Row]:
    """Parse line by line."""
    for line in text.splitlines():
        yield json.loads(line)


def _key(cell: Cell) -> str:
    """Name a cell."""
    return json.dumps(dict(cell), sort_keys=True)
