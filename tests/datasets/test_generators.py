"""The generators against plain loops written from their formulas."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.datasets import friedman, response_surface, sectors, spirals, xor_gauss

N = 200


def sector_label(x: list[float], noise: list[float], signal: float) -> int:
    """Return the class of largest score; a later class must be strictly better."""
    best, label = -math.inf, -1
    for c, g in enumerate(noise):
        angle = 2 * math.pi * c / len(noise)
        score = signal * (x[0] * math.cos(angle) + x[1] * math.sin(angle)) + g
        if score > best:
            best, label = score, c
    return label


def surface(x: list[float], noise: float) -> float:
    """Return the response to one row."""
    smooth = math.sin(x[0]) + 0.5 * (x[1] * x[1] - 1) + 0.75 * x[2] * x[3] + 0.25 * x[4]
    return smooth + 0.25 * noise


@pytest.mark.parametrize("n_classes", [2, 4, 11])
@pytest.mark.parametrize("signal", [1.25, 8.0])
def test_sectors_follow_the_formula(n_classes: int, signal: float) -> None:
    X, y = sectors(N, n_classes, 7, seed=3, signal=signal)
    random = RandomState(3)
    inputs = [[random.standard_normal() for _ in range(7)] for _ in range(N)]
    noise = [[random.gumbel() for _ in range(n_classes)] for _ in range(N)]
    assert X.tolist() == inputs
    assert y.tolist() == [sector_label(x, g, signal) for x, g in zip(inputs, noise, strict=True)]


def test_sectors_use_the_signal_of_the_paper_by_default() -> None:
    y, explicit = sectors(N)[1], sectors(N, 4, 20, 0, signal=1.25)[1]
    assert y.tolist() == explicit.tolist()


def test_sectors_without_signal_ignore_the_inputs() -> None:
    X, y = sectors(20_000, n_classes=2, n_inputs=2, signal=0.0)
    means = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    np.testing.assert_allclose(means, 0.0, atol=0.05)


def test_response_surface_follows_the_formula() -> None:
    X, y = response_surface(N, n_inputs=6, seed=4)
    random = RandomState(4)
    inputs = [[random.standard_normal() for _ in range(6)] for _ in range(N)]
    noise = [random.standard_normal() for _ in range(N)]
    assert X.tolist() == inputs
    expected = [surface(x, e) for x, e in zip(inputs, noise, strict=True)]
    np.testing.assert_allclose(y, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("generator", [sectors, response_surface])
def test_the_seed_decides_everything(generator: Callable[..., tuple[Any, Any]]) -> None:
    first, again, other = generator(50, seed=1), generator(50, seed=1), generator(50, seed=2)
    for a, b, c in zip(first, again, other, strict=True):
        assert a.tolist() == b.tolist() != c.tolist()


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: sectors(5, n_classes=1), "n_classes=1"),
        (lambda: sectors(5, n_inputs=1), "n_inputs=1"),
        (lambda: response_surface(5, n_inputs=4), "n_inputs=4"),
    ],
)
def test_impossible_sizes_are_named(make: Callable[[], Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        make()


def test_dtypes_select_the_task() -> None:
    assert sectors(5)[1].dtype == np.int64
    assert response_surface(5)[1].dtype == np.float64


def test_xor_gauss_has_opposite_corners_of_one_class() -> None:
    X, y = xor_gauss(4000, 3)
    signs = np.sign(X[:, 0]) * np.sign(X[:, 1])
    assert np.mean((signs < 0) == (y == 1)) > 0.99
    assert abs(np.corrcoef(X[:, 0], y)[0, 1]) < 0.05
    assert X[:, 2:].std() == pytest.approx(1.0, abs=0.02)
    corner = np.sign(X[:, :2])
    assert (X[:, :2] - corner)[np.abs(corner[:, 0]) > 0].std() == pytest.approx(0.3, abs=0.01)


def test_spirals_turn_twice_and_keep_negative_radii() -> None:
    X, y = spirals(4000, 3)
    random = RandomState(3)
    u, arm = random.uniform(size=4000), random.randint(3, size=4000)
    assert np.array_equal(arm, y)
    theta = 4.0 * np.pi * u + 2.0 * np.pi * arm / 3.0
    radius = X[:, 0] * np.cos(theta) + X[:, 1] * np.sin(theta)
    across = -X[:, 0] * np.sin(theta) + X[:, 1] * np.cos(theta)
    assert np.abs(across).max() < 1e-12
    assert (radius - u).std() == pytest.approx(0.2, abs=0.01)
    assert radius.min() < 0.0


def test_friedman_follows_its_formula() -> None:
    X, y = friedman(4000, 3)
    signal = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    noise = y - signal - 10 * X[:, 3] - 5 * X[:, 4]
    assert (noise.mean(), noise.std()) == (
        pytest.approx(0.0, abs=0.05),
        pytest.approx(1.0, abs=0.05),
    )
    assert (X.min() >= 0.0, X.max() <= 1.0, X.shape) == (True, True, (4000, 10))
