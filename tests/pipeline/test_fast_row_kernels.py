"""What the kernels find in the table is what the fast row path put there, field by field."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.moments.arrays import MomentArrays
from okspca.pipeline import fast_row_kernels
from okspca.pipeline.fast_row import FastRow
from okspca.pipeline.fast_row_kernels import (
    INPUTS,
    RESPONSE,
    TARGETS,
    Settings,
    moment_at,
    places,
    scratch_at,
    settings_at,
    side_at,
)
from okspca.pipeline.state import PipelineState
from okspca.standardize import StandardizerArrays, VarianceRule

X = RandomState(0).normal(size=(60, 4))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


def opened(y: Any, **settings: Any) -> tuple[PipelineState, Any]:
    sizes: dict[str, Any] = {"n_random_features": 16, "n_target_features": 256}
    model = OKSPCA(2, **sizes, random_state=0, **settings).partial_fit(X, y)
    state = model.ready().state
    return state, FastRow(state)


def same_place(one: Any, two: Any) -> bool:
    """Whether two arrays are the same memory, seen in the same way."""
    return bool(one.shape == two.shape and one.ctypes.data == two.ctypes.data)


@pytest.mark.parametrize("y", [Y, np.column_stack([Y, X[:, 2]]), (Y > 0.5).astype(int)])
def test_every_field_is_where_the_kernels_look_for_it(y: Any) -> None:
    state, fast_row = opened(y)
    table = fast_row._table
    for name, array in state.moment.arrays._asdict().items():
        assert same_place(getattr(moment_at(table), name), array)
    for name, array in fast_row._scratch._asdict().items():
        assert same_place(getattr(scratch_at(table), name), array)
    sides = [(INPUTS, state.input_standardizer, state.input_map)]
    if not state.moment.labels:
        sides.append((TARGETS, state.target_standardizer, state.target_map))
        assert table[RESPONSE, 0] == fast_row._y.ctypes.data
    for start, standardizer, feature_map in sides:
        side = side_at(table, start)
        for name, array in standardizer.arrays._asdict().items():  # type: ignore[attr-defined]
            assert same_place(getattr(side.state, name), array)
        np.testing.assert_array_equal(side.weights, feature_map.weights)  # type: ignore[attr-defined]
        np.testing.assert_array_equal(side.phases, feature_map.phases)  # type: ignore[attr-defined]
        assert side.row.shape == (feature_map.n_inputs,)
        assert side.features.shape == (feature_map.n_features,)


def test_after_a_new_direction_the_table_holds_the_wider_moment() -> None:
    state, fast_row = opened(Y)
    width = state.moment.width
    assert fast_row.learn(X[0], 60.0, {})
    assert state.moment.width == width + 1
    for name, array in state.moment.arrays._asdict().items():
        assert same_place(getattr(moment_at(fast_row._table), name), array)


def test_settings_are_read_back_as_they_are() -> None:
    settings: dict[str, Any] = {"forgetting": 0.97, "forget_standardizers": False}
    state, fast_row = opened(Y, variance_floor="paper", **settings)
    found, standardizer = settings_at(fast_row._table), state.input_standardizer
    assert found.rule == standardizer.rule  # type: ignore[attr-defined]
    assert (found.forgetting, found.standardizer_forgetting) == (0.97, 1.0)
    assert found.tolerance == state.moment.compression.tolerance  # type: ignore[union-attr]
    assert found.largest == 1e150


@pytest.mark.parametrize("record", [StandardizerArrays, MomentArrays, VarianceRule, Settings])
def test_places_have_the_names_of_the_fields(record: Any) -> None:
    """A field that is added, lost or moved shows here, whatever the kernels make of it."""
    own = [name for name in record._fields if name not in ("rule", "state")]
    numbers = [getattr(fast_row_kernels, name.upper()) for name in own]
    start, without = numbers[0], len(record._fields) - len(own)
    assert numbers == list(places(record, start, without=without))
