"""A factor that follows rows by rotations is the factor of the matrix with these rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from scipy.linalg import cholesky, solve_triangular

from okspca.numerics.updating import append_row, update_error
from tests.contracts.cases import contract


@given(seed=st.integers(0, 10**6), D=st.integers(1, 40), width=st.integers(0, 5))
@contract(40)
def test_it_is_the_factor_of_the_changed_matrix(seed: int, D: int, width: int) -> None:
    random = RandomState(seed)
    start = random.normal(size=(D + 3, D)) * 10.0 ** random.uniform(-3, 3)
    N, C = start.T @ start + np.eye(D), random.normal(size=(D, width))
    R = np.ascontiguousarray(cholesky(N))
    Q = np.ascontiguousarray(solve_triangular(R, C, trans="T").reshape(D, width))
    for _ in range(int(random.randint(1, 30))):
        x = random.normal(size=D) * 10.0 ** random.uniform(-4, 4)
        p = random.normal(size=width)
        N, C = N + np.outer(x, x), C + np.outer(x, p)
        append_row(R, Q, x.copy(), p.copy())
    assert (np.tril(R, -1) == 0.0).all()
    assert (R.diagonal() > 0.0).all()
    scale = np.sqrt(N.diagonal())
    both, sizes = np.outer(scale, scale), np.outer(scale, np.linalg.norm(Q, axis=0))
    np.testing.assert_allclose(R.T @ R / both, N / both, atol=1e-13)
    np.testing.assert_allclose(R.T @ Q / sizes, C / sizes, atol=1e-12)


@pytest.mark.parametrize("D", [3, 30, 120])
def test_rounding_stays_within_what_is_said(D: int) -> None:
    """Against sums that are exact: they are of whole numbers."""
    random = RandomState(D)
    R, Q = np.eye(D) * 64.0, np.zeros((D, 2))
    N, norm, error = np.eye(D) * 4096.0, 64.0 * np.sqrt(D), 0.0
    for _ in range(50):
        x = random.randint(-8, 9, D).astype(float)
        N += np.outer(x, x)
        norm = np.hypot(norm, np.linalg.norm(x))
        error += 2.0 * update_error(D) * norm**2
        append_row(R, Q, x.copy(), np.zeros(2))
    off = np.linalg.norm(R.T @ R - N)
    assert 1e-6 * error < off <= error
