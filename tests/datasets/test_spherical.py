"""The bounded generator: exact moments, bounds, and rows that can be drawn alone."""

import numpy as np
import pytest
from numpy.random import RandomState
from scipy import stats

from okspca.datasets import spherical_pairs
from okspca.datasets.counter_random import gaussian_rows
from okspca.datasets.spherical import noise_root, response_bound

C = np.linalg.qr(RandomState(0).normal(size=(5, 2)))[0] * [0.8, 0.5] @ np.eye(2, 3)


def test_any_row_or_block_of_the_stream_can_be_drawn_alone() -> None:
    X, Y = spherical_pairs(300, C, seed=3)
    for start, n in ((0, 1), (7, 1), (299, 1), (40, 100), (150, 150)):
        X_alone, Y_alone = spherical_pairs(n, C, seed=3, start=start)
        assert np.array_equal(X_alone, X[start : start + n])
        assert np.array_equal(Y_alone, Y[start : start + n])


def test_seeds_and_parts_share_no_numbers() -> None:
    draws = [gaussian_rows(0, 50, 4, seed=s, part=p) for s in (0, 1) for p in (0, 1)]
    rows = np.concatenate(draws).ravel()
    assert len(np.unique(rows)) == rows.size


@pytest.mark.parametrize("width", [1, 2, 3, 40])
def test_numbers_are_standard_normal_and_uncorrelated(width: int) -> None:
    g = gaussian_rows(0, 20_000, width, seed=5)
    assert stats.kstest(g.ravel()[:50_000], "norm").pvalue > 1e-3
    covariance = g.T @ g / len(g)
    assert np.abs(covariance - np.eye(width)).max() < 0.05
    neighbours = np.mean(g[1:] * g[:-1], axis=0)
    assert np.abs(neighbours).max() < 0.04


def test_moments_are_the_stated_ones_and_norms_are_bounded() -> None:
    n = 200_000
    X, Y = spherical_pairs(n, C, seed=1)
    four_errors = 4.0 * 2.0 / np.sqrt(n)
    assert np.abs(X.mean(axis=0)).max() < four_errors
    assert np.abs(X.T @ X / n - np.eye(5)).max() < four_errors
    assert np.abs(Y.T @ Y / n - np.eye(3)).max() < four_errors
    assert np.abs(X.T @ Y / n - C).max() < four_errors
    assert np.allclose(np.linalg.norm(X, axis=1), np.sqrt(5.0), rtol=1e-12)
    norms = np.linalg.norm(Y, axis=1)
    assert norms.max() <= response_bound(C)
    assert norms.max() > 0.8 * response_bound(C)


def test_the_root_is_symmetric_and_squares_to_the_noise_covariance() -> None:
    B = noise_root(C)
    assert np.allclose(B, B.T, atol=1e-14)
    assert np.allclose(B @ B, np.eye(3) - C.T @ C, atol=1e-14)
    assert np.linalg.eigvalsh(B).min() >= 0.0


def test_impossible_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="norm 2"):
        spherical_pairs(3, 2.0 * np.eye(2))
    with pytest.raises(ValueError, match="start=-1"):
        gaussian_rows(-1, 3, 2, seed=0)
