"""The cache of machine code: where installs cannot be written, and shared by processes."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from numba.core.caching import IndexDataCacheFile

import okspca
from okspca.numerics import caching

ONE_KERNEL = """
import sys
from okspca.numerics import caching
from okspca.numerics.announcing import ANNOUNCER
from okspca.numerics.cosine import vector_cosine
assert vector_cosine(0.0) == 1.0
print(ANNOUNCER.compiled, caching.FOLDER)
"""
#: One kernel for four types, in an order of its own for each process.
FOUR_TYPES = """
import sys
import numpy as np
from okspca.numerics.sums import inner
row = np.arange(6.0)
read_only = row.view()
read_only.flags.writeable = False
kinds = [row, row[::2], read_only, read_only[::2]]
start = int(sys.argv[1])
for kind in kinds[start:] + kinds[:start]:
    assert inner(kind, kind, 0) == float(kind @ kind)
"""


def python(code: str, *arguments: str, **variables: str) -> str:
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    environment = {**os.environ, **variables}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def install(tmp_path: Path) -> Path:
    """A copy of the package in which no cache can be written, even by the superuser."""
    package = tmp_path / "install" / "okspca"
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(okspca.__file__).parent, package, ignore=ignore)
    (package / "__pycache__").write_text("a file where the folder would be")
    return package.parent


class TestReadOnlyInstall:
    def used(self, install: Path, **variables: str) -> tuple[int, str]:
        """How many kernels were compiled, and where the cache is."""
        variables = {"PYTHONPATH": str(install), "NUMBA_CACHE_DIR": "", **variables}
        compiled, folder = python(ONE_KERNEL, **variables).split()
        return int(compiled), folder

    def test_the_users_folder_is_taken(self, install: Path, tmp_path: Path) -> None:
        home = tmp_path / "home"
        home.mkdir()
        place = {"HOME": str(home), "XDG_CACHE_HOME": ""}
        compiled, folder = self.used(install, **place)
        assert compiled > 0
        assert Path(folder).is_relative_to(home)
        assert self.used(install, **place) == (0, folder)

    def test_without_a_home_it_still_works(self, install: Path, tmp_path: Path) -> None:
        nowhere = {"HOME": str(tmp_path / "missing"), "XDG_CACHE_HOME": ""}
        first, second = (self.used(install, **nowhere) for _ in range(2))
        assert first == second
        assert first[0] > 0
        assert first[1] == "None"
        assert not (tmp_path / "missing").exists()

    def test_the_folder_the_user_names_comes_first(self, install: Path, tmp_path: Path) -> None:
        named = {"HOME": str(tmp_path / "missing"), "NUMBA_CACHE_DIR": str(tmp_path / "named")}
        compiled, folder = self.used(install, **named)
        assert compiled > 0
        assert Path(folder).parent == tmp_path / "named"
        assert self.used(install, **named) == (0, folder)

    def test_a_named_folder_that_cannot_be_written(self, install: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        below_a_file = str(tmp_path / "file" / "cache")
        variables = {"HOME": below_a_file, "XDG_CACHE_HOME": below_a_file}
        compiled, folder = self.used(install, NUMBA_CACHE_DIR=below_a_file, **variables)
        assert compiled > 0
        assert folder == "None"


def test_a_full_disk_costs_only_the_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tried: list[int] = []

    def full(*_: Any) -> None:
        tried.append(1)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching, "FOLDER", tmp_path)
    monkeypatch.setattr(IndexDataCacheFile, "save", full)
    cache = caching.cache_of(python)
    assert isinstance(cache, caching.SharedCache)
    monkeypatch.setattr(cache._impl, "check_cachable", lambda data: True)
    monkeypatch.setattr(cache._impl, "reduce", lambda data: data)
    monkeypatch.setattr(cache, "_index_key", lambda sig, codegen: sig)
    cache.save_overload((), type("Result", (), {"codegen": None}))
    assert tried == [1]


def test_one_process_writes_a_cache_at_a_time(tmp_path: Path) -> None:
    inside, most = 0, 0

    def write() -> None:
        nonlocal inside, most
        for _ in range(200):
            with caching._alone_in(tmp_path):
                inside += 1
                most = max(most, inside)
                (tmp_path / "index").write_text("busy")
                inside -= 1

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1


COUNT = "\nfrom okspca.numerics.announcing import ANNOUNCER; print(ANNOUNCER.compiled)"


def test_processes_that_compile_at_once_share_the_work_and_leave_a_whole_cache(
    tmp_path: Path,
) -> None:
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    commands = [[sys.executable, "-c", FOUR_TYPES + COUNT, str(start)] for start in range(4)]
    processes = [
        subprocess.Popen(command, env=place, stdout=subprocess.PIPE) for command in commands
    ]
    counts = [int(process.communicate()[0]) for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    assert sys.platform == "win32" or sum(counts) == 4
    assert python(FOUR_TYPES + COUNT, "0", NUMBA_CACHE_DIR=str(tmp_path)) == "0\n"


#: Calls a kernel that makes an array, with code of Numba inside it.
MAKES_AN_ARRAY = """
import sys
from importlib import metadata
import numba
import numpy as np
from okspca.numerics.products import gram

done = []
def noted(home, name):
    known = getattr(home, name)
    setattr(home, name, lambda *given, **named: (done.append(name), known(*given, **named))[1])
noted(metadata, "entry_points")
assert gram(np.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
print("numba.np.arrayobj" in sys.modules, sorted(set(done)))
assert numba.njit(lambda n: np.ones(n))(2).tolist() == [1.0, 1.0]
print(sorted(set(done)))
"""


def test_a_loaded_kernel_needs_nothing_of_the_compiler(tmp_path: Path) -> None:
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    everything = "['entry_points']\n"
    assert python(MAKES_AN_ARRAY, **place) == "True " + everything + everything
    # What compiles later finds all of it.
    assert python(MAKES_AN_ARRAY, **place) == "False []\n" + everything
