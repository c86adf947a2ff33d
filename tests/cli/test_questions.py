"""`okspca explain`, `drift`, `compare` and `choose`: a plain sentence, and tables that fit."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca.cli import app
from okspca.cli.advice import LARGEST_TURN, Wish, measure, stand_in


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})


def write(path: Path, X: np.ndarray, y: np.ndarray, colours: np.ndarray) -> None:
    lines = ["width,height,colour,kind"]
    lines += [f"{a:.4f},{b:.4f},{c},{k}" for (a, b), c, k in zip(X, colours, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("questions")
    random = RandomState(0)
    X = random.normal(size=(900, 2))
    colours = np.array(["red", "blue"])[random.randint(0, 2, 900)]
    y = np.where(X[:, 0] ** 2 > 0.5, "far", "near")
    write(place / "rows.csv", X[:600], y[:600], colours[:600])
    write(place / "same.csv", X[600:], y[600:], colours[600:])
    write(place / "other.csv", X[600:] + np.array([0.0, 3.0]), y[600:], colours[600:])
    fit = (
        "fit",
        place / "rows.csv",
        "--target",
        "kind",
        "--one-hot",
        5,
        "--quiet",
        "--preset",
        "paper",
    )
    result = run(*fit, "--components", 1, "--random-features", 32, "--out", place / "m.okspca")
    assert result.exit_code == 0, result.output
    return place


@pytest.mark.parametrize("rows", [[], ["rows.csv"]])
def test_inputs_are_explained_by_name(rows: list[str], folder: Path) -> None:
    result = run("explain", folder / "m.okspca", *(folder / name for name in rows))
    assert result.exit_code == 0, result.output
    table = result.stdout.splitlines()
    assert table[-4].split()[0] == "width"
    assert "colour=red" in result.stdout
    assert "okspca0" in result.stdout
    assert max(map(len, table)) <= 80


def test_contributions_to_a_row_add_up(folder: Path) -> None:
    words = ("explain", folder / "m.okspca", folder / "rows.csv", "--row", 7)
    told = json.loads(run(*words, "--json").stdout)
    added = np.array(told["contributions"])[0].sum(axis=1)
    np.testing.assert_allclose(added, np.array(told["values"][0]) - told["base"], atol=1e-12)
    shown = run(*words).stdout
    assert shown.startswith("Row 7")
    assert f"{told['values'][0][0]:.4f}" in shown


def test_a_row_needs_a_file_and_must_be_there(folder: Path) -> None:
    assert run("explain", folder / "m.okspca", "--row", 1).exit_code == 2
    missing = run("explain", folder / "m.okspca", folder / "rows.csv", "--row", 10_000)
    assert missing.exit_code == 1
    assert "the last whole row is 600" in missing.stderr


def test_drift_is_told_in_words_and_by_code(folder: Path) -> None:
    quiet = run("drift", folder / "m.okspca", folder / "same.csv", "--alarm")
    assert quiet.exit_code == 0, quiet.output
    assert quiet.stdout.startswith("The new rows look like those")
    alarmed = run("drift", folder / "m.okspca", folder / "other.csv", "--alarm")
    assert alarmed.exit_code == 3
    assert "1 of 4 inputs changed" in alarmed.stdout
    assert max(map(len, alarmed.stdout.splitlines())) <= 80
    told = json.loads(run("drift", folder / "m.okspca", folder / "other.csv", "--json").stdout)
    assert told["is_alarming"]
    assert told["changed"] == [False, True, False, False]


def test_rows_without_their_target_are_compared_too(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "same.csv").read_text().splitlines()
    (tmp_path / "bare.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    told = json.loads(run("drift", folder / "m.okspca", tmp_path / "bare.csv", "--json").stdout)
    assert told["refitted"] is None
    assert not told["is_alarming"]


def test_methods_are_compared_after_one_sentence(folder: Path) -> None:
    words = ("compare", folder / "rows.csv", "--target", "kind", "--one-hot", 5)
    result = run(*words, "--test", folder / "same.csv")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Yes: ")
    for method in ("okspca, predictive", "okspca, paper", "PCA", "LDA", "linear", "a constant"):
        assert method in result.stdout
    assert "600 rows, judged by 300" in result.stdout.replace("\n", " ")
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_useless_target_is_no_success(folder: Path, tmp_path: Path) -> None:
    random = RandomState(1)
    y = random.normal(size=400).round(4)
    write(tmp_path / "noise.csv", random.normal(size=(400, 2)), y, np.full(400, "red"))
    words = ("compare", tmp_path / "noise.csv", "--target", "kind", "--drop", "colour", "--json")
    told = json.loads(run(*words).stdout)
    assert not told["verdict"].startswith("Yes")
    assert told["measure"] == "R²"
    assert {"PLS"} < {entry["method"] for entry in told["methods"]}


def test_the_choice_comes_with_its_command(folder: Path) -> None:
    words = ("choose", folder / "rows.csv", "--target", "kind", "--drop", "colour")
    tried = ("--random-features", 16, "--random-features", 64, "--bandwidth", 1.0)
    result = run(*words, *tried)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Use 1 component, ")
    command = shlex.split(result.stdout[result.stdout.index("okspca fit") :])
    assert command[:5] == ["okspca", "fit", str(folder / "rows.csv"), "--target", "kind"]
    for option in ("--drop", "--components", "--random-features", "--bandwidth", "--preset"):
        assert option in command
    told = json.loads(run(*words, *tried, "--json").stdout)
    assert shlex.split(told["command"]) == command
    assert len(told["trials"]) == 2
    assert run(*words, "--preset", "best").exit_code == 2


@pytest.mark.parametrize("command", ["drift", "compare", "choose"])
def test_a_missing_file_is_one_sentence(command: str, folder: Path) -> None:
    target = () if command == "drift" else ("--target", "kind")
    model = (folder / "m.okspca",) if command == "drift" else ()
    result = run(command, *model, folder / "absent.csv", *target)
    assert result.exit_code == 1
    assert len(result.stderr.splitlines()) == 1
    assert "absent.csv" in result.stderr


def test_no_help_is_cut() -> None:
    for words in ([], ["reproduce"]):
        result = run(*words, "--help")
        assert "..." not in result.stdout.replace("[ARGS]...", "")
        assert "…" not in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 80


def test_advice_on_enormous_blocks_ends() -> None:
    X, y = stand_in(2, 1, None)
    wish = Wish(1, 8, every=10**9, block=10**9)
    findings = measure(wish, X[:600], y[:600], None, 0.01)
    assert max(max(finding.rows) for finding in findings) <= LARGEST_TURN
