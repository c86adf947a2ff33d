"""Triangular factors and solutions: errors within a few units of rounding, as LAPACK's are."""

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.linalg import hilbert

from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import multiply_into
from okspca.numerics.triangular import BAND, cholesky, inverse, solve_columns, solve_rows

EPS = float(np.finfo(np.float64).eps)
SIZES = (1, 2, BAND - 1, BAND, BAND + 1, 3 * BAND + 5)


def definite(n: int, kind: str) -> Floats:
    """Positive definite matrices: well conditioned, nearly singular, of very different units."""
    random = RandomState(n)
    if kind == "hilbert":
        return np.asarray(hilbert(n)) + 1e-10 * np.eye(n)
    A = random.normal(size=(2 * n, n))
    scales = np.ones(n) if kind == "plain" else 10.0 ** random.uniform(-8, 8, n)
    return np.asarray((A.T @ A / n + 0.01 * np.eye(n)) * scales * scales[:, np.newaxis])


@pytest.mark.parametrize("kind", ["plain", "hilbert", "graded"])
@pytest.mark.parametrize("n", SIZES)
def test_a_factor_is_that_of_a_matrix_within_rounding(n: int, kind: str) -> None:
    N = definite(n, kind)
    # What is below the diagonal must not be read.
    R = cholesky(np.triu(N) + np.tril(np.full((n, n), np.nan), -1))
    assert R is not None
    np.testing.assert_array_equal(R, np.triu(R))
    # Componentwise: gamma_{n + 1} |R|^T |R|.
    assert (np.abs(R.T @ R - N) <= 2 * (n + 1) * EPS * (np.abs(R).T @ np.abs(R))).all()


@pytest.mark.parametrize("n", [*SIZES, 8 * BAND])
def test_a_factor_takes_off_one_row_after_the_other(n: int) -> None:
    N = definite(n, "plain")
    R = cholesky(N)
    assert R is not None
    np.testing.assert_array_equal(R, by_rows(N))


def by_rows(N: Floats) -> Floats:
    """The factor, each number with the roundings of the equation that defines it, in its order."""
    R = np.triu(N)
    for start in range(0, len(N), BAND):
        end = start + BAND
        earlier, band = R[:start, start:], R[start:end, start:]
        multiply_into(earlier[:, :BAND].T, earlier, band, -1.0, 1.0, True)
        for i in range(start, min(end, len(N))):
            for r in range(start, i):
                R[i, i:] -= R[r, i] * R[r, i:]
            root = np.sqrt(R[i, i])
            R[i, i:] /= root
            R[i, : i + 1] = 0.0
            R[i, i] = root
    return R


@pytest.mark.parametrize("n", [3, BAND + 9])
def test_what_is_not_definite_has_no_factor(n: int) -> None:
    N = definite(n, "plain")
    for place, value in ((n - 1, -1.0), (1, 0.0), (n - 1, np.nan), (0, np.inf)):
        spoiled = N.copy()
        spoiled[place, place] = value
        assert cholesky(spoiled) is None
    spoiled = N.copy()
    spoiled[0, n - 1] = np.nan
    assert cholesky(spoiled) is None


@pytest.mark.parametrize("kind", ["plain", "hilbert", "graded"])
@pytest.mark.parametrize("n", SIZES)
def test_solutions_satisfy_the_equations_componentwise(n: int, kind: str) -> None:
    R = cholesky(definite(n, kind))
    assert R is not None
    size = np.abs(R)
    for q in (1, 7, 30):
        B = RandomState(q).normal(size=(q, n))
        X = solve_rows(R, B)
        assert (np.abs(X @ R - B) <= 2 * (n + 1) * EPS * (np.abs(X) @ size)).all()
        X = solve_columns(R, B.T)
        assert (np.abs(R @ X - B.T) <= 2 * (n + 1) * EPS * (size @ np.abs(X))).all()
    found = inverse(R)
    np.testing.assert_array_equal(found, np.triu(found))
    assert (np.abs(found @ R - np.eye(n)) <= 2 * (n + 1) * EPS * (np.abs(found) @ size)).all()


def test_a_row_has_the_same_bits_whatever_the_others_are() -> None:
    R = cholesky(definite(3 * BAND, "plain"))
    assert R is not None
    B = RandomState(0).normal(size=(20, 3 * BAND))
    np.testing.assert_array_equal(solve_rows(R, B[5:6]), solve_rows(R, B)[5:6])
    np.testing.assert_array_equal(solve_columns(R, B.T[:, 5:6]), solve_columns(R, B.T)[:, 5:6])
