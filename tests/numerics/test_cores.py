"""No more cores than the settings of the user allow, and one where others share out the work."""

import multiprocessing
import os

import joblib
import pytest
from threadpoolctl import threadpool_limits

from okspca.numerics import cores
from okspca.numerics.cores import VARIABLES, allowed


@pytest.fixture(autouse=True)
def a_large_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(cores, "_n_cores", lambda: 8)
    monkeypatch.setattr(cores, "_limits", lambda: iter(()))


def test_no_more_than_asked_for_and_than_there_are() -> None:
    assert [allowed(n) for n in (1, 3, 8, 100)] == [1, 3, 8, 8]


@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.parametrize(
    ("value", "most"), [("1", 1), ("3", 3), ("2,1", 2), ("", 8), ("no", 8), ("0", 8), ("99", 8)]
)
def test_variables_limit(name: str, value: str, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    assert allowed(100) == most


def test_limits_of_libraries_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with threadpool_limits(limits=1):
        assert allowed(8) == 1


def test_the_present_process_may_use_its_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert 1 <= allowed(10**6) <= (os.cpu_count() or 1)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_workers_of_joblib_use_one(backend: str) -> None:
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(allowed)(8) for _ in range(2))
    assert found == [1, 1]


def test_child_processes_use_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "parent_process", lambda: object())
    assert allowed(8) == 1
