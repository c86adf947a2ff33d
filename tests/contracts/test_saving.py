"""A model that was saved and loaded goes on as if nothing had happened, to the last bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.estimators.saving import model_bytes, model_from
from okspca.features import FourierMap, IdentityMap
from okspca.services import Adam
from okspca.state.streams import StreamRecord
from tests.contracts.cases import (
    PILOT_ROWS,
    Case,
    cases,
    contract,
    learn,
    learn_singly,
    make,
    modes,
    streams,
)
from tests.contracts.fingerprint import fingerprint, state_of

pytestmark = pytest.mark.usefixtures("early_climbs")


def reloaded(model: OKSPCA) -> OKSPCA:
    loaded, _ = model_from(OKSPCA, model_bytes(model))
    assert isinstance(loaded, OKSPCA)
    return loaded


def answers(model: OKSPCA) -> str:
    """Everything a reader can ask for."""
    basis = model.basis()
    return fingerprint([basis, model.basis(kind="maintained"), model.components_])


@cases(climbing=True)
@given(data=st.data())
@contract(4)
def test_saving_changes_neither_the_answer_nor_what_is_learned_later(
    case: Case, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=12))
    place = data.draw(st.integers(1, stream.n - 1))
    options = {
        "align": data.draw(st.booleans()),
        "stability": data.draw(st.sampled_from((0, 4))),
        "forgetting": data.draw(st.sampled_from((1.0, 0.97))),
    }
    model = make(case, stream, data.draw(modes), **options)
    learn(model, stream, rows=slice(place))
    before = state_of(model)
    twin = reloaded(model)
    assert state_of(model) == before
    assert answers(twin) == answers(model)
    assert model_bytes(twin) == model_bytes(model)
    for one in (model, twin):
        learn(one, stream, rows=slice(place, None))
        learn_singly(one, stream, rows=slice(3))
    assert model_bytes(twin) == model_bytes(model)
    assert answers(twin) == answers(model)
    # Rows that wait to be folded lie in one block after loading.
    assert case.objective == "whitened" or state_of(twin) == state_of(model)


@pytest.mark.parametrize("bandwidth", ["median", 1.0])
@pytest.mark.parametrize("standardize", ["frozen", "causal"])
@pytest.mark.parametrize("seed", [3, RandomState(3)])
@pytest.mark.parametrize("labels", [True, False])
def test_rows_held_back_are_saved(
    bandwidth: str | float, standardize: str, seed: Any, labels: bool
) -> None:
    X = RandomState(0).normal(size=(600, 3))
    y = (X[:, 0] > 0).astype(int) if labels else X[:, 0]
    model = OKSPCA(1, bandwidth=bandwidth, standardize=standardize, random_state=seed)
    model.partial_fit(X[:300], y[:300])
    twin = reloaded(model)
    for one in (model, twin):
        one.partial_fit(X[300:], y[300:])
    assert state_of(twin) == state_of(model)


def test_wide_moments_and_long_streams_are_saved() -> None:
    """Compression that was given up, an anchor, a warm block, sub-moments wider than one row."""
    X = RandomState(1).normal(size=(900, 4))
    for y in (X[:, :2] ** 2, X[:, 0] ** 3 * 40.0, (X[:, 0] * 9).astype(int)):
        model = OKSPCA(2, n_random_features=48, align=True, stability=4, random_state=0)
        model.partial_fit(X[:500], y[:500])
        twin = reloaded(model)
        for one in (model, twin):
            one.partial_fit(X[500:], y[500:])
        assert state_of(twin) == state_of(model)
        assert answers(twin) == answers(model)


@pytest.mark.parametrize(
    "labels", [[1, 2, 3], [True, False], ["a", "é\ud800", "\0"], [0.5, 2.0, float("inf")], [10**30]]
)
def test_labels_keep_their_type(labels: list[Any]) -> None:
    y = np.array([labels[i % len(labels)] for i in range(12)], dtype=object)
    X = RandomState(0).normal(size=(12, 2))
    model = OKSPCA(1, task="classification", random_state=0).partial_fit(X, y)
    twin = reloaded(model)
    assert list(map(repr, twin.classes_)) == list(map(repr, model.classes_))
    for one in (model, twin):
        one.partial_fit(X, y, classes=labels)
    assert state_of(twin) == state_of(model)


def test_parts_that_are_shared_stay_shared() -> None:
    X = RandomState(0).normal(size=(40, 3))
    phi = FourierMap.sample(3, 16, bandwidth=1.0)
    model = OKSPCA(1, input_map=phi, target_map=IdentityMap(1), solver=Adam(0.1), random_state=0)
    twin = reloaded(model.partial_fit(X, X[:, 0]))
    assert twin.input_map_ is twin.input_map
    assert twin.ready().state.service is twin.solver
    labelled = reloaded(OKSPCA(1).partial_fit(X, (X[:, 0] > 0).astype(int)))
    assert labelled.learned is not None
    assert labelled.learned.intake.labels is labelled.target_map_


def test_names_and_the_kind_of_output_are_saved() -> None:
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(RandomState(0).normal(size=(30, 2)), columns=["left", "right"])
    model = OKSPCA(1, random_state=0).set_output(transform="pandas").fit(X, X["left"])
    twin = reloaded(model)
    pandas.testing.assert_frame_equal(twin.transform(X), model.transform(X), check_exact=True)
    assert twin.feature_names_in_.tolist() == ["left", "right"]
    assert state_of(twin) == state_of(model)


def test_a_model_without_rows_keeps_its_parameters(tmp_path: Path) -> None:
    model = OKSPCA(3, solver="adam", bandwidth=2, forgetting=0.5, random_state=7)
    model.save(tmp_path / "empty.okspca")
    assert OKSPCA.load(tmp_path / "empty.okspca").get_params() == model.get_params()


def test_the_record_of_a_stream_is_saved() -> None:
    record = StreamRecord(("a.csv", "b.csv"), "y", ("x", "é"), "skip", 10, 2, 0)
    assert model_from(OKSPCA, model_bytes(OKSPCA(), record))[1] == record


def test_pooled_models_are_saved() -> None:
    X = RandomState(2).normal(size=(60, 3))
    y = (X[:, 0] * 2).astype(int)
    make_one = [OKSPCA(2, random_state=0, stability=4, solver="cached") for _ in range(2)]
    one, other = (m.partial_fit(X[i::2], y[i::2]) for i, m in enumerate(make_one))
    pooled = one.merge(other)
    twin = reloaded(pooled)
    for model in (pooled, twin):
        model.partial_fit(X, y)
    assert state_of(twin) == state_of(pooled)


@cases(("exact",))
@given(data=st.data())
@contract(4)
def test_whitened_models_are_saved_whole(case: Case, data: st.DataObject) -> None:
    """A fixed ridge and a chosen one, before, during and after a round of the choice."""
    stream = data.draw(streams(case.task, least=12, most=100))
    place = data.draw(st.integers(1, stream.n - 1))
    options = {
        "objective": "whitened",
        "ridge": data.draw(st.sampled_from(("auto", 0.01))),
        "class_weighting": data.draw(st.sampled_from(("squared", "balanced"))),
        "forgetting": data.draw(st.sampled_from((1.0, 0.97))),
    }
    model = make(case, stream, data.draw(modes), **options)
    learn(model, stream, rows=slice(place))
    twin = reloaded(model)
    assert answers(twin) == answers(model)
    assert model_bytes(twin) == model_bytes(model)
    for one in (model, twin):
        learn(one, stream, rows=slice(place, None))
        learn_singly(one, stream, rows=slice(3))
    # Not all they hold: units are noted when rows are folded, and when a file is read.
    assert model_bytes(twin) == model_bytes(model)
    assert answers(twin) == answers(model)


@pytest.mark.parametrize(("place", "rung", "n"), [(1, "scaled", 12), (10, "mixed", 18)])
def test_a_climb_back_to_the_map_in_use_restarts_no_model(place: int, rung: str, n: int) -> None:
    """Maps are the same by what they hold: those of a loaded model are objects of their own."""
    twins_differ = []
    for seed in range(40):
        X = RandomState(seed).normal(size=(n, 2))
        y = RandomState(seed + 1).normal(size=n)
        model = OKSPCA(
            1,
            n_random_features=12,
            frequencies=rung,
            pilot_rows=PILOT_ROWS,
            random_state=seed,
        ).partial_fit(X[:place], y[:place])
        twin = reloaded(model)
        for one in (model, twin):
            one.partial_fit(X[place:], y[place:])
        if model_bytes(twin) != model_bytes(model):
            twins_differ.append(seed)
    assert twins_differ == []
