"""Rows of pipes and growing files: learned as they come, none lost, whatever ends the run."""

import bz2
import gzip
import lzma
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.cli.stopping import CLOSED_OUTPUT
from okspca.estimators.saving import load_model

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes differ")
SMALL = ("--target", "y", "--random-features", "8", "--components", "1")
COMMAND = (sys.executable, "-c", "from okspca.cli import app; app()")
#: Whatever takes longer than this never ends.
PATIENCE = 300.0


def lines(n: int) -> list[str]:
    X = RandomState(0).normal(size=(n, 3)).round(6)
    return ["a,b,y\n", *(f"{a},{b},{y}\n" for a, b, y in X)]


def run(*words: object) -> Result:
    return CliRunner().invoke(app, list(map(str, words)))


def rows_in(path: Path) -> int:
    record = load_model(OKSPCA, path)[1]
    assert record is not None
    assert record.rows_read == OKSPCA.load(path).n_samples_seen_ + record.rows_skipped
    return record.rows_read


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.02)


class Writer:
    """Writes to a named pipe from a thread, then closes it."""

    def __init__(self, path: Path, *texts: str) -> None:
        os.mkfifo(path)
        self._path, self._texts = path, texts
        self._thread = threading.Thread(target=self._write)

    def _write(self) -> None:
        with self._path.open("w") as file:
            for text in self._texts:
                file.write(text)
                file.flush()
                time.sleep(0.05)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._thread.join()


