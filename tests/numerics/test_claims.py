"""Processes that share a cache claim what they compile, and lose their claims when they end."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from okspca.numerics import claims

if sys.platform == "win32":
    pytest.skip("there are no locks", allow_module_level=True)

HOLD = """
import sys
from pathlib import Path
from okspca.numerics import claims
print(claims.take(Path(sys.argv[1]), "a kernel"), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process, which has claimed a kernel."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process
        process.kill()


@pytest.mark.usefixtures("holder")
def test_a_kernel_has_one_owner(tmp_path: Path) -> None:
    assert not claims.take(tmp_path, "a kernel")
    assert claims.take(tmp_path, "another kernel")


def test_a_process_that_was_killed_leaves_no_claim(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    holder.kill()
    holder.wait()
    assert claims.take(tmp_path, "a kernel")


def test_what_is_given_back_can_be_claimed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    assert claims.take(tmp_path, "a kernel")
    for expected in ("False\n", "True\n"):
        done = subprocess.run(command, input="", capture_output=True, text=True, check=True)
        assert done.stdout == expected
        claims.give_back(tmp_path, "a kernel")


def test_without_locks_everybody_may_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not claims.are_possible(tmp_path / "missing")
    assert claims.take(tmp_path / "missing", "a kernel")
    monkeypatch.setattr(claims, "_locks", lambda: None)
    assert not claims.are_possible(tmp_path)
    assert claims.take(tmp_path, "a kernel")
    claims.give_back(tmp_path, "a kernel")
