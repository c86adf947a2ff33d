"""Helper processes: they compile what is needed next, are silent, and never stay behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numba
import pytest

from okspca.numerics import caching, claims, helpers, routes
from okspca.numerics.helpers import Helpers
from okspca.numerics.parts import KernelDispatcher

if sys.platform == "win32" or numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    pytest.skip("there are no helpers", allow_module_level=True)

#: Learns in a process with an empty cache, with as many helpers as it is told.
LEARN = """
import sys
import numpy as np
from okspca import OKSPCA
from okspca.numerics import helpers
from okspca.numerics.announcing import ANNOUNCER
helpers.n_helpers = lambda: int(sys.argv[1])
X = np.random.default_rng(0).normal(size=(1000, 5))
model = OKSPCA(2, n_random_features=64, random_state=0).fit(X, np.sin(X[:, 0]))
print(model.to_bytes().hex(), model.basis().certificate)
print(ANNOUNCER.compiled, len(helpers.HELPERS.running))
"""
#: Starts a helper that would stay for ever, tells its number, and waits.
KEEP = """
import os, sys, time
from okspca.numerics import caching, helpers
helpers.n_helpers = lambda: 1
helpers.HELPERS.work(caching.FOLDER, "signal:pause")
fork = os.fork() if sys.argv[1] == "fork" else 0
if sys.argv[1] != "fork" or fork:
    print(helpers.HELPERS.running[0].pid, fork, flush=True)
if sys.argv[1] != "end":
    time.sleep(60)
"""


def command(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-c", code, *arguments]


def is_there(process: int) -> bool:
    """Whether a process runs, other than as an entry that nobody has asked about."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(process: int) -> bool:
    """Whether a process ends; half a minute is more than it can take."""
    for _ in range(3000):
        if not is_there(process):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.slow
def test_helpers_compile_a_part_and_results_are_the_same_bits(tmp_path: Path) -> None:
    """The first process compiles with a helper; the second loads what both have compiled."""
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    helped, again = (
        subprocess.run(command(LEARN, n), env=place, capture_output=True, text=True, check=True)
        for n in ("1", "0")
    )
    assert helped.stderr != ""
    assert all(line.startswith("okspca ") for line in helped.stderr.splitlines())
    assert again.stderr == ""
    (bits, counts), (same_bits, no_counts) = (done.stdout.splitlines() for done in (helped, again))
    assert bits == same_bits
    assert no_counts == "0 0"
    n_compiled, n_helpers = map(int, counts.split())
    assert 0 < n_compiled < len([*tmp_path.rglob("*.nbc")])
    assert n_helpers == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no list of processes")
@pytest.mark.parametrize("how", ["end", "killed", "fork"])
def test_a_helper_ends_with_the_process_that_started_it(how: str, tmp_path: Path) -> None:
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command(KEEP, how), env=place, stdout=pipe, text=True) as parent:
        assert parent.stdout is not None
        helper, fork = map(int, parent.stdout.readline().split())
        if how == "end":
            assert parent.wait() == 0
        else:
            assert is_there(helper)
            parent.kill()
        assert ends(helper)
        if fork:
            os.kill(fork, signal.SIGKILL)


class TestWhereToStart:
    """Helpers are started for a route that lacks kernels, by whom it helps, and once."""

    @pytest.fixture(autouse=True)
    def _started(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.slots: list[int] = []
        monkeypatch.setattr(helpers, "n_helpers", lambda: 2)
        monkeypatch.setattr(helpers, "started", self._start)
        monkeypatch.setattr(helpers, "atexit", type("No", (), {"register": lambda _: None}))

    def _start(self, folder: Path, slot: int, task: str) -> Any:
        self.slots.append(slot)
        return None

    def test_once_for_a_route_that_was_announced(self, tmp_path: Path) -> None:
        own = Helpers()
        own.start(tmp_path)
        assert self.slots == []
        own.expect("whitened")
        own.start(tmp_path)
        own.start(tmp_path)
        assert self.slots == [0, 1]

    def test_not_for_a_few_kernels(self, tmp_path: Path) -> None:
        for entry in routes.routes()["whitened"][3:]:
            (tmp_path / f"{entry.stem}-1.nbi").touch()
        own = Helpers()
        own.expect("whitened")
        own.start(tmp_path)
        assert self.slots == []

    def test_not_where_another_process_has_its_helpers(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(claims, "take", lambda _, name: name != helpers.slot_name(0))
        Helpers().work(tmp_path, "a task")
        assert self.slots == [1]

    def test_not_by_a_helper(self, tmp_path: Path) -> None:
        own = Helpers()
        own.switch_off()
        own.work(tmp_path, "a task")
        assert self.slots == []

    @pytest.mark.parametrize("program", ["", "/usr/sbin/uwsgi", "/opt/app/app.exe"])
    def test_not_without_an_interpreter(
        self, program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", program)
        Helpers().work(tmp_path, "a task")
        assert self.slots == []

    def test_not_in_a_frozen_application(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        Helpers().work(tmp_path, "a task")
        assert self.slots == []

    def test_a_system_that_refuses_is_no_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise BlockingIOError("no more processes")

        monkeypatch.setattr(helpers, "started", refuse)
        own = Helpers()
        own.work(tmp_path, "a task")
        assert own.running == []


@pytest.mark.parametrize(
    ("cores", "quota", "n"),
    [(1, "", 0), (2, "", 1), (64, "", helpers.MOST), (64, "100000 100000", 0), (3, "max 1", 2)],
)
def test_there_are_as_many_as_cores_are_left(
    cores: int, quota: str, n: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)
    monkeypatch.setattr(helpers, "QUOTA", tmp_path / "cpu.max")
    if quota:
        (tmp_path / "cpu.max").write_text(quota)
    assert helpers.n_helpers() == n


@pytest.mark.parametrize("settings", ["those of this process", "others"])
def test_a_helper_with_other_settings_does_nothing(settings: str, tmp_path: Path) -> None:
    """The parent may have changed what decides about code after it had started."""
    made = tmp_path / "made"
    own = helpers.settings() if settings != "others" else "0"
    arguments = [str(caching.FOLDER), "9", own, str(os.getpid()), f"os:mkdir:{made}"]
    program = [sys.executable, "-m", helpers.PROGRAM, *arguments]
    with subprocess.Popen(program, stdin=subprocess.PIPE) as helper:
        assert helper.wait() == 0
    assert made.exists() == (settings != "others")


def test_an_interrupted_compilation_stops_the_helpers(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    stopped = []
    monkeypatch.setattr(helpers.HELPERS, "stop", lambda: stopped.append(1))
    monkeypatch.setattr(numba.core.registry.CPUDispatcher, "compile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        KernelDispatcher(is_there, {}, {"nopython": True}).compile(())
    assert stopped == [1]


def test_helpers_are_stopped_at_once_and_by_their_owner_alone() -> None:
    own = Helpers()
    own.running = [subprocess.Popen(["sleep", "60"], stdin=subprocess.PIPE)]
    (helper,) = own.running
    own._owner = 0
    own.stop()
    assert helper.poll() is None
    own._owner, own.running = os.getpid(), [helper]
    own.stop()
    assert helper.returncode == -signal.SIGKILL
    assert own.running == []
