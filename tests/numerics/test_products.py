"""Compiled inner products of rows against NumPy, for every remainder of the unrolled loops."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.products import gram, row_products


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 11, 38])
@pytest.mark.parametrize("D", [1, 5, 64])
def test_products_equal_numpy(n: int, D: int) -> None:
    random = RandomState(n)
    A = random.normal(size=(n, D))
    np.testing.assert_allclose(gram(A), A @ A.T, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(gram(A), gram(A).T)
    for m in (1, 2, 3, 4, 5, 9):
        B = random.normal(size=(m, D))
        np.testing.assert_allclose(row_products(A, B), A @ B.T, rtol=0, atol=1e-13)
