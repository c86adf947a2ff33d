"""A pipeline goes from state to state: whole blocks or none, and what is left behind stays."""

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.features import IdentityMap
from okspca.pipeline import Pipeline, chunks, learning, path
from okspca.pipeline.answers import report
from okspca.pipeline.state import PipelineState
from tests.contracts.fingerprint import fingerprint

X = RandomState(0).normal(size=(500, 4))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2
LABELS = np.digitize(Y, [0.3, 1.2])
SMALL: dict[str, Any] = {"n_random_features": 24, "random_state": 0}
KINDS: dict[str, tuple[Callable[[], OKSPCA], Any]] = {
    "number": (lambda: OKSPCA(2, **SMALL, stability=4, align=True), Y),
    "labels": (lambda: OKSPCA(2, **SMALL, stability=4), LABELS),
    "adam": (lambda: OKSPCA(2, **SMALL, solver="adam"), LABELS),
    "warm": (lambda: OKSPCA(2, **SMALL, solver="warm-block"), Y),
    "window": (lambda: OKSPCA(2, **SMALL, window=64), Y),
    "whitened": (lambda: OKSPCA(2, **SMALL, objective="whitened", stability=4), LABELS),
    "linear": (lambda: OKSPCA(1, random_state=0, input_map=IdentityMap(4)), LABELS),
}


def begun(kind: str, n: int = 100) -> tuple[OKSPCA, Pipeline, Any]:
    """A model that has learned a block and, where it can, a row of its own."""
    make, y = KINDS[kind]
    model = make().partial_fit(X[:n], y[:n]).learn_one(X[n], y[n].item())
    return model, model.ready(), y


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_that_a_block_left_behind_never_changes(kind: str) -> None:
    model, pipeline, y = begun(kind)
    states: list[tuple[PipelineState, str]] = []
    for start, stop in ((101, 110), (110, 250), (250, 300), (300, 301), (301, 310)):
        states.append((pipeline.state, fingerprint(pipeline.state)))
        model.partial_fit(X[start:stop], y[start:stop], sample_weight=np.ones(stop - start))
        assert pipeline.state is not states[-1][0]
        model.learn_one(X[stop], y[stop].item())
    assert [fingerprint(state) for state, _ in states] == [digest for _, digest in states]


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_that_fails_on_the_way_has_not_happened(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    model, pipeline, y = begun(kind)
    state, before, calls = pipeline.state, fingerprint(pipeline.state), []

    def fails_later(*arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        learning.learn(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(path, "learn", fails_later)
        patch.setattr(chunks, "CHUNK_ROWS", 50)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[101:], y[101:])
    assert pipeline.state is state
    assert fingerprint(state) == before


def test_a_reader_within_a_block_meets_the_state_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    model, pipeline, _ = begun("number")
    seen = []

    def watched(*arguments: Any) -> None:
        learning.learn(*arguments)
        seen.append((model.n_samples_seen_, fingerprint(model.basis())))

    expected = 101, fingerprint(model.basis())
    monkeypatch.setattr(path, "learn", watched)
    model.partial_fit(X[101:400], Y[101:400])
    assert set(seen) == {expected}
    assert model.n_samples_seen_ == 400
    assert pipeline.version % 2 == 0


def test_a_row_after_a_block_goes_to_the_new_state() -> None:
    model, pipeline, _ = begun("labels")
    fast_row = pipeline._fast_row
    model.partial_fit(X[101:150], LABELS[101:150])
    assert pipeline._fast_row is None
    model.learn_one(X[150], int(LABELS[150]))
    assert pipeline._fast_row is not fast_row
    assert pipeline.state.rows == pipeline.state.moment.rows == 151


def test_waiting_rows_are_folded_once_for_all_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    model, pipeline, y = begun("whitened")
    folds, settled = [], learning.settled

    def counted(state: PipelineState) -> PipelineState:
        folds.append(state.rows)
        return settled(state)

    monkeypatch.setattr(path, "settled", counted)
    assert pipeline.state.waiting
    for _ in range(3):
        pipeline.read(report)
    model.learn_one(X[200], y[200].item())
    pipeline.read(report)
    assert folds == [101, 102]


def test_arrays_that_cannot_be_written_are_replaced_before_a_row_is_learned() -> None:
    model, _, y = begun("number")
    twin: OKSPCA = pickle.loads(pickle.dumps(model))
    state = twin.ready().state
    for array in (*state.moment.arrays, *state.input_standardizer.arrays):  # type: ignore[attr-defined]
        array.setflags(write=False)
    before = fingerprint(state)
    for i in range(101, 140):
        for one in (model, twin):
            one.learn_one(X[i], y[i].item())
    assert twin.to_bytes() == model.to_bytes()
    assert fingerprint(state) == before


def test_a_pipeline_does_few_things() -> None:
    """Its jobs are functions of its state, each in the file that is named for it."""
    names = {name for kind in Pipeline.__mro__[:-1] for name in vars(kind)}
    own = [name for name in names if is_method(name)]
    assert 5 < len(own) <= 15


def is_method(name: str) -> bool:
    """Whether a name of the class is a method or property that a plain object does not have."""
    found = getattr(Pipeline, name)
    kind = callable(found) or isinstance(found, property)
    return kind and name != "__class__" and found != getattr(object, name, None)
