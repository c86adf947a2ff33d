"""Work beside other work: it is waited for, its failure is told, and it stops with its starter."""

import os
import time
from pathlib import Path

import pytest
from rich.console import Console

from okspca_lab.studies.beside import beside, free_cores

QUIET = Console(quiet=True)

pytestmark = pytest.mark.skipif(not free_cores(), reason="needs a second core to bind to")


def write_cores(path: Path) -> None:
    time.sleep(0.2)
    path.write_text(str(sorted(os.sched_getaffinity(0))))


def fail(reason: str) -> None:
    raise ValueError(reason)


def leave() -> None:
    os._exit(7)


def beat(path: Path) -> None:
    while True:
        path.write_text(str(time.monotonic()))
        time.sleep(0.01)


def fail_after(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)
    raise KeyError(path)


def test_it_is_waited_for_and_keeps_off_the_timed_core(tmp_path: Path) -> None:
    path = tmp_path / "cores"
    with beside(QUIET, write_cores, path):
        assert not path.exists()
    assert path.read_text() == str(free_cores())


def test_its_failure_is_told() -> None:
    with (
        pytest.raises(RuntimeError, match="ValueError: no such disk"),
        beside(QUIET, fail, "no such disk"),
    ):
        pass


def test_a_silent_end_is_told() -> None:
    with pytest.raises(RuntimeError, match="code 7"), beside(QUIET, leave):
        pass


def test_it_stops_when_the_work_here_fails(tmp_path: Path) -> None:
    path = tmp_path / "beat"
    with pytest.raises(KeyError), beside(QUIET, beat, path):
        fail_after(path)
    last = path.read_text()
    time.sleep(0.1)
    assert path.read_text() == last
