"""The ladder of input maps: which rung serves which data, and that no rung is taken for nothing."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.features import FourierMap, ladder
from okspca.features.ladder import RUNGS, Place, climbed
from okspca.features.trials import Pilot, Trial, tried
from okspca.numerics.arrays import Floats


def pilot_of(Z: Floats, t: Floats, noise: float = 0.05) -> Pilot:
    t = t + noise * t.std() * RandomState(9).normal(size=t.shape)
    T = ((t - t.mean()) / t.std())[:, np.newaxis]
    return Pilot(np.ascontiguousarray(Z), T, np.ones(len(Z)))


def normal(n: int, d: int, seed: int = 0) -> Floats:
    return RandomState(seed).normal(size=(n, d))


def climb(pilot: Pilot, top: str = "trained", width: int = 64) -> tuple[FourierMap, Place]:
    base = FourierMap.sample(pilot.Z.shape[1], width, bandwidth=pilot.Z.shape[1] ** 0.5, seed=0)
    return base, climbed(base, Place.drawn(base), pilot, top)


def test_one_input_of_many_is_found_by_scales() -> None:
    Z = normal(1000, 8)
    pilot = pilot_of(Z, np.sin(2.0 * Z[:, 4]))
    base, place = climb(pilot, "scaled")
    assert place.rung == "scaled"
    assert place.scales.argmax() == 4
    assert place.feature_map.equals(FourierMap(base.weights * place.scales, base.phases))


def test_a_mixture_is_found_where_scales_find_nothing() -> None:
    Z = normal(1500, 10)
    pilot = pilot_of(Z, np.sin(2.0 * Z @ np.ones(10) / np.sqrt(10.0)))
    _, scaled = climb(pilot, "scaled")
    _, mixed = climb(pilot, "mixed")
    assert mixed.rung == "mixed"
    assert tried(mixed.feature_map, pilot).odds > 3.0 * tried(scaled.feature_map, pilot).odds


def test_training_gains_on_rows_of_its_own() -> None:
    """Several waves, each along a direction of its own."""
    Z, new, directions = normal(1500, 6), normal(1500, 6, seed=5), normal(6, 4, seed=7)

    def waves(rows: Floats) -> Floats:
        return np.sin(rows @ directions).sum(axis=1)

    odds = {}
    for top in RUNGS[1:]:
        _, place = climb(pilot_of(Z, waves(Z)), top)
        odds[top] = tried(place.feature_map, pilot_of(new, waves(new))).odds
    assert place.rung == "trained"
    assert odds["trained"] > 2.0 * max(odds["scaled"], odds["mixed"])


def test_features_that_are_nearly_linear_serve_a_linear_response() -> None:
    Z = normal(600, 30)
    pilot = pilot_of(Z, Z @ RandomState(1).normal(size=30), noise=1.0)
    base, place = climb(pilot, "scaled")
    assert tried(place.feature_map, pilot).odds > 1.1 * tried(base, pilot).odds
    Phi = place.feature_map.transform(Z)
    lines = np.column_stack([np.ones(len(Z)), Z])
    left = Phi - lines @ np.linalg.lstsq(lines, Phi)[0]
    assert (left**2).sum() < 0.05 * ((Phi - Phi.mean(axis=0)) ** 2).sum()


@pytest.mark.parametrize("top", RUNGS[1:])
def test_noise_stays_at_the_foot_or_close_to_it(top: str) -> None:
    """What is taken predicts the rows held back; there is nothing else to go by."""
    pilot = pilot_of(normal(600, 5), RandomState(3).normal(size=600))
    base, place = climb(pilot, top)
    assert tried(place.feature_map, pilot).odds >= tried(base, pilot).odds


@pytest.mark.parametrize("top", RUNGS[1:])
def test_no_rung_above_the_top_is_taken(top: str) -> None:
    Z = normal(800, 5)
    _, place = climb(pilot_of(Z, np.sin(2.0 * Z @ np.ones(5))), top)
    assert RUNGS.index(place.rung) <= RUNGS.index(top)


def test_a_second_climb_keeps_a_map_that_nothing_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    Z = normal(900, 5)
    pilot = pilot_of(Z, np.sin(2.0 * Z @ np.ones(5)))
    base, first = climb(pilot)
    monkeypatch.setattr(ladder, "GAIN", 1e9)
    second = climbed(base, first, pilot, "trained")
    assert second.feature_map is first.feature_map
    assert second.rung == first.rung


def test_a_later_climb_tries_no_map_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    Z, met = normal(1200, 12), []
    few, all_rows = (pilot_of(part, np.sin(2.0 * part[:, 0]) * part[:, 1]) for part in (Z[:900], Z))

    def noted(feature_map: FourierMap, *others: Any) -> Trial:
        met.append(feature_map)
        return tried(feature_map, *others)

    base, first = climb(few, "scaled")
    assert first.rung == "scaled"
    monkeypatch.setattr(ladder, "tried", noted)
    climbed(base, first, all_rows, "scaled")
    assert not any(a.equals(b) for i, a in enumerate(met) for b in met[:i])


def test_the_same_rows_give_the_same_bits() -> None:
    Z = normal(700, 6)
    pilot = pilot_of(Z, np.sin(Z[:, 0] * Z[:, 1]))
    maps: list[Any] = [climb(pilot)[1].feature_map for _ in range(2)]
    assert maps[0].weights.tobytes() == maps[1].weights.tobytes()


def test_a_gain_within_its_standard_error_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows held back have little to say about a response that is nearly all noise."""
    taken = {}
    for sure in (-np.inf, 1.0):
        monkeypatch.setattr(ladder, "SURE", sure)
        pilots = [
            pilot_of(normal(200, 4, seed), normal(200, 1, 100 + seed)[:, 0]) for seed in range(12)
        ]
        taken[sure] = sum(climb(pilot, "scaled", 16)[1].rung != "drawn" for pilot in pilots)
    assert taken[1.0] < taken[-np.inf]


def test_trials_are_compared_row_by_row() -> None:
    Z = normal(400, 3)
    pilot = pilot_of(Z, np.sin(Z[:, 0]))
    maps = [FourierMap.sample(3, 16, bandwidth=width, seed=0) for width in (1.5, 20.0)]
    one, other = (tried(one, pilot, [0.01]) for one in maps)
    gains = []
    for a, b in zip(one.errors, other.errors, strict=True):
        gains.append(b - a)
    mean = sum(gains) / len(gains)
    variance = sum((gain - mean) ** 2 for gain in gains) / len(gains)
    expected = mean / np.sqrt(variance / len(gains))
    assert one.standard_errors_below(other) == pytest.approx(expected, rel=1e-12)
    assert other.standard_errors_below(one) == pytest.approx(-expected, rel=1e-12)
    assert one.standard_errors_below(one) == 0.0
