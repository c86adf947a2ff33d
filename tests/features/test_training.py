"""Trained frequencies: the loss and its gradient against plain ones, and what training leads to."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.features import FourierMap, training
from okspca.features.training import Projection, trained, unpacked
from okspca.features.trials import Pilot, Trial, tried
from okspca.numerics.arrays import Floats


def plain_loss(W: Floats, b: Floats, rows: Pilot, ridge: float) -> float:
    """The loss from its definition: features, weighted means, and the best coefficients."""
    share = rows.weights / rows.weights.sum()
    Phi = np.sqrt(2.0 / len(b)) * np.cos(rows.Z @ W.T + b)
    Phi = Phi - share @ Phi
    T = rows.T - share @ rows.T
    S = (Phi * share[:, np.newaxis]).T @ Phi
    B = np.linalg.solve(S + ridge * np.eye(len(b)), (Phi * share[:, np.newaxis]).T @ T)
    return float(0.5 * (share @ ((T - Phi @ B) ** 2)).sum() + 0.5 * ridge * (B**2).sum())


def rows(n: int, seed: int = 0, outputs: int = 2) -> Pilot:
    random = RandomState(seed)
    Z = random.normal(size=(n, 3))
    waves = np.sin(2.0 * Z @ np.array([[0.8, -0.3], [0.5, 0.9], [-0.4, 0.6]])[:, :outputs])
    return Pilot(Z, waves + 0.05 * random.normal(size=waves.shape), random.uniform(0.5, 2.0, n))


def drawn(width: int = 16, inputs: int = 3) -> FourierMap:
    return FourierMap.sample(inputs, width, bandwidth=1.5, seed=1)


def test_loss_and_gradient_are_those_of_the_definition() -> None:
    pilot, phi = rows(60), drawn(5)
    point = np.concatenate([phi.weights.ravel(), phi.phases])
    loss, gradient = Projection(pilot, 0.3, 0.1)(point)
    np.testing.assert_allclose(loss, plain_loss(phi.weights, phi.phases, pilot, 0.03), rtol=1e-12)
    h, wanted = 1e-6, []
    for step in np.eye(point.size) * h:
        ahead, behind = (unpacked(point + side * step, 3) for side in (1.0, -1.0))
        wanted.append(
            (plain_loss(*ahead, pilot, 0.03) - plain_loss(*behind, pilot, 0.03)) / (2 * h)
        )
    np.testing.assert_allclose(gradient, wanted, rtol=1e-5, atol=1e-9)


def test_it_predicts_rows_that_it_never_saw() -> None:
    """A wave along one direction of three inputs takes few features, if those may turn to it."""
    pilot, phi = rows(800, outputs=1), drawn()
    start = tried(phi, pilot)
    found = trained(start, pilot)
    new = rows(2000, seed=1, outputs=1)
    before, after = (tried(one, new).odds for one in (phi, found.feature_map))
    assert found.trial.odds > 2.0 * start.odds
    assert after > 2.0 * before


def test_noise_leaves_the_map_as_it_was() -> None:
    random = RandomState(0)
    pilot = Pilot(random.normal(size=(400, 3)), random.normal(size=(400, 1)), np.ones(400))
    phi = drawn(64)
    found = trained(tried(phi, pilot), pilot)
    assert found.trial.odds <= 1.02 * tried(phi, pilot).odds


def test_held_back_rows_decide_but_are_not_fitted_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the last steps, which are taken on all rows."""
    monkeypatch.setattr(training, "LAST_STEPS", 0)
    pilot, phi = rows(400), drawn()
    other = pilot._replace(T=pilot.T.copy())
    found = trained(tried(phi, pilot), pilot)
    assert found.feature_map.equals(found.trial.feature_map)
    other.T[pilot.learn :] *= 1.5
    assert np.array_equal(_points(monkeypatch, pilot), _points(monkeypatch, other))
    other.T[: pilot.learn] *= 1.5
    assert not np.array_equal(_points(monkeypatch, pilot), _points(monkeypatch, other))


def _points(monkeypatch: pytest.MonkeyPatch, pilot: Pilot) -> Floats:
    """Where the first descent passes before it can have been ended."""
    passed: list[Floats] = []

    def noted(feature_map: FourierMap, pilot: Pilot, ridges: list[float]) -> Trial:
        passed.append(feature_map.weights)
        return tried(feature_map, pilot, ridges)

    with monkeypatch.context() as patch:
        patch.setattr(training, "tried", noted)
        trained(tried(drawn(), pilot), pilot)
    return np.array(passed[:3])


def test_features_that_do_not_vary_are_no_obstacle() -> None:
    pilot = Pilot(np.zeros((40, 3)), RandomState(0).normal(size=(40, 1)), np.ones(40))
    found = trained(tried(drawn(), pilot), pilot)
    assert np.isfinite(found.feature_map.weights).all()
