"""What the dashboard is told: plain numbers of one state, in a picture that does not jump."""

import json
import threading
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.prequential import PrequentialScore
from okspca.numerics.arrays import Floats
from okspca.pipeline import Embedding
from okspca.serve.panel import MOST_ALARMS, PATIENCE, TOLD_ALARMS, Panel, Seldom
from okspca.serve.panel_history import MOST_POINTS, RECENT_ROWS, History, RecentScore
from okspca.serve.panel_rows import MOST_ROWS, LatestRows, Picture
from okspca.standardize import NoStandardizer

NAMES = ("flow", "heat", "<img src=x onerror=alert(1)>")


def stream(n: int, seed: int = 0) -> tuple[Floats, Floats]:
    X = RandomState(seed).normal(size=(n, 3))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1]


def classes_of(y: Floats) -> NDArray[Any]:
    return np.array(["low", "middle", "<b>high"])[np.digitize(y, [-0.5, 0.5])]


def fed(model: Any, X: Any, y: Any, size: int = 100, **settings: Any) -> Panel:
    """A panel of a model that learned a stream in blocks."""
    panel = Panel(model, **settings)
    for start in range(0, len(y), size):
        rows = slice(start, start + size)
        panel.model.partial_fit(X[rows], y[rows])
        panel.learned(X[rows], y[rows])
    return panel


@pytest.fixture(scope="module")
def watched() -> Panel:
    """A monitored regressor whose third input went wrong after 2,500 rows."""
    model = OKSPCARegressor(prequential=True, stability=4, n_random_features=32, random_state=0)
    X, y = stream(3500)
    X[2500:, 2] += 3.0
    panel = fed(model, X[:100], y[:100], columns=NAMES, clock=lambda: 42.0)
    model.start_live_monitor(every=400)
    for start in range(100, 3500, 100):
        rows = slice(start, start + 100)
        panel.learned(X[rows], y[rows], model.learn_monitored(X[rows], y[rows]))
        panel.snapshot(float(start))
    return panel


def plain(state: Any) -> Any:
    """A state as it reaches a page; NaN and infinity are refused."""
    return json.loads(json.dumps(state, allow_nan=False))


def test_a_model_without_rows_has_a_state() -> None:
    panel = Panel(OKSPCARegressor(), "plant", columns=NAMES)
    state = plain(panel.snapshot(1.0))
    assert (state["model"], state["kind"], state["rows"]) == ("plant", "regressor", 0)
    assert state["columns"] == list(NAMES)
    nothing = ("embedding", "certificate", "stability", "score", "monitor")
    assert [state[name] for name in nothing] == [None] * 5
    assert state["inputs"] == state["alarms"] == []


def test_a_state_tells_everything(watched: Panel) -> None:
    beside = {"rows_per_second": 7.0, "latency_ms": {"p50": 1.0, "p99": 2.0}, "rows_set_aside": 3}
    state = plain(watched.snapshot(4000.0, beside))
    assert state["rows"] == watched.model.n_samples_seen_ == 3500
    assert len(state["embedding"]["z"]) == len(state["embedding"]["y"]) == MOST_ROWS
    assert state["embedding"]["first_row"] == 3000
    assert state["certificate"]["status"] == "valid"
    proof = watched.model.basis().certificate
    assert proof is not None
    assert state["certificate"]["rho_lower"] == proof.rho_lower
    assert state["stability"]["low"] < state["stability"]["distance"] < state["stability"]["high"]
    assert state["score"]["running"] == watched.model.prequential_score_
    assert {one["name"] for one in state["inputs"]} == set(NAMES)
    assert sum(one["share"] for one in state["inputs"]) == pytest.approx(1.0, abs=1e-3)
    assert state["monitor"]["spe_limit"] > 0.0
    assert set(state["monitor"]["contributions"]["spe"]) == set(NAMES)
    assert (state["rows_per_second"], state["rows_set_aside"]) == (7.0, 3)
    last = {name: values[-1] for name, values in watched.history().items()}
    assert (last["time"], last["p99"], last["rows_per_second"]) == (4000.0, 2.0, 7.0)
    assert last["spe_limit"] == state["monitor"]["spe_limit"]
    assert last["score"] == state["score"]["running"]


