"""What a stream takes in memory does not grow with it, whatever its rows are."""

import gc
import tracemalloc
from typing import Any

import numpy as np
import pytest

from okspca import OKSPCA
from okspca.numerics.arrays import Floats

#: What a pass may leave behind that the pass before did not, in bytes.
LITTLE = 2**20


def blocks(reaches: Floats) -> list[tuple[Floats, Floats]]:
    """Blocks of responses whose farthest is at a given place."""
    random = np.random.RandomState(0)
    X = random.normal(size=(200, 3))
    made = []
    for reach in reaches:
        y = np.clip(random.normal(size=200), -3.0, 3.0)
        y[random.randint(200)] = reach
        made.append((X, y))
    return made


def held_after(model: OKSPCA, parts: list[tuple[Floats, Floats]]) -> int:
    for X, y in parts:
        model.partial_fit(X, y)
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize(
    "settings",
    [{}, {"forgetting": 0.999}, {"stability": 4}, {"objective": "whitened"}],
    ids=["plain", "forgetting", "groups", "whitened"],
)
def test_outliers_of_the_response_leave_nothing_behind(settings: dict[str, Any]) -> None:
    made = {"n_random_features": 16, "n_target_features": 512, "target_bandwidth": 8.0}
    model = OKSPCA(1, standardize=None, random_state=0, **{**made, **settings})
    parts = blocks(np.arange(4.0, 94.0))
    tracemalloc.start()
    try:
        # Directions are turned, and what is known about them forgotten, at 49,152 and 98,304 rows.
        settled = [held_after(model, parts) for _ in range(5)][3:]
    finally:
        tracemalloc.stop()
    assert settled[1] <= settled[0] + LITTLE
    assert model.n_samples_seen_ == 90_000
    assert model.moment_.compression is not None


def test_models_that_are_gone_leave_nothing_behind() -> None:
    def use(seed: int) -> int:
        model = OKSPCA(
            1, n_random_features=16, n_target_features=512, standardize=None, random_state=seed
        )
        return held_after(model, blocks(np.arange(4.0, 10.0)))

    use(0)
    tracemalloc.start()
    try:
        first = use(1)
        assert max(use(seed) for seed in range(2, 8)) <= first + LITTLE
    finally:
        tracemalloc.stop()
