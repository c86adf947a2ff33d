"""Frequencies are learned on the driver and sent to all shards, as one run would learn them."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.base import clone

from okspca import OKSPCA
from okspca.distributed.states import (
    first_rows,
    identity,
    learn,
    merge_states,
    merge_surveys,
    n_first_rows,
    survey_of,
)
from okspca.distributed.survey import Survey
from okspca.estimators.map_search import MapSearch

N = 900
X = RandomState(3).uniform(-2.0, 2.0, size=(N, 4))
NUMBERS = X[:, 0] * X[:, 1] + 0.05 * RandomState(1).normal(size=N)
TARGETS: dict[str, Any] = {
    "number": NUMBERS,
    # Not in the order of the alphabet, which is that of the columns.
    "classes": np.array(["c", "a", "d", "b"])[np.digitize(NUMBERS, [-1.0, 0.0, 1.0])],
}
WEIGHTS = RandomState(5).choice([0.0, 0.25, 1.0, 3.0], size=N)


def sharded(model: OKSPCA, y: Any, places: list[int]) -> OKSPCA:
    """What the engines do, without an engine."""
    shards = [(X[a:b], y[a:b], WEIGHTS[a:b]) for a, b in pairwise(places)]
    surveys = [survey_of(model, [shard]) for shard in shards]
    survey = Survey.from_bytes(model, merge_surveys(model, surveys))
    pilot = first_rows(shards, most=n_first_rows(model))
    start = identity(model, survey, pilot).to_bytes()
    return OKSPCA.from_bytes(
        merge_states(OKSPCA, [learn(OKSPCA, start, [shard]) for shard in shards])
    )


def search_of(model: OKSPCA) -> MapSearch:
    found: MapSearch = model.ready().state.companions["search"]
    return found


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("frequencies", ["scaled", "mixed", "trained"])
def test_shards_have_the_map_of_one_run(frequencies: str, target: str) -> None:
    """Weights, and classes in any order, included."""
    y = TARGETS[target]
    settings: dict[str, Any] = {"objective": "whitened", "ridge": 0.01, "pilot_rows": 600}
    model = OKSPCA(1, n_random_features=24, frequencies=frequencies, random_state=0, **settings)
    alone = clone(model).set_params(standardize="frozen").fit(X, y, sample_weight=WEIGHTS)
    assert search_of(alone).place.rung != "drawn"
    one, several = (sharded(model, y, places) for places in ([0, N], [0, 100, 250, 700, N]))
    # Means of one shard are those of one run to the last bit; merged ones differ by rounding.
    assert one.input_map_.equals(alone.input_map_)
    np.testing.assert_array_equal(one.relevance_, alone.relevance_)
    for model in (one, several):
        assert search_of(model).is_final
        assert search_of(model).place.rung == search_of(alone).place.rung
        np.testing.assert_allclose(model.relevance_, alone.relevance_, atol=1e-8)
        np.testing.assert_allclose(model.transform(X), alone.transform(X), atol=1e-8)


def test_only_pilot_rows_of_positive_weight_are_sent_for() -> None:
    blocks = [(X[a:b], NUMBERS[a:b], WEIGHTS[a:b]) for a, b in pairwise(range(0, N + 1, 100))]
    found, targets, weights = first_rows(blocks, most=600)
    kept = np.flatnonzero(WEIGHTS)[:600]
    for part, wanted in ((found, X), (targets, NUMBERS), (weights, WEIGHTS)):
        np.testing.assert_array_equal(part, wanted[kept])
