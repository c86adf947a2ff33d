"""Parameters in the dress of NumPy: the model is the same, and hands out what it was given."""

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.comparators import CCIPCA, CIPLS, OneVsRestReducer
from okspca.numerics.compiled import BoundKernel
from okspca.services import Adam, Cached, ProjectedGradient, WarmBlock, exact

X = np.random.RandomState(0).normal(size=(400, 5))
Y = np.column_stack([X[:, 0] ** 2, np.sin(X[:, 1]), X[:, 2]])
WORDS = np.where(X[:, 0] > 0.0, "a", "b")


def dressed(settings: dict[str, Any]) -> dict[str, Any]:
    """The same values as NumPy's scalars, whole numbers as narrow as they can be."""
    narrow: dict[type, Any] = {bool: np.bool_, str: np.str_, float: np.float64}
    found = {}
    for name, value in settings.items():
        kind = narrow.get(type(value))
        found[name] = kind(value) if kind else np.array(value, np.min_scalar_type(value))[()]
    return found


def test_a_small_number_of_components_does_not_narrow_the_next_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(exact, "_bound_solve", BoundKernel(exact._solve))
    small: Any = np.uint8(2)
    assert OKSPCA(small, n_random_features=64, random_state=0).fit(X, X[:, 0]).basis().rank == 2
    wide = OKSPCA(300, n_random_features=320, random_state=0).fit(X, Y)
    assert wide.basis().rank > 100


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"n_target_features": 200, "bandwidth": 1.5, "kernel": "matern32"},
        {"solver": "warm-block", "stability": 8, "align": True, "task": "regression"},
        {"window": 200, "variance_floor": 1e-7, "forget_standardizers": False},
        {"objective": "whitened", "ridge": 0.01, "compress": False},
        {"solver": "adam", "forgetting": 0.99, "standardize": "frozen"},
    ],
    ids=["map", "groups", "window", "whitened", "tracker"],
)
def test_the_same_model_to_the_last_bit(settings: dict[str, Any]) -> None:
    plain = OKSPCA(n_random_features=250, random_state=200, **settings)
    given = dressed(
        {name: value for name, value in plain.get_params().items() if value is not None}
    )
    model = OKSPCA(**given)
    for learner in (plain, model):
        learner.partial_fit(X[:350], Y[:350]).partial_fit(X[350:], Y[350:])
        for _ in range(3):
            learner.partial_fit(X, Y)
    assert np.array_equal(plain.transform(X), model.transform(X))
    assert plain.basis().rank == model.basis().rank
    assert all(model.get_params()[name] is value for name, value in given.items())
    assert all(clone(model).get_params()[name] is value for name, value in given.items())
    assert OKSPCA.from_bytes(model.to_bytes()).to_bytes() == plain.to_bytes()


@pytest.mark.parametrize(
    ("service", "settings"),
    [
        (Cached, {"every": 10}),
        (WarmBlock, {"n_guards": 250, "refresh_every": 64, "max_steps": 8}),
        (Adam, {"learning_rate": 0.25, "clip": 0.5, "random_state": 3}),
        (ProjectedGradient, {"step": 2, "random_state": 3}),
    ],
)
def test_settings_of_a_service(service: Any, settings: dict[str, Any]) -> None:
    plain, same = service(**settings), service(**dressed(settings))
    assert {type(value) for value in vars(same).values()} <= {int, float, type(None)}
    found = []
    for solver in (plain, same):
        model = OKSPCA(10, n_random_features=300, solver=solver, random_state=0).fit(X, Y)
        found.append(model.learn_one(X[0], Y[0]).basis().vectors)
    assert np.array_equal(found[0], found[1])


@pytest.mark.filterwarnings("ignore:2 classes have at most 1")
@pytest.mark.parametrize("made", [OKSPCARegressor, OKSPCAClassifier, CIPLS, CCIPCA])
def test_other_estimators(made: Any) -> None:
    y = WORDS if made is OKSPCAClassifier else Y[:, 0]
    plain = {"n_components": 100, "n_random_features": 200, "bandwidth": 2.0, "random_state": 5}
    one, two = (made(**settings).fit(X, y).transform(X) for settings in (plain, dressed(plain)))
    assert np.array_equal(one, two)


def test_one_against_the_rest_of_many_components() -> None:
    names = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    count: Any = np.uint8(100)
    found = [
        OneVsRestReducer(CIPLS(k, n_random_features=200, random_state=0), random_state=0)
        .fit(X, names)
        .transform(X)
        for k in (100, count)
    ]
    assert np.array_equal(found[0], found[1])
