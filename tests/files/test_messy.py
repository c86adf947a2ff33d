"""Messy files are read right, value for value, or refused with the exact place.

Every file of the folder ``messy`` has an entry in ``messy/expected.toml``.  To add one, put the
file there and write what must come out of it::

    ["name.csv"]
    options = { target = "y", na = ["lost"] }      # target, task, or a field of ReadingFlags
    described = "semicolon, decimal comma"         # part of the line that is shown
    columns = { a = [1.5, nan], y = ["no", "yes"] }

or, instead of ``columns``, ``refused = "line 3, column 'a': 'abc' is not a number"``.  A missing
value is ``nan`` among numbers and ``"<missing>"`` among texts; a date is written as ISO does.
An entry whose name has a part in brackets, such as ``"name.csv (as text)"``, reads the same file
once more with other options.
"""

import math
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from okspca.cli.reading_options import ReadingFlags
from okspca.errors import DataError
from okspca.files import records
from okspca.files.readers import rows_of
from okspca.files.reading import LABEL, NUMBER

FOLDER = Path(__file__).parent / "messy"
EXPECTED: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "expected.toml").read_text())
FILES = {path.name for path in FOLDER.glob("[!.]*") if path.suffix != ".toml"}
FEWEST = 30


def file_of(entry: str) -> Path:
    return FOLDER / entry.partition(" (")[0]


def read(path: Path, options: dict[str, Any]) -> tuple[pa.Table | None, str]:
    told: list[str] = []
    given = dict(options)
    target, task = given.pop("target", "y"), given.pop("task", "auto")
    used = {name: given.pop(name, default) for name, default in (("columns", None), ("drop", []))}
    reading = ReadingFlags(**given).reading(told.append, **used)
    kinds = {target: NUMBER if task == "regression" else LABEL, **reading.kinds}
    found = list(rows_of([str(path)], reading._replace(kinds=kinds)))
    return (pa.Table.from_batches(found) if found else None), "".join(told)


def plain(value: Any) -> Any:
    """A value as the table writes it."""
    return value.isoformat() if hasattr(value, "isoformat") else value


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float) and math.isnan(wanted):
        return found is None
    if wanted == "<missing>":
        return found is None
    return type(found) is type(wanted) and bool(found == wanted)


def test_every_file_has_an_entry_and_there_are_enough() -> None:
    assert {file_of(entry).name for entry in EXPECTED} == FILES
    assert len(FILES) >= FEWEST


@pytest.mark.parametrize("entry", EXPECTED)
@pytest.mark.parametrize("piece", [None, 16], ids=["whole", "in pieces"])
def test_a_messy_file_is_read_right_or_refused_with_the_place(
    entry: str, piece: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, path = EXPECTED[entry], file_of(entry)
    if piece is not None:  # the look ahead is as before, reading goes in small steps
        monkeypatch.setattr(records, "PIECE", piece)
        monkeypatch.setattr(records, "ROWS", 1)
    options = wanted.get("options", {})
    if "refused" in wanted:
        with pytest.raises(DataError) as refusal:
            read(path, options)
        message = str(refusal.value)
        assert wanted["refused"] in message
        assert message.startswith((str(path), "The values of"))
        assert len(message.splitlines()) == 1
        return
    table, told = read(path, options)
    assert wanted.get("described", "") in told
    assert (table is None) == (wanted["columns"] == {})
    for name, values in wanted["columns"].items():
        assert table is not None
        found = [plain(value) for value in table.column(name).to_pylist()]
        assert len(found) == len(values), (name, found)
        assert all(map(same, found, values)), (name, found)
    assert table is None or set(table.column_names) == set(wanted["columns"])
