"""Every room of the library has tests, and some of them are fast."""

from pathlib import Path

import pytest

import okspca
from tests.conftest import SLOW, TESTS, is_slow

ROOMS = sorted(
    folder.name
    for folder in Path(okspca.__file__).parent.iterdir()
    if (folder / "__init__.py").exists() and folder.name != "moved"
)


def fast_tests(file: Path) -> int:
    """How many functions of a file are tests that `make check` runs."""
    text = file.read_text(encoding="utf-8")
    return 0 if is_slow(file) else text.count("def test_") - text.count("@pytest.mark.slow")


@pytest.mark.parametrize("room", [*ROOMS, "lab"])
def test_every_room_has_fast_tests(room: str) -> None:
    assert sum(map(fast_tests, (TESTS / room).rglob("test_*.py"))) > 0


def test_what_is_listed_as_slow_exists() -> None:
    assert [name for name in SLOW if not (TESTS / name).exists()] == []
    assert is_slow(TESTS / "contracts" / "test_merge.py")
    assert not is_slow(Path(__file__))
