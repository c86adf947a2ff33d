"""The kernels that helpers compile ahead are those that common models need.

``python -m tests.numerics.test_routes`` records them again.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import starmap
from pathlib import Path

import pytest

from okspca.numerics import routes
from okspca.numerics.parts import KernelDispatcher
from okspca.numerics.routes import Entry
from okspca.numerics.signatures import read, written
from okspca_lab.bench.plain import EXAMPLE

#: Notes every kernel that Python calls, with its types, in the order of the first calls.
RECORD = """
import json
from okspca.numerics.parts import KernelDispatcher
from okspca.numerics.signatures import written
called = {}
compile_one = KernelDispatcher.compile

def noted(self, types):
    called[self.py_func.__module__, self.py_func.__name__, *map(written, types)] = None
    return compile_one(self, types)

KernelDispatcher.compile = noted
"""
SHOW = "\nprint(); print(json.dumps(list(called)))"
#: The example of the README, and the same with the settings of the paper.
EXAMPLES = {"whitened": EXAMPLE, "covariance": EXAMPLE.replace('preset="predictive", ', "")}
AGAIN = "Run `python -m tests.numerics.test_routes` and commit what it has written."


def recorded(example: str) -> Iterator[Entry]:
    command = [sys.executable, "-W", "ignore", "-c", RECORD + example + SHOW]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ)
    for module, name, *types in json.loads(done.stdout.splitlines()[-1]):
        yield Entry(module, name, tuple(types))


@pytest.mark.slow
@pytest.mark.parametrize("route", EXAMPLES)
def test_what_an_example_needs_is_on_its_route(route: str) -> None:
    assert set(recorded(EXAMPLES[route])) == set(routes.routes()[route]), AGAIN


def test_every_entry_is_a_kernel_with_types_that_can_be_read() -> None:
    for entries in routes.routes().values():
        for entry in entries:
            assert isinstance(entry.kernel(), KernelDispatcher), AGAIN
            assert tuple(map(written, map(read, entry.types))) == entry.types


def test_a_type_without_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        written(read("(int64,bool)")[0].__class__)


def test_what_a_cache_lacks_is_told_by_its_files(tmp_path: Path) -> None:
    first, *others = routes.routes()["covariance"]
    (tmp_path / "room").mkdir()
    (tmp_path / "room" / f"{first.stem}-12.py311.nbi").touch()
    assert routes.missing("covariance", tmp_path) == others
    assert routes.missing("unknown", tmp_path) == []


def record() -> None:
    lines = []
    for route, example in EXAMPLES.items():
        lines.append(f"[{route}]")
        lines.extend(starmap(line, recorded(example)))
    routes.FILE.write_text("\n".join(lines) + "\n", "utf-8")


def line(module: str, name: str, types: tuple[str, ...]) -> str:
    return " ".join((module, name, *types))


if __name__ == "__main__":
    record()
