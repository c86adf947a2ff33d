"""The parts of a calibration, each against its definition."""

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.optimize import minimize
from scipy.special import log_expit, logit, logsumexp

from okspca.moments.calibration import (
    GRID,
    POINTS,
    Calibration,
    on_grid,
    shrunk_shares,
)
from okspca.moments.class_discriminants import Discriminants
from okspca.moments.opinions import REACH, CalibrationMap
from okspca.numerics.discriminants import discriminants, left_out_inflation, log_odds
from okspca.numerics.platt import OTHERS, OWN, Prior, Trials, fitted
from okspca.numerics.whitening import ridge_factor


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_log_odds_are_those_of_one_class_against_the_rest(scale: float, n_classes: int) -> None:
    values = scale * RandomState(0).normal(size=(50, n_classes))
    found = log_odds(values)
    for k in range(n_classes):
        rest = logsumexp(np.delete(values, k, axis=1), axis=1)
        np.testing.assert_allclose(found[:, k], values[:, k] - rest, rtol=1e-9, atol=1e-9)


def test_inflation_is_what_leaving_rows_out_does_to_residuals() -> None:
    """On average over rows, for a ridge regression with an intercept."""
    random = RandomState(0)
    X, ridge = random.normal(size=(60, 20)), 0.1
    y = X[:, 0] + random.normal(size=60)

    def residual(rows: list[int], row: int) -> float:
        Z, t = X[rows], y[rows]
        S = np.cov(Z.T, bias=True)
        b = np.linalg.solve(S + ridge * np.eye(20), (Z - Z.mean(0)).T @ (t - t.mean()) / len(t))
        return float(y[row] - t.mean() - (X[row] - Z.mean(0)) @ b)

    everything = list(range(60))
    inside = np.mean([residual(everything, i) ** 2 for i in everything])
    outside = np.mean([residual([j for j in everything if j != i], i) ** 2 for i in everything])
    S = np.cov(X.T, bias=True)
    R = ridge_factor(S, ridge / (np.trace(S) / 20))
    assert left_out_inflation(R, ridge, 60.0) == pytest.approx(outside / inside, rel=0.1)


def test_inflated_discriminants_are_less_sure_and_point_alike() -> None:
    d, total, shares = np.array([[-1.0, 0.2], [1.0, -0.2]]), 2.0 * np.eye(2), np.array([0.5, 0.5])
    plain, sure = (discriminants(d, total, shares, inflation)[0] for inflation in (1.5, 1.0))
    lean = [weights[:, 1] - weights[:, 0] for weights in (plain, sure)]
    assert np.linalg.norm(lean[0]) < np.linalg.norm(lean[1])
    cosine = lean[0] @ lean[1] / np.linalg.norm(lean[0]) / np.linalg.norm(lean[1])
    assert cosine > 1.0 - 1e-6
    most = discriminants(d, total, shares, 1e9)[0]
    np.testing.assert_allclose(most, np.linalg.solve(total, d.T), rtol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_slope_and_shifts_maximise_what_they_should(seed: int) -> None:
    random = RandomState(seed)
    K = random.randint(1, 5)
    weights = random.gamma(0.3, 5.0, size=(K, 2, 9))
    trials = Trials(
        weights, random.normal(size=K), random.gamma(2.0, size=(K, 1)) * np.arange(-4.0, 5.0)
    )
    prior = Prior(0.5, 0.3, np.full(K, 0.8))

    def loss(theta: np.ndarray) -> float:
        eta = trials.base[:, None] + theta[0] * trials.x + theta[1:, None]
        data = weights[:, OWN] * log_expit(eta) + weights[:, OTHERS] * log_expit(-eta)
        apart = ((theta[0] - 0.5) / 0.3) ** 2 + np.sum((theta[1:] / 0.8) ** 2)
        return float(0.5 * apart - data.sum())

    wanted = minimize(loss, np.r_[0.5, np.zeros(K)], method="BFGS", options={"gtol": 1e-8})
    a, b = fitted(trials, prior)
    assert loss(np.r_[a, b]) <= wanted.fun + 1e-9
    np.testing.assert_allclose(np.r_[a, b], wanted.x, atol=1e-4)


def test_a_grid_keeps_the_weight_and_the_mean_of_what_lies_on_it() -> None:
    random = RandomState(0)
    claims = random.uniform(-REACH, REACH, size=(40, 3))
    claims[:3, 0] = -REACH, 0.0, REACH
    own, weights = (random.uniform(size=(40, 3)) < 0.3).astype(float), random.gamma(1.0, size=40)
    found = on_grid(claims, own, weights)
    for k in range(3):
        for side, rows in ((1, own[:, k] == 1.0), (0, own[:, k] == 0.0)):
            assert found[k, side].sum() == pytest.approx(weights[rows].sum())
            mean = weights[rows] @ claims[rows, k]
            assert found[k, side] @ GRID == pytest.approx(mean)
    nudged = on_grid((claims + 1e-13).clip(-REACH, REACH), own, weights)
    np.testing.assert_allclose(nudged, found, atol=1e-10)


def test_discriminants_are_frozen_at_fixed_rows() -> None:
    stops = [row for row in range(1, 9500) if Calibration(1).begins(row)]
    early = [16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024]
    late = [1024 + quarters * 2**j for j in range(7, 12) for quarters in range(4, 8)]
    assert stops == [*early, *(row for row in late if row < 9500)]


def test_nothing_known_is_the_share_and_ratios_are_bounded_by_rows() -> None:
    shares = np.array([0.98, 0.02])
    found = CalibrationMap(shares, np.ones(2), np.zeros(2), 100.0)
    p = np.exp(found.of(np.array([[0.0, 0.0], [40.0, -40.0], [-40.0, 40.0]])))
    np.testing.assert_allclose(p[0], shares, rtol=1e-12)
    # Two rows of the rare class and 98 of the other bound what can be said against either.
    assert logit(p[1, 1]) == pytest.approx(logit(0.02) - np.log(3.0), abs=0.02)
    assert logit(p[2, 1]) == pytest.approx(logit(0.02) + np.log(99.0), abs=0.02)


def test_two_classes_mirror_each_other() -> None:
    random = RandomState(0)
    calibration = Calibration(1)
    claims = random.normal(size=(200, 1)) * [[-1.0, 1.0]]
    labels = (claims[:, 1] + random.normal(size=200) > 1.0).astype(int)
    calibration.scores = on_grid(claims, np.eye(2)[labels], np.ones(200))
    calibration.totals[:] = 200.0
    shares = np.bincount(labels) / 200.0
    found = calibration.map(shares, np.array([2.0, 2.0]), 400.0)
    assert found.slopes[0] == pytest.approx(found.slopes[1])
    assert found.shifts[0] == pytest.approx(-found.shifts[1], abs=1e-6)
    assert found.slopes[0] > 0.5


def test_shares_that_chance_explains_are_equal() -> None:
    assert shrunk_shares(np.array([0.4, 0.3, 0.3]), 20.0).tolist() == pytest.approx([1 / 3] * 3)
    unseen = shrunk_shares(np.array([0.5, 0.0, 0.5]), 20.0)
    assert unseen.tolist() == [0.5, 0.0, 0.5]
    rare = np.array([0.996, 0.004])
    np.testing.assert_allclose(shrunk_shares(rare, 1e4), rare, atol=1e-4)


def test_a_state_without_discriminants_scores_nothing() -> None:
    assert Discriminants.none(3).weights.shape == (3, 0)
    assert Calibration(3).scores.shape == (0, 2, POINTS)
