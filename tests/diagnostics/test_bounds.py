"""Each proposition: its probability statement over many streams, its formula, its conditions."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.datasets import spherical_pairs
from okspca.datasets.spherical import response_bound
from okspca.diagnostics.bounds import (
    Bounded,
    Confidence,
    Sample,
    Separated,
    bessel_concentration,
    concentration,
    consistency_factor,
    objective_gap,
    operator_error,
    perturbation,
    population_distance,
)
from okspca.errors import ConditionError
from okspca.features import FourierMap
from okspca.numerics.arrays import Floats
from okspca.numerics.subspace import projector_distance

SIGMA = (0.7, 0.6, 0.5, 0.3)
D_X, D_Y, K, T, STREAMS = 6, 4, 3, 64, 600
C = np.vstack([np.diag(SIGMA), np.zeros((2, 4))])
BOUNDED = Bounded(math.sqrt(D_X), response_bound(C))
TRUTH = Separated(SIGMA, K, D_X)
DELTA = 0.2


@pytest.fixture(scope="module")
def moments() -> Floats:
    """C̄ of many independent streams of T rows."""
    return np.array([moment(*spherical_pairs(T, C, seed)) for seed in range(STREAMS)])


def moment(X: Floats, Y: Floats) -> Floats:
    """Centred moment with divisor n."""
    return (X - X.mean(axis=0)).T @ (Y - Y.mean(axis=0)) / len(X)


def leading(M: Floats, k: int = K) -> Floats:
    """Leading left singular directions."""
    return np.linalg.svd(M)[0][:, :k]


def share_within(errors: Floats, bound: float) -> float:
    return float(np.mean(errors <= bound))


def test_the_moment_is_too_small_by_the_consistency_factor() -> None:
    """With few rows the factor is far from one, and the mean over many streams finds it."""
    t, n = 3, 20_000
    X, Y = spherical_pairs(t * n, C, seed=1)
    X, Y = X.reshape(n, t, D_X), Y.reshape(n, t, D_Y)
    X, Y = X - X.mean(axis=1, keepdims=True), Y - Y.mean(axis=1, keepdims=True)
    each = np.einsum("sti,stj->sij", X, Y) / t
    error = each.std(axis=0) / math.sqrt(n)
    factor = consistency_factor(Sample(t))
    assert np.all(np.abs(each.mean(axis=0) - factor * C) < 4.5 * error)
    assert np.any(np.abs(each.mean(axis=0) - C) > 20.0 * error)


def test_the_moment_converges_along_one_stream() -> None:
    X, Y = spherical_pairs(40_000, C, seed=2)
    errors = [np.linalg.norm(moment(X[:n], Y[:n]) - C) for n in (100, 2000, 40_000)]
    assert errors[0] > 2.0 * errors[1] > 4.0 * errors[2]
    assert errors[2] < 0.05


@pytest.mark.parametrize("delta", [0.01, DELTA, 0.9])
def test_concentration_holds_with_its_probability(moments: Floats, delta: float) -> None:
    bound = concentration(Sample(T), BOUNDED, Confidence(delta))
    errors = np.linalg.norm(moments - C, axis=(1, 2))
    assert share_within(errors, bound) >= 1.0 - delta
    # The bound is loose, but of the right order in t: a hundredth of it is exceeded by all.
    assert share_within(errors, bound / 100.0) == 0.0
    assert concentration(Sample(4 * T), BOUNDED, Confidence(delta)) == pytest.approx(bound / 2.0)


def test_each_of_the_three_events_behind_concentration_holds(moments: Floats) -> None:
    """Raw moment and both means, each with probability 1 - delta / 3 (the proof's own steps)."""
    a = math.sqrt(2.0 * math.log(6.0 / DELTA) / T)
    streams = [spherical_pairs(T, C, seed) for seed in range(STREAMS)]
    raw = np.array([np.linalg.norm(X.T @ Y / T - C) for X, Y in streams])
    left = np.array([np.linalg.norm(X.mean(axis=0)) for X, _ in streams])
    right = np.array([np.linalg.norm(Y.mean(axis=0)) for _, Y in streams])
    B_x, B_y = BOUNDED.B_x, BOUNDED.B_y
    for errors, bound in ((raw, 2 * B_x * B_y * a), (left, 2 * B_x * a), (right, 2 * B_y * a)):
        assert share_within(errors, bound) >= 1.0 - DELTA / 3.0
    total = 2 * B_x * B_y * a + B_y * 2 * B_x * a + B_x * 2 * B_y * a
    assert concentration(Sample(T), BOUNDED, Confidence(DELTA)) == pytest.approx(total)


def test_the_bessel_version_holds_with_its_probability(moments: Floats) -> None:
    bound = bessel_concentration(Sample(T), BOUNDED, Confidence(DELTA), TRUTH.norm)
    errors = np.linalg.norm(moments * T / (T - 1) - C, ord=2, axis=(1, 2))
    assert share_within(errors, bound) >= 1.0 - DELTA
    plain = concentration(Sample(T), BOUNDED, Confidence(DELTA))
    assert bound == pytest.approx(plain * T / (T - 1) + 0.7 / (T - 1))


def test_the_bessel_version_follows_from_the_plain_error_pathwise(moments: Floats) -> None:
    plain = np.linalg.norm(moments - C, ord=2, axis=(1, 2))
    bessel = np.linalg.norm(moments * T / (T - 1) - C, ord=2, axis=(1, 2))
    assert np.all(bessel <= T / (T - 1) * plain + TRUTH.norm / (T - 1) + 1e-12)


def test_operator_error_and_perturbation_hold_for_every_stream(moments: Floats) -> None:
    M = C @ C.T
    for estimate in moments:
        error = float(np.linalg.norm(estimate - C, 2))
        difference = float(np.linalg.norm(estimate @ estimate.T - M, 2))
        assert difference <= operator_error(TRUTH.norm, error) * (1.0 + 1e-12)
        distance = projector_distance(leading(estimate), leading(C))
        assert distance <= perturbation(TRUTH, difference)


def test_operator_error_is_attained_and_perturbation_nearly() -> None:
    """Steps in the worst direction: no smaller bound of this form could be true."""
    assert np.linalg.norm((1.5 * C) @ (1.5 * C).T - C @ C.T, 2) == pytest.approx(
        operator_error(0.7, 0.35)
    )
    truth = Separated((1.0, 0.9), 1, 2)
    worst = 0.0
    for angle in np.linspace(0.01, 0.99, 99) * np.pi / 2.0:
        # Turn the plane until the two directions have changed places, or half way.
        R = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        M, N = np.diag([1.0, 0.81]), R @ np.diag([1.0, 0.81]) @ R.T
        bound = perturbation(truth, float(np.linalg.norm(M - N, 2)))
        distance = projector_distance(leading(M, 1), leading(N, 1))
        assert distance <= bound
        worst = max(worst, distance / bound)
    assert worst > 0.4


@pytest.mark.parametrize("delta", [0.05, 0.5])
def test_the_combination_holds_with_its_probability(moments: Floats, delta: float) -> None:
    bound = population_distance(Sample(T), BOUNDED, Confidence(delta), TRUTH)
    distances = np.array([projector_distance(leading(M), leading(C)) for M in moments])
    assert share_within(distances, bound) >= 1.0 - delta
    b = 6.0 * math.sqrt(2.0) * BOUNDED.B_x * BOUNDED.B_y * math.sqrt(math.log(6.0 / delta) / T)
    by_hand = 2.0 * math.sqrt(2.0 * K) / (0.25 - 0.09) * b * (2.0 * 0.7 + b)
    assert bound == pytest.approx(by_hand)


def test_the_objective_gap_bound_holds_for_every_projector_and_is_attained() -> None:
    random = RandomState(0)
    M, exact = C @ C.T, leading(C)
    for size in np.logspace(-3, 1, 300):
        U = np.linalg.qr(exact + size * random.normal(size=exact.shape))[0]
        rho = float(np.trace(U.T @ M @ U)) / TRUTH.best_objective
        assert projector_distance(U, exact) <= objective_gap(TRUTH, rho) * (1.0 + 1e-9)
    # Turning the last direction kept towards the first one left out costs least.
    U = exact.copy()
    U[:, 2] = math.cos(0.3) * np.eye(D_X)[2] + math.sin(0.3) * np.eye(D_X)[3]
    rho = float(np.trace(U.T @ M @ U)) / TRUTH.best_objective
    assert projector_distance(U, exact) == pytest.approx(objective_gap(TRUTH, rho), rel=1e-9)


@pytest.mark.parametrize(
    ("ask", "condition"),
    [
        (lambda: Sample(0), "number of rows"),
        (lambda: Sample(2.5), "number of rows"),  # type: ignore[arg-type]
        (lambda: Sample(10, standardize="causal"), "fixed features"),
        (lambda: Sample(10, forgetting=0.99), "equal weights"),
        (lambda: Sample(10, independent=False), "independent rows"),
        (lambda: Bounded(math.inf, 1.0), "bounded features"),
        (lambda: Bounded(1.0, -1.0), "bounded features"),
        (lambda: Bounded(math.nan, 1.0), "bounded features"),
        (lambda: Bounded.of_maps("identity", "one-hot"), "bounded features"),
        (lambda: Bounded(1.0, 1.0).check(np.eye(2), 2.0 * np.eye(2)), "bounded features"),
        (lambda: Confidence(0.0), "confidence"),
        (lambda: Confidence(1.0), "confidence"),
        (lambda: Separated(SIGMA, 0, D_X), "rank below the dimension"),
        (lambda: Separated(SIGMA, D_X, D_X), "rank below the dimension"),
        (lambda: Separated((0.7, 0.5, 0.5), 2, D_X), "separated directions"),
        (lambda: Separated((0.7,), 2, D_X), "separated directions"),
        (lambda: Separated((0.5, 0.7), 1, D_X), "singular values"),
        (lambda: Separated((0.5, -0.7), 1, D_X), "singular values"),
        (
            lambda: bessel_concentration(Sample(1), BOUNDED, Confidence(0.1), 0.7),
            "number of rows",
        ),
        (
            lambda: bessel_concentration(Sample(9), BOUNDED, Confidence(0.1), math.inf),
            "population norm",
        ),
        (lambda: operator_error(0.7, -0.1), "moment error"),
        (lambda: perturbation(TRUTH, math.nan), "operator error"),
        (lambda: objective_gap(TRUTH, 1.1), "share of the objective"),
        (lambda: objective_gap(Separated((1e-8, 0.0), 1, 4), 0.5), "positive objective"),
    ],
)
def test_a_condition_that_does_not_hold_is_named(ask: Callable[[], object], condition: str) -> None:
    with pytest.raises(ConditionError, match=f"^{condition}: "):
        ask()


def test_features_of_the_library_keep_the_bounds_of_their_maps() -> None:
    features = FourierMap.sample(3, 64, bandwidth=1.0, seed=0).transform(
        RandomState(0).normal(size=(500, 3))
    )
    Bounded.of_maps("fourier", "fourier").check(features, features)
    Bounded.of_maps("fourier", "one-hot").check(features, np.eye(4))
