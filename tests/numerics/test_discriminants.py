"""Discriminants and pseudo-inverses beside LAPACK's."""

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.linalg import eigh

from okspca.numerics.discriminants import WITHIN_RIDGE, discriminants
from okspca.numerics.symmetric import pseudo_inverse


def problem(n_classes: int, q: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Class means less the mean, the covariance of all rows, and shares."""
    random = RandomState(seed)
    shares = random.dirichlet(np.full(n_classes, 3.0))
    distances = random.normal(size=(n_classes, q)) * 10.0 ** random.uniform(-2, 2, q)
    distances -= shares @ distances
    A = random.normal(size=(q, q)) * 10.0 ** random.uniform(-2, 2, q)
    return distances, A.T @ A + (distances.T * shares) @ distances, shares


def plain(
    distances: np.ndarray, total: np.ndarray, shares: np.ndarray, inflation: float
) -> tuple[np.ndarray, np.ndarray]:
    q = len(total)
    within = total - (distances.T * shares) @ distances
    if inflation > 1.0:
        whole = total + WITHIN_RIDGE * np.trace(total) / q * np.eye(q)
        parts, directions = eigh(within, whole)
        spread = whole @ directions
        within = spread * np.minimum(inflation * parts.clip(0.0), 1.0) @ spread.T
    ridged = within + WITHIN_RIDGE * np.trace(within) / q * np.eye(q)
    weights = np.linalg.solve(ridged, distances.T)
    return weights, np.log(shares) - 0.5 * (distances * weights.T).sum(axis=1)


@pytest.mark.parametrize(("n_classes", "q"), [(2, 1), (3, 2), (5, 7), (40, 39), (3, 90)])
@pytest.mark.parametrize("inflation", [1.0, 1.7, 1e6])
def test_weights_and_offsets_are_those_of_the_formulas(
    n_classes: int, q: int, inflation: float
) -> None:
    parts = problem(n_classes, q, 10 * q + n_classes)
    weights, offset = discriminants(*parts, inflation)
    expected = plain(*parts, inflation)
    scale = np.abs(expected[0]).max(axis=1, keepdims=True)
    assert float(np.abs((weights - expected[0]) / scale).max()) < 1e-6
    np.testing.assert_allclose(offset, expected[1], rtol=1e-6, atol=1e-8)


def test_classes_that_do_not_vary_leave_finite_weights() -> None:
    distances, shares = np.array([[-0.1, -0.3], [0.1, 0.3]]), np.array([0.5, 0.5])
    total = (distances.T * shares) @ distances
    for inflation in (1.0, 2.0):
        weights, offset = discriminants(distances, total, shares, inflation)
        assert np.isfinite(weights).all()
        assert np.isfinite(offset).all()
        assert (distances @ weights).argmax(axis=1).tolist() == [0, 1]


@pytest.mark.parametrize("rank", [0, 1, 4, 6])
def test_the_pseudo_inverse_is_that_of_lapack(rank: int) -> None:
    A = RandomState(rank).normal(size=(rank, 6))
    S = A.T @ A
    found = pseudo_inverse(S, 1e-12)
    np.testing.assert_allclose(found, np.linalg.pinv(S, rcond=1e-12, hermitian=True), atol=1e-10)
    np.testing.assert_array_equal(found, pseudo_inverse(S.copy(), 1e-12))


def test_small_eigenvalues_count_as_zeros() -> None:
    found = pseudo_inverse(np.diag([4.0, -2.0, 1e-13]), 1e-12)
    np.testing.assert_allclose(found, np.diag([0.25, -0.5, 0.0]), atol=1e-15)
    assert np.isnan(pseudo_inverse(np.full((2, 2), np.nan), 1e-12)).all()
