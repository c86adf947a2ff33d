"""The laboratory as a distribution: its version, its commands, what it takes from okspca."""

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import okspca
import okspca_lab
from okspca.cli.extensions import GROUP, OF_THE_LAB
from okspca.numerics.caching import IMPORTED, PACKAGE, holds_kernels

ROOT = Path(__file__).resolve().parents[2]
LAB = Path(okspca_lab.__file__).parent


def test_all_versions_agree() -> None:
    version = okspca.__version__
    assert okspca_lab.__version__ == version
    pins = tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text())["project"]["dependencies"]
    assert [pin for pin in pins if pin.startswith("okspca")] == [f"okspca[plot,files]=={version}"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == version


def test_both_have_the_same_licence() -> None:
    """A copy, since a link would lead nowhere from the archive of sources."""
    assert (ROOT / "lab" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


def test_the_commands_that_okspca_knows_by_name_are_there() -> None:
    assert sorted(entry.name for entry in entry_points(group=GROUP)) == sorted(OF_THE_LAB)


def test_only_public_names_of_others_are_used() -> None:
    found = [
        f"{path.relative_to(LAB)}: {name}" for path in LAB.rglob("*.py") for name in private(path)
    ]
    assert found == []


def private(path: Path) -> Iterator[str]:
    """Private names that a file imports, or takes from anything but its own objects."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            names = [*(node.module or "").split("."), *(alias.name for alias in node.names)]
            yield from filter(is_private, names)
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            is_own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not is_own and node.attr != "_replace":  # of a named tuple, where it is public
                yield node.attr


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_the_cache_of_kernels_follows_all_that_they_take_from_okspca() -> None:
    """What holds no kernels, and what no kernel of okspca takes anything from, would not count."""
    sources = {path: path.read_bytes() for path in PACKAGE.rglob("*.py")}
    followed = {path for path, source in sources.items() if holds_kernels(source)}
    for path in list(followed):
        followed |= set(files_of(sources[path], "okspca"))
    for path in LAB.rglob("*.py"):
        if holds_kernels(path.read_bytes()):
            taken = {file for file in files_of(path.read_bytes(), "okspca") if file.exists()}
            assert taken <= followed


def files_of(source: bytes, package: str) -> list[Path]:
    """Files of okspca that a source imports from."""
    lines = [line for line in source.split(b"\n") if line.startswith(f"from {package}.".encode())]
    names = [name.decode().split(".") for name in IMPORTED.findall(b"\n".join(lines))]
    places = [PACKAGE.joinpath(*name) for name in names]
    return [file for place in places for file in (place.with_suffix(".py"), place / "__init__.py")]
