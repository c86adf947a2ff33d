"""The calibration study: its measures, its synthetic rows, and the quick form of the command."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.metrics import log_loss
from typer.testing import CliRunner

from okspca.cli import app
from okspca_lab.studies.calibration.cells import METHODS, N_BINS, OURS, measured, reliability
from okspca_lab.studies.calibration.plan import QUICK_SETS, SHARES, Plan, overlapping
from okspca_lab.studies.rows import read_rows


def test_measures_are_what_they_are_called() -> None:
    random = RandomState(0)
    p, places = random.dirichlet(np.ones(3), size=500), random.randint(3, size=500)
    found = measured(p, places)
    assert found["log_loss"] == pytest.approx(log_loss(places, p))
    assert found["accuracy"] == np.mean(p.argmax(axis=1) == places)
    counts, claimed, right = reliability(p, places)
    gaps = []
    for number in range(N_BINS):
        edges = number / N_BINS, (number + 1) / N_BINS
        inside = (p.max(axis=1) >= edges[0]) & (p.max(axis=1) < edges[1])
        assert counts[number] == inside.sum()
        if inside.any():
            hits = (p.argmax(axis=1) == places)[inside]
            gaps.append(abs(hits.mean() - p.max(axis=1)[inside].mean()) * inside.mean())
    assert found["error"] == pytest.approx(sum(gaps))
    assert claimed.sum() == pytest.approx(p.max(axis=1).sum())
    assert right.sum() == (p.argmax(axis=1) == places).sum()


def test_honest_probabilities_have_no_error() -> None:
    random = RandomState(1)
    p = random.dirichlet(np.ones(2), size=40_000)
    places = (random.uniform(size=40_000) < p[:, 1]).astype(int)
    assert measured(p, places)["error"] < 0.01
    sharper = p**3 / (p**3).sum(axis=1, keepdims=True)
    assert measured(sharper, places)["error"] > 0.08


def test_the_classes_overlap() -> None:
    X, y = overlapping(4000, seed=0)
    np.testing.assert_allclose(np.bincount(y) / 4000, SHARES, atol=0.03)
    assert X.shape == (4000, 10)


def test_the_quick_form_runs(tmp_path: Path) -> None:
    told = ["reproduce", "calibration", "--quick", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 0, result.output
    plan = Plan(QUICK_SETS, (0,), quick=True)
    rows = read_rows(tmp_path / "rows.jsonl", plan.settings)
    assert len(rows) == len(METHODS) * len(QUICK_SETS)
    assert all(row["log_loss"] < 1.0 for row in rows if row["method"] == OURS)
    for name in ("tables.md", "index.html", "reliability.png"):
        assert (tmp_path / name).stat().st_size > 0
