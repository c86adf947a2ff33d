"""The drift study: its streams, its times, its alarm, and the quick form of the command."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from typer.testing import CliRunner

from okspca.cli import app
from okspca.diagnostics.drift import DriftAlarm, lost_share
from okspca.numerics.arrays import Floats
from okspca_lab.studies.drift.cells import METHODS, times
from okspca_lab.studies.drift.features import cells as features
from okspca_lab.studies.drift.features import quiet, streams
from okspca_lab.studies.drift.features.plan import QUIET
from okspca_lab.studies.drift.features.plan import SETTINGS as FEATURE_SETTINGS
from okspca_lab.studies.drift.features.tables import span_of
from okspca_lab.studies.drift.plan import SETTINGS
from okspca_lab.studies.drift.streams import SCENARIOS, WINDOW, Scenario, stream
from okspca_lab.studies.rows import read_rows

WINDOW_OF = streams.WINDOW


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


def slopes(X: Floats, y: Any) -> Any:
    return np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0]


def test_other_inputs_matter_after_the_change() -> None:
    """Inputs 4 and 5 have a linear part in Friedman's problem, and are 7 and 6 from behind."""
    for name, (mixed, after) in {
        "Friedman, abrupt": (slice(streams.START, None), slice(streams.START, None)),
        "Friedman, gradual": (slice(5 * WINDOW_OF, 6 * WINDOW_OF), slice(7 * WINDOW_OF, None)),
    }.items():
        X, y = streams.SCENARIOS[name].rows(0)
        before = slopes(X[: streams.START], y[: streams.START])
        assert np.argmax(before) == 3
        assert np.argmax(slopes(X[after], y[after])) == 6
        if name.endswith("gradual"):
            assert 2.0 < slopes(X[mixed], y[mixed])[3] < 8.0
    X, y = streams.SCENARIOS["Friedman, no drift"].rows(0)
    assert np.argmax(slopes(X[-4000:], y[-4000:])) == 3


def test_directions_turn_and_a_hyperplane_goes_on_turning() -> None:
    X, y = streams.SCENARIOS["index, abrupt"].rows(1)
    early, late = (slopes(X[part], y[part]) for part in (slice(8000), slice(9000, None)))
    cosine = abs(early @ late) / np.linalg.norm(early) / np.linalg.norm(late)
    assert cosine < 0.2
    X, labels = streams.SCENARIOS["hyperplane, turning"].rows(1)
    parts = [slice(a * WINDOW_OF, (a + 2) * WINDOW_OF) for a in (0, 2, 7, 10)]
    found = [slopes(X[part], labels[part].astype(float)) for part in parts]
    found = [one / np.linalg.norm(one) for one in found]
    assert found[0] @ found[1] > 0.98
    assert 0.5 < found[0] @ found[2] < 0.9
    assert found[0] @ found[3] < 0.3


def test_scores_of_a_span_are_those_of_its_blocks() -> None:
    scores = np.arange(47.0)[np.newaxis]
    assert features.rows_at(47)[:2].tolist() == [512.0, 1024.0]
    assert span_of(scores, 512, 1536).tolist() == [0.5]
    assert span_of(scores, streams.END - 512, streams.END).tolist() == [46.0]


def test_the_quick_form_of_features_runs(tmp_path: Path) -> None:
    words = ["reproduce", "drift", "--features", "--quick", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    rows = read_rows(tmp_path / "rows.jsonl", FEATURE_SETTINGS)
    followed = {row["method"]: row for row in rows if row["scenario"] != QUIET}
    assert list(followed) == list(features.METHODS)
    last = {name: float(np.mean(row["scores"][-8:])) for name, row in followed.items()}
    for name in ("again by call, window", "again by alarm, window", "again by alarm, all rows"):
        assert last[name] > 0.93
        assert last["trained once, window"] < last[name] - 0.1
    assert followed["again by call, window"]["began"] == [streams.START]
    alarm = followed["again by alarm, window"]["began"][0]
    assert streams.START < alarm <= streams.START + streams.WINDOW
    quiet_rows = [row for row in rows if row["scenario"] == QUIET]
    assert [row["kind"] for row in quiet_rows] == list(quiet.KINDS)
    for name in ("tables.md", "index.html", "features.png"):
        assert (tmp_path / name).stat().st_size > 0


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
