"""Compiled factorisations of small symmetric matrices against LAPACK."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.symmetric import diagonalise, pivoted_cholesky


@pytest.mark.parametrize("n", [1, 2, 3, 11, 20])
def test_equals_lapack(n: int) -> None:
    for seed in range(20):
        random = RandomState(seed)
        X = random.normal(size=(n, 5 + n // 2)) * 10.0 ** -random.uniform(0, 3, (n, 1))
        G = X @ X.T
        G = G[::-1, ::-1] if seed % 2 else G
        A, rows = G.copy(), np.empty((n, n))
        assert diagonalise(A, rows)
        eigenvalues = np.linalg.eigvalsh(G)[::-1]
        np.testing.assert_allclose(np.diag(A), eigenvalues, rtol=0, atol=1e-14 * eigenvalues[0])
        np.testing.assert_allclose(rows @ rows.T, np.eye(n), atol=1e-14)
        np.testing.assert_allclose(
            rows @ G @ rows.T, np.diag(np.diag(A)), rtol=0, atol=1e-14 * eigenvalues[0]
        )
        assert (np.diff(np.diag(A)) <= 0.0).all()


def test_zero_and_diagonal_matrices() -> None:
    for G in (np.zeros((3, 3)), np.diag([1.0, 3.0, 2.0])):
        A, rows = G.copy(), np.empty((3, 3))
        assert diagonalise(A, rows)
        np.testing.assert_array_equal(np.diag(A), np.sort(np.diag(G))[::-1])


def test_non_finite_matrix_does_not_converge() -> None:
    assert not diagonalise(np.array([[1.0, np.nan], [np.nan, 1.0]]), np.empty((2, 2)))


def test_the_cholesky_factor_has_the_numerical_rank() -> None:
    for seed in range(20):
        random = RandomState(seed)
        X = random.normal(size=(9, 4)) * 10.0 ** -random.uniform(0, 3, 4)
        G, factor = X @ X.T, np.full((9, 9), np.nan)
        rank = pivoted_cholesky(G, factor, 1e-15 * np.trace(G))
        assert rank == 4
        np.testing.assert_allclose(
            factor[:rank].T @ factor[:rank], G, rtol=0, atol=1e-15 * np.trace(G)
        )


def test_the_cholesky_factor_stops_when_little_is_left() -> None:
    G, factor = np.diag([1.0, 4.0, 0.25, 0.0]), np.empty((4, 4))
    assert pivoted_cholesky(G, factor, 1.3) == 1
    np.testing.assert_array_equal(factor[0], [0.0, 2.0, 0.0, 0.0])
    assert pivoted_cholesky(G, factor, 0.0) == 3
    assert pivoted_cholesky(np.zeros((2, 2)), np.empty((2, 2)), 0.0) == 0
    assert pivoted_cholesky(np.full((2, 2), np.nan), np.empty((2, 2)), 0.0) == 0