def test_alarms_are_told_with_time_names_and_their_row_in_the_stream(watched: Panel) -> None:
    state = watched.snapshot(4000.0)
    assert state["n_alarms"] > 0
    assert len(state["alarms"]) == min(state["n_alarms"], TOLD_ALARMS)
    assert len(watched.alarms) == min(state["n_alarms"], MOST_ALARMS)
    for alarm in watched.alarms:
        assert alarm["time"] == 42.0
        assert alarm["row"] >= 2500
        assert f"Row {alarm['row']:,}: " in alarm["sentence"]
    first = watched.alarms[0]
    assert next(iter(first["inputs"])) == NAMES[2]
    assert NAMES[2] in first["sentence"]


def test_alarms_are_bounded() -> None:
    X, y = stream(1400)
    model = OKSPCA(1, n_random_features=16, random_state=0).fit(X[:400], y[:400])
    model.calibrate_monitor(X[400:800])
    found = model.monitor(X[800:] + 50.0)
    panel = Panel(model)
    # The same rows again and again: each time the alarms begin anew, before those that were.
    while (n := panel.snapshot(0.0)["n_alarms"]) <= MOST_ALARMS:
        panel.learned(X[800:], y[800:], (found,))
        assert panel.snapshot(0.0)["n_alarms"] == n + 1
    assert len(panel.alarms) == MOST_ALARMS
    assert panel.alarms[-1]["n"] == len(found.alarms) > 1


def embedding(columns: Floats) -> Embedding:
    model = OKSPCA(1, n_random_features=8, random_state=0).fit(*stream(50))
    return Embedding(NoStandardizer(), model.input_map_, columns)


def test_a_turn_of_the_coordinates_does_not_move_the_picture() -> None:
    random, X = RandomState(1), stream(60)[0]
    columns, mean = random.normal(size=(8, 2)), random.normal(size=8)
    turned = columns @ np.linalg.qr(random.normal(size=(2, 2)))[0]
    picture = Picture()
    first = picture.of(embedding(columns), mean, X, is_aligned=False)
    again = picture.of(embedding(turned), mean, X, is_aligned=False)
    np.testing.assert_allclose(again, first, atol=1e-12)
    # Who aligns already decides.
    left = picture.of(embedding(turned), mean, X, is_aligned=True)
    assert np.abs(left - first).max() > 0.1


def test_the_mean_row_stays_in_the_middle() -> None:
    X, y = stream(1500)
    panel = fed(OKSPCARegressor(2, n_random_features=32, random_state=0), X, y)
    Z = np.array(panel.snapshot(0.0)["embedding"]["z"])
    assert np.abs(Z.mean(axis=0)).max() < 0.3 * Z.std(axis=0).min()


def test_a_new_component_leaves_the_others_where_they_are() -> None:
    X, y = stream(900)
    labels = np.where(y > 0.0, "a", "b")
    panel = fed(OKSPCAClassifier(n_random_features=32, random_state=0), X, labels)
    before = np.array(panel.snapshot(0.0)["embedding"]["z"])
    panel.model.partial_fit(X[:3], ["c", "c", "c"])
    state = panel.snapshot(1.0)
    after = np.array(state["embedding"]["z"])
    assert (before.shape[1], after.shape[1]) == (1, 2)
    assert np.corrcoef(before[:, 0], after[:, 0])[0, 1] > 0.99
    assert state["classes"] == ["a", "b", "c"]


def test_the_latest_rows_are_copies_of_the_last() -> None:
    X, y = stream(MOST_ROWS + 130)
    latest, rows = LatestRows(), X.copy()
    for start in range(0, len(y), 90):
        latest.add(rows[start : start + 90], y[start : start + 90])
    rows[:] = 0.0
    np.testing.assert_array_equal(latest.X[0], X[-MOST_ROWS:])
    assert latest.y == y[-MOST_ROWS:].tolist()
    latest.add(X, y)
    np.testing.assert_array_equal(latest.X[0], X[-MOST_ROWS:])


