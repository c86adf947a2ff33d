"""The table of seeded faults names tests that exist."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROW = re.compile(r"^\| (?P<fault>.+) \| (?P<caught_by>[^|]+) \|$", re.MULTILINE)
#: Anything in backquotes that is a path, rather than the name of a module.
PATH = re.compile(r"`([\w/]+(?:/|\.py))`|`(\w+(?:/\w+)+)`")


def places() -> list[tuple[str, list[Path]]]:
    """Every fault, and the files and folders that it is caught by."""
    rows = ROW.findall((TESTS / "README.md").read_text(encoding="utf-8"))
    return [
        (fault, [TESTS / (file or folder) for file, folder in PATH.findall(caught_by)])
        for fault, caught_by in rows
        if fault != "fault"
    ]


def test_every_fault_is_caught_by_tests_that_exist() -> None:
    found = places()
    assert len({fault for fault, _ in found}) == len(found) > 80
    assert [fault for fault, named in found if not named] == []
    missing = [path for _, named in found for path in named if not path.exists()]
    assert missing == []
