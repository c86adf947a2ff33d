"""Rows that are let wait by one compiled call: the state is that of the general path."""

from typing import Any

import numpy as np
import pytest

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.errors import DataError
from okspca.estimators.learned import SEARCH
from okspca.pipeline.waiting_row import WaitingRow, waits_here
from tests.pipeline.test_ahead import KINDS, LABELS, SIGNAL, N, X, model_of

SIDES = np.column_stack([SIGNAL, X[:, 3]])
#: Models that look for their features in the first rows, row by row.
PILOTS: dict[str, tuple[type[OKSPCA], Any]] = {
    "regressor": (OKSPCARegressor, SIGNAL),
    "classifier": (OKSPCAClassifier, LABELS),
}


def waiting_row(model: OKSPCA) -> WaitingRow:
    """The kernel that a model's rows take."""
    found = model.ready()._fast_row
    assert isinstance(found, WaitingRow)
    return found


@pytest.mark.parametrize("kind", [*KINDS, "two outputs"])
def test_rows_and_blocks_leave_the_same_bytes(kind: str) -> None:
    y = SIDES if kind == "two outputs" else KINDS[kind][2]
    if kind == "two outputs":
        make: dict[str, Any] = {"n_random_features": 24, "objective": "whitened", "random_state": 0}
        single, whole = (OKSPCA(2, **make).partial_fit(X[:90], y[:90]) for _ in range(2))
    else:
        single, whole = model_of(kind, 90), model_of(kind, 90)
    taken = 0
    for i in range(90, N):
        single.learn_one(X[i], y[i] if y.ndim > 1 else y[i].item())
        taken += isinstance(single.ready()._fast_row, WaitingRow)
        if i in (95, 254, 255, 300):
            whole.partial_fit(X[len_of(whole) : i + 1], y[len_of(whole) : i + 1])
            assert single.to_bytes() == whole.to_bytes()
    # What standardises by a window is no causal standardiser.
    assert taken == 0 if kind == "window" else taken > 250


def len_of(model: OKSPCA) -> int:
    return model.n_samples_seen_


@pytest.mark.parametrize("kind", PILOTS)
def test_rows_of_a_pilot_are_kept_as_those_of_blocks(kind: str) -> None:
    make, y = PILOTS[kind]
    options: dict[str, Any] = {"n_random_features": 24, "pilot_rows": 300, "random_state": 0}
    single, whole = (make(**options).partial_fit(X[:50], y[:50]) for _ in range(2))
    for i in range(50, N):
        single.learn_one(X[i], y[i].item())
        if i in (60, 298, 299, 300, N - 1):
            whole.partial_fit(X[len_of(whole) : i + 1], y[len_of(whole) : i + 1])
            assert single.to_bytes() == whole.to_bytes()
        if i == 60:
            search = single.ready().state.companions[SEARCH]
            assert search.n_held == 61
            assert len(search.held) <= 7
            waiting_row(single)
    assert single.ready().state.companions[SEARCH].is_final


@pytest.mark.parametrize("kind", ["number", "labels"])
def test_a_row_that_is_refused_leaves_no_trace(kind: str) -> None:
    model, y = model_of(kind, 300), KINDS[kind][2]
    before, kernel = model.to_bytes(), waiting_row(model)
    for x in ([np.nan, 0.0, 0.0, 0.0], [1e200, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0]):
        with pytest.raises(DataError):
            model.learn_one(np.array(x), y[0].item())
    with pytest.raises((DataError, ValueError)):
        model.learn_one(np.array(["a", "b", "c", "d"]), y[0].item())
    assert model.to_bytes() == before
    assert waiting_row(model) is kernel


@pytest.mark.parametrize("kind", PILOTS)
def test_an_interrupted_row_is_there_or_not_but_never_half(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    make, y = PILOTS[kind]
    options: dict[str, Any] = {"n_random_features": 24, "pilot_rows": 300, "random_state": 0}
    model, other = (make(**options).partial_fit(X[:70], y[:70]) for _ in range(2))
    for one in (model, other):
        one.learn_one(X[70], y[70].item())
    row = waiting_row(model)
    kernel = row._kernel

    def interrupted(*arguments: Any) -> int:
        kernel(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(row, "_kernel", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(X[71], y[71].item())
    other.learn_one(X[71], y[71].item())
    assert model.to_bytes() == other.to_bytes()
    monkeypatch.setattr(WaitingRow, "count_row", lambda _: (_ for _ in ()).throw(MemoryError))
    with pytest.raises(MemoryError):
        model.learn_one(X[72], y[72].item())


def test_a_row_that_waited_does_not_follow_the_callers_array() -> None:
    model, x = model_of("number", 300), X[300].copy()
    model.learn_one(x, SIGNAL[300].item())
    before = model.to_bytes()
    x[...] = 7.0
    assert model.to_bytes() == before


def test_constant_rows_are_known_as_such() -> None:
    options: dict[str, Any] = {"n_random_features": 24, "objective": "whitened"}
    model = OKSPCA(2, random_state=0, **options).partial_fit(X[:3] * 0.0 + 5.0, SIGNAL[:3])
    for i in range(3, 40):
        model.learn_one(np.full(4, 5.0), SIGNAL[i].item())
        assert model.basis().rank == 0
    waiting_row(model)
    model.learn_one(X[40], SIGNAL[40].item())
    model.learn_one(X[41], SIGNAL[41].item())
    assert model.basis().rank > 0


def test_other_states_are_left_to_the_general_path() -> None:
    def state(**options: Any) -> Any:
        model = OKSPCA(1, random_state=0, n_random_features=24, **options)
        return model.partial_fit(X[:70], SIGNAL[:70]).ready().state

    assert waits_here(state(objective="whitened"))
    assert not waits_here(state())
    assert not waits_here(state(objective="whitened", standardize=None))