def test_classes_are_told_by_their_place() -> None:
    X, y = stream(700)
    labels = classes_of(y)
    model = OKSPCAClassifier(n_random_features=32, prequential=True, random_state=0)
    state = plain(fed(model, X, labels).snapshot(0.0))
    assert [state["classes"][place] for place in state["embedding"]["y"]] == labels[-500:].tolist()
    assert (state["kind"], state["task"]) == ("classifier", "classification")
    most = max(np.mean(labels == name) for name in set(labels.tolist()))
    assert state["score"]["baseline"] == pytest.approx(most)
    assert state["score"]["measure"] == "accuracy"


def test_whole_numbers_of_a_regression_are_not_counted_as_classes() -> None:
    X = stream(300)[0]
    panel = fed(OKSPCARegressor(n_random_features=16, random_state=0), X, np.arange(300))
    assert panel._labels == {}


def test_rows_that_are_left_out_have_no_place() -> None:
    X, y = stream(300)
    X[::5, 1] = np.nan
    model = OKSPCA(2, missing="skip", n_random_features=16, random_state=0)
    Z = plain(fed(model, X, y).snapshot(0.0))["embedding"]["z"]
    assert [place for place, z in enumerate(Z) if z is None] == list(range(0, 300, 5))


def test_missing_values_that_are_filled_in_are_inputs_too() -> None:
    X, y = stream(300)
    X[::5, 1] = np.nan
    model = OKSPCA(
        2, missing="impute", missing_indicators=True, n_random_features=16, random_state=0
    )
    inputs = fed(model, X, y, columns=NAMES).snapshot(0.0)["inputs"]
    assert f"{NAMES[1]} is missing" in {one["name"] for one in inputs}


def test_what_is_not_a_number_is_not_known() -> None:
    X = stream(300)[0]
    model = OKSPCARegressor(prequential=True, n_random_features=16, random_state=0)
    state = plain(fed(model, X, np.zeros(300)).snapshot(0.0))
    assert state["score"] == {"measure": "R²", "running": None, "recent": None, "baseline": 0.0}
    assert state["certificate"]["rank"] == 0


def test_rows_that_are_held_back_are_told() -> None:
    X, y = stream(200)
    state = plain(fed(OKSPCA(1, bandwidth="median"), X, y).snapshot(0.0))
    assert (state["rows"], state["pilot_rows_left"], state["embedding"]) == (200, 312, None)
    pilot = OKSPCARegressor(pilot_rows=1000, n_random_features=16, random_state=0)
    assert fed(pilot, X, y).snapshot(0.0)["pilot_rows_left"] == 800


def test_frames_keep_their_names() -> None:
    X, y = stream(650)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = OKSPCA(1, n_random_features=16, random_state=0)
    panel = Panel(model, columns=NAMES)
    for start in range(0, 650, 130):
        rows = slice(start, start + 130)
        model.partial_fit(frame[rows], y[rows])
        panel.learned(frame[rows], y[rows])
    state = panel.snapshot(0.0)
    assert state["columns"] == ["a", "b", "c"]
    assert len(state["embedding"]["z"]) == len(state["embedding"]["y"]) == MOST_ROWS


def test_a_history_keeps_its_ends_and_its_order() -> None:
    history = History(["value"])
    for second in range(5 * MOST_POINTS):
        history.add(float(second), {"value": float(second), "other": 1.0})
        times = history.columns()["time"]
        assert len(times) <= MOST_POINTS
    steps = np.diff(np.array(times, dtype=float))
    assert (times[0], set(steps.tolist())) == (0.0, {8.0})
    assert steps.sum() >= 5 * MOST_POINTS - 16
    assert history.columns()["value"] == times


