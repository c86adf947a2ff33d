"""No command writes over its inputs, over a node of the system, or over a file of another kind."""

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app

SMALL = ("--target", "y", "--random-features", "8", "--quiet", "--frequencies", "drawn")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    X = RandomState(0).normal(size=(80, 3)).round(6)
    lines = [",".join(map(str, row)) for row in X]
    (tmp_path / "rows.csv").write_text("a,b,y\n" + "\n".join(lines) + "\n")
    for name in ("one", "two"):
        assert run("fit", tmp_path / "rows.csv", *SMALL, "--out", tmp_path / name).exit_code == 0
    return tmp_path


def fit(folder: Path, out: Path) -> Result:
    return run("fit", folder / "rows.csv", *SMALL, "--out", out)


def merge(folder: Path, out: Path) -> Result:
    return run("merge", folder / "one", folder / "two", "--distinct", "--out", out)


def transform(folder: Path, out: Path) -> Result:
    return run("transform", folder / "one", folder / "rows.csv", "--out", out)


def report(folder: Path, out: Path) -> Result:
    return run("report", folder / "one", folder / "rows.csv", "--out", out)


def plot(folder: Path, out: Path) -> Result:
    only = ("--only", "spectrum", "--ending", out.suffix.removeprefix("."))
    return run("plot", folder / "one", "--out", out.parent, *only)


def demo(_: Path, out: Path) -> Result:
    return run("demo", "--rows", "100", "--out", out)


Command = Callable[[Path, Path], Result]
#: Each command that writes a file, and a name that it accepts.
WRITERS: list[tuple[Command, str]] = [
    (fit, "model"),
    (merge, "model"),
    (transform, "table.csv"),
    (transform, "table.parquet"),
    (report, "page.html"),
    (plot, "spectrum.png"),
    (plot, "spectrum.svg"),
    (demo, "picture.png"),
]
OVER_INPUTS: list[tuple[Command, str]] = [
    (fit, "rows.csv"),
    (merge, "one"),
    (transform, "rows.csv"),
    (report, "rows.csv"),
    (report, "one"),
]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def is_refused(result: Result, told: str) -> None:
    assert result.exit_code in (1, 2), result.output
    assert told in result.stderr
    if "Usage" not in result.stderr:
        assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(("command", "name"), OVER_INPUTS)
@pytest.mark.parametrize("kind", ["name", "link", "hard link"])
def test_an_input_is_never_written_over(
    command: Command, name: str, kind: str, folder: Path
) -> None:
    out = folder / name
    if kind != "name":
        out = folder / f"other{Path(name).suffix}"
        (out.symlink_to if kind == "link" else out.hardlink_to)(folder / name)
    before = contents(folder)
    is_refused(command(folder, out), "it is an input, and an input is never written over")
    assert contents(folder) == before


def test_force_does_not_reach_inputs_nor_what_keeps_the_one_before(folder: Path) -> None:
    rows = folder / "rows.csv"
    is_refused(run("fit", rows, *SMALL, "--out", rows, "--force"), "it is an input")
    kept = folder / "model.previous"
    rows.rename(kept)
    words = ("fit", kept, "--format", "csv", *SMALL, "--out", folder / "model", "--force")
    is_refused(run(*words), "it is an input")


def test_rows_that_a_model_was_fitted_to_are_inputs_of_its_report(folder: Path) -> None:
    before = contents(folder)
    words = ("report", folder / "one", "--out", folder / "rows.csv")
    assert run(*words).exit_code == 1
    assert contents(folder) == before


@pytest.mark.parametrize(("command", "name"), WRITERS)
def test_another_kind_of_file_is_not_replaced(command: Command, name: str, folder: Path) -> None:
    out = folder / "results" / name
    out.parent.mkdir()
    out.write_bytes(b"letters\0to a friend")
    is_refused(command(folder, out), "it holds something else than a")
    assert contents(out.parent) == {name: b"letters\0to a friend"}


