"""What was found about a state serves until it changes, and never a row longer."""

import copy
import pickle
import warnings
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, OKSPCAClassifier, OKSPCARegressor
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.answers import embedding, embedding_basis, request
from okspca.pipeline.asking import answered_once
from tests.contracts.fingerprint import fingerprint
from tests.pipeline.test_path import LABELS, SMALL, X, Y

MODELS: dict[str, tuple[Callable[[], Any], Any]] = {
    "number": (lambda: OKSPCA(2, **SMALL, stability=4), Y),
    "labels": (lambda: OKSPCA(2, **SMALL, align=True), LABELS),
    "adam": (lambda: OKSPCA(2, **SMALL, solver="adam"), LABELS),
    "window": (lambda: OKSPCA(2, **SMALL, window=64), Y),
    "regressor": (lambda: OKSPCARegressor(**SMALL, frequencies="drawn"), Y),
    "classifier": (lambda: OKSPCAClassifier(**SMALL, frequencies="drawn"), LABELS),
}
ASKED: dict[str, Callable[[Any], Any]] = {
    "basis": lambda model: model.basis(),
    "uncertified": lambda model: model.basis(certify=False),
    "maintained": lambda model: model.basis(kind="maintained"),
    "transform": lambda model: model.transform(X[:3]),
    "predict": lambda model: model.predict(X[:3]) if hasattr(model, "predict") else None,
    "diagnose": lambda model: model.diagnose(),
    "error lines": lambda model: model.error_lines(),
    "components": lambda model: model.components_,
    "singular values": lambda model: model.singular_values_,
}


def answers(model: Any) -> dict[str, str]:
    """Fingerprints of all that can be asked."""
    return {name: fingerprint(ask(model)) for name, ask in ASKED.items()}


def begun(kind: str) -> tuple[Any, Any]:
    make, y = MODELS[kind]
    return make().partial_fit(X[:100], y[:100]).learn_one(X[100], y[100].item()), y


@pytest.mark.parametrize("kind", MODELS)
def test_no_answer_is_older_than_the_last_change(kind: str) -> None:
    model, y = begun(kind)
    other = MODELS[kind][0]().partial_fit(X[300:400], y[300:400])
    changes: list[Callable[[Any], Any]] = [
        lambda model: model.learn_one(X[101], y[101].item()),
        lambda model: model.learn_one(X[102], y[102].item()),
        lambda model: model.partial_fit(X[103:110], y[103:110]),
        lambda model: model.partial_fit(X[110:111], y[110:111]),
        lambda model: type(model).from_bytes(model.to_bytes()),
        lambda model: model.fit(X[:50], y[:50]),
    ]
    if kind not in ("adam", "window"):
        changes.insert(4, lambda model: model.merge(other))
    for change in changes:
        answers(model)
        model = change(model)
        # A copy has no answers yet: it solves everything by itself.
        assert answers(model) == answers(pickle.loads(pickle.dumps(model)))


@pytest.mark.parametrize("kind", MODELS)
def test_asking_in_any_order_gives_the_same(kind: str) -> None:
    model, _ = begun(kind)
    alone = {name: fingerprint(ask(copy.deepcopy(model))) for name, ask in ASKED.items()}
    for pair in permutations(ASKED, 2):
        asked = copy.deepcopy(model)
        assert [fingerprint(ASKED[name](asked)) for name in pair] == [alone[name] for name in pair]
    assert answers(model) == answers(model) == alone


@pytest.mark.parametrize("kind", MODELS)
def test_answers_are_no_part_of_files_and_copies(kind: str) -> None:
    model, _ = begun(kind)
    model.ready().read(request)
    twin = copy.deepcopy(model)
    before = model.to_bytes(), pickle.dumps(twin)
    answers(model)
    answers(twin)
    assert (model.to_bytes(), pickle.dumps(twin)) == before
    for copied in (copy.copy(model.ready()), copy.deepcopy(model.ready())):
        assert copied.__dict__.keys() == {"state"}


def counted() -> tuple[Callable[[PipelineState], int], list[int]]:
    """A question, and the rows of the states that it was asked of."""
    seen: list[int] = []

    @answered_once
    def question(state: PipelineState) -> int:
        seen.append(state.rows)
        return state.rows

    return question, seen


@pytest.mark.parametrize("kind", MODELS)
def test_a_question_is_asked_once_of_every_version(kind: str) -> None:
    model, y = begun(kind)
    question, seen = counted()
    for row in range(101, 105):
        for _ in range(3):
            model.ready().read(question)
            model.ready().read(lambda state: question(state) + question(state))
        model.learn_one(X[row], y[row].item())
    model.partial_fit(X[105:120], y[105:120])
    assert model.ready().read(question) == model.ready().read(question) == 120
    assert seen == [101, 102, 103, 104, 120]


