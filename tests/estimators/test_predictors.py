"""The one-pass predictors against batch regression and discriminant analysis on the same rows."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.metrics import accuracy_score, r2_score

from okspca import OKSPCA, DataError, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.prequential import PrequentialScore
from okspca.features import ChebyshevMap
from okspca.numerics.arrays import Floats
from okspca.pipeline.learning import fold

SMALL: dict[str, Any] = {"n_random_features": 48, "random_state": 0}


def rows(n: int = 900) -> Floats:
    return np.asarray(RandomState(0).normal(size=(n, 3)))


@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("features", ["chebyshev", "raw"])
@pytest.mark.parametrize("standardize", ["frozen", None])
def test_it_is_the_regression_on_the_embedding(
    n_outputs: int, features: str, standardize: str | None
) -> None:
    X = rows()
    y = 5.0 + np.column_stack([np.sin(X[:, 0]) * X[:, 1], X[:, 2] ** 2])[:, :n_outputs]
    y = y[:, 0] if n_outputs == 1 else y
    model = OKSPCARegressor(2, target_features=features, standardize=standardize, **SMALL)
    model.fit(X, y)
    Z = OKSPCA.transform(model, X)
    used = Z[:, np.linalg.norm(Z, axis=0) > 0.0]
    wanted = LinearRegression().fit(used, y).predict(used)
    np.testing.assert_allclose(model.predict(X), wanted, rtol=1e-6, atol=1e-8)


def test_without_calibration_it_is_discriminant_analysis_on_the_embedding() -> None:
    """As in states of earlier versions."""
    X = rows()
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0] * X[:, 1] + X[:, 2], [-0.5, 0.8])]
    model = OKSPCAClassifier(2, standardize="frozen", **SMALL).fit(X, y)
    fold(model.ready().state)
    model.ready().state.moment.calibration = None  # type: ignore[attr-defined]
    Z = OKSPCA.transform(model, X)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(Z, y)
    assert model.classes_.tolist() == theirs.classes_.tolist()
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(Z), atol=1e-4)
    assert (model.predict(X) == theirs.predict(Z)).mean() > 0.999


def test_blocks_of_any_size_give_the_same_predictions() -> None:
    X = rows()
    y = np.sin(X[:, 0]) * X[:, 1]
    whole, cut = (OKSPCARegressor(2, **SMALL) for _ in range(2))
    whole.partial_fit(X, y)
    for start in range(0, len(X), 37):
        cut.partial_fit(X[start : start + 37], y[start : start + 37])
    np.testing.assert_allclose(cut.predict(X), whole.predict(X), rtol=1e-6, atol=1e-9)


def test_a_class_that_was_only_declared_has_no_probability() -> None:
    X = rows(200)
    y = (X[:, 0] > 0.0).astype(int)
    model = OKSPCAClassifier(1, **SMALL).partial_fit(X, y, classes=[0, 1, 7])
    chances = model.predict_proba(X)
    assert chances.shape == (200, 3)
    assert (chances[:, 2] == 0.0).all()
    assert set(model.predict(X).tolist()) <= {0, 1}


def test_predictors_are_saved(tmp_path: Path) -> None:
    X = rows()
    regressor = OKSPCARegressor(2, frequencies="scaled", **SMALL).fit(X, X[:, 0] * X[:, 1])
    classifier = OKSPCAClassifier(1, class_weighting="balanced", **SMALL).fit(X, X[:, 0] > 0)
    models: list[Any] = [regressor, classifier]
    for model in models:
        path = tmp_path / "model.okspca"
        model.save(path)
        again = type(model).load(path)
        assert again.get_params() == model.get_params()
        assert np.array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("features", ["fourier", "chebyshev", "raw"])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_every_choice_of_target_features_learns_and_is_saved(
    features: str, n_outputs: int, tmp_path: Path
) -> None:
    X = rows(300)
    Y = np.column_stack([X[:, 0], X[:, 1] ** 2])[:, :n_outputs]
    model = OKSPCA(2, target_features=features, **SMALL).partial_fit(X, Y)
    model.save(tmp_path / "model.okspca")
    twin = OKSPCA.load(tmp_path / "model.okspca")
    for one in (model, twin):
        one.partial_fit(X, Y)
    assert np.array_equal(model.components_, twin.components_)


def test_chebyshev_features_are_the_polynomials() -> None:
    y = np.linspace(-2.9, 2.9, 7)[:, np.newaxis]
    features = ChebyshevMap(1, degree=5).transform(y)
    angle = np.arccos(y[:, 0] / 3.0)
    for n in range(2, 6):
        np.testing.assert_allclose(features[:, n - 1], np.cos(n * angle), atol=1e-12)
    assert np.array_equal(features[:, 0], y[:, 0])
    with pytest.raises(ValueError, match="degree"):
        ChebyshevMap(1, degree=0)


@pytest.mark.parametrize("frequencies", ["drawn", "trained"])
@pytest.mark.parametrize("n_outputs", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_prequential_score_is_that_of_predictions_made_before_learning(
    frequencies: str, n_outputs: int, weighted: bool
) -> None:
    X = rows(700)
    Y = np.column_stack([np.sin(X[:, 0]) * X[:, 1], 3.0 + X[:, 2] ** 2])[:, :n_outputs]
    weights = RandomState(1).choice([0.0, 0.5, 2.0], size=700) if weighted else np.ones(700)
    model, plain = (
        OKSPCARegressor(2, frequencies=frequencies, prequential=scores, **SMALL)
        for scores in (True, False)
    )
    guesses = []
    for start in range(0, 700, 100):
        block = slice(start, start + 100)
        if start:
            guesses.append(plain.predict(X[block]).reshape(100, -1))
        for one in (model, plain):
            one.partial_fit(X[block], Y[block], sample_weight=weights[block])
    wanted = r2_score(Y[100:], np.concatenate(guesses), sample_weight=weights[100:])
    np.testing.assert_allclose(model.prequential_score_, wanted, rtol=1e-9)
    assert np.array_equal(model.predict(X), plain.predict(X))
    with pytest.raises(AttributeError, match="prequential=True"):
        _ = plain.prequential_score_


@pytest.mark.slow
@pytest.mark.parametrize("one_by_one", [False, True])
def test_the_prequential_score_of_a_classifier_is_its_accuracy(one_by_one: bool) -> None:
    """A class that is new in a block cannot be predicted there, so its rows count as wrong."""
    X = rows(160)
    y = np.where(X[:, 0] > 0.0, "b", "a").astype(object)
    y[130:] = np.where(X[130:, 1] > 0.0, "new", y[130:])
    model, plain = (OKSPCAClassifier(2, prequential=scores, **SMALL) for scores in (True, False))
    for one in (model, plain):
        one.partial_fit(X[:100], y[:100])
    right = []
    cuts = [100, *(range(101, 161) if one_by_one else (130, 160))]
    for start, stop in itertools.pairwise(cuts):
        right.append(accuracy_score(y[start:stop], plain.predict(X[start:stop]), normalize=False))
        plain.partial_fit(X[start:stop], y[start:stop])
        if one_by_one:
            model.learn_one(X[start], y[start])
        else:
            model.partial_fit(X[start:stop], y[start:stop])
    np.testing.assert_allclose(model.prequential_score_, sum(right) / 60.0, rtol=1e-12)


def test_the_prequential_score_starts_anew_is_saved_and_pooled(tmp_path: Path) -> None:
    X, Y = rows(400), rows(400)[:, 0] ** 2
    # A model that still learns which inputs matter cannot be merged.
    shared: dict[str, Any] = {**SMALL, "standardize": None, "frequencies": "drawn"}
    model = OKSPCARegressor(2, prequential=True, **shared)
    model.partial_fit(X[:200], Y[:200])
    with pytest.raises(AttributeError, match="second call"):
        _ = model.prequential_score_
    model.partial_fit(X[200:300], Y[200:300])
    score = model.prequential_score_
    with pytest.raises(DataError):
        model.partial_fit(X[300:], np.full(100, np.nan))
    assert model.prequential_score_ == score
    model.save(tmp_path / "model.okspca")
    twin = OKSPCARegressor.load(tmp_path / "model.okspca")
    for one in (model, twin):
        one.partial_fit(X[300:], Y[300:])
    assert twin.prequential_score_ == model.prequential_score_ != score
    twin.merge(model, distinct=True)
    np.testing.assert_allclose(twin.prequential_score_, model.prequential_score_, rtol=1e-12)
    assert twin.ready().state.companions["score"].weight == 400.0
    plain = OKSPCARegressor(2, **shared).partial_fit(X, Y).merge(model, distinct=True)
    assert not hasattr(plain, "prequential_score_")
    model.fit(X, Y)
    assert "score" not in model.ready().state.companions
    with pytest.raises(ValueError, match="prequential"):
        OKSPCARegressor(2, prequential=3, **SMALL).fit(X, Y)  # type: ignore[arg-type]


def test_an_output_that_never_varied_has_no_part_in_the_score() -> None:
    score = PrequentialScore.empty(2)
    assert np.isnan(score.r2())
    actual = np.array([[1.0, 5.0], [3.0, 5.0]])
    assert score.after(actual, np.array([[0.5, 9.0], [0.0, 9.0]]), np.ones(2)).r2() == 0.75


@pytest.mark.parametrize("features", ["chebyshev", "raw"])
@pytest.mark.parametrize(("unit", "offset"), [(1e5, 2e5), (1e-4, 3.0), (1.0, -1e6)])
def test_predictions_do_not_depend_on_the_unit_of_the_response(
    features: str, unit: float, offset: float
) -> None:
    X = rows(1500)
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]

    def score(response: Floats) -> float:
        model = OKSPCARegressor(n_random_features=64, target_features=features, random_state=0)
        return float(model.fit(X[:1000], response[:1000]).score(X[1000:], response[1000:]))

    assert score(offset + unit * y) == pytest.approx(score(y), abs=1e-6)
