"""Checks for drift: quiet where nothing changed, and what changed is named."""

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_matrix

from okspca import OKSPCA
from okspca.errors import DataError
from okspca.estimators.drifting import Known, feature_distance
from okspca.estimators.held_out import accuracy, r_squared

N = 2000


def stream(seed: int, n: int = N + 600) -> tuple[np.ndarray, np.ndarray]:
    random = RandomState(seed)
    X = random.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1.0] + [5.0, 0.0, 0.0, -3.0]
    return X, np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.1 * random.normal(size=n)


@pytest.fixture(scope="module")
def model() -> OKSPCA:
    X, y = stream(0)
    return OKSPCA(2, n_random_features=64, random_state=0).fit(X[:N], y[:N])


def test_nothing_is_found_where_nothing_changed(model: OKSPCA) -> None:
    alarms = 0
    for seed in range(1, 21):
        X, _ = stream(seed)
        alarms += model.check_drift(X[:600]).is_alarming
    assert alarms <= 1


def test_no_target_alarm_where_nothing_changed(model: OKSPCA) -> None:
    X, y = stream(1)
    found = model.check_drift(X, y)
    assert found.refitted is not None
    assert not found.is_alarming
    assert found.verdict == "The new rows look like those the model has learned."


@pytest.mark.parametrize(("column", "change"), [(1, "mean"), (2, "spread"), (3, "mean")])
def test_the_input_that_changed_is_named(model: OKSPCA, column: int, change: str) -> None:
    X, _ = stream(1)
    X[:, column] = X[:, column] * 2.0 if change == "spread" else X[:, column] + X[:, column].std()
    found = model.check_drift(X)
    assert np.flatnonzero(found.changed).tolist() == [column]
    assert "1 of 4 inputs changed" in found.verdict
    assert found.rows()[0][0] == f"x{column}"
    expected = (found.shifts[column], 1.0) if change == "mean" else (found.factors[column], 2.0)
    assert expected[0] == pytest.approx(expected[1], rel=0.15)


def test_inputs_that_change_together_are_noticed(model: OKSPCA) -> None:
    """Every input is distributed as before, but they have become alike."""
    X, _ = stream(1)
    S = (X - X.mean(axis=0)) / X.std(axis=0)
    X[:] = S[:, :1] * X.std(axis=0) + X.mean(axis=0)
    found = model.check_drift(X)
    assert not found.changed.any()
    assert found.has_moved
    assert found.p_value < 1e-6


def test_a_new_relation_is_noticed(model: OKSPCA) -> None:
    X, _ = stream(1)
    found = model.check_drift(X, 10.0 * X[:, 2] ** 2 + X[:, 3] ** 2)
    assert not found.changed.any()
    assert found.refitted is not None
    assert found.refitted.is_better
    assert "learning anew would predict better" in found.verdict
    assert "R²" in str(found)


def test_labels_that_are_new_are_named() -> None:
    X, y = stream(0)
    labels = np.where(y > 0.0, "up", "down").astype(object)
    fitted = OKSPCA(1, n_random_features=32, random_state=0).fit(X[:N], labels[:N])
    labels[-30:] = "sideways"
    found = fitted.check_drift(X[N:], labels[N:])
    assert found.unseen == ("sideways",)
    assert "sideways" in found.verdict


def test_an_input_that_was_constant_is_watched() -> None:
    X, y = stream(0)
    X[:, 2] = 7.0
    fitted = OKSPCA(1, n_random_features=32, random_state=0).fit(X[:N], y[:N])
    assert not fitted.check_drift(X[N:]).is_alarming
    X[-1, 2] = 8.0
    assert fitted.check_drift(X[N:]).changed.tolist() == [False, False, True, False]


@pytest.mark.parametrize("standardize", ["frozen", None])
def test_every_standardiser_is_served(standardize: str | None) -> None:
    X, y = stream(0)
    X = X / X.std(axis=0)
    fitted = OKSPCA(1, n_random_features=32, standardize=standardize, random_state=0)
    fitted.fit(X[:N], y[:N])
    assert not fitted.check_drift(X[N:]).is_alarming
    found = fitted.check_drift(X[N:] + 2.0)
    assert found.has_moved
    assert found.changed.all() == (standardize is not None)
    assert "moved" in str(found)


def test_sparse_rows_and_frames_are_served() -> None:
    X = RandomState(0).poisson(0.5, size=(1500, 5)).astype(float)
    y = X[:, 0] + 0.1 * RandomState(1).normal(size=1500)
    sparse = OKSPCA(1, n_random_features=32, random_state=0).fit(csr_matrix(X[:1000]), y[:1000])
    assert not sparse.check_drift(csr_matrix(X[1000:]), y[1000:]).changed.any()
    assert sparse.check_drift(csr_matrix(X[1000:] * [1, 1, 1, 1, 5])).changed.tolist()[-1]
    frame = pd.DataFrame(X, columns=list("abcde"))
    named = OKSPCA(1, n_random_features=32, random_state=0).fit(frame[:1000], y[:1000])
    assert named.check_drift(frame[1000:], y[1000:]).inputs == tuple("abcde")


@pytest.mark.parametrize(("n", "targets"), [(29, False), (99, True)])
def test_too_few_rows_are_refused(model: OKSPCA, n: int, targets: bool) -> None:
    X, y = stream(1)
    with pytest.raises(DataError, match=f"X has {n} rows"):
        model.check_drift(X[:n], y[:n] if targets else None)


def test_checking_learns_nothing(model: OKSPCA) -> None:
    before = model.to_bytes()
    model.check_drift(*stream(1))
    assert model.to_bytes() == before


def test_p_values_are_uniform_without_drift() -> None:
    """With both means from independent rows of known covariance."""
    scale = np.sqrt(np.array([4.0, 1.0, 1.0, 0.25]))
    found = []
    for seed in range(400):
        random = RandomState(seed)
        old, new = random.normal(size=(2, 300, 4)) * scale
        known = Known(300.0, np.zeros(4), np.ones(4), old.mean(axis=0), 0.0)
        found.append(feature_distance(known, new)[1])
    assert 0.06 < np.mean(np.array(found) < 0.1) < 0.14
    assert 0.42 < np.mean(np.array(found) < 0.5) < 0.58


def test_standard_errors_are_those_of_repetition() -> None:
    scores, errors, hits, hit_errors = [], [], [], []
    for seed in range(300):
        random = RandomState(seed)
        truth = random.normal(size=400)
        guess = 0.8 * truth + 0.5 * random.normal(size=400)
        one, two = r_squared(guess, truth), accuracy(guess > 0.0, truth > 0.0)
        scores.append(one.value)
        errors.append(one.error)
        hits.append(two.value)
        hit_errors.append(two.error)
    assert np.mean(errors) == pytest.approx(np.std(scores), rel=0.15)
    assert np.mean(hit_errors) == pytest.approx(np.std(hits), rel=0.15)


def test_a_constant_target_scores_zero() -> None:
    assert r_squared(np.zeros(5), np.ones(5)).value == 0.0
