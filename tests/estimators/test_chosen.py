"""Bandwidth and number of components, chosen by the first rows where a model is asked to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import make_blobs
from typer.testing import CliRunner

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.cli import app
from okspca.distributed import Survey, identity
from okspca.errors import MergeError
from okspca.estimators.saving import model_bytes, model_from
from okspca.features import FourierMap, IdentityMap
from okspca.features.component_count import errors_by_number, fewest
from okspca.features.trials import Pilot
from okspca.numerics.arrays import Floats

SMALL: dict[str, Any] = {
    "n_random_features": 48,
    "frequencies": "drawn",
    "pilot_rows": 1024,
    "random_state": 0,
}
AUTO: dict[str, Any] = {**SMALL, "bandwidth": "auto"}


def wavy(n: int = 1200) -> tuple[Floats, Floats]:
    """A response that wiggles: the usual bandwidth is far too wide."""
    X = RandomState(0).normal(size=(n, 2))
    return X, np.sin(6.0 * X[:, 0]) + 0.1 * RandomState(1).normal(size=n)


def in_a_row(n: int = 1200, n_classes: int = 6) -> tuple[Floats, Any]:
    """Classes along one line: a single direction tells them apart."""
    random = RandomState(0)
    y = random.randint(n_classes, size=n)
    X = 0.4 * random.normal(size=(n, 3))
    X[:, 0] += y
    return X, y


def test_the_bandwidth_is_the_one_that_predicts() -> None:
    X, y = wavy()
    model = OKSPCARegressor(**AUTO).fit(X[:1100], y[:1100])
    usual = OKSPCARegressor(**SMALL).fit(X[:1100], y[:1100])
    assert model.bandwidth_ < 0.5 * np.sqrt(2.0)
    assert model.score(X[1100:], y[1100:]) > usual.score(X[1100:], y[1100:]) + 0.2
    smooth = OKSPCARegressor(**AUTO).fit(X, X[:, 0])
    assert smooth.bandwidth_ >= np.sqrt(2.0)


def test_a_chosen_bandwidth_is_as_if_it_had_been_given() -> None:
    X, y = wavy()
    chosen = OKSPCARegressor(**AUTO).fit(X, y)
    given = OKSPCARegressor(**{**AUTO, "bandwidth": chosen.bandwidth_}).fit(X, y)
    assert np.array_equal(chosen.transform(X), given.transform(X))
    assert np.array_equal(chosen.predict(X), given.predict(X))
    with pytest.raises(AttributeError, match="bandwidth_"):
        _ = given.bandwidth_


def test_scales_and_training_begin_from_the_chosen_bandwidth() -> None:
    X, y = wavy()
    for frequencies in ("scaled", "trained"):
        settings = {**AUTO, "frequencies": frequencies}
        model = OKSPCARegressor(**settings).fit(X[:1100], y[:1100])
        assert model.score(X[1100:], y[1100:]) > 0.9


@pytest.mark.parametrize("n_features", [24, 48])
def test_as_many_components_as_are_needed(n_features: int) -> None:
    X, y = in_a_row()
    settings = {**SMALL, "n_random_features": n_features}
    model = OKSPCAClassifier("auto", **settings).fit(X[:1100], y[:1100])
    every = OKSPCAClassifier(**settings).fit(X[:1100], y[:1100])
    assert model.n_components_ == model.transform(X).shape[1] < every.n_components_ == 5
    assert model.score(X[1100:], y[1100:]) > every.score(X[1100:], y[1100:]) - 0.05


def test_a_chosen_number_is_as_if_it_had_been_given() -> None:
    X, y = in_a_row()
    chosen = OKSPCAClassifier("auto", **SMALL).fit(X, y)
    given = OKSPCAClassifier(chosen.n_components_, **SMALL).fit(X, y)
    assert np.array_equal(chosen.transform(X), given.transform(X))
    assert np.array_equal(chosen.predict_proba(X), given.predict_proba(X))


def test_where_all_are_needed_later_classes_have_components_too() -> None:
    X, y = make_blobs(1400, 4, centers=4, cluster_std=1.0, random_state=1)
    y = np.where((np.arange(1400) < 1100) & (y == 3), 0, y)
    model = OKSPCAClassifier("auto", **SMALL).partial_fit(X[:1100], y[:1100])
    assert model.n_components_ == 2
    assert model.partial_fit(X[1100:], y[1100:]).n_components_ == 3


def test_one_component_is_enough_for_a_response() -> None:
    X = RandomState(0).normal(size=(1200, 3))
    y = np.sin(X[:, 0]) * X[:, 1] + 0.2 * RandomState(1).normal(size=1200)
    assert OKSPCARegressor("auto", **SMALL).fit(X, y).n_components_ == 1
    Y = np.stack([y, X[:, 2] ** 2], axis=1)
    assert OKSPCARegressor("auto", **SMALL).fit(X, Y).n_components_ == 2


@pytest.mark.parametrize("settings", [{"bandwidth": "auto"}, {"n_components": "auto"}])
@pytest.mark.parametrize("step", [1, 137, 1000])
def test_cuts_and_files_change_no_bit(step: int, settings: dict[str, Any]) -> None:
    X, y = in_a_row(1100)
    whole, cut = (OKSPCAClassifier(**{**SMALL, **settings}) for _ in range(2))
    whole.partial_fit(X, y, classes=range(6))
    for start in range(0, 1100, step):
        block = slice(start, start + step)
        cut.partial_fit(X[block], y[block], classes=range(6))
        if start % 274 == 0:
            cut = model_from(OKSPCAClassifier, model_bytes(cut))[0]
    assert whole.n_components_ == cut.n_components_
    assert np.array_equal(whole.transform(X), cut.transform(X))
    assert np.array_equal(whole.predict_proba(X), cut.predict_proba(X))
    for name, value in settings.items():
        assert cut.get_params()[name] == clone(cut).get_params()[name] == value
    if "bandwidth" in settings:
        assert cut.bandwidth_ == whole.bandwidth_


def test_before_rows_choose_the_defaults_hold() -> None:
    X, y = in_a_row(400)
    settings = {**SMALL, "n_random_features": 24}
    chosen = OKSPCAClassifier("auto", bandwidth="auto", **settings).fit(X, y)
    usual = OKSPCAClassifier(**settings).fit(X, y)
    assert np.array_equal(chosen.transform(X), usual.transform(X))
    sparse = OKSPCAClassifier("auto", bandwidth="auto", **settings).fit(csr_matrix(X), y)
    assert sparse.n_components_ == 5
    assert model_from(OKSPCAClassifier, model_bytes(sparse))[0].n_components_ == 5


def test_what_cannot_be_chosen_is_refused() -> None:
    X, y = in_a_row(100)
    with pytest.raises(ValueError, match="n_components='auto'"):
        OKSPCA("auto").fit(X, y)
    with pytest.raises(ValueError, match="n_components='most'"):
        OKSPCAClassifier("most").fit(X, y)
    with pytest.raises(ValueError, match="input_map"):
        OKSPCAClassifier("auto", input_map=IdentityMap(3)).fit(X, y)


def test_shards_share_what_was_chosen() -> None:
    X, y = in_a_row()
    model = OKSPCAClassifier("auto", **AUTO)
    with pytest.raises(ValueError, match="pilot"):
        identity(model, Survey(model).add(X, y))
    state = identity(model, Survey(model).add(X, y), pilot=(X, y))
    shards = [clone_of(state).partial_fit(X[i::2], y[i::2]) for i in range(2)]
    merged = shards[0].merge(shards[1])
    assert merged.n_components_ == shards[1].n_components_ < 5


def test_models_that_chose_differently_are_not_merged() -> None:
    X, y = in_a_row()
    apart = make_blobs(1200, 3, centers=6, cluster_std=0.5, random_state=1)
    few = OKSPCAClassifier("auto", **SMALL).fit(X, y)
    many = OKSPCAClassifier("auto", **SMALL).fit(*apart)
    assert few.n_components_ < many.n_components_
    with pytest.raises(MergeError, match="components; merge models"):
        few.merge(many, distinct=True)


def clone_of(state: OKSPCA) -> Any:
    return type(state).from_bytes(state.to_bytes())


def test_errors_are_those_of_plain_regressions() -> None:
    random = RandomState(0)
    Z = random.normal(size=(200, 2))
    T = np.stack([np.sin(Z[:, 0]), Z[:, 1] ** 2], axis=1)
    feature_map = FourierMap.sample(2, 16, bandwidth=1.0)
    weights = random.uniform(0.5, 2.0, size=200)
    errors = errors_by_number(feature_map, Pilot(Z, T, weights), T, ridge=0.1)
    Phi, first, w = feature_map.transform(Z), slice(0, 150), weights[:150]
    centred = Phi - np.average(Phi[first], axis=0, weights=w)
    S = (centred[first] * w[:, np.newaxis]).T @ centred[first] / w.sum()
    N = S + 0.1 * np.trace(S) / 16 * np.eye(16)
    C = (centred[first] * w[:, np.newaxis]).T @ (T[first] - np.average(T[first], axis=0, weights=w))
    L = np.linalg.cholesky(N)
    W = np.linalg.solve(L.T, np.linalg.svd(np.linalg.solve(L, C))[0][:, :2])
    for k in (1, 2):
        A = np.c_[centred @ W[:, :k], np.ones(200)]
        root = np.sqrt(w)[:, np.newaxis]
        B = np.linalg.lstsq(root * A[first], root * T[first], rcond=None)[0]
        plain = weights[150:] * ((T - A @ B)[150:] ** 2).sum(axis=1)
        np.testing.assert_allclose(errors[k - 1], plain, rtol=1e-6)


def test_the_fewest_within_a_standard_error_are_taken() -> None:
    noise = RandomState(0).normal(size=100)
    errors = np.stack([2.0 + 0.1 * noise, 1.05 + 0.5 * noise**2, 1.0 + 0.4 * noise**2])
    assert fewest(errors) == 3
    assert fewest(np.stack([errors[2] + 0.3 * noise, errors[2]])) == 1
    assert fewest(np.stack([errors[0], errors[2] * 1.005, errors[2]])) == 2


def test_the_command_line_takes_the_words(tmp_path: Path) -> None:
    X, y = in_a_row(900)
    rows = [
        ",".join(map(str, row)) + f",c{label}" for row, label in zip(X.tolist(), y, strict=True)
    ]
    table, out = tmp_path / "rows.csv", tmp_path / "model.okspca"
    table.write_text("\n".join(["a,b,c,kind", *rows]), encoding="utf-8")
    words = ["--components", "auto", "--bandwidth", "auto", "--ridge", "auto", "--quiet"]
    settings = ["--random-features", "24", "--frequencies", "drawn", "--pilot-rows", "512"]
    told = ["fit", str(table), "--target", "kind", "--out", str(out), *words, *settings]
    result = CliRunner().invoke(app, told)
    assert result.exit_code == 0, result.output
    model = OKSPCA.load(out)
    assert (model.n_components, model.bandwidth, model.ridge) == ("auto", "auto", "auto")
    assert model.n_components_ < 5
    shown = CliRunner().invoke(app, ["inspect", str(out)])
    assert shown.exit_code == 0
    assert f"of {model.n_components_} asked for" in shown.output
    told[told.index("auto")] = "none"
    assert CliRunner().invoke(app, [*told, "--force"]).exit_code == 0
    assert OKSPCA.load(out).n_components_ == 5
    told[told.index("none")] = "0"
    assert CliRunner().invoke(app, told).exit_code == 2
