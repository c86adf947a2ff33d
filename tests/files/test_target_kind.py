"""Labels or quantities: decided by the first rows, told in one line, kept."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner, Result

from okspca import OKSPCA
from okspca.cli import app
from okspca.estimators.data import MOST_LABELS
from okspca.files.target_kind import decided

WHOLE = np.arange(2 * MOST_LABELS)


def run(path: Path, *words: str) -> Result:
    out = path.with_suffix(".okspca")
    small = ("--target", "y", "--out", str(out), "--random-features", "8", "--components", "1")
    return CliRunner().invoke(app, ["fit", str(path), *small, *words])


def written(path: Path, y: Sequence[object]) -> Path:
    x = RandomState(0).normal(size=len(y)).round(4)
    lines = [f"{a},{b}" for a, b in zip(x, y, strict=True)]
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    return path


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (WHOLE % MOST_LABELS, "classification"),
        (np.arange(3 * MOST_LABELS) % (MOST_LABELS + 1), "regression"),
        (1.0 + WHOLE % 11, "classification"),
        (0.5 + WHOLE % 11, "regression"),
        (np.array([1, 2, 3]), "regression"),
        (np.array([1, 1, 3, 3, 2, 2]), "classification"),
        (np.array([1.0, np.nan, 1.0]), "classification"),
        (np.array(["a", "b"]), "classification"),
        (np.array([True, False]), "classification"),
        (np.array([np.nan]), "regression"),
    ],
)
def test_few_whole_numbers_are_labels(values: np.ndarray, task: str) -> None:
    found = decided(pa.chunked_array([pa.array(values)]), "y")
    assert found is not None
    assert found.task == task
    assert f"({task})" in found.told


def test_what_is_neither_is_left_to_learning() -> None:
    assert decided(pa.chunked_array([pa.array([b"a"])]), "y") is None


def test_quantities_that_are_whole_are_quantities(tmp_path: Path) -> None:
    """1,220 different prices were once 1,220 classes."""
    prices = RandomState(1).permutation(1220).tolist()
    result = run(written(tmp_path / "prices.csv", prices))
    assert result.exit_code == 0, result.output
    told = "Target column 'y': a number (regression), by the first 1,220 rows; use --task"
    assert told in " ".join(result.stdout.split())
    assert OKSPCA.load(tmp_path / "prices.okspca").task_ == "regression"
    result = run(tmp_path / "prices.csv", "--task", "classification")
    assert "Target column 'y'" not in result.stdout
    assert len(OKSPCA.load(tmp_path / "prices.okspca").classes_) == 1220


def test_labels_written_as_decimal_numbers_are_labels(tmp_path: Path) -> None:
    labels = [f"{1 + i % 11}.0" for i in range(330)]
    result = run(written(tmp_path / "labels.csv", labels), "--json")
    told = json.loads(result.stdout.splitlines()[-1])["decided"]
    assert "11 labels (classification)" in told
    assert "use --task regression" in told
    assert sorted(OKSPCA.load(tmp_path / "labels.okspca").classes_) == list(range(1, 12))
    assert run(tmp_path / "labels.csv", "--task", "regression", "--quiet").output == ""
    assert OKSPCA.load(tmp_path / "labels.okspca").task_ == "regression"


def test_a_later_number_that_is_not_whole_is_named_with_its_row(tmp_path: Path) -> None:
    """The first 8,192 rows decide; what they did not show must not become one more class."""
    values: list[object] = [f"{i % 3}.0" for i in range(60_000)]
    values[50_000] = "1.5"
    result = run(written(tmp_path / "late.csv", values))
    assert result.exit_code == 1
    where = f"{tmp_path / 'late.csv'}, line 50,002, column 'y'"
    assert result.stderr.startswith(f"{where}: 1.5 is not a whole number")
    assert "--task regression" in result.stderr
    assert len(result.stderr.splitlines()) == 1
