"""The estimate of the statistical error: calibrated, sensible at the extremes, and readable."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.datasets import sectors, spherical_pairs
from okspca.diagnostics.stability import Stability, halves
from okspca.features import IdentityMap
from okspca.numerics.arrays import Floats
from okspca.numerics.subspace import principal_angles, projector_distance

SIGMA = (0.7, 0.6, 0.3)
C = np.vstack([np.diag(SIGMA), np.zeros((7, 3))])
TRUTH = np.eye(10)[:, :2]


def linear(k: int = 2, n_groups: int = 8, shape: tuple[int, int] = (10, 3)) -> OKSPCA:
    return OKSPCA(
        k,
        input_map=IdentityMap(shape[0]),
        target_map=IdentityMap(shape[1]),
        standardize=None,
        stability=n_groups,
    )


@pytest.fixture(scope="module")
def many() -> list[tuple[OKSPCA, Stability]]:
    models = [linear().fit(*spherical_pairs(500, C, seed)) for seed in range(120)]
    return [(model, model.estimate_stability()) for model in models]


def true_distances(many: list[tuple[OKSPCA, Stability]]) -> Floats:
    return np.array([projector_distance(model.basis().vectors, TRUTH) for model, _ in many])


@pytest.mark.slow
def test_the_estimate_is_near_the_truth_it_does_not_know(
    many: list[tuple[OKSPCA, Stability]],
) -> None:
    found = np.array([stability.distance for _, stability in many])
    ratio = np.median(found / true_distances(many))
    assert 0.85 < ratio < 1.15


@pytest.mark.slow
def test_the_interval_covers_the_truth_about_as_often_as_it_says(
    many: list[tuple[OKSPCA, Stability]],
) -> None:
    intervals = np.array([stability.interval for _, stability in many])
    truth = true_distances(many)
    covered = np.mean((intervals[:, 0] <= truth) & (truth <= intervals[:, 1]))
    assert 0.82 < covered < 0.97


@pytest.mark.slow
def test_each_angle_is_estimated_with_an_interval(many: list[tuple[OKSPCA, Stability]]) -> None:
    angles = np.array([principal_angles(model.basis().vectors, TRUTH) for model, _ in many])
    found = np.array([stability.angles for _, stability in many])
    intervals = np.array([stability.angle_intervals for _, stability in many])
    assert found.shape == angles.shape
    assert np.all(np.abs(np.log(np.median(found / angles, axis=0))) < 0.3)
    inside = (intervals[..., 0] <= angles) & (angles <= intervals[..., 1])
    assert np.all(inside.mean(axis=0) > 0.75)
    assert np.all((intervals[..., 0] <= found) & (found <= intervals[..., 1]))


def test_the_error_halves_when_the_rows_are_four_times_as_many() -> None:
    X, Y = spherical_pairs(16_000, C, seed=1)
    model = linear().partial_fit(X[:4000], Y[:4000])
    before = model.estimate_stability().distance
    after = model.partial_fit(X[4000:], Y[4000:]).estimate_stability().distance
    assert before is not None
    assert after == pytest.approx(before / 2.0, rel=0.3)


def test_the_recommended_rank_is_the_number_of_real_directions() -> None:
    for k in (1, 2, 3):
        X, Y = spherical_pairs(8000, C, seed=k)
        assert linear(k).fit(X, Y).estimate_stability().recommended_rank == 3


@pytest.mark.parametrize("seed", range(5))
def test_noise_recommends_nothing(seed: int) -> None:
    random = RandomState(seed)
    X, Y = random.normal(size=(4000, 30)), random.normal(size=(4000, 5))
    stability = linear(2, shape=(30, 5)).fit(X, Y).estimate_stability()
    assert stability.recommended_rank == 0
    assert stability.angles[0] > 30.0
    assert "disagree" in str(stability)


def test_a_tie_is_not_reproducible_but_the_span_of_both_is() -> None:
    C = np.vstack([np.diag([0.6, 0.6]), np.zeros((10, 2))])
    X, Y = spherical_pairs(20_000, C, seed=0)
    stability = linear(1, shape=(12, 2)).fit(X, Y).estimate_stability()
    assert stability.disagreement[0] > 20.0
    assert stability.disagreement[1] < 10.0
    assert stability.recommended_rank == 2


@pytest.mark.parametrize("unit", [1e-140, 1e-6, 1e6, 1e140])
def test_units_of_measurement_do_not_matter(unit: float) -> None:
    X, Y = spherical_pairs(400, C, seed=0)
    plain, scaled = (
        linear().fit(X, Y).estimate_stability(),
        linear().fit(X * unit, Y * unit).estimate_stability(),
    )
    assert scaled.distance == pytest.approx(plain.distance, rel=1e-9)
    assert scaled.recommended_rank == plain.recommended_rank


def test_equal_groups_have_no_error() -> None:
    X = np.repeat(RandomState(0).normal(size=(50, 10)), 8, axis=0)
    stability = linear().fit(X, X[:, :3] * [3.0, 2.0, 1.0]).estimate_stability()
    assert stability.distance == pytest.approx(0.0, abs=1e-7)
    assert stability.interval == pytest.approx((0.0, 0.0), abs=1e-7)


def test_labels_and_a_rank_below_the_number_of_components() -> None:
    X, y = sectors(3000, 3, 5, seed=0)
    stability = (
        OKSPCA(4, n_random_features=64, stability=8, random_state=0).fit(X, y).estimate_stability()
    )
    assert stability.rank == 2
    assert len(stability.angles) == 2
    assert 0 < stability.recommended_rank <= 2


@pytest.mark.parametrize("n_groups", [4, 6, 8, 16, 64])
def test_halves_are_disjoint_and_complete(n_groups: int) -> None:
    pairs = halves(n_groups)
    assert len(pairs) == {4: 3, 6: 10}.get(n_groups, 35)
    assert len({tuple(half) for pair in pairs for half in pair}) == 2 * len(pairs)
    for first, second in pairs:
        assert len(first) == len(second) == n_groups // 2
        assert sorted(first + second) == list(range(n_groups))
    assert halves(n_groups) == pairs


def test_more_groups_give_a_similar_estimate() -> None:
    X, Y = spherical_pairs(8000, C, seed=4)
    found = [linear(2, n).fit(X, Y).estimate_stability().distance for n in (4, 8, 16, 32)]
    assert max(found) < 1.6 * min(found)  # type: ignore[type-var, operator]


def test_words_say_what_to_do() -> None:
    X, Y = spherical_pairs(8000, C, seed=0)
    stability = linear(2).fit(X, Y).estimate_stability()
    assert "8,000 rows" in str(stability)
    assert "90% interval" in str(stability)
    assert "3 directions; more components could be used" in str(stability)
    fewer = replace(stability, recommended_rank=1)
    assert "only the leading 1 direction; the rest is mostly noise" in str(fewer)
    assert "2 directions; more would be" in str(replace(stability, recommended_rank=2))


def test_two_errors_are_two_lines() -> None:
    X, Y = spherical_pairs(800, C, seed=0)
    model = linear().fit(X, Y)
    delivered, exact = model.error_lines().splitlines()
    assert delivered.startswith("delivered vs exact (proven)")
    assert str(model.basis().certificate) in delivered
    assert exact.startswith("exact vs population (estimated)")
    assert "degrees from the population's" in exact
    assert "stability=8" in linear(2, 0).fit(X, Y).error_lines()


def test_the_picture_shows_every_angle_and_every_rank() -> None:
    X, Y = spherical_pairs(800, C, seed=0)
    stability = linear().fit(X, Y).estimate_stability()
    figure = stability.plot()
    left, right = figure.axes
    assert len(right.patches) == len(stability.disagreement)
    dots = [line for line in left.lines if line.get_marker() == "o"]
    assert [dot.get_ydata()[0] for dot in dots] == list(stability.angles)
    assert stability.plot(figure.axes) is figure
