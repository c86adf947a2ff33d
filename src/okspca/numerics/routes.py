"""Which kernels common models need, in the order in which they need them.

``routes.txt`` has a section for every objective, with a line for each kernel that Python calls
while a model with a number as target learns and answers: its module, its name and the types of its
arguments.  Models with labels as targets need few others.  The file is recorded, not written by
hand; after a change of kernels, ``python -m tests.numerics.test_routes`` records it again.
"""

from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("routes.txt")


class Entry(NamedTuple):
    """A kernel on a route.

    Attributes
    ----------
    module, name : str
        Where it is found.
    types : tuple of str
        Its arguments; see :mod:`okspca.numerics.signatures`.

    Examples
    --------
    >>> Entry("okspca.numerics.sums", "inner", ()).stem
    'sums.inner'
    """

    module: str
    name: str
    types: tuple[str, ...]

    @property
    def stem(self) -> str:
        """How the names of its files in the cache begin."""
        return f"{self.module.rpartition('.')[2]}.{self.name}"

    def kernel(self) -> Any:
        """Return what compiles it."""
        found: Any = getattr(import_module(self.module), self.name)
        return getattr(found, "kernel", found).dispatcher


@cache
def routes() -> dict[str, tuple[Entry, ...]]:
    """Read all routes; none where the file is not part of the installation."""
    found: dict[str, list[Entry]] = {}
    lines: list[str] = []
    with suppress(OSError):
        lines = FILE.read_text("utf-8").splitlines()
    for line in lines:
        module, *rest = line.split(" ")
        if module.startswith("["):
            found[module.strip("[]")] = entries = []
        else:
            entries.append(Entry(module, rest[0], tuple(rest[1:])))
    return {name: tuple(entries) for name, entries in found.items()}


def missing(route: str, folder: Path) -> list[Entry]:
    """Return the kernels of a route of which a cache holds nothing."""
    held = {path.name.partition("-")[0] for path in folder.rglob("*.nbi")}
    return [entry for entry in routes().get(route, ()) if entry.stem not in held]


def compile_ahead(route: str) -> None:
    """Compile what a route lacks and nobody is compiling, the last first."""
    read = import_module("okspca.numerics.signatures").read
    for entry in reversed(routes().get(route, ())):
        # What cannot be compiled here, its user will be told by the process that needs it.
        with suppress(Exception):
            entry.kernel().compile_ahead(tuple(map(read, entry.types)))
