"""The drift study: its streams, its times, its alarm, and the quick form of the command."""

from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca.cli import app
from okspca.diagnostics.drift import DriftAlarm, lost_share
from okspca_lab.studies.drift.cells import METHODS, times
from okspca_lab.studies.drift.plan import SETTINGS
from okspca_lab.studies.drift.streams import SCENARIOS, WINDOW, Scenario, stream
from okspca_lab.studies.rows import read_rows


def test_the_directions_turn_when_they_should() -> None:
    rows = np.array([0.0, 5.0, 6.5, 8.0, 10.0, 12.0, 14.0, 18.0]) * WINDOW
    degrees = {name: np.degrees(s.angle(rows)).round(1) for name, s in SCENARIOS.items()}
    assert degrees["abrupt"].tolist() == [0.0, 0.0, 90.0, 90.0, 90.0, 90.0, 90.0, 90.0]
    assert degrees["gradual"].tolist() == [0.0, 0.0, 11.2, 45.0, 90.0, 90.0, 90.0, 90.0]
    assert degrees["recurring"].tolist() == [0.0, 0.0, 90.0, 90.0, 90.0, 0.0, 0.0, 90.0]


def test_the_responses_depend_on_the_true_directions() -> None:
    X, Y, U = stream(Scenario("short", ((0.5, 0.5),), 1.0), seed=0)
    np.testing.assert_allclose(U[0].T @ U[0], np.eye(2), atol=1e-12)
    assert abs(U[0].T @ U[-1]).max() < 1e-12
    late = slice(600, 1000)
    coefficients = np.linalg.lstsq(X[late], Y[late], rcond=None)[0]
    np.testing.assert_allclose(coefficients, U[-1] * [2.0, 1.5], atol=0.15)


def test_times_are_counted_from_the_end_of_a_change() -> None:
    scenario = Scenario("short", ((4.0, 4.0),), 8.0)
    angles = np.full(160, 3.0)
    angles[80:100] = 60.0
    angles[130:] = 1.5
    found = times(scenario, angles.tolist())
    assert found["steady"] == 3.0
    assert found["recovery"] == pytest.approx([1.05])
    assert found["to_5"] == pytest.approx([1.05])
    assert found["to_2"] == pytest.approx([2.55])
    assert times(scenario, [3.0] * 80 + [60.0] * 80)["recovery"] == [None]


def test_the_alarm_tells_a_turn_from_noise() -> None:
    random, alarm = RandomState(0), DriftAlarm()
    U = np.eye(6)[:, :2]
    quiet = [lost_share((U + 0.05 * random.normal(size=(6, 2))).T, U) for _ in range(40)]
    assert not any(alarm.raised_by(loss) for loss in quiet)
    turned = np.eye(6)[:, 2:4]
    assert alarm.raised_by(lost_share(turned.T, U))
    assert not alarm.raised_by(lost_share(turned.T, turned))


def test_the_quick_form_runs(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["reproduce", "drift", "--quick", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "rows.jsonl", SETTINGS)
    assert len(rows) == len(METHODS) * len(SCENARIOS)
    for row in rows:
        if row["method"] in ("exact, forgetting", "exact, window"):
            assert all(time is not None and time <= 2.5 for time in row["recovery"])
    for name in ("tables.md", "index.html", "drift.png"):
        assert (tmp_path / name).stat().st_size > 0
