"""Features that are the data themselves: exact sums whatever the order and the units.

The response (and an input that is its own feature) needs no scale while it is summed.  So no row
counts more because it came when the stream was idle, sorted, or in other units.
"""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.metrics import mean_squared_error, r2_score

from okspca import OKSPCA, OKSPCARegressor
from okspca.features import IdentityMap
from okspca.moments.arrays import LEFT_SQUARE
from okspca.pipeline.learning import settled
from okspca.standardize import CausalStandardizer, FrozenStandardizer

N = 1500


def regression(seed: int = 0, n: int = N) -> tuple[Any, Any]:
    """Inputs and a smooth response with a little noise."""
    random = RandomState(seed)
    X = random.uniform(-2.0, 2.0, size=(n, 3))
    return X, np.sin(X[:, 0]) * X[:, 1] + X[:, 2] + 0.1 * random.normal(size=n)


X, Y = regression()
X_TEST, Y_TEST = regression(1)


def head(target_features: str, **settings: Any) -> OKSPCARegressor:
    """A small predictor of four components, whose map the rows change only where that is said."""
    made: dict[str, Any] = {"n_components": 4, "n_random_features": 64, "random_state": 0}
    made |= {"frequencies": "drawn", **settings}
    return OKSPCARegressor(target_features=target_features, **made)


def frozen_inputs(rows: Any) -> FrozenStandardizer:
    """A standardiser that the order of the rows does not change."""
    pilot = CausalStandardizer(rows.shape[1])
    pilot.scan(rows, np.ones(len(rows)))
    return FrozenStandardizer.of(pilot)


@pytest.mark.parametrize("target_features", ["chebyshev", "raw"])
@pytest.mark.parametrize("quiet", [20, 200])
@pytest.mark.parametrize("factor", [0.0, 1e-9, 1e-6, 1e-3])
def test_an_idle_start_costs_no_more_than_its_rows(
    factor: float, quiet: int, target_features: str
) -> None:
    y = Y.copy()
    y[:quiet] *= factor
    score = r2_score(Y_TEST, head(target_features).fit(X, y).predict(X_TEST))
    frozen = head(target_features, standardize="frozen").fit(X, y).predict(X_TEST)
    assert score > 0.95 * r2_score(Y_TEST, frozen)


@pytest.mark.parametrize("target_features", ["chebyshev", "raw"])
def test_rows_sorted_by_the_response_never_predict_worse_than_the_mean(
    target_features: str,
) -> None:
    """Causal inputs do lose by it, since what they are scaled by moves; the response does not."""
    order = np.argsort(Y)
    model = head(target_features).fit(X[order], Y[order])
    assert r2_score(Y_TEST, model.predict(X_TEST)) > -0.05


@pytest.mark.parametrize("target_features", ["chebyshev", "raw"])
@pytest.mark.parametrize("by", ["response", "input"])
def test_sorted_rows_do_no_harm_where_inputs_are_scaled_alike(
    by: str, target_features: str
) -> None:
    order = np.argsort(Y if by == "response" else X[:, 0])
    settings = {"standardize": "frozen", "frequencies": "trained"}
    model = head(target_features, **settings).fit(X[order], Y[order])
    assert r2_score(Y_TEST, model.predict(X_TEST)) > 0.9


@pytest.mark.parametrize("by", ["response", "input", "chance"])
def test_with_fixed_inputs_the_order_of_rows_does_not_matter(by: str) -> None:
    key = {"response": Y, "input": X[:, 0], "chance": RandomState(2).normal(size=N)}[by]
    settings: dict[str, Any] = {"objective": "whitened", "target_features": "raw", "ridge": 1e-3}
    settings |= {"input_standardizer": frozen_inputs(X), "n_random_features": 32}
    order = np.argsort(key)
    here, there = (
        OKSPCA(1, **settings, random_state=0).fit(X[rows], Y[rows])
        for rows in (np.arange(N), order)
    )
    C = here.moment_.matrix()
    np.testing.assert_allclose(there.moment_.matrix(), C, rtol=0.0, atol=1e-12 * np.abs(C).max())


@pytest.mark.parametrize("target_features", ["chebyshev", "raw"])
@pytest.mark.parametrize(("offset", "unit"), [(1e7, 1e5), (0.0, 1e-9), (-1e9, 1e3), (0.0, 1e12)])
def test_units_of_the_response_change_nothing(
    offset: float, unit: float, target_features: str
) -> None:
    plain = head(target_features).fit(X, Y).predict(X_TEST)
    moved = head(target_features).fit(X, offset + unit * Y).predict(X_TEST)
    np.testing.assert_allclose((moved - offset) / unit, plain, atol=1e-5)


