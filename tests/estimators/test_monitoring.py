"""Monitoring: limits of rows in control, alarms after changes, and nothing learned by looking."""

import copy
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_matrix

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.errors import DataError, NotReadyError, StateError
from okspca.estimators import Monitored
from okspca.features import IdentityMap
from okspca.features.base import FeatureMap
from okspca.state.container import Content, pack, unpack

SMALL: dict[str, Any] = {"n_random_features": 32, "objective": "whitened", "random_state": 0}


def stream(seed: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    random = RandomState(seed)
    X = random.normal(size=(n, 4))
    X[:, 1] = 0.9 * X[:, 0] + np.sqrt(1.0 - 0.81) * X[:, 1]
    return X * [1.0, 10.0, 0.1, 1.0] + 5.0, np.sin(X[:, 0]) + 0.1 * random.normal(size=n)


@pytest.fixture(scope="module")
def model() -> OKSPCA:
    X, y = stream(0, 600)
    return OKSPCA(2, **SMALL).fit(X, y).calibrate_monitor(*stream(1, 1600))


def same(first: Monitored, second: Monitored) -> bool:
    arrays = ((first.values, second.values), (first.evidence, second.evidence))
    alarms = [[(a.row, a.statistic, a.inputs) for a in one.alarms] for one in (first, second)]
    equal = all(np.array_equal(a, b, equal_nan=True) for a, b in arrays)
    return equal and alarms[0] == alarms[1]


def test_rows_in_control_raise_no_alarm(model: OKSPCA) -> None:
    found = model.monitor(*stream(2, 2000))
    assert not found.is_alarming
    assert found.verdict.startswith("In control: no alarm in 2,000 rows")
    assert found.is_out.mean() <= found.row_level
    assert found.names[:3] == ("t2", "spe", "target")


def test_limits_are_of_rows_that_made_no_reference(model: OKSPCA) -> None:
    assert model.learned is not None
    assert model.learned.monitor is not None
    X, y = stream(1, 1600)
    found = model.monitor(X[800:], y[800:])
    for place, scale in enumerate(model.learned.monitor.scales):
        np.testing.assert_array_equal(scale.values, np.sort(found.values[:, place]))


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_the_input_that_moved_is_named(column: int, model: OKSPCA) -> None:
    X, _ = stream(2, 600)
    X[100:, column] += 1.5 * X[:, column].std()
    found = model.monitor(X)
    assert found.alarms[0].row >= 100
    assert found.alarms[0].inputs[0] == f"x{column}"
    assert found.alarms[0].event()["contributions"][0]["input"] == f"x{column}"


def test_inputs_that_part_are_noticed(model: OKSPCA) -> None:
    """Each remains distributed as it was."""
    X, _ = stream(2, 400)
    X[:, 1] = stream(3, 400)[0][:, 1]
    found = model.monitor(X)
    assert found.alarms[0].statistic == "spe"
    assert found.alarms[0].inputs[0] in ("x0", "x1")
    plain = copy.deepcopy(model).calibrate_monitor(stream(1, 1600)[0], spe="plain").monitor(X)
    assert not plain.alarms or plain.alarms[0].row > found.alarms[0].row


def test_a_target_that_means_something_else_is_noticed(model: OKSPCA) -> None:
    X, y = stream(2, 300)
    assert not model.monitor(X).alarms
    found = model.monitor(X, -y)
    assert found.alarms[0].statistic in ("target", "target trend")
    assert found.alarms[0].inputs == ()


def test_contributions_add_up(model: OKSPCA) -> None:
    found = model.monitor(stream(2, 50)[0])
    for place in (0, 1, 3, 4):
        added = found.contributions[place].sum(axis=1)
        np.testing.assert_allclose(added, found.values[:, place], rtol=1e-8, atol=1e-9)
    assert (found.spe_contributions >= 0.0).all()
    latest = found.latest()
    assert latest["t2"] == found.t2[-1]
    assert sum(latest["contributions"]["spe"].values()) == pytest.approx(latest["spe"])


@pytest.mark.parametrize("cuts", [[1], [37, 38, 512], [700, 1300]])
def test_cuts_change_nothing(cuts: list[int], model: OKSPCA) -> None:
    X, y = stream(2, 1500)
    X[1000:, 2] += 0.2
    whole, found, parts = model.monitor(X, y), None, []
    for rows in np.split(np.arange(1500), cuts):
        found = model.monitor(X[rows], y[rows], after=found)
        parts.append(found)
    assert np.array_equal(np.vstack([p.values for p in parts]), whole.values)
    assert np.array_equal(np.vstack([p.evidence for p in parts]), whole.evidence)
    raised = [alarm.row for part in parts for alarm in part.alarms]
    assert raised == [alarm.row for alarm in whole.alarms]
    assert raised
    one = model.monitor(X[0])
    assert np.array_equal(one.values, model.monitor(X[:1]).values, equal_nan=True)


def test_looking_changes_nothing(model: OKSPCA) -> None:
    before = model.to_bytes()
    model.monitor(*stream(2, 100))
    assert model.to_bytes() == before


def test_what_is_learned_later_changes_no_limit(model: OKSPCA) -> None:
    twin = copy.deepcopy(model)
    X, y = stream(5, 500)
    twin.partial_fit(X + 3.0, y)
    assert same(twin.monitor(*stream(2, 100)), model.monitor(*stream(2, 100)))


@pytest.mark.parametrize("way", ["file", "copy", "pickle"])
def test_a_monitor_is_part_of_the_model(way: str, model: OKSPCA) -> None:
    if way == "file":
        twin = OKSPCA.from_bytes(model.to_bytes())
    else:
        twin = copy.deepcopy(model) if way == "copy" else pickle.loads(pickle.dumps(model))
    assert same(twin.monitor(*stream(2, 100)), model.monitor(*stream(2, 100)))
    assert twin.to_bytes() == model.to_bytes()


def test_a_monitor_of_another_map_is_saved_with_it() -> None:
    X, y = stream(0, 3000)
    model = OKSPCARegressor(n_random_features=16, pilot_rows=512, random_state=0)
    model.partial_fit(X[:300], y[:300]).calibrate_monitor(X[300:700], y[300:700])
    before = model.monitor(X[700:800])
    drawn = model.input_map_
    model.partial_fit(X[700:], y[700:])
    assert not model.input_map_.equals(drawn)
    twin = OKSPCARegressor.from_bytes(model.to_bytes())
    assert same(twin.monitor(X[700:800]), before)


def test_a_merge_keeps_the_monitor_and_fit_forgets_it() -> None:
    settings = {**SMALL, "standardize": "frozen"}
    X, y = stream(0, 1500)
    first = OKSPCA(1, **settings).fit(X[:600], y[:600])
    other = copy.deepcopy(first).partial_fit(X[600:700], y[600:700])
    first.calibrate_monitor(X[700:])
    before = first.monitor(X[:50])
    first.merge(other, distinct=True)
    assert same(first.monitor(X[:50]), before)
    with pytest.raises(NotReadyError, match="call calibrate_monitor"):
        first.fit(X, y).monitor(X)


def test_rows_that_lack_a_value_tell_nothing() -> None:
    X, y = stream(0, 1500)
    model = OKSPCA(1, missing="skip", **SMALL).fit(X[:500], y[:500])
    gaps = X[500:].copy()
    gaps[::7, 1] = np.nan
    model.calibrate_monitor(gaps)
    found = model.monitor(gaps)
    assert np.isnan(found.values[::7]).all()
    whole = ~np.isnan(gaps).any(axis=1)
    assert same_values(model.monitor(gaps[whole]), found.values[whole])
    assert model.monitor(gaps[:1]).latest()["t2"] is None


def same_values(found: Monitored, values: np.ndarray) -> bool:
    return np.array_equal(found.values, values, equal_nan=True)


def test_labels_are_targets_too() -> None:
    X, _ = stream(0, 2500)
    labels = np.where(X[:, 0] > 5.0, "up", "down")
    model = OKSPCAClassifier(n_random_features=32, frequencies="drawn", random_state=0)
    model.fit(X[:500], labels[:500]).calibrate_monitor(X[500:2000], labels[500:2000])
    assert not model.monitor(X[2000:], labels[2000:]).alarms
    assert model.monitor(X[2000:], np.roll(labels[2000:], 1)).alarms
    assert model.monitor(X[2000:], np.full(500, "new")).alarms


def test_names_come_from_frames() -> None:
    X, y = stream(0, 1500)
    frame = pd.DataFrame(X, columns=["heat", "flow", "level", "speed"])
    model = OKSPCA(1, **SMALL).fit(frame[:500], y[:500]).calibrate_monitor(frame[500:])
    frame["flow"] += 40.0
    assert model.monitor(frame).alarms[0].inputs[0] == "flow"


def test_sparse_rows_are_watched() -> None:
    X, y = stream(0, 1200)
    model = OKSPCA(1, n_random_features=32, random_state=0).fit(csr_matrix(X[:500]), y[:500])
    model.calibrate_monitor(csr_matrix(X[500:]))
    assert not model.monitor(csr_matrix(X[500:])).alarms


def test_rows_far_out_are_out(model: OKSPCA) -> None:
    X, _ = stream(2, 300)
    X[3] = 1e150
    found = model.monitor(X)
    assert found.is_out[3]
    assert not np.isnan(found.values[:, :2]).any()
    # One row is no trend, however far out.
    assert not found.alarms


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"row_level": 0.0}, "row_level=0.0"),
        ({"confidence": 1.0}, "confidence=1.0"),
        ({"rows_per_alarm": 1}, "rows_per_alarm=1"),
        ({"spe": "other"}, "spe='other'"),
        ({"dependence": 0.5}, "dependence=0.5"),
    ],
)
def test_impossible_wishes_are_named(options: dict[str, Any], words: str, model: OKSPCA) -> None:
    with pytest.raises(ValueError, match=words):
        copy.deepcopy(model).calibrate_monitor(stream(1, 200)[0], **options)


