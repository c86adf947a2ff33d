"""Trials, the projected loss and the descent against plain ones written from the equations."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.features import FourierMap
from okspca.features.training import Projection, unpacked
from okspca.features.trials import RIDGES, Pilot, tried
from okspca.numerics.arrays import Floats
from okspca.numerics.lbfgs import FIRST_LENGTH, LBFGS, MEMORY, SUFFICIENT
from tests.reference import ladder as plain

SIZES = [(24, 1, 3, 1), (41, 3, 5, 2), (60, 2, 8, 4)]


def rows(n: int, d: int, outputs: int, seed: int = 0) -> Pilot:
    random = RandomState(seed)
    Z = random.normal(size=(n, d))
    T = np.sin(Z @ random.normal(size=(d, outputs))) + 0.1 * random.normal(size=(n, outputs))
    return Pilot(Z, T, random.uniform(0.2, 3.0, n))


def drawn(d: int, width: int, seed: int = 1) -> FourierMap:
    return FourierMap.sample(d, width, bandwidth=1.3, seed=seed)


def point_of(phi: FourierMap) -> Floats:
    return np.concatenate([phi.weights.ravel(), phi.phases])


@pytest.mark.parametrize(("n", "d", "width", "outputs"), SIZES)
def test_a_trial_is_that_of_the_definition(n: int, d: int, width: int, outputs: int) -> None:
    """Ridge, coefficients, errors row by row and odds, with weights."""
    pilot, phi = rows(n, d, outputs), drawn(d, width)
    # The smallest ridge would leave little to compare of these few rows.
    found = tried(phi, pilot, RIDGES[2:])
    wanted = plain.trial(phi.weights, phi.phases, pilot, RIDGES[2:])
    assert found.ridge == wanted.ridge
    np.testing.assert_allclose(found.B, wanted.B, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found.errors, wanted.errors, rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(found.odds, wanted.odds, rtol=1e-9)


@pytest.mark.parametrize("ridge", RIDGES[2:])
def test_every_ridge_is_in_units_of_the_mean_variance(ridge: float) -> None:
    pilot, phi = rows(40, 2, 2), drawn(2, 6)
    found = tried(phi, pilot, [ridge])
    wanted = plain.trial(phi.weights, phi.phases, pilot, [ridge])
    np.testing.assert_allclose(found.errors, wanted.errors, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize(("n", "d", "width", "outputs"), SIZES)
def test_loss_and_gradient_are_those_of_the_definition(
    n: int, d: int, width: int, outputs: int
) -> None:
    pilot, phi = rows(n, d, outputs), drawn(d, width)
    loss, gradient = Projection(pilot, 0.3, 0.05)(point_of(phi))
    wanted, by_W, by_b = plain.projected_loss(phi.weights, phi.phases, pilot, 0.3 * 0.05)
    np.testing.assert_allclose(loss, wanted, rtol=1e-11)
    found_W, found_b = unpacked(gradient, d)
    np.testing.assert_allclose(found_W, by_W, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found_b, by_b, rtol=1e-8, atol=1e-12)


def valley(x: Floats) -> tuple[float, Floats]:
    """Steep along some axes, and not quite a parabola."""
    steep = np.logspace(0.0, 2.0, x.size)
    return float((steep * x**2 / 2.0 + x**4).sum()), steep * x + 4.0 * x**3


def plain_descent(objective: plain.Objective, start: Floats) -> plain.PlainDescent:
    return plain.PlainDescent(objective, start, MEMORY, FIRST_LENGTH, SUFFICIENT)


def test_a_descent_takes_the_steps_of_dense_updates() -> None:
    """For more steps than are remembered, some of which are cut."""
    start, asked = RandomState(0).normal(size=14), []

    def counted(x: Floats) -> tuple[float, Floats]:
        asked.append(x)
        return valley(x)

    descent, wanted = LBFGS(counted, start), plain_descent(valley, start)
    for _ in range(2 * MEMORY + 5):
        descent.step()
        wanted.step()
        np.testing.assert_allclose(descent.x, wanted.x, rtol=1e-6, atol=1e-9)
    assert descent.steps == 2 * MEMORY + 5 < len(asked) - 1
    assert descent.value < 1e-3 * valley(start)[0]


def test_a_descent_of_the_projected_loss_takes_the_same_steps() -> None:
    pilot, phi = rows(40, 2, 1), drawn(2, 4)

    def loss(point: Floats) -> tuple[float, Floats]:
        W, b = unpacked(point, 2)
        value, by_W, by_b = plain.projected_loss(W, b, pilot, 0.02)
        return value, np.concatenate([by_W.ravel(), by_b])

    descent = LBFGS(Projection(pilot, 0.2, 0.1), point_of(phi))
    wanted = plain_descent(loss, point_of(phi))
    for _ in range(MEMORY + 2):
        descent.step()
        wanted.step()
        np.testing.assert_allclose(descent.x, wanted.x, rtol=1e-5, atol=1e-7)
    assert descent.value < 0.9 * loss(point_of(phi))[0]
