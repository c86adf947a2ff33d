"""A model remembers what was said about its files; what is said later wins."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.estimators.saving import load_model, save_model
from okspca.state.streams import StreamRecord

N = 400
SAID = ("--delimiter", ";", "--na", "lost", "--date-format", "%d.%m.%Y", "--text", "code")
SMALL = ("--random-features", "8", "--components", "1", "--quiet")
FIT = ("--target", "y", "--dates", "--one-hot", "3", "--missing", "impute", *SMALL)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def lines(start: int, stop: int, delimiter: str) -> list[str]:
    """Rows with a date, a code with digits, and a word for a missing number."""
    random = RandomState(0)
    a, code = random.normal(size=stop).round(4), random.randint(1, 4, stop)
    found = [
        (
            f"{1 + i % 28:02d}.{1 + i % 12:02d}.2024",
            f"0{code[i]}",
            f"{a[i]}",
            f"{a[i] + code[i]:.4f}",
        )
        for i in range(start, stop)
    ]
    found[7 % len(found)] = (*found[7][:2], "lost", found[7][3])
    return [delimiter.join(row) for row in [("day", "code", "a", "y"), *found]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a file that takes some words to be read, and a file written otherwise."""
    place = tmp_path_factory.mktemp("files")
    (place / "rows.csv").write_text("\n".join(lines(0, N, ";")) + "\n")
    (place / "more.csv").write_text("\n".join(lines(N, 2 * N, ",")) + "\n")
    result = run("fit", place / "rows.csv", *FIT, *SAID, "--evaluate", "--out", place / "model")
    assert result.exit_code == 0, result.output
    return place


def test_what_was_said_is_in_the_file(folder: Path) -> None:
    _, record = load_model(OKSPCA, folder / "model")
    assert record is not None
    assert record.flags == SAID
    told = json.loads(run("inspect", folder / "model", "--json").stdout)
    assert told["stream"]["flags"] == list(SAID)
    shown = " ".join(run("inspect", folder / "model").stdout.split())
    assert "read with --delimiter ';' --na lost --date-format %d.%m.%Y --text code" in shown


def test_what_was_not_said_takes_no_room(folder: Path, tmp_path: Path) -> None:
    model, record = load_model(OKSPCA, folder / "model")
    assert record is not None
    assert b"flags" in (folder / "model").read_bytes()
    save_model(model, tmp_path / "model", record._replace(flags=()))
    assert b"flags" not in (tmp_path / "model").read_bytes()