def test_too_few_rows_and_missing_limits_are_named(model: OKSPCA) -> None:
    X, y = stream(0, 200)
    fresh = OKSPCA(1, **SMALL).fit(X, y)
    with pytest.raises(NotReadyError, match="no limits yet"):
        fresh.monitor(X)
    with pytest.raises(DataError, match="at least 100"):
        fresh.calibrate_monitor(X[:99])
    with pytest.raises(DataError, match="calibrated without"):
        fresh.calibrate_monitor(X).monitor(X, y)
    with pytest.raises(DataError, match="200 finite targets"):
        model.monitor(X, y[:5])
    with pytest.raises(DataError, match="another monitor"):
        fresh.monitor(X, after=model.monitor(X))
    with pytest.raises(NotReadyError, match="start_live_monitor"):
        fresh.learn_monitored(X, y)


def test_a_map_without_derivative_is_refused() -> None:
    class Squares(FeatureMap):
        n_inputs, n_features = 4, 4

        def transform(self, Z: np.ndarray) -> np.ndarray:
            return Z**2

        def equals(self, other: FeatureMap) -> bool:
            return isinstance(other, Squares)

    X, y = stream(0, 400)
    model = OKSPCA(1, input_map=Squares(), random_state=0).fit(X, y)
    with pytest.raises(DataError, match="derivative of a Squares"):
        model.calibrate_monitor(X)
    linear = OKSPCA(1, input_map=IdentityMap(4), random_state=0).fit(X, y).calibrate_monitor(X)
    found = linear.monitor(X)
    np.testing.assert_allclose(found.t2_contributions.sum(axis=1), found.t2, atol=1e-8)


