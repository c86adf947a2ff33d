"""`okspca monitor`: limits from a file, the first rows or the model; alarms by row and input."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca.cli import app


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "100"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("monitor")
    random = RandomState(0)
    X = random.normal(size=(3500, 3))
    rows = np.column_stack([X, np.sin(X[:, 0])])
    rows[3200:, 1] += 3.0
    for name, part in (("old", rows[:500]), ("good", rows[500:3000]), ("new", rows[3000:])):
        head = {"delimiter": ",", "header": "heat,flow,level,y", "comments": "", "fmt": "%.4f"}
        np.savetxt(place / f"{name}.csv", part, **head)
    fit = ("fit", place / "old.csv", "--target", "y", "--quiet", "--preset", "paper")
    result = run(*fit, "--random-features", 32, "--out", place / "m.okspca")
    assert result.exit_code == 0, result.output
    return place


def test_alarms_are_told_by_row_and_input(folder: Path, tmp_path: Path) -> None:
    out, picture, saved = (tmp_path / name for name in ("s.csv", "c.png", "n.okspca"))
    places = ("--out", out, "--plot", picture, "--save", saved)
    known = ("--in-control", folder / "good.csv")
    result = run("monitor", folder / "m.okspca", folder / "new.csv", *known, *places, "--alarm")
    assert result.exit_code == 3, result.output
    assert "flow" in result.stdout
    assert "at least 10,000 rows apart" in " ".join(result.stdout.split())
    assert picture.read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 500
    first = next(row for row in rows if row["alarm"])
    assert 200 < int(first["row"]) < 240
    assert first["input"] == "flow"
    again = json.loads(run("monitor", saved, folder / "new.csv", "--json").stdout)
    assert again["is_alarming"]
    assert again["alarms"][0]["row"] == int(first["row"])
    quiet = run("monitor", saved, folder / "good.csv", "--alarm", "--rows", 1000)
    assert quiet.exit_code == 0, quiet.output
    assert "In control: no alarm in 1,000 rows" in quiet.stdout


def test_the_first_rows_make_limits(folder: Path) -> None:
    result = run("monitor", folder / "m.okspca", folder / "new.csv", "--first", 150, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["n_rows"] == 350
    assert 200 < told["alarms"][0]["row"] < 320
    assert told["alarms"][0]["contributions"][0]["input"] == "flow"


def test_a_model_without_limits_says_how_to_get_them(folder: Path) -> None:
    result = run("monitor", folder / "m.okspca", folder / "new.csv")
    assert result.exit_code == 1
    assert "--in-control" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    both = ("--in-control", folder / "good.csv", "--first", 100)
    assert run("monitor", folder / "m.okspca", folder / "new.csv", *both).exit_code == 2
    missing = run("monitor", folder / "no.okspca", folder / "new.csv", "--first", 100)
    assert missing.exit_code == 1
    assert len(missing.stderr.splitlines()) == 1


def test_an_input_is_not_written_over(folder: Path) -> None:
    before = (folder / "new.csv").read_bytes()
    words = ("monitor", folder / "m.okspca", folder / "new.csv", "--first", 150)
    assert run(*words, "--out", folder / "new.csv").exit_code == 1
    assert (folder / "new.csv").read_bytes() == before
