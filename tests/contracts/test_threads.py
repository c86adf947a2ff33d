"""The number of threads changes no bit, of a state or of an answer, and no error."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA, NumericalError
from okspca.estimators import OKSPCAClassifier, OKSPCARegressor
from okspca.features import FourierMap
from okspca.numerics import crew
from okspca.numerics.crew import n_threads
from okspca.standardize import FrozenStandardizer
from tests.contracts.fingerprint import fingerprint

X = RandomState(0).normal(size=(3000, 6))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2
TARGETS: dict[str, NDArray[Any]] = {
    "number": Y,
    # What comes late has directions, and a class, that were not there before.
    "widening": np.where(np.arange(3000) < 1900, 0.01 * Y, Y),
    "constant": np.full(3000, 0.1),
    "two numbers": np.column_stack([Y, X[:, 2]]),
    "classes": RandomState(1).randint(5, size=3000),
    "late class": np.where(np.arange(3000) == 2000, 5, RandomState(1).randint(5, size=3000)),
}
#: Cuts of the stream; of labels, one block ends with a chunk of a single row.
CUTS = (0, 700, 701, 1475, 2500, 3000)


@pytest.fixture(autouse=True)
def every_piece_is_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crew, "allowed", lambda n: n)
    monkeypatch.setattr(crew, "LEAST", 1)


def learned(n: int, target: NDArray[Any], **settings: Any) -> OKSPCA:
    model = OKSPCA(2, n_random_features=61, random_state=0, n_threads=n, **settings)
    for start, stop in pairwise([*(cut for cut in CUTS if cut < len(target)), len(target)]):
        model.partial_fit(X[start:stop], target[start:stop])
    return model


def bits(model: OKSPCA) -> tuple[str, str]:
    answers = [model.transform(X), model.basis().vectors]
    model.n_threads = 1
    return fingerprint(model.to_bytes()), fingerprint(answers)


@pytest.mark.parametrize("objective", ["covariance", "whitened"])
@pytest.mark.parametrize("target", TARGETS)
def test_any_number_of_threads_gives_the_same_bits(objective: str, target: str) -> None:
    one, two, many = (bits(learned(n, TARGETS[target], objective=objective)) for n in (1, 2, 5))
    assert one == two == many


@pytest.mark.parametrize(
    "settings",
    [
        {"forgetting": 0.999},
        {"solver": "cached", "align": True},
        {"solver": "adam"},
        {"stability": 4},
        {"window": 600},
        {"compress": False},
        {"standardize": None},
        {"kernel": "laplacian", "missing": "impute"},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_options_give_the_same_bits(settings: dict[str, Any]) -> None:
    one, two = (bits(learned(n, Y, **settings)) for n in (1, 3))
    assert one == two


def test_directions_that_come_late_give_the_same_bits() -> None:
    y = np.where(np.arange(3000) < 1900, 0.4 * Y, Y)
    one, two = (learned(n, y, n_target_features=300) for n in (1, 3))
    rank = learned(1, y[:1900], n_target_features=300).moment_.width
    assert one.moment_.width > rank
    assert bits(one) == bits(two)


@pytest.mark.parametrize("kind", [OKSPCAClassifier, OKSPCARegressor])
def test_predictions_have_the_same_bits(kind: type[Any]) -> None:
    target = TARGETS["classes"] if kind is OKSPCAClassifier else Y
    found = []
    for n in (1, 3):
        settings = {"n_random_features": 48, "pilot_rows": 600, "random_state": 0}
        model = kind(n_threads=n, **settings).fit(X, target)
        found.append(fingerprint(model.predict(X)))
    assert found[0] == found[1]


def test_an_error_far_into_a_block_names_its_row_and_changes_nothing() -> None:
    far = X.copy()
    far[2100], far[2700] = 1e140, 1e140
    told = []
    for n in (1, 3):
        settings: dict[str, Any] = {
            "input_map": FourierMap(np.full((8, 6), 1e80), np.zeros(8)),
            "input_standardizer": FrozenStandardizer(np.zeros(6), np.full(6, 1e-100)),
            "n_threads": n,
        }
        model = OKSPCA(1, **settings).partial_fit(X[:100], Y[:100])
        before = model.to_bytes()
        with pytest.raises(NumericalError, match="observation 2201 ") as failure:
            model.partial_fit(far, Y)
        told.append(str(failure.value))
        assert model.to_bytes() == before
    assert told[0] == told[1]


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("objective", ["covariance", "whitened"])
def test_an_interrupt_changes_nothing(
    n: int, objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = learned(n, Y, objective=objective)
    before, fill, calls = fingerprint(model.to_bytes()), FourierMap.fill, []

    def interrupted(self: FourierMap, *arguments: Any) -> Any:
        calls.append(n_threads())
        if len(calls) >= 5:
            raise KeyboardInterrupt
        return fill(self, *arguments)

    monkeypatch.setattr(FourierMap, "fill", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, Y)
    monkeypatch.undo()
    assert fingerprint(model.to_bytes()) == before


def test_the_number_of_threads_may_change_at_any_time() -> None:
    model = learned(1, Y).set_params(n_threads=3)
    again = learned(1, Y)
    assert bits(model.partial_fit(X, Y)) == bits(again.partial_fit(X, Y))
    with pytest.raises(ValueError, match="n_threads=0"):
        model.set_params(n_threads=0).partial_fit(X, Y)


def test_it_is_kept_as_a_parameter_only() -> None:
    assert b"n_threads" not in learned(1, Y).to_bytes()
    loaded = OKSPCA.from_bytes(learned(2, Y).to_bytes())
    assert loaded.n_threads == 2