def live(cuts: list[int], n: int = 1500) -> tuple[OKSPCA, list[Monitored]]:
    """Follow a stream with a change that does not last."""
    X, y = stream(0, 300 + n)
    X[1300:1400, 3] += 4.0
    model = OKSPCA(2, **SMALL).fit(X[:300], y[:300]).start_live_monitor(200)
    found: list[Monitored] = []
    for rows in np.split(np.arange(300, 300 + n), cuts):
        found += model.learn_monitored(X[rows], y[rows])
    return model, found


def test_limits_follow_a_stream_however_it_is_cut() -> None:
    _, whole = live([])
    assert sum(len(part.values) for part in whole) == 1100
    values = np.vstack([part.values for part in whole])
    alarms = [(a.row, a.statistic) for part in whole for a in part.alarms]
    assert 1000 <= alarms[0][0] < 1030
    assert whole[0].first_row == 400
    _, parts = live([1, 300, 550, 1001, 1100])
    np.testing.assert_allclose(np.vstack([part.values for part in parts]), values, rtol=1e-6)
    assert [(a.row, a.statistic) for part in parts for a in part.alarms] == alarms


def test_rows_of_an_alarm_make_no_limits() -> None:
    model, found = live([])
    record = model.learned
    assert record is not None
    assert record.live is not None
    n_taken_out = sum(a.since for part in found for a in part.alarms)
    kept = record.live.collected.numbers
    assert record.live.rows == 1500
    assert (1500 - len(kept)) % 200 != 0
    assert n_taken_out > 20


