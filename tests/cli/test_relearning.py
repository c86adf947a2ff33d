"""`okspca fit --resume --relearn-features`, and what `okspca inspect` says about it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.estimators.saving import load_model

SETTINGS = ("--target", "y", "--random-features", "32", "--frequencies", "scaled")
PILOT, DRIFT, HALF, END = 512, 768, 1024, 1536


def run(*words: object) -> Result:
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.output
    return result


def table(n: int) -> tuple[Any, Any]:
    """Two of four inputs matter, and after the drift the two others."""
    X = RandomState(3).uniform(-2.0, 2.0, size=(END, 4)).round(6)
    y = np.where(np.arange(END) < DRIFT, X[:, 0] * X[:, 1], X[:, 2] * X[:, 3])
    return X[:n], y[:n]


def fit(folder: Path, n: int, *words: str) -> OKSPCA:
    """Let the file grow to so many rows, and learn the new ones."""
    lines = [",".join(map(repr, [*x.tolist(), float(y)])) for x, y in zip(*table(n), strict=True)]
    (folder / "rows.csv").write_text("\n".join(["a,b,c,d,y", *lines]) + "\n")
    run("fit", folder / "rows.csv", "--out", folder / "m", "--quiet", *words)
    return OKSPCA.load(folder / "m")


@pytest.mark.parametrize("evaluate", [(), ("--evaluate",)])
def test_a_resumed_run_learns_its_features_again(evaluate: tuple[str, ...], tmp_path: Path) -> None:
    fit(tmp_path, DRIFT, *SETTINGS, "--pilot-rows", str(PILOT), *evaluate)
    model = fit(tmp_path, HALF, "--resume", "--relearn-features")
    assert (model.pilot_rows_left_, model.n_samples_seen_) == (PILOT - (HALF - DRIFT), HALF)
    told = run("inspect", tmp_path / "m")
    shown = " ".join(told.output.split())
    assert "a fresh pilot is running since row 768: 256 rows kept, 256 to come" in shown
    assert "the map from before is in use" in shown
    pilot = json.loads(run("inspect", tmp_path / "m", "--json").output)["pilot"]
    assert (pilot["is_running"], pilot["began_after"], pilot["rows_awaited"]) == (True, DRIFT, 256)
    model = fit(tmp_path, END, "--resume")
    X, y = table(END)
    direct = OKSPCA.load(tmp_path / "m.previous")
    assert direct.partial_fit(X[HALF:], y[HALF:]).to_bytes() == model.to_bytes()
    assert model.relevance_[2:].sum() > 0.8
    shown = " ".join(run("inspect", tmp_path / "m").output.split())
    assert "learned again after row 768; the moment covers the rows after 768" in shown
    record = load_model(OKSPCA, tmp_path / "m")[1]
    assert record is not None
    assert record.rows_read == END
    if evaluate:
        assert record.evaluation is not None
        assert record.evaluation.rows == END - DRIFT
        assert record.evaluation.kept is None


def test_wrong_uses_are_refused_in_a_sentence(tmp_path: Path) -> None:
    fit(tmp_path, 100, "--target", "y", "--preset", "paper", "--random-features", "8")
    words = ["fit", tmp_path / "rows.csv", "--out", tmp_path / "m", "--relearn-features"]
    for more, reason in ((["--resume"], "as they were drawn"), ([], "add --resume")):
        more = [*more, "--target", "y"]
        result = CliRunner().invoke(app, list(map(str, [*words, *more])))
        assert result.exit_code != 0
        assert reason in " ".join(result.output.split())


def test_an_alarm_relearns_on_the_command_line(tmp_path: Path) -> None:
    model = fit(tmp_path, DRIFT, *SETTINGS, "--relearn", "on-drift", "--components", "1")
    assert (model.relearn, model.n_drift_alarms_) == ("on-drift", 0)
    words = ["fit", tmp_path / "rows.csv", "--out", tmp_path / "n", "--target", "y"]
    words += ["--relearn", "on-drift", "--evaluate"]
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code != 0
    assert "features of one map" in result.output
