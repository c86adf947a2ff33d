"""Levels far from zero: they cost a moment no digits, and are no target."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, Status
from okspca.features import IdentityMap
from okspca.numerics.subspace import principal_angles

X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


@pytest.mark.parametrize("offset", [1e4, 1e7, 1.7e9])
def test_an_offset_is_not_taken_for_no_target(offset: float) -> None:
    model = OKSPCA(1, standardize=None, input_map=IdentityMap(5), target_map=IdentityMap(1))
    basis = model.fit(X + offset, Y + offset).basis()
    assert basis.status is Status.VALID
    plain = OKSPCA(1, standardize=None, input_map=IdentityMap(5), target_map=IdentityMap(1))
    exact = plain.fit(X, Y).basis()
    assert principal_angles(basis.vectors, exact.vectors)[0] < 1e-3
    constant = OKSPCA(1, standardize=None, input_map=IdentityMap(5), target_map=IdentityMap(1))
    assert constant.fit(X + offset, np.full(300, offset)).basis().status is Status.NO_TARGET


def test_a_far_offset_of_the_response_costs_a_block_no_digits() -> None:
    settings: dict[str, Any] = {"input_map": IdentityMap(3), "target_features": "raw"}
    for seed in range(10):
        random = RandomState(seed)
        X, y = 1.0 + random.normal(size=(512, 3)), 1e7 + random.normal(size=512)
        model = OKSPCA(1, standardize=None, random_state=0, **settings).partial_fit(X, y)
        left, right = X.astype(np.longdouble), y.astype(np.longdouble)
        exact = (left - left.mean(axis=0)).T @ (right - right.mean()) / 512
        np.testing.assert_allclose(model.moment_.matrix()[:, 0], exact, rtol=0, atol=1e-12)
