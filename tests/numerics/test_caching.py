"""The cache of machine code is the user's own, and renewed when what goes into it changes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numba
import pytest

from okspca.numerics import caching
from okspca.numerics.caching import (
    IMPORTED,
    PACKAGE,
    WITHOUT_KERNELS,
    find_folder,
    fingerprint,
    folder_of_others,
    holds_kernels,
)

FILES = {
    "kernels.py": "from okspca.numbers import TOLERANCE\n\n@compiled\ndef f(x): return x\n",
    "numbers.py": "TOLERANCE = 1.0\n",
    "forms.py": "@overload(f, inline='always')\ndef g(x): ...\n",
    "vectors.py": "from okspca.lanes import LANES\n\nadded = emitted(_emit_added, _plain_added)\n",
    "lanes.py": "LANES = 4\n",
    "elsewhere.py": "print('no kernel needs this')\n",
}


@pytest.mark.parametrize("name", FILES)
def test_what_kernels_need_decides_the_folder(tmp_path: Path, name: str) -> None:
    for file, text in FILES.items():
        (tmp_path / file).write_text(text)
    before = fingerprint(tmp_path)
    fingerprint.cache_clear()
    (tmp_path / name).write_text(FILES[name] + "# changed\n")
    assert (fingerprint(tmp_path) != before) == (name != "elsewhere.py")


@pytest.mark.parametrize(
    "name",
    [
        "numerics/addresses.py",
        "numerics/elimination.py",
        "numerics/instructions.py",
        "numerics/spectrum.py",
        "pipeline/fast_row_kernels.py",
    ],
)
def test_files_of_the_package_that_matter(tmp_path: Path, name: str) -> None:
    for path in PACKAGE.rglob("*.py"):
        twin = tmp_path / path.relative_to(PACKAGE)
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_bytes(path.read_bytes())
    before = fingerprint(tmp_path)
    assert before == fingerprint(PACKAGE)
    fingerprint.cache_clear()
    with (tmp_path / name).open("a") as file:
        file.write("# changed\n")
    assert fingerprint(tmp_path) != before


def test_folders_that_are_left_out_hold_nothing_that_kernels_need() -> None:
    sources = {path: path.read_bytes() for path in PACKAGE.rglob("*.py")}
    kernels = {path for path, source in sources.items() if holds_kernels(source)}
    taken = {name.decode() for path in kernels for name in IMPORTED.findall(sources[path])}
    homes = {path.relative_to(PACKAGE).parts[0] for path in kernels}
    assert not (homes | {name.split(".")[0] for name in taken}) & set(WITHOUT_KERNELS)
    assert {path.name for path in PACKAGE.iterdir()} > set(WITHOUT_KERNELS)


def test_kernels_of_another_package_lie_apart(tmp_path: Path) -> None:
    """Its kernels hold machine code of each other, so all its files count."""
    package = tmp_path / "other"
    (package / "room").mkdir(parents=True)
    for folder in (package, package / "room"):
        (folder / "__init__.py").write_text("")
    inner, outer = package / "room" / "inner.py", package / "outer.py"
    inner.write_text("@compiled\ndef f(x): return x\n")
    outer.write_text("from other.room.inner import f\n\n@compiled\ndef g(x): return f(x)\n")
    before = folder_of_others(outer)
    assert before == folder_of_others(inner) != ""
    inner.write_text("@compiled\ndef f(x): return 2 * x\n")
    fingerprint.cache_clear()
    assert folder_of_others(outer) != before
    assert folder_of_others(PACKAGE / "numerics" / "sums.py") == ""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Path, Path]]:
    """A folder that the user names for caches, and the user's own one; with a mask as on Fedora."""
    shared, own = tmp_path / "shared", tmp_path / "own"
    monkeypatch.setitem(vars(numba.config), "CACHE_DIR", str(shared))
    monkeypatch.setenv("XDG_CACHE_HOME", str(own))
    monkeypatch.setenv("LOCALAPPDATA", str(own))
    mask = os.umask(0o002)
    shared.mkdir(mode=0o755)
    yield shared, own / "okspca"
    os.umask(mask)


def name() -> str:
    return f"{caching.PREFIX}{caching.FINGERPRINT}"


def test_a_folder_of_ones_own_is_taken(places: tuple[Path, Path]) -> None:
    shared, _ = places
    for _ in range(2):
        assert find_folder() == shared / name()
    assert (shared / name()).stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="permissions differ")
@pytest.mark.parametrize("mode", [0o775, 0o707, 0o777])
def test_a_folder_that_others_can_write_to_is_not_trusted(
    mode: int, places: tuple[Path, Path]
) -> None:
    shared, own = places
    (shared / name()).mkdir()
    (shared / name()).chmod(mode)
    assert find_folder() == own / name()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions differ")
def test_a_folder_that_others_can_exchange_is_not_trusted(places: tuple[Path, Path]) -> None:
    shared, own = places
    shared.chmod(0o777)
    assert find_folder() == own / name()
    shared.chmod(0o1777)  # as /tmp: only its owner can rename what is there
    assert find_folder() == shared / name()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only for root")
@pytest.mark.parametrize("laid", ["folder", "link"])
def test_a_folder_of_somebody_else_is_not_trusted(laid: str, places: tuple[Path, Path]) -> None:
    """Root can write to it all the same."""
    shared, own = places
    theirs = shared / (name() if laid == "folder" else "theirs")
    theirs.mkdir(mode=0o755)
    os.chown(theirs, 12345, 12345)
    if laid == "link":
        (shared / name()).symlink_to(theirs)
    assert find_folder() == own / name()


@pytest.mark.skipif(sys.platform == "win32", reason="permissions differ")
def test_the_users_own_folder_is_made_private(places: tuple[Path, Path]) -> None:
    shared, own = places
    shared.chmod(0o777)
    own.mkdir(parents=True)
    own.chmod(0o775)
    assert find_folder() == own / name()
    assert own.stat().st_mode & 0o777 == 0o755