def test_a_pipe_gives_the_numbers_of_a_file(tmp_path: Path) -> None:
    text = lines(700)
    (tmp_path / "file.csv").write_text("".join(text))
    with Writer(tmp_path / "pipe.csv", *("".join(text[i : i + 90]) for i in range(0, 701, 90))):
        piped = run("fit", tmp_path / "pipe.csv", "--out", tmp_path / "p", *SMALL)
    assert piped.exit_code == 0, piped.output
    assert run("fit", tmp_path / "file.csv", "--out", tmp_path / "f", *SMALL).exit_code == 0
    assert rows_in(tmp_path / "p") == 700
    found, wanted = (OKSPCA.load(tmp_path / name).components_ for name in "pf")
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("bad", ["0.5,inf,1\n", "0.5\n", "0.5,red,1\n", "0.5,,1\n"])
def test_rows_before_one_that_is_refused_are_learned(
    bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They came once, so nobody could send them again."""
    monkeypatch.setattr("okspca.cli.fit_run.SETTLE", 0.0)
    text = lines(50)
    with Writer(
        tmp_path / "pipe.csv", "".join(text[:20]), "".join([*text[20:34], bad, *text[34:]])
    ):
        result = run("fit", tmp_path / "pipe.csv", "--out", tmp_path / "m", *SMALL)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.endswith(
        "33 rows are in " + f"{tmp_path / 'm'}; go on with --resume --new-rows.\n"
    )
    assert rows_in(tmp_path / "m") == 33
    assert "okspca reader" not in {thread.name for thread in threading.enumerate()}


def test_a_pipe_is_resumed_only_with_a_word_on_what_it_holds(tmp_path: Path) -> None:
    text, out = lines(40), tmp_path / "m"
    words = ("fit", tmp_path / "pipe.csv", "--out", out, *SMALL)
    with Writer(tmp_path / "pipe.csv", "".join(text[:21])):
        assert run(*words).exit_code == 0
    asked = run(*words, "--resume")
    assert asked.exit_code == 1
    assert "add --new-rows" in asked.stderr
    (tmp_path / "pipe.csv").unlink()
    with Writer(tmp_path / "pipe.csv", "".join([text[0], *text[21:31]])):
        assert run(*words, "--resume", "--new-rows").exit_code == 0
    assert rows_in(out) == 30
    (tmp_path / "pipe.csv").unlink()
    with Writer(tmp_path / "pipe.csv", "".join(text)):
        assert run(*words, "--resume", "--replayed").exit_code == 0
    assert rows_in(out) == 40
    whole = OKSPCA(1, preset="predictive", n_random_features=8, random_state=0)
    rows = np.array([list(map(float, line.split(","))) for line in text[1:]])
    whole.partial_fit(rows[:, :2], rows[:, 2])
    np.testing.assert_allclose(OKSPCA.load(out).components_, whole.components_, rtol=1e-8)


def test_a_file_is_followed_as_it_grows(tmp_path: Path) -> None:
    path, text = tmp_path / "rows.csv", lines(60)
    path.write_text("".join(text[:11]))

    def grow() -> None:
        with path.open("a") as file:
            for line in text[11:]:
                file.write(line[:4])
                file.flush()
                time.sleep(0.005)
                file.write(line[4:])
                file.flush()
            file.write("0.25,0.5")  # a line that never ends

    growing = threading.Thread(target=grow)
    growing.start()
    result = run("fit", path, "--follow", "--idle-timeout", "3", "--out", tmp_path / "m", *SMALL)
    growing.join()
    assert result.exit_code == 0, result.output
    assert rows_in(tmp_path / "m") == 60


@pytest.mark.parametrize("change", ["shorter", "replaced"])
def test_a_followed_file_that_is_no_longer_the_same_is_named(change: str, tmp_path: Path) -> None:
    path, out = tmp_path / "rows.csv", tmp_path / "m"
    path.write_text("".join(lines(30)))

    def spoil() -> None:
        wait_until(out.exists)
        if change == "shorter":
            path.write_text("a,b,y\n")
        else:
            path.rename(tmp_path / "rows.csv.1")
            path.write_text("".join(lines(30)))

    spoiling = threading.Thread(target=spoil)
    spoiling.start()
    result = run("fit", path, "--follow", "--checkpoint-every", "1", "--out", out, *SMALL)
    spoiling.join()
    assert result.exit_code == 1
    assert f"{change} while it was followed. 30 rows are in" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_only_one_file_of_lines_can_be_followed(tmp_path: Path) -> None:
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    (tmp_path / "rows.csv").write_text("".join(lines(3)))
    for names in (["rows.parquet"], ["rows.csv", "rows.csv"], ["absent.csv"]):
        paths = [tmp_path / name for name in names]
        result = run("fit", *paths, "--follow", "--out", tmp_path / "m", *SMALL)
        assert result.exit_code == 1
        assert re.search("--follow takes one file|cannot be followed", result.stderr)


def test_no_model_is_written_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("".join(lines(20)))
    assert run("fit", "rows.csv", "--out", "m", *SMALL).exit_code == 0
    for words in (("fit", "rows.csv", *SMALL), ("merge", "m", "m"), ("plot", "m"), ("demo",)):
        result = run(*words, "--out", "-")
        assert result.exit_code in (1, 2)
        assert not Path("-").exists()


@pytest.fixture
def idle(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A fit that has learned 40 rows of a pipe that then says half a line, and no more."""
    words = ["fit", "-", "--out", str(tmp_path / "m"), *SMALL, "--checkpoint-every", "0.2s"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *words], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        process.stdin.write("".join(lines(40)).encode() + b"0.125,0.")
        process.stdin.flush()
        yield process
        process.kill()


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_ends_an_idle_pipe_and_every_row_is_kept(
    name: str, idle: "subprocess.Popen[bytes]", tmp_path: Path
) -> None:
    """Rows do not wait for a block, nor checkpoints for rows."""
    wait_until(lambda: (tmp_path / "m").exists() or idle.poll() is not None)
    assert rows_in(tmp_path / "m") == 40
    idle.send_signal(getattr(signal, name))
    assert idle.wait(PATIENCE) == 128 + getattr(signal, name)
    assert idle.stderr is not None
    told = idle.stderr.read().decode()
    assert told == "Interrupted after 40 rows; go on with --resume --new-rows.\n"
    assert rows_in(tmp_path / "m") == 40


def test_rows_flow_through_transform(tmp_path: Path) -> None:
    """Every row is answered before the next is sent; then whoever listens has heard enough."""
    path, model, pipe = tmp_path / "rows.csv", tmp_path / "m", subprocess.PIPE
    path.write_text("".join(lines(40)))
    assert run("fit", path, "--out", model, *SMALL).exit_code == 0
    command = [*COMMAND, "transform", str(model), "-", "--keep", "name"]
    answers: list[str] = []
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("b,name,a\n")
        for row in ("2,007,1", ",gap,1", '3,"x, y",0.5'):
            process.stdin.write(row + "\n")
            process.stdin.flush()
            if not answers:
                answers.append(process.stdout.readline())
            answers.append(process.stdout.readline())
        process.stdout.close()
        process.stdin.write("1,more,1\n")
        process.stdin.flush()
        assert process.wait(PATIENCE) == CLOSED_OUTPUT
        assert process.stderr.read() == ""
    first, third = OKSPCA.load(model).transform(np.array([[1.0, 2.0], [0.5, 3.0]]))[:, 0]
    assert answers[0] == '"name","okspca0"\n'
    assert answers[1].startswith("007,")
    assert float(answers[1].split(",")[1]) == pytest.approx(first)
    assert answers[2] == "gap,\n"
    assert answers[3].startswith('"x, y",')
    assert float(answers[3].split(",")[2]) == pytest.approx(third)


@pytest.mark.parametrize("bad", ["0,5;1,x;1\n", "0,5;1\n"])
def test_what_a_pipe_is_like_is_found_out_and_a_bad_line_is_named_as_counted_there(
    bad: str, tmp_path: Path
) -> None:
    """Semicolons, decimal commas; the bad line lies among those that show what columns hold."""
    text = [line.replace(",", ";").replace(".", ",") for line in lines(50)]
    pipe, out = tmp_path / "pipe.csv", tmp_path / "m"
    with Writer(pipe, "".join([*text[:34], bad, *text[34:]])):
        result = run("fit", pipe, "--out", out, *SMALL)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"{pipe}, line 35")
    assert "semicolon, decimal comma" in result.stdout
    assert rows_in(out) == 33


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_rows_of_a_packed_pipe_are_learned(pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    packed = pack("".join(lines(40)).encode())
    words = ["fit", "-", "--quiet", "--out", str(tmp_path / "m"), *SMALL]
    done = subprocess.run([*COMMAND, *words], input=packed, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rows_in(tmp_path / "m") == 40


def test_json_lines_of_a_pipe_are_known_by_their_first_sign(tmp_path: Path) -> None:
    text = "".join(f'{{"a": {i}.5, "b": {i * i % 7}, "y": {i % 5}.25}}\n' for i in range(30))
    words = ["fit", "-", "--quiet", "--out", str(tmp_path / "m"), *SMALL]
    done = subprocess.run(
        [*COMMAND, *words], input=(text + '{"a": "x"}\n').encode(), capture_output=True, check=False
    )
    assert done.stderr.decode().startswith(
        "Standard input, line 31, column 'a': \"x\" is not a num"
    )
    assert rows_in(tmp_path / "m") == 30
