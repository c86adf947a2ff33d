"""One word chooses the target: what it means, what wins over it, and what files say about it."""

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_array
from sklearn.base import clone

from okspca import OKSPCA, DataError, MergeError, OKSPCAClassifier, OKSPCARegressor
from okspca.distributed import Survey, identity
from okspca.estimators import presets
from okspca.estimators.parameter_form import ADDED_TO_PREDICTORS, read_parameters
from okspca.estimators.presets import frequencies_of, objective_of, target_in_words
from okspca.features import FourierMap, IdentityMap
from okspca.numerics.arrays import Floats
from okspca.state.container import Content
from okspca.state.fields import Source

SMALL: dict[str, Any] = {"n_random_features": 32, "random_state": 0}
PREDICTIVE: dict[str, Any] = {**SMALL, "preset": "predictive"}
#: What the heads settle themselves, and what has no meaning for them; the docstrings say why.
SETTLED = {"task", "preset", "objective"}
OF_A_RESPONSE = {"n_target_features", "target_bandwidth", "target_map", "target_standardizer"}


def product(n: int = 700) -> tuple[Floats, Floats]:
    X = RandomState(3).uniform(-2.0, 2.0, size=(n, 5))
    return X, X[:, 0] * X[:, 1]


@pytest.mark.parametrize("labels", [True, False])
def test_a_preset_is_short_for_an_objective_and_frequencies(labels: bool) -> None:
    X, y = product()
    target = (y > 0.0).astype(int) if labels else y
    for preset, objective, frequencies in (
        ("paper", "covariance", "drawn"),
        ("predictive", "whitened", "trained"),
    ):
        short = OKSPCA(1, preset=preset, **SMALL).partial_fit(X, target)
        wanted: dict[str, Any] = {"objective": objective, "frequencies": frequencies}
        long = OKSPCA(1, **wanted, **SMALL).partial_fit(X, target)
        assert np.array_equal(short.moment_.matrix(), long.moment_.matrix())
        assert np.array_equal(short.transform(X), long.transform(X))
    plain = OKSPCA(1, **SMALL).partial_fit(X, target)
    paper = OKSPCA(1, preset="paper", **SMALL).partial_fit(X, target)
    assert plain.to_bytes() == paper.to_bytes()


def test_values_that_are_given_win() -> None:
    model = OKSPCA(preset="predictive", objective="covariance", frequencies="mixed")
    assert (objective_of(model), frequencies_of(model)) == ("covariance", "mixed")
    model = OKSPCA(frequencies="scaled")
    assert (objective_of(model), frequencies_of(model)) == ("covariance", "scaled")
    assert frequencies_of(OKSPCA(preset="predictive", frequencies="drawn")) == "drawn"


def test_what_was_given_is_kept() -> None:
    X, y = product(100)
    model = OKSPCA(**PREDICTIVE).fit(X, y)
    for one in (model, clone(model), OKSPCA.from_bytes(model.to_bytes())):
        found = one.get_params()
        assert (found["preset"], found["objective"], found["frequencies"]) == (
            "predictive",
            "auto",
            "auto",
        )


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"preset": "best"}, "preset='best' cannot be used; give one of 'paper', 'predictive'"),
        ({"preset": "predictive", "solver": "adam"}, "give 'exact', or preset='paper'"),
        ({"preset": "predictive", "objective": "x"}, "objective='x'"),
        ({"class_weighting": "balanced"}, "'squared' unless objective='whitened'"),
    ],
)
def test_wrong_presets_are_named(wrong: dict[str, Any], told: str) -> None:
    X, y = product(20)
    with pytest.raises(ValueError, match=told):
        OKSPCA(**wrong).fit(X, y)
    OKSPCA(preset="predictive", class_weighting="balanced", **SMALL).fit(X, y > 0)
    OKSPCA(preset="predictive", objective="covariance", solver="adam", **SMALL).fit(X, y)


def test_frequencies_stay_as_drawn_where_they_cannot_be_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = product()
    rows = csr_array(np.where(X > 1.0, X, 0.0))
    fourier = FourierMap.sample(5, 32, bandwidth=2.0, seed=0)
    monkeypatch.setattr(presets, "MOST_INPUTS", 4)
    models: list[tuple[OKSPCA, Any]] = [
        (OKSPCA(**PREDICTIVE), rows),
        (OKSPCARegressor(**SMALL), rows),
        (OKSPCA(input_map=fourier, preset="predictive"), X[:, :5]),
        (OKSPCA(1, input_map=IdentityMap(5), preset="predictive"), X),
        (OKSPCA(**PREDICTIVE), X),
    ]
    for model, inputs in models:
        for some in (slice(0, 300), slice(300, 700)):
            model.partial_fit(inputs[some], y[some])
        assert model.learned is not None
        assert model.learned.search is None
        assert target_in_words(model) == "whitened, drawn frequencies"
        again = type(model).from_bytes(model.to_bytes())
        assert again.partial_fit(inputs, y).to_bytes() == model.partial_fit(inputs, y).to_bytes()
    given = OKSPCA(frequencies="scaled", **SMALL).partial_fit(X, y)
    assert given.learned is not None
    assert given.learned.search is not None


def test_sparse_rows_after_others_are_refused_in_one_sentence() -> None:
    X, y = product(50)
    model = OKSPCA(standardize=None, **PREDICTIVE).partial_fit(X, y)
    before = model.to_bytes()
    with pytest.raises(DataError, match=r"use frequencies='drawn', or give X\.toarray"):
        model.partial_fit(csr_array(X), y)
    assert model.to_bytes() == before


