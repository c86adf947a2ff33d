"""The ridge is that of generalised cross-validation, from the rows themselves."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.files.ridges import LEAST_FREE, RIDGES, regression
from okspca.numerics.arrays import Floats


def plainly_chosen(X: Floats, T: Floats) -> float:
    """Fit every ridge to the rows and take the one with the least error."""
    found = []
    for ridge in (each * (X**2).sum() / X.shape[1] for each in RIDGES):
        hat = X @ np.linalg.solve(X.T @ X + ridge * np.eye(X.shape[1]), X.T)
        free = 1.0 - (1.0 + np.trace(hat)) / len(X)
        left = ((T - hat @ T) ** 2).sum()
        found.append((left / free**2 if free > LEAST_FREE else np.inf, -ridge))
    return float(-min(found)[1])


@pytest.mark.parametrize("shape", [(40, 1), (40, 2), (90, 3), (90, 60), (50, 80)])
@pytest.mark.parametrize("m", [1, 3])
@pytest.mark.parametrize("noise", [0.01, 1.0, 30.0])
def test_the_ridge_is_that_of_the_rows(shape: tuple[int, int], m: int, noise: float) -> None:
    random = RandomState(shape[1] + m)
    X = random.normal(size=shape) * np.geomspace(1.0, 0.01, shape[1])
    T = X @ random.normal(size=(shape[1], m)) + noise * random.normal(size=(shape[0], m))
    X, T = X - X.mean(axis=0), T - T.mean(axis=0)
    G, H = X.T @ X, X.T @ T
    found = regression(G, H, float((T**2).sum()), len(X))
    assert found.ridge == pytest.approx(plainly_chosen(X, T), rel=1e-9)
    left = G @ found.coefficients + found.ridge * found.coefficients - H
    np.testing.assert_allclose(left, 0.0, atol=1e-9 * np.abs(H).max())


def test_columns_that_do_not_vary_have_no_ridge() -> None:
    found = regression(np.zeros((3, 3)), np.zeros((3, 1)), 5.0, 9)
    assert (found.ridge, found.coefficients.tolist()) == (0.0, [[0.0]] * 3)