def test_the_report_reads_the_file_and_tells_how(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    result = run("report", folder / "model", "--held-out", folder / "more.csv", "--out", page)
    assert result.exit_code == 0, result.output
    assert "--delimiter &#x27;;&#x27; --na lost --date-format %d.%m.%Y --text code" in (
        page.read_text()
    )


@pytest.mark.parametrize("again", [(), SAID], ids=["as remembered", "said again"])
def test_pictures_are_those_of_the_file(
    again: tuple[str, ...], folder: Path, tmp_path: Path
) -> None:
    only = ("--only", "embedding", "--out", tmp_path)
    result = run("plot", folder / "model", *only, *again)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("own", [True, False], ids=["its own file", "another file"])
def test_rows_are_embedded_as_they_were_learned(own: bool, folder: Path, tmp_path: Path) -> None:
    """Another file may have another delimiter, but dates and gaps are written as before."""
    name, delimiter = ("rows.csv", ";") if own else ("more.csv", ",")
    embedded = []
    for again in ((), (*SAID[2:], "--delimiter", delimiter)):
        out = tmp_path / "z.csv"
        result = run("transform", folder / "model", folder / name, "--out", out, *again)
        assert result.exit_code == 0, result.output
        embedded.append(out.read_text())
    assert embedded[0] == embedded[1]
    assert not np.isnan(np.loadtxt(out, skiprows=1)).any()


@pytest.mark.parametrize("command", ["drift", "explain"])
def test_questions_about_other_files_need_nothing_said_again(command: str, folder: Path) -> None:
    result = run(command, folder / "model", folder / "more.csv", "--json")
    assert result.exit_code == 0, result.output
    again = run(command, folder / "model", folder / "more.csv", "--json", *SAID[2:])
    assert again.stdout == result.stdout


def test_what_is_said_now_wins(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "gone.csv").write_text(
        (folder / "more.csv").read_text().replace("lost", "gone").replace(".2024", ".24")
    )
    rows = ("transform", folder / "model", tmp_path / "gone.csv", "--out", tmp_path / "z.csv")
    assert run(*rows, "--date-format", "%d.%m.%y").exit_code == 1
    assert run(*rows, "--date-format", "%d.%m.%y", "--na", "gone").exit_code == 0


def test_a_run_is_resumed_as_it_was_begun(folder: Path, tmp_path: Path) -> None:
    """A part of the file is learned and the rest after it, with nothing said again."""
    whole = (folder / "rows.csv").read_text()
    rows, found = tmp_path / "rows.csv", []
    for name, again in (("with", SAID), ("without", ())):
        rows.write_text("".join(whole.splitlines(keepends=True)[:257]))
        assert run("fit", rows, *FIT, *SAID, "--out", tmp_path / name).exit_code == 0
        rows.write_text(whole)
        result = run("fit", rows, "--resume", "--out", tmp_path / name, "--quiet", *again)
        assert result.exit_code == 0, result.output
        found.append((tmp_path / name).read_bytes())
    assert found[0] == found[1]
    record = load_model(OKSPCA, tmp_path / "without")[1]
    assert record is not None
    assert (record.rows_read, record.flags) == (N, SAID)


def test_a_column_that_was_dropped_is_not_asked_about_later(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("\n".join(lines(0, 200, ",")) + "\n")
    fit = ("fit", rows, "--target", "y", "--drop", "day", "--na", "lost", "--missing", "skip")
    assert run(*fit, *SMALL, "--out", tmp_path / "m").exit_code == 0
    result = run("fit", rows, "--resume", "--out", tmp_path / "m")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", ["report", "transform", "drift", "explain"])
def test_no_message_names_a_flag_that_the_command_has_not(command: str, folder: Path) -> None:
    """Here dates are a question, since the model was told nothing about them."""
    model, record = load_model(OKSPCA, folder / "model")
    assert record is not None
    save_model(model, folder / "silent", record._replace(flags=("--na", "lost")))
    result = run(command, folder / "silent", folder / "more.csv")
    assert result.exit_code == 1
    assert "say how it is written with --date-format '%d.%m.%Y'." in result.stderr
    assert "--drop" not in result.stderr
    fitted = run("fit", folder / "more.csv", "--target", "y", "--out", folder / "m")
    assert "or use --drop day." in fitted.stderr


def test_merged_models_remember_what_both_were_told(folder: Path, tmp_path: Path) -> None:
    fit = (*FIT, "--frequencies", "drawn", *SAID[2:])
    for name, more in (("rows", ("--delimiter", ";")), ("more", ())):
        out = ("--out", tmp_path / name)
        assert run("fit", folder / f"{name}.csv", *fit, *more, *out).exit_code == 0
    result = run("merge", tmp_path / "rows", tmp_path / "more", "--out", tmp_path / "m")
    assert result.exit_code == 0, result.output
    record = load_model(OKSPCA, tmp_path / "m")[1]
    assert isinstance(record, StreamRecord)
    assert record.flags == SAID[2:]


@pytest.mark.parametrize("ending", ["csv", "ndjson"])
@pytest.mark.parametrize("command", ["fit", "compare"])
def test_a_wrong_target_is_told_before_anything_else(
    command: str, ending: str, tmp_path: Path
) -> None:
    rows = tmp_path / f"rows.{ending}"
    names, *values = (line.split(",") for line in lines(0, 20, ","))
    objects = [json.dumps(dict(zip(names, row, strict=True))) for row in values]
    rows.write_text("\n".join(lines(0, 20, ",") if ending == "csv" else objects) + "\n")
    out = ("--out", tmp_path / "m") if command == "fit" else ()
    result = run(command, rows, "--target", "z", *out)
    assert result.exit_code == 1
    assert result.stderr == "There is no column 'z'; the columns are day, code, a, y.\n"
