"""The adapter passes river's own checks, and learns what OKSPCA learns."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from okspca import OKSPCA, DataError
from okspca.standardize import NoStandardizer

pytest.importorskip("river", reason="needs okspca[river]")
from river import checks, compose, linear_model, metrics, preprocessing

from okspca.distributed.river import RiverOKSPCA

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