def test_a_level_that_shifts_after_a_few_rows_is_a_level() -> None:
    """The scale of the first rows is a millionth of what follows."""
    y = 1e6 + Y
    y[:10] = 1e6 + 1e-6 * Y[:10]
    model = head("chebyshev", frequencies="trained").fit(X, y)
    score = r2_score(1e6 + Y_TEST, model.predict(X_TEST))
    assert score > 0.9


@pytest.mark.parametrize("seed", [3, 5, 6, 7, 8])
def test_heavy_tails_cost_what_they_cost_any_least_squares(seed: int) -> None:
    y = Y * (1.0 + RandomState(seed).pareto(1.5, size=N))
    causal, frozen = (
        mean_squared_error(Y_TEST, head("raw", standardize=mode).fit(X, y).predict(X_TEST))
        for mode in ("causal", "frozen")
    )
    assert causal < 1.1 * frozen


def test_an_input_that_is_its_own_feature_needs_no_scale_either() -> None:
    """One row after an idle start would have a causal z of a million."""
    idle = X.copy()
    idle[:20] *= 1e-6
    linear = idle @ [1.0, -2.0, 0.5]
    settings: dict[str, Any] = {"target_features": "raw", "objective": "whitened", "ridge": 1e-6}
    model = OKSPCA(1, input_map=IdentityMap(3), **settings).fit(idle, linear)
    Z = model.transform(X_TEST)[:, 0]
    assert abs(np.corrcoef(Z, X_TEST @ [1.0, -2.0, 0.5])[0, 1]) > 0.9999


@pytest.mark.parametrize("target_features", ["chebyshev", "raw"])
def test_parts_of_a_stream_are_pooled_whatever_they_were_measured_from(
    target_features: str,
) -> None:
    settings: dict[str, Any] = {"input_standardizer": frozen_inputs(X), "n_random_features": 32}
    settings |= {"objective": "whitened", "target_features": target_features, "ridge": 1e-3}
    settings |= {"random_state": 0}
    shifted = 1e6 + Y
    whole = OKSPCA(1, **settings).fit(X, shifted)
    first, second = (
        OKSPCA(1, **settings).fit(X[rows], shifted[rows]) for rows in (slice(700), slice(700, N))
    )
    column = slice(0, 1)  # the response itself; the others are standardised by each part's own past
    C = whole.moment_.matrix()[:, column]
    pooled = first.merge(second).moment_.matrix()[:, column]
    np.testing.assert_allclose(pooled, C, rtol=0.0, atol=1e-9 * np.abs(C).max())


def test_parts_that_were_measured_from_elsewhere_can_be_saved_once_they_are_pooled() -> None:
    """Mean squares move with the origin as the means do, or the file contradicts itself."""
    settings: dict[str, Any] = {"target_features": "raw", "objective": "whitened", "ridge": 1e-3}
    settings |= {"input_map": IdentityMap(3), "random_state": 0}
    first, second = (
        OKSPCA(1, **settings).fit(X[rows] + level, Y[rows] - level)
        for rows, level in ((slice(700), 0.0), (slice(700, N), 1e4))
    )
    pooled = first.merge(second)
    assert OKSPCA.from_bytes(pooled.to_bytes()).to_bytes() == pooled.to_bytes()
    state = settled(pooled.ready().state)
    assert state.input_origin is not None
    rows = np.concatenate([X[:700], X[700:] + 1e4]) - state.input_origin.point
    square = (rows**2).sum(axis=1).mean()
    np.testing.assert_allclose(state.moment.arrays.totals[LEFT_SQUARE], square, rtol=1e-9)


@pytest.mark.parametrize("mode", ["saved", "not saved"])
def test_a_saved_model_goes_on_to_the_same_bytes(mode: str) -> None:
    model = head("chebyshev").partial_fit(X[:333], Y[:333])
    if mode == "saved":
        model = OKSPCARegressor.from_bytes(model.to_bytes())
    straight = head("chebyshev").partial_fit(X[:333], Y[:333])
    for start in range(333, 900, 50):
        for one in (model, straight):
            one.partial_fit(X[start : start + 50], Y[start : start + 50])
    assert model.to_bytes() == straight.to_bytes()


def test_unbounded_inputs_do_not_depend_on_their_unit() -> None:
    bases = [
        OKSPCA(1, input_map=IdentityMap(3), random_state=0).fit(A, Y).basis().vectors
        for A in (X, 1e6 + 1e4 * X)
    ]
    np.testing.assert_allclose(bases[0], bases[1], atol=1e-8)
