"""However a fit ends, the rows that it has learned are saved, and one sentence says so."""

import errno
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.cli.display import Progress
from okspca.cli.stopping import CLOSED_OUTPUT
from okspca.errors import DataError
from okspca.files import evaluating, fitting

N, SMALL_BLOCK = 1200, 256
SMALL = ("--target", "y", "--random-features", "8", "--components", "1")
#: An error's sentence ends so; the rows are those of all whole blocks before it.
SAVED = r".*\. ([\d,]+) rows are in .*model; go on with --resume(?: --new-rows)?\.\n"


def lines() -> list[str]:
    X = RandomState(0).normal(size=(N, 3)).round(6)
    return ["a,b,y\n", *(f"{a},{b},{y}\n" for a, b, y in X)]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("".join(lines()))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["fit", *map(str, arguments), *SMALL])


def resumed_equals_whole(rows: Path, model: Path, *options: str) -> bool:
    whole = model.with_name("whole")
    assert run(rows, "--out", model, "--resume", "--quiet", *options).exit_code == 0
    assert run(rows, "--out", whole, "--quiet", *options).exit_code == 0
    return model.read_bytes() == whole.read_bytes()


def test_a_line_that_cannot_be_read(rows: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Small pieces, so that the good rows come before the bad one is met.
    for room in ("records", "delimited"):
        monkeypatch.setattr(f"okspca.files.{room}.PIECE", 1 << 13)
    monkeypatch.setattr("okspca.cli.fit_run.CATEGORY_ROWS", SMALL_BLOCK)
    text, model = lines(), rows.with_name("model")
    rows.write_text("".join([*text[:-5], "1,2\n", *text[-5:]]))
    result = run(rows, "--out", model)
    assert result.exit_code == 1
    told = re.fullmatch(SAVED, result.stderr)
    assert told is not None, result.stderr
    assert OKSPCA.load(model).n_samples_seen_ == int(told[1].replace(",", "")) >= SMALL_BLOCK
    rows.write_text("".join(text))
    assert resumed_equals_whole(rows, model)


@pytest.mark.parametrize("options", [(), ("--evaluate",)])
def test_a_value_that_is_refused(rows: Path, options: tuple[str, ...]) -> None:
    text, model = lines(), rows.with_name("model")
    rows.write_text("".join([*text[:1100], "1,inf,2\n", *text[1100:]]))
    result = run(rows, "--out", model, *options)
    assert result.exit_code == 1
    assert re.fullmatch(SAVED, result.stderr), result.stderr
    assert "inf" in result.stderr
    assert OKSPCA.load(model).n_samples_seen_ == 4 * SMALL_BLOCK
    rows.write_text("".join(text))
    assert resumed_equals_whole(rows, model, *options)


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "Standard output was closed"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (MemoryError("Unable to allocate 8 GiB"), "There is not enough memory: Unable to"),
        (DataError("Something is wrong with it."), "Something is wrong with it."),
    ],
)
def test_anything_that_fails_between_two_blocks(
    failure: BaseException, told: str, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []

    def fail_later(_: Progress, n: int, __: Any) -> None:
        shown.append(n)
        if n >= 3 * SMALL_BLOCK:
            raise failure

    monkeypatch.setattr(Progress, "show", fail_later)
    monkeypatch.setattr(os, "dup2", lambda *_: None)  # the tests go on printing
    model = rows.with_name("model")
    result = run(rows, "--out", model)
    assert result.exit_code == (CLOSED_OUTPUT if isinstance(failure, BrokenPipeError) else 1)
    assert told in result.stderr
    assert re.fullmatch(SAVED, result.stderr), result.stderr
    assert OKSPCA.load(model).n_samples_seen_ == 3 * SMALL_BLOCK
    monkeypatch.undo()
    assert resumed_equals_whole(rows, model)


def test_a_block_that_was_learned_by_half_is_not_saved(
    rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the model is ahead of its record, resuming would learn rows twice."""
    after = evaluating.after_learning

    def fail_later(model: OKSPCA, *rest: Any) -> Any:
        if model.n_samples_seen_ > 2 * SMALL_BLOCK:
            raise DataError("No.")
        return after(model, *rest)

    monkeypatch.setattr(fitting, "after_learning", fail_later)
    model = rows.with_name("model")
    result = run(rows, "--out", model, "--evaluate", "--checkpoint-every", "1")
    assert result.exit_code == 1
    assert OKSPCA.load(model).n_samples_seen_ == 2 * SMALL_BLOCK
    monkeypatch.undo()
    assert resumed_equals_whole(rows, model, "--evaluate")


@pytest.fixture
def endless(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A fit whose input goes on for ever, after its first line of progress."""
    words = [sys.executable, "-c", "from okspca.cli import app; app()", "fit", "-", "--json"]
    source = "import itertools, sys\nsys.stdout.write('a,b,y\\n')\n" + (
        "for i in itertools.count(): sys.stdout.write(f'{i % 97},{i % 31},{i % 13}.5\\n')"
    )
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE) as feed:
        fit = subprocess.Popen(
            [*words, *SMALL, "--out", str(tmp_path / "model")],
            stdin=feed.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with fit:
            assert fit.stdout is not None
            fit.stdout.readline()
            yield fit
        feed.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="signals differ")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_that_ask_to_end(
    name: str, endless: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    number = getattr(signal, name)
    if signal.getsignal(number) is signal.SIG_IGN:
        endless.kill()
        pytest.skip("these tests were started so that the signal is ignored, as by nohup")
    endless.send_signal(number)
    _, said = endless.communicate()
    assert endless.returncode == 128 + number
    told = re.fullmatch(r"Interrupted after (\d+) rows; go on with --resume --new-rows.\n", said)
    assert told is not None, said
    assert OKSPCA.load(tmp_path / "model").n_samples_seen_ == int(told[1])


@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ")
def test_a_reader_that_has_seen_enough(endless: "subprocess.Popen[str]", tmp_path: Path) -> None:
    """As in `okspca fit ... --json | head -1`."""
    assert endless.stdout is not None
    assert endless.stderr is not None
    endless.stdout.close()
    said = endless.stderr.read()
    assert endless.wait() == CLOSED_OUTPUT
    assert said.startswith("Standard output was closed before everything was written to it. ")
    told = re.fullmatch(SAVED, said)
    assert told is not None, said
    assert OKSPCA.load(tmp_path / "model").n_samples_seen_ == int(told[1].replace(",", ""))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_standard_output_without_room(rows: Path) -> None:
    model = str(rows.with_name("model"))
    for words in (["fit", str(rows), *SMALL, "--out", model], ["inspect", model]):
        command = [sys.executable, "-c", "from okspca.cli import app; app()", *words]
        with Path("/dev/full").open("w") as full:
            done = subprocess.run(
                command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr == "Standard output: No space left on device.\n"
    assert OKSPCA.load(model).n_samples_seen_ == N
