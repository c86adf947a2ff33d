"""Singular values by rotations: as accurate as LAPACK's, for graded and deficient matrices too."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.arrays import Floats
from okspca.numerics.thin_svd import MOST, thin_svd

EPS = float(np.finfo(np.float64).eps)
SHAPES = ((1, 1), (1, 9), (2, 2), (10, 300), (300, 10), (38, 40), (MOST, MOST), (MOST + 1, 80))


def sample(shape: tuple[int, int], kind: str) -> Floats:
    random = RandomState(shape[0])
    A = random.normal(size=shape)
    if kind == "graded":
        A *= 10.0 ** random.uniform(-14, 0, (shape[0], 1))
    if kind == "deficient":
        A[:, 1:] = A[:, :1]
    return {"tiny": A * 1e-300, "huge": A * 1e300, "zero": np.zeros(shape)}.get(kind, A)


@pytest.mark.parametrize("kind", ["plain", "graded", "deficient", "tiny", "huge", "zero"])
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_multiply_to_the_matrix(shape: tuple[int, int], kind: str) -> None:
    A = sample(shape, kind)
    left, sigma, right = thin_svd(A)
    n = min(shape)
    assert (np.diff(sigma) <= 0.0).all()
    largest = sigma[0]
    expected = np.linalg.svd(A, compute_uv=False)
    np.testing.assert_allclose(sigma, expected, rtol=0, atol=20 * (n + 2) * EPS * largest)
    unit = max(float(np.abs(A).max()), 1e-320)
    back = (left * (sigma / unit)) @ right
    np.testing.assert_allclose(back, A / unit, rtol=0, atol=20 * (n + 2) * EPS * largest / unit)
    for rows in (left.T, right):
        np.testing.assert_allclose(rows @ rows.T, np.eye(n), rtol=0, atol=20 * (n + 2) * EPS)


def test_small_values_of_graded_rows_keep_their_digits() -> None:
    random = RandomState(3)
    units = 2.0 ** -np.arange(0.0, 60.0, 6.0)
    directions = np.linalg.qr(random.normal(size=(50, 10)))[0].T
    sigma = thin_svd(directions * units[:, np.newaxis]).sigma
    np.testing.assert_allclose(sigma, units, rtol=1e-13)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_has_none(value: float) -> None:
    A = np.ones((3, 5))
    A[1, 2] = value
    with pytest.raises(np.linalg.LinAlgError):
        thin_svd(A)


def test_an_empty_matrix_has_no_values() -> None:
    assert thin_svd(np.zeros((0, 4))).sigma.shape == (0,)
    assert thin_svd(np.zeros((4, 0))).right.shape == (0, 0)
