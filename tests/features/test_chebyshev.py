"""Polynomial features of a response: their values, and that the response leads where it should."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.linear_model import LinearRegression

from okspca import OKSPCA, OKSPCARegressor
from okspca.features import ChebyshevMap
from okspca.features.chebyshev import LEADING
from okspca.numerics.arrays import Floats

WHITENED: dict[str, Any] = {
    "objective": "whitened",
    "ridge": 1e-3,
    "n_random_features": 64,
    "random_state": 0,
}
SURFACES = {"1": make_friedman1, "2": make_friedman2, "3": make_friedman3}


def test_values_are_those_of_the_definition() -> None:
    y = np.linspace(-5.0, 5.0, 21)[:, np.newaxis]
    angle = np.arccos(np.clip(y / 3.0, -1.0, 1.0))
    wanted = np.hstack([y, *(0.25 * np.cos(n * angle) for n in range(2, 7))])
    np.testing.assert_allclose(ChebyshevMap(1, weight=0.25).transform(y), wanted, atol=1e-12)


def test_maps_are_compared_by_all_they_depend_on() -> None:
    one = ChebyshevMap(2, 4, 0.5)
    assert one.equals(ChebyshevMap(2, 4, 0.5))
    for other in (ChebyshevMap(1, 4, 0.5), ChebyshevMap(2, 5, 0.5), ChebyshevMap(2, 4, 0.1)):
        assert not one.equals(other)
    for weight in (0.0, -1.0, 1.5, np.nan):
        with pytest.raises(ValueError, match="weight"):
            ChebyshevMap(1, weight=weight)


def explained(model: OKSPCA, X: Floats, Y: Floats) -> float:
    Z = model.transform(X)
    return float(LinearRegression().fit(Z, Y).score(Z, Y))


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("surface", SURFACES)
def test_the_first_component_is_the_best_predictor(surface: str, k: int) -> None:
    """As good as the response alone as target: to one part in a million, for a weight of 0.01.

    The ridge, and scales that move along, keep either from being the very best on these rows.
    """
    X, y = SURFACES[surface](1500, random_state=0)
    best = explained(OKSPCA(1, target_features="raw", **WHITENED).fit(X, y), X, y)
    model = OKSPCA(k, **WHITENED).fit(X, y)
    Z = model.transform(X)[:, :1]
    first = LinearRegression().fit(Z, y).score(Z, y)
    assert first >= best - 0.01 * LEADING**2
    assert explained(model, X, y) >= first - 1e-12


def test_several_responses_lead_together() -> None:
    X, y = make_friedman1(1500, random_state=0)
    Y = np.column_stack([y, X[:, 0] * X[:, 1], np.sin(6.0 * X[:, 5])])
    for k in (1, 2, 3):
        raw = explained(OKSPCA(k, target_features="raw", **WHITENED).fit(X, Y), X, Y)
        assert explained(OKSPCA(k, **WHITENED).fit(X, Y), X, Y) >= raw - 1e-5


def test_what_is_left_of_the_distribution_follows() -> None:
    """The second component tells where a response varies more, though not in which direction."""
    random = RandomState(0)
    X = random.uniform(-1.0, 1.0, size=(4000, 2))
    y = X[:, 0] + (1.0 + X[:, 1]) * random.normal(size=4000)
    model = OKSPCARegressor(2, frequencies="drawn", n_random_features=64, random_state=0).fit(X, y)
    Z = model.transform(X)
    assert abs(np.corrcoef(Z[:, 0], X[:, 0])[0, 1]) > 0.9
    assert abs(np.corrcoef(Z[:, 1], X[:, 1])[0, 1]) > 0.7


def test_a_file_keeps_the_weight() -> None:
    X = RandomState(0).normal(size=(50, 2))
    model = OKSPCA(1, objective="whitened", n_random_features=8, random_state=0).fit(X, X[:, 0])
    again = OKSPCA.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    assert again.target_map_.equals(ChebyshevMap(1, weight=LEADING))