@pytest.mark.parametrize(("command", "name"), WRITERS)
def test_the_same_kind_is_replaced(command: Command, name: str, folder: Path) -> None:
    out = folder / "results" / name
    out.parent.mkdir()
    out.touch()
    for _ in range(2):
        result = command(folder, out)
        assert result.exit_code == 0, result.output
    assert out.stat().st_size
    assert {path.name for path in out.parent.iterdir()} - {"model.previous"} == {name}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
@pytest.mark.parametrize(("command", "name"), WRITERS)
def test_a_pipe_stays_a_pipe(command: Command, name: str, folder: Path) -> None:
    out = folder / "results" / name
    out.parent.mkdir()
    os.mkfifo(out)
    is_refused(command(folder, out), "it is not a regular file")
    assert stat.S_ISFIFO(out.lstat().st_mode)
    assert os.listdir(out.parent) == [name]


@pytest.fixture
def null(folder: Path) -> Path:
    """A null device of the tests' own: a fault must not cost the machine its one."""
    node = folder / "null"
    try:
        os.mknod(node, stat.S_IFCHR | 0o600, os.stat(os.devnull).st_rdev)
    except (AttributeError, PermissionError):
        pytest.skip("only the superuser can make a device")
    return node


@pytest.mark.parametrize("command", [fit, merge, transform, report])
def test_nothing_is_written_to_the_null_device(command: Command, folder: Path, null: Path) -> None:
    before = sorted(os.listdir(folder))
    result = command(folder, null)
    assert result.exit_code == 0, result.output
    assert "null" not in result.output
    assert stat.S_ISCHR(null.lstat().st_mode)
    assert sorted(os.listdir(folder)) == before


def test_resuming_from_the_null_device_starts_anew(folder: Path, null: Path) -> None:
    words = ("fit", folder / "rows.csv", *SMALL, "--out", null, "--resume")
    assert run(*words).exit_code == 0
    assert stat.S_ISCHR(null.lstat().st_mode)


def test_a_model_replaces_something_else_only_by_force(folder: Path) -> None:
    out = folder / "notes.txt"
    out.write_text("do not lose me")
    is_refused(fit(folder, out), "choose another --out, or replace it with --force")
    assert out.read_text() == "do not lose me"
    forced = ("--out", out, "--force")
    assert run("fit", folder / "rows.csv", *SMALL, *forced).exit_code == 0
    assert OKSPCA.load(out).n_samples_seen_ == 80
    assert not (folder / "notes.txt.previous").exists()
    out.write_text("do not lose me")
    assert run("merge", folder / "one", folder / "two", "--distinct", *forced).exit_code == 0
    assert OKSPCA.load(out).n_samples_seen_ == 160


def test_what_is_kept_beside_replaces_only_a_model(folder: Path) -> None:
    kept = folder / "model.previous"
    kept.write_text("my notes about the model before")
    is_refused(fit(folder, folder / "model"), "model.previous cannot be written")
    assert kept.read_text() == "my notes about the model before"


def test_a_dash_is_standard_output_where_that_makes_sense(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    table = transform(folder, Path("-"))
    assert table.stdout.splitlines()[0] == '"okspca0","okspca1"'
    assert len(table.stdout.splitlines()) == 81
    assert report(folder, Path("-")).stdout.startswith("<!doctype html>")
    for command in (fit, merge):
        result = command(folder, Path("-"))
        assert result.exit_code == 2
        is_refused(result, "A model cannot be written to standard output")
    folders = (("plot", "one"), ("bench", "--quick"), ("reproduce", "drift", "--quick"))
    for words in folders:
        is_refused(run(*words, "--out", "-"), "standard output")
    assert not Path("-").exists()


def test_results_that_go_to_a_folder_need_one(folder: Path) -> None:
    rows = folder / "rows.csv"
    for study in (
        "prediction",
        "population",
        "services",
        "drift",
        "distributed",
        "peers",
        "calibration",
        "precision",
        "monitoring",
    ):
        is_refused(run("reproduce", study, "--quick", "--out", rows), "not a folder")
    is_refused(run("bench", "--quick", "--out", rows), "not a folder")
    is_refused(run("plot", folder / "one", "--out", rows), "not a folder")
