"""The adapter passes river's own checks, and learns what OKSPCA learns."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from okspca import OKSPCA, DataError
from okspca.standardize import NoStandardizer

pytest.importorskip("river", reason="needs okspca[river]")
from river import checks, compose, datasets, evaluate, linear_model, metrics, preprocessing

from okspca.distributed.river import (
    RiverOKSPCA,
    RiverOKSPCAClassifier,
    RiverOKSPCARegressor,
)

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
CHECKS = list(checks.yield_checks(RiverOKSPCA()))


@pytest.mark.parametrize("number", range(len(CHECKS)), ids=[c.__name__ for c in CHECKS])
def test_rivers_own_checks(number: int) -> None:
    CHECKS[number](RiverOKSPCA(n_random_features=16))


def test_river_accepts_the_estimator_as_a_whole() -> None:
    checks.check_estimator(RiverOKSPCA(3, n_random_features=16, objective="whitened", seed=1))


def stream(n: int = 200) -> tuple[Any, Any]:
    X = np.random.RandomState(0).normal(size=(n, 3)) * [1.0, 20.0, 0.1]
    return X, np.sin(X[:, 0]) + X[:, 1] / 20.0


@pytest.mark.parametrize("labels", [False, True])
def test_it_learns_what_okspca_learns(labels: bool) -> None:
    X, y = stream()
    target = [["low", "middle", "high"][int(v > 0) + int(v > 1)] for v in y] if labels else y
    one, many = (RiverOKSPCA(2, n_random_features=32, align=False, seed=0) for _ in range(2))
    for row, value in zip(X, target, strict=True):
        one.learn_one(dict(zip("abc", row, strict=True)), value)
    frame = pd.DataFrame(X, columns=list("abc"))
    for start in range(0, 200, 64):
        rows = slice(start, start + 64)
        many.learn_many(frame[rows], pd.Series(target)[rows])
    assert one.features is not None
    assert one.model is not None
    weights = one.features.weights[:, 1:]
    plain = OKSPCA(2, input_map=type(one.features.map())(weights, one.features.phases),
                   random_state=one.features.seed)  # fmt: skip
    plain.partial_fit(X, np.asarray(target))
    for adapter in (one, many):
        assert adapter.model is not None
        C = plain.moment_.matrix()
        assert np.linalg.norm(adapter.model.moment_.matrix() - C) <= 1e-12 * np.linalg.norm(C)
        found = np.array([list(adapter.transform_one(dict(zip("abc", x, strict=True))).values())
                          for x in X[:20]])  # fmt: skip
        np.testing.assert_allclose(found, plain.transform(X[:20]), atol=1e-9)
        np.testing.assert_allclose(adapter.transform_many(frame[:20]), found, atol=1e-12)
    assert isinstance(one.model.input_standardizer_, NoStandardizer)


def test_a_refused_row_changes_nothing() -> None:
    model = RiverOKSPCA(1, n_random_features=8, seed=0)
    model.learn_one({"a": 1.0}, 0.5)
    model.learn_one({"a": 2.0}, 1.5)
    assert model.model is not None
    assert model.features is not None
    before = model.model.to_bytes(), model.features.mean.tolist()
    for x, y in (({"a": "red"}, 1.0), ({"a": 3.0}, float("nan")), ({"a": 3.0}, "text")):
        with pytest.raises(DataError):
            model.learn_one(x, y)
    assert (model.model.to_bytes(), model.features.mean.tolist()) == before
    with pytest.raises(DataError):  # a new feature in a refused row is known, but not learned
        model.learn_one({"a": 3.0, "b": 1.0}, float("nan"))
    assert model.features.mean.tolist() == [*before[1], 0.0]
    model.learn_one({"a": 3.0}, 1.0)
    assert model.model.n_samples_seen_ == 3


def test_it_helps_a_linear_model_in_a_pipeline() -> None:
    X, y = stream(600)
    y = y + X[:, 0] ** 2
    steps = compose.Pipeline(
        RiverOKSPCA(4, n_random_features=64, seed=0),
        preprocessing.StandardScaler(),
        linear_model.LinearRegression(),
    )
    error, constant = metrics.MAE(), metrics.MAE()
    mean = 0.0
    for count, (row, value) in enumerate(zip(X, y, strict=True)):
        x = dict(zip("abc", row, strict=True))
        if count >= 300:
            error.update(value, steps.predict_one(x))
            constant.update(value, mean / count)
        steps.learn_one(x, value)
        mean += value
    assert error.get() < 0.9 * constant.get()


HEADS = (RiverOKSPCAClassifier(n_random_features=16), RiverOKSPCARegressor(n_random_features=16))
HEAD_CHECKS = [(head, check) for head in HEADS for check in checks.yield_checks(head)]


@pytest.mark.parametrize("number", range(len(HEAD_CHECKS)))
def test_rivers_own_checks_of_the_heads(number: int) -> None:
    head, check = HEAD_CHECKS[number]
    check(head.clone())


@pytest.mark.parametrize("head", HEADS, ids=["classifier", "regressor"])
def test_heads_predict_what_heads_of_okspca_predict(head: Any) -> None:
    X, y = stream()
    target = np.where(y > 0.5, "high", "low") if head is HEADS[0] else y
    one, many = head.clone({"seed": 1}), head.clone({"seed": 1})
    frame = pd.DataFrame(X, columns=list("abc"))
    assert one.predict_one({"a": 1.0}) == (None if head is HEADS[0] else 0.0)
    for row, value in zip(frame.to_dict("records"), target.tolist(), strict=True):
        one.learn_one(row, value)
    many.learn_many(frame, pd.Series(target))
    records = [*frame[:20].to_dict("records"), {"a": 0.3}, {"d": 1.0}, {}]
    rows = one.features.transform(one.features.rows(records))
    predicted = [one.predict_one(x) for x in records]
    np.testing.assert_array_equal(predicted, one.model.predict(rows))
    if head is HEADS[0]:
        assert many.predict_many(frame).tolist() == [many.predict_one(x) for x in
                                                     frame.to_dict("records")]  # fmt: skip
        p = pd.DataFrame([one.predict_proba_one(x) for x in records])
        assert p.columns.tolist() == one.model.classes_.tolist()
        np.testing.assert_array_equal(p, one.model.predict_proba(rows))
        np.testing.assert_array_equal(many.predict_proba_many(frame)[:20],
                                      many.model.predict_proba(many._rows(frame))[:20])  # fmt: skip
        assert one.predict_proba_one({"a": 0.3}) == dict(p.iloc[20])
    else:
        np.testing.assert_allclose(many.predict_many(frame)[:20], predicted[:20], rtol=1e-6)


def test_reading_heads_learns_nothing_and_new_features_are_learned() -> None:
    model = RiverOKSPCAClassifier(n_random_features=16, seed=0)
    for row in range(40):
        model.learn_one({"a": float(row % 7), "b": float(row % 3)}, row % 2 == 0)
    assert model.model is not None
    before = model.model.to_bytes()
    model.predict_one({"a": 1.0, "new": 3.0})
    model.predict_proba_one({})
    assert model.model.to_bytes() == before
    old = model.predict_proba_one({"a": 1.0, "new": 3.0})
    assert old == model.predict_proba_one({"a": 1.0})
    for row in range(40):
        model.learn_one({"a": float(row % 7), "new": 5.0 * (row % 2)}, row % 2 == 0)
    found = [model.predict_proba_one({"a": 1.0, "new": v})[True] for v in (0.0, 5.0)]
    assert found[0] > 0.7 > 0.3 > found[1]


def test_progressive_validation_runs_and_beats_doing_nothing() -> None:
    scored = evaluate.progressive_val_score(
        datasets.Phishing().take(400), RiverOKSPCAClassifier(32, seed=0), metrics.Accuracy()
    )
    assert scored.get() > 0.75
