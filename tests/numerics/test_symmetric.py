"""Jacobi rotations against LAPACK, and where they are more accurate."""

import mpmath
import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.symmetric import jacobi


@pytest.mark.parametrize("n", [1, 2, 3, 11, 20])
def test_equals_lapack(n: int) -> None:
    for seed in range(20):
        random = RandomState(seed)
        X = random.normal(size=(n, 5 + n // 2)) * 10.0 ** -random.uniform(0, 3, (n, 1))
        G = X @ X.T
        A, rows = G.copy(), np.empty((n, n))
        assert jacobi(A, rows)
        eigenvalues = np.linalg.eigvalsh(G)[::-1]
        np.testing.assert_allclose(np.diag(A), eigenvalues, rtol=0, atol=1e-14 * eigenvalues[0])
        np.testing.assert_allclose(rows @ rows.T, np.eye(n), atol=1e-14)
        np.testing.assert_allclose(
            rows @ G @ rows.T, np.diag(np.diag(A)), rtol=0, atol=1e-14 * eigenvalues[0]
        )
        assert (np.diff(np.diag(A)) <= 0.0).all()


def test_small_eigenvalues_of_a_graded_matrix_are_relatively_accurate() -> None:
    scales = 10.0 ** -np.arange(0.0, 18.0, 3.0)
    G = np.outer(scales, scales) * (np.eye(6) + 0.1)
    A, rows = G.copy(), np.empty((6, 6))
    assert jacobi(A, rows)
    with mpmath.workdps(60):
        exact = mpmath.eigsy(mpmath.matrix(G.tolist()), eigvals_only=True)
        expected = sorted((float(value) for value in exact), reverse=True)
    np.testing.assert_allclose(np.diag(A), expected, rtol=1e-13)


def test_zero_and_diagonal_matrices() -> None:
    for G in (np.zeros((3, 3)), np.diag([1.0, 3.0, 2.0])):
        A, rows = G.copy(), np.empty((3, 3))
        assert jacobi(A, rows)
        np.testing.assert_array_equal(np.diag(A), np.sort(np.diag(G))[::-1])


def test_non_finite_matrix_does_not_converge() -> None:
    assert not jacobi(np.array([[1.0, np.nan], [np.nan, 1.0]]), np.empty((2, 2)))
