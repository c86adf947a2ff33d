"""`--quiet`: nothing is said that is not an error, by the library neither."""

import logging
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca.cli import app
from okspca.estimators import map_search

FIT = ("--target", "y", "--random-features", "8", "--components", "1")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Rows enough for features to be learned once."""
    X = RandomState(0).normal(size=(600, 2)).round(4)
    lines = [f"{a},{b},{np.sin(a):.4f}" for a, b in X]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *lines]))
    return tmp_path / "rows.csv"


@pytest.mark.parametrize("quiet", [True, False])
def test_learning_features_is_told_unless_quiet(
    quiet: bool, rows: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(map_search, "PATIENCE", 0.0)
    words = ["fit", str(rows), *FIT, "--out", str(rows.parent / "m"), *["--quiet"][: int(quiet)]]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    assert ("learning its features" in result.stderr) is not quiet
    assert (result.output == "") is quiet


def test_what_was_hushed_is_told_again_after_the_command(rows: Path) -> None:
    level = logging.getLogger("okspca").level
    result = CliRunner().invoke(app, ["fit", str(rows), "--quiet", "--out", str(rows.parent / "m")])
    assert result.exit_code != 0
    assert logging.getLogger("okspca").level == level