@pytest.mark.parametrize("kind", ["number", "labels"])
def test_basis_embedding_and_prediction_share_one_solution(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    model, _ = begun(kind)
    service, calls = type(model.ready().state.service), []
    serve = service.serve

    def counting(*arguments: Any) -> Any:
        calls.append(1)
        return serve(*arguments)

    monkeypatch.setattr(service, "serve", counting)
    answers(model)
    answers(model)
    assert len(calls) == 1


def reading_while(change: Callable[[Pipeline], object]) -> tuple[Pipeline, list[int]]:
    """Ask a pipeline a question during which another thread changes it; then ask again."""
    model, _ = begun("number")
    pipeline, told = model.ready(), list[int]()

    @answered_once
    def question(state: PipelineState) -> int:
        if not told:
            told.append(state.rows)
            change(pipeline)
        return state.rows

    told += [pipeline.read(question), pipeline.read(question)]
    return pipeline, told[1:]


def test_what_was_found_before_a_row_is_not_told_after_it() -> None:
    pipeline, told = reading_while(lambda one: one.learn_row(X[200], float(Y[200])))
    assert told == [102, 102]
    assert pipeline.state.rows == 102


def test_what_was_found_before_a_block_is_not_told_after_it() -> None:
    block = X[200:210], Y[200:210, np.newaxis], np.ones(10)
    pipeline, told = reading_while(lambda one: one.run(*block))
    # The first answer is that of the state it was asked of.
    assert told == [101, 111]
    assert pipeline.state.rows == 111


def test_known_answers_are_not_taken_over_into_the_next_row() -> None:
    model, _ = begun("number")
    pipeline, (known, seen) = model.ready(), counted()
    assert pipeline.read(known) == 101
    turns: list[int] = []

    def question(state: PipelineState) -> int:
        if not turns:
            turns.append(1)
            pipeline.learn_row(X[200], float(Y[200]))
        return known(state)

    assert pipeline.read(question) == 102
    assert pipeline.read(known) == 102
    assert seen[0] == 101
    assert set(seen[1:]) == {102}


def test_nobody_changes_an_answer_by_writing_to_it() -> None:
    for kind in MODELS:
        model, _ = begun(kind)
        first = answers(model)
        for array in (model.components_, model.singular_values_, model.transform(X[:3])):
            array[...] = 7.0
        assert not model.basis().vectors.flags.writeable
        assert answers(model) == first


def test_a_state_that_learns_knows_nothing_of_its_past() -> None:
    model, _ = begun("number")
    question, seen = counted()

    def ahead(state: PipelineState) -> int:
        known, twin = question(state), state.twin()
        twin.rows += 1
        return question(twin) - known

    assert model.ready().read(ahead) == 1
    assert seen == [101, 102]


def test_errors_are_not_remembered() -> None:
    model, _ = begun("labels")
    calls: list[int] = []

    @answered_once
    def question(state: PipelineState) -> int:
        calls.append(state.rows)
        if len(calls) == 1:
            raise ArithmeticError
        return state.rows

    with pytest.raises(ArithmeticError):
        model.ready().read(question)
    assert model.ready().read(question) == 101


def test_what_is_done_with_gaps_may_be_changed_between_two_questions() -> None:
    model, _ = begun("number")
    rows = np.array([[np.nan, 0.0, 1.0, 2.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match="NaN"):
            model.transform(rows)
        assert np.isnan(model.set_params(missing="skip").transform(rows)).all()
        filled = model.set_params(missing="impute").transform(rows)
        mean = model.input_standardizer_.mean[0]
        np.testing.assert_array_equal(filled, model.transform(np.array([[mean, 0.0, 1.0, 2.0]])))


def test_no_more_is_kept_than_the_last_version_needs() -> None:
    model, _ = begun("number")
    random = RandomState(3)
    sizes = []
    for row in range(200, 230):
        answers(model)
        sizes.append(len(vars(model.ready())["_answers"][2]))
        model.learn_one(random.normal(size=4), float(Y[row]))
    assert len(set(sizes)) == 1


def test_a_late_reader_neither_keeps_nor_revives_a_state_that_was_left_behind() -> None:
    block = X[200:210], Y[200:210, np.newaxis], np.ones(10)
    pipeline, _ = reading_while(lambda one: one.run(*block))
    before, (question, _) = pipeline.state, counted()
    assert vars(pipeline)["_answers"][0] is before
    pipeline.run(*block)
    # As if a reader had been interrupted just before it published what it had found.
    vars(pipeline)["_answers"] = (before, pipeline.version, {question: -1})
    assert pipeline.read(question) == pipeline.state.rows

    @answered_once
    def replaced(state: PipelineState) -> int:
        pipeline.run(*block)
        return state.rows

    pipeline.read(replaced)
    assert vars(pipeline)["_answers"][0] is None


def test_arrays_that_are_kept_cannot_be_written() -> None:
    model, _ = begun("labels")
    assert not model.ready().read(embedding).columns.flags.writeable
    assert not model.ready().read(embedding_basis).flags.writeable
