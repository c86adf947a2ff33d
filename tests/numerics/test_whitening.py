"""What is proven about a rounded factor, against 50-digit arithmetic."""

from typing import Any

import numpy as np
import pytest
from flint import arb, arb_mat, ctx
from numpy.random import RandomState

from okspca.numerics.arrays import Floats
from okspca.numerics.whitening import (
    factor_bounds,
    factored,
    reduced_coefficients,
    reduced_path,
    unwhitened,
    whitened_rows,
)

DIGITS = 50


def covariance(seed: int, decades: float, n: int = 16) -> Floats:
    """A matrix whose eigenvalues range over so many decades."""
    random = RandomState(seed)
    axes = np.linalg.qr(random.normal(size=(n, n)))[0]
    S = (axes * 10.0 ** -np.linspace(0, decades, n)) @ axes.T
    return np.asarray(np.triu(S) + np.triu(S, 1).T)


def exact(matrix: Floats) -> Any:
    return arb_mat([[arb(float(x)) for x in row] for row in matrix])


def rounded(matrix: Any) -> Floats:
    return np.array([[float(x) for x in row] for row in matrix.tolist()])


@pytest.fixture(autouse=True)
def many_digits() -> Any:
    previous, ctx.dps = ctx.dps, DIGITS
    yield
    ctx.dps = previous


@pytest.mark.parametrize("decades", [0.0, 3.0, 6.0, 9.0])
@pytest.mark.parametrize("seed", range(3))
def test_a_factor_is_within_its_bounds(seed: int, decades: float) -> None:
    S = covariance(seed, decades)
    R = factored(S)
    bounds = factor_bounds(S, R)
    assert bounds is not None
    smallest = np.linalg.eigvalsh(S)[0]
    assert 0.1 * smallest < bounds.smallest < smallest
    inverse = exact(R).inv()
    found = rounded(inverse.transpose() * exact(S) * inverse - exact(np.eye(len(S))))
    assert 0.0 < np.linalg.norm(found, 2) <= bounds.distortion
    V = np.linalg.qr(RandomState(seed).normal(size=(len(S), 3)))[0]
    lost = rounded(exact(R) * exact(unwhitened(R, V)) - exact(V))
    assert 0.0 < np.linalg.norm(lost) <= bounds.slack * np.sqrt(3.0)
    solved = whitened_rows(R, V.T)
    lost = rounded(exact(solved) - exact(V.T) * inverse)
    assert 0.0 < np.linalg.norm(lost) <= bounds.slack * np.linalg.norm(solved)


def test_a_smallest_eigenvalue_that_iterations_do_not_see_is_not_overestimated() -> None:
    n = 8
    start = np.cos(np.arange(1.0, n + 1.0) ** 2)
    hidden = np.linalg.qr(np.column_stack([start, RandomState(0).normal(size=n)]))[0][:, 1]
    S = np.eye(n) - (1.0 - 1e-4) * np.outer(hidden, hidden)
    bounds = factor_bounds(S, factored(S))
    assert bounds is None or bounds.smallest <= 1e-4


def test_nothing_is_proven_where_rounding_may_have_made_the_matrix_definite() -> None:
    S = covariance(0, 0.0)
    S[-1, -1] -= S[-1, -1] - S[-1, :-1] @ np.linalg.solve(S[:-1, :-1], S[:-1, -1]) - 1e-13
    assert factor_bounds(S, factored(S)) is None


@pytest.mark.parametrize("scale", [1e-150, 1e-75, 1e75, 1e150])
def test_bounds_do_not_depend_on_units(scale: float) -> None:
    S = covariance(1, 4.0)
    bounds, scaled = factor_bounds(S, factored(S)), factor_bounds(S * scale, factored(S * scale))
    assert bounds is not None
    assert scaled is not None
    np.testing.assert_allclose(scaled.smallest / scale, bounds.smallest, rtol=1e-9)
    np.testing.assert_allclose(scaled.distortion, bounds.distortion, rtol=1e-9)


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_many_ridges_at_once_give_the_bits_of_each_by_itself(rank: int) -> None:
    S, Ct = covariance(4, 6.0), RandomState(5).normal(size=(5, 16))
    ridges = [1e-6, 1e-3, 0.1, 10.0]
    for ridge, B in zip(ridges, reduced_path(S, Ct, ridges, rank), strict=True):
        assert np.array_equal(B, reduced_coefficients(S, Ct, ridge, rank))
