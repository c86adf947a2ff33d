"""Settings in other forms, changed between calls, or that do not go together."""

from typing import cast

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, DataError
from okspca.services import Cached

X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


def test_accepted_forms_of_settings() -> None:
    assert Cached(every=np.int64(7)).every == 7  # type: ignore[arg-type]
    one, two = (
        OKSPCA(random_state=np.random.default_rng(3)).fit(X, Y).transform(X)  # type: ignore[arg-type]
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
    with pytest.raises(ValueError, match="align='yes'"):
        OKSPCA(align="yes").fit(X, Y)  # type: ignore[arg-type]


def test_a_forgetting_factor_of_single_precision_is_one_number_for_all_blocks() -> None:
    X = RandomState(0).normal(size=(400, 3))
    y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
    found, single = [], cast("float", np.float32(0.999))
    for size in (1, 7, 400):
        model = OKSPCA(1, n_random_features=16, forgetting=single, random_state=0)
        for start in range(0, 400, size):
            model.partial_fit(X[start : start + size], y[start : start + size])
        found.append(model.moment_.matrix())
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-12)


def test_changed_n_components_does_not_change_a_fitted_model() -> None:
    model = OKSPCA(1, random_state=0).fit(X, Y)
    before = model.transform(X)
    model.set_params(n_components=3)
    np.testing.assert_array_equal(model.transform(X), before)
    assert model.get_feature_names_out().tolist() == ["okspca0"]
    assert model.fit(X, Y).transform(X).shape == (300, 3)


def test_parameters_changed_while_rows_are_held_back_are_checked() -> None:
    model = OKSPCA(bandwidth="median", random_state=0).partial_fit(X, Y)
    with pytest.raises(DataError, match="continuous target"):
        model.set_params(solver="binary").partial_fit(X, Y)
    with pytest.raises(ValueError, match="n_random_features=0"):
        model.set_params(solver="exact", n_random_features=0).partial_fit(X, Y)
    assert model.n_samples_seen_ == 300


def test_a_window_and_stability_are_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"^stability=8 cannot be used; give 0 where a window.*$"):
        OKSPCA(window=32, stability=8).fit(np.zeros((3, 2)), [1.0, 2.0, 3.0])