@pytest.mark.parametrize("size", [7, 100, 2500])
def test_the_recent_score_is_that_of_the_latest_rows(size: int) -> None:
    random = RandomState(0)
    actual = 1e3 + random.normal(size=(20 * RECENT_ROWS, 1))
    errors = random.uniform(size=actual.shape) * np.linspace(0.0, 2.0, len(actual))[:, np.newaxis]
    sums, recent, empty = PrequentialScore.empty(1), RecentScore(), PrequentialScore.empty(1)
    for start in range(0, len(actual), size):
        rows = slice(start, start + size)
        sums = sums.after(actual[rows], errors[rows], np.ones(len(actual[rows])))
        found = recent.after(sums)
    n = round(found.weight)
    assert RECENT_ROWS <= n <= max(1.2 * RECENT_ROWS, 2 * size)
    expected = empty.after(actual[-n:], errors[-n:], np.ones(n))
    assert found.r2() == pytest.approx(expected.r2(), rel=1e-9)
    assert sums.r2() > found.r2() + 0.3
    # Another model under the same panel: sums that begin anew.
    fresh = empty.after(actual[:9], errors[:9], np.ones(9))
    assert recent.after(fresh).weight == 9.0


def test_what_is_dear_is_asked_for_seldom() -> None:
    seldom, asked = Seldom(), []

    def answer() -> int:
        asked.append(1)
        return len(asked)

    found = [seldom.answer(now, answer) for now in (0.0, 1.0, PATIENCE - 0.1, 1e9, 1e9)]
    assert found == [1, 1, 1, 2, 2]


def test_asking_changes_nothing(watched: Panel) -> None:
    before = watched.model.to_bytes()
    watched.snapshot(5000.0)
    assert watched.model.to_bytes() == before


def test_a_state_is_of_one_state_of_the_model_while_it_learns() -> None:
    X, y = stream(6000)
    model = OKSPCARegressor(n_random_features=16, prequential=True, pilot_rows=512, random_state=0)
    panel, failures = fed(model, X[:600], y[:600]), list[BaseException]()

    def learn() -> None:
        try:
            for start in range(600, 6000, 3):
                rows = slice(start, start + 3)
                model.partial_fit(X[rows], y[rows])
                panel.learned(X[rows], y[rows])
        except BaseException as failure:
            failures.append(failure)

    learner = threading.Thread(target=learn)
    learner.start()
    seen = []
    while learner.is_alive():
        seen.append(plain(panel.snapshot(0.0)))
    learner.join()
    assert failures == []
    rows = [state["rows"] for state in seen]
    assert rows == sorted(rows)
    assert len(set(rows)) > 3
    assert all(len(state["embedding"]["z"]) == MOST_ROWS for state in seen)


def test_an_alarm_about_the_target_tells_which_inputs_moved_with_it() -> None:
    random = np.random.RandomState(0)
    X = random.normal(size=(2600, 3))
    X[:, 1] = 0.9 * X[:, 0] + 0.3 * X[:, 1]
    y = X[:, 0] + 0.1 * random.normal(size=2600)
    model = OKSPCA(1, n_random_features=32, random_state=0).fit(X[:500], y[:500])
    model.calibrate_monitor(X[500:2000], y[500:2000])

    def inputs_of_first(rows: Floats, targets: Floats) -> tuple[str, dict[str, float]]:
        found = model.monitor(rows, targets)
        panel = Panel(model, columns=("heat", "flow", "level"))
        panel.learned(rows, targets, (found,))
        first = next(each for each in panel.alarms if each["statistic"].startswith("target"))
        return first["sentence"], first["inputs"]

    # The response alone is another: no input is named.
    sentence, inputs = inputs_of_first(X[2000:], y[2000:] + 3.0)
    assert inputs == {}
    assert "moved" not in sentence
    # A sensor fails too: it is named, though the alarm is about the target.
    broken = X[2000:].copy()
    broken[:, 1] = random.normal(size=600)
    sentence, inputs = inputs_of_first(broken, y[2000:] + 3.0)
    assert next(iter(inputs)) in ("heat", "flow")
    assert "Inputs moved as well" in sentence
    assert 0.0 < sum(inputs.values()) <= 1.0 + 1e-9