def test_each_row_is_judged_before_it_is_learned() -> None:
    X, y = stream(0, 1000)
    model = OKSPCA(2, **SMALL).fit(X[:300], y[:300]).start_live_monitor(100)
    model.learn_monitored(X[300:600], y[300:600])
    twin = copy.deepcopy(model)
    expected = twin.monitor(X[600:650], y[600:650])
    found = model.learn_monitored(X[600:650], y[600:650])
    np.testing.assert_array_equal(found[0].values, expected.values[:, : found[0].values.shape[1]])
    assert model.n_samples_seen_ == twin.n_samples_seen_ + 50


@pytest.mark.parametrize("place", [0, 60, 250])
def test_a_refused_block_changes_nothing(place: int) -> None:
    model, _ = live([], 500)
    before = model.to_bytes()
    X, y = stream(4, 260)
    X[place, 1] = np.nan
    with pytest.raises(DataError):
        model.learn_monitored(X, y)
    assert model.to_bytes() == before


def test_a_live_monitor_that_was_saved_goes_on_to_the_same_bytes() -> None:
    model, _ = live([], 730)
    twin = OKSPCA.from_bytes(model.to_bytes())
    assert twin.to_bytes() == model.to_bytes()
    X, y = stream(4, 400)
    found = [one.learn_monitored(X, y) for one in (model, twin)]
    assert twin.to_bytes() == model.to_bytes()
    assert all(same(*pair) for pair in zip(*found, strict=True))


def spoil(header: dict[str, Any], tensors: dict[str, Any], what: str) -> None:
    """Spoil one thing of a file that holds a live monitor."""
    monitor, live = "fitted/monitor/", header["fitted"]["live"]
    if what == "order":
        tensors[f"{monitor}values"] = tensors[f"{monitor}values"][:, ::-1].copy()
    elif what == "times":
        tensors[f"{monitor}times"][0] = 0.5
    elif what == "level":
        header["fitted"]["monitor"]["asked"]["row_level"] = 2.0
    elif what == "slopes":
        tensors[f"{monitor}inputs/slopes"] = np.zeros((1, 1))
    elif what == "evidence":
        tensors["fitted/live/levels"][0] = -1.0
    elif what == "numbers":
        tensors["fitted/live/collected/numbers"][0] = 10**9
    else:
        live["every"] = 51


WAYS = ["order", "times", "level", "slopes", "evidence", "numbers", "every"]


@pytest.mark.parametrize("what", WAYS)
def test_impossible_monitors_are_refused(what: str) -> None:
    model, _ = live([], 730)
    content = unpack(model.to_bytes())
    spoil(content.header, content.tensors, what)
    with pytest.raises(StateError):
        OKSPCA.from_bytes(pack(Content(content.header, content.tensors)))