def test_models_are_merged_by_what_they_aim_at() -> None:
    X, y = product(100)
    one = OKSPCA(frequencies="drawn", **PREDICTIVE).fit(X, y)
    one.merge(OKSPCA(objective="whitened", **SMALL).fit(X, y), distinct=True)
    assert one.n_samples_seen_ == 200
    with pytest.raises(MergeError, match="objective: whitened here, covariance there"):
        one.merge(OKSPCA(**SMALL).fit(X, y))
    with pytest.raises(MergeError, match="frequencies='drawn'"):
        one.merge(OKSPCA(**PREDICTIVE).fit(X, y))


def test_shards_need_first_rows_to_learn_frequencies_from() -> None:
    X, y = product(100)
    survey = Survey(OKSPCA(**PREDICTIVE)).add(X, y)
    start = identity(OKSPCA(**PREDICTIVE), survey)
    assert OKSPCA.from_bytes(start.to_bytes()).partial_fit(X, y).learned.search is None  # type: ignore[union-attr]
    with pytest.raises(ValueError, match=r"learned frequencies .* look at first rows"):
        identity(OKSPCA(frequencies="scaled", **SMALL), survey)


def test_heads_aim_at_prediction_and_train() -> None:
    X, y = product()
    for model in (
        OKSPCARegressor(2, **SMALL).fit(X, y),
        OKSPCAClassifier(2, **SMALL).fit(X, y > 0),
    ):
        assert target_in_words(model) == "predictive (whitened, trained frequencies)"
        assert model.relevance_[:2].sum() > 0.8


@pytest.mark.parametrize(
    ("kind", "left_out"),
    [
        (OKSPCARegressor, SETTLED | OF_A_RESPONSE | {"class_weighting"}),
        (OKSPCAClassifier, SETTLED | OF_A_RESPONSE | {"target_features"}),
    ],
)
def test_heads_take_every_option_but_those_they_say_they_do_not(
    kind: type[OKSPCA], left_out: set[str]
) -> None:
    """Each is handed on: a value of its own arrives under its own name."""
    all_of_them = set(inspect.signature(OKSPCA).parameters)
    taken = set(inspect.signature(kind).parameters)
    assert all_of_them - left_out == taken - {"prequential"}
    assert kind.__doc__ is not None
    for name in taken | (left_out & OF_A_RESPONSE):
        assert name in kind.__doc__
    marks: dict[str, Any] = {name: name for name in taken}
    marked = kind(**marks)
    assert {name: getattr(marked, name) for name in taken} == marks


@pytest.mark.parametrize(
    "options",
    [
        {"window": 64},
        {"align": True},
        {"kernel": "matern32"},
        {"sampling": "orthogonal"},
        {"compress": False},
        {"forgetting": 0.99, "forget_standardizers": False},
        {"input_map": FourierMap.sample(5, 32, bandwidth=2.0, seed=1)},
    ],
    ids=lambda options: next(iter(options)),
)
def test_options_of_heads_learn_in_any_blocks_and_are_saved(options: dict[str, Any]) -> None:
    X, y = product(600)
    for kind, target in ((OKSPCARegressor, y), (OKSPCAClassifier, (y > 0).astype(int))):
        whole, cut = (kind(2, **{**SMALL, **options}) for _ in range(2))
        whole.partial_fit(X, target)
        for start in range(0, 600, 150):
            cut = kind.from_bytes(
                cut.partial_fit(X[start : start + 150], target[start : start + 150]).to_bytes()
            )
        np.testing.assert_allclose(cut.predict(X), whole.predict(X), rtol=1e-6, atol=1e-8)
        assert cut.get_params().keys() == whole.get_params().keys()


def test_an_aligned_head_predicts_what_it_would_without() -> None:
    X, y = product(600)
    found = [
        OKSPCARegressor(2, align=align, **SMALL).fit(X, y).predict(X) for align in (True, False)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9, atol=1e-11)


def test_a_windowed_head_forgets_what_left_the_window() -> None:
    X, y = product(3000)
    y[:1500] *= -1.0
    settings: dict[str, Any] = {"n_random_features": 96, "ridge": 1e-3, "random_state": 0}
    model = OKSPCARegressor(2, window=800, **settings).partial_fit(X, y)
    assert model.score(X[2300:], y[2300:]) > 0.7
    assert OKSPCARegressor(2, **settings).partial_fit(X, y).score(X[2300:], y[2300:]) < 0.3


def test_random_features_of_the_response_are_refused_by_the_regressor() -> None:
    X, y = product(20)
    with pytest.raises(ValueError, match="'chebyshev' or 'raw'"):
        OKSPCARegressor(target_features="fourier").fit(X, y)


@pytest.mark.parametrize("kind", [OKSPCARegressor, OKSPCAClassifier])
def test_files_of_heads_with_fewer_parameters_are_read(kind: type[OKSPCA]) -> None:
    """As earlier versions wrote them: no preset, and no frequencies."""
    parameters = {
        name: value
        for name, value in kind(random_state=0).get_params(deep=False).items()
        if name not in ADDED_TO_PREDICTORS
    }
    found = kind(**read_parameters(Source(Content(parameters, {})), kind))
    assert found.frequencies == "drawn"
    assert found.kernel == "gaussian"
    assert frequencies_of(found) == "drawn"
