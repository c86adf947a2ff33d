"""Scores of predictions made before a block is learned: levels and units change nothing."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.errors import DataError
from okspca.estimators.map_search import ENDING
from okspca.estimators.saving import model_bytes, model_from
from okspca.files.comparison import Scores, scores
from okspca.files.evaluating import after_learning, before_learning
from okspca.files.fitting import Block, learn
from okspca.numerics.arrays import Floats
from okspca.state.container import Content
from okspca.state.evaluations import (
    MOST_COMPARED,
    Evaluation,
    Side,
    read_evaluation,
    write_evaluation,
)
from okspca.state.fields import Sink, Source
from okspca.state.streams import StreamRecord

N, BLOCK, D = 2048, 256, 32
WHITENED: dict[str, Any] = {"objective": "whitened", "frequencies": "scaled"}


def rows() -> tuple[Floats, Floats]:
    random = RandomState(0)
    X = random.normal(size=(N, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * random.normal(size=N)


def followed(X: Floats, y: Floats, **settings: Any) -> tuple[OKSPCA, Evaluation]:
    model = OKSPCA(2, n_random_features=D, random_state=0, **settings)
    evaluation = Evaluation.start(D, X.shape[1])
    for start in range(0, len(X), BLOCK):
        some = slice(start, start + BLOCK)
        tested = before_learning(model, evaluation, X[some], y[some])
        model.partial_fit(X[some], y[some])
        evaluation = after_learning(model, evaluation, tested, X[some], y[some])
    return model, evaluation


def evaluated(X: Floats, y: Floats, **settings: Any) -> Scores:
    model, evaluation = followed(X, y, **settings)
    found = scores(evaluation, classes=model.task_ == "classification")
    assert found is not None
    return found


@pytest.mark.parametrize("level", [-1e5, 1e7, 1e9])
def test_the_level_of_the_response_changes_no_score(level: float) -> None:
    X, y = rows()
    plain, moved = evaluated(X, y), evaluated(X, y + level)
    assert plain.embedding > 0.7
    assert moved.inputs == pytest.approx(plain.inputs, abs=1e-9 + abs(level) * 1e-14)
    # The scale of the first few responses depends on the level, and the embedding on that scale.
    assert moved.embedding == pytest.approx(plain.embedding, abs=0.01)


def test_the_level_of_the_inputs_changes_no_score() -> None:
    X, y = rows()
    assert evaluated(X + 1e6, y).inputs == pytest.approx(evaluated(X, y).inputs, abs=1e-6)


def test_a_rare_class_does_not_pull_the_others() -> None:
    X, y = rows()
    found = evaluated(X, (y > 2.0).astype(int))
    assert found.embedding >= found.neither


def test_inputs_that_never_change_predict_the_mean() -> None:
    _, y = rows()
    assert evaluated(np.ones((N, 3)), y).inputs == pytest.approx(0.0, abs=1e-12)


def test_what_cannot_be_squared_is_refused_before_it_is_learned() -> None:
    X, y = rows()
    model = OKSPCA(2, n_random_features=D, random_state=0).partial_fit(X[:BLOCK], y[:BLOCK])
    huge = np.full(4, 1e149)
    with pytest.raises(DataError, match="too large to be squared"):
        before_learning(model, Evaluation.start(D, 3), X[:4], huge)


def test_the_other_target_is_what_a_model_of_its_own_reaches() -> None:
    """The second model scores as the first would have with its settings, both ways round."""
    X, y = rows()
    paper, whitened = evaluated(X, y), evaluated(X, y, **WHITENED)
    assert paper.entries["other"].score == pytest.approx(whitened.embedding, abs=1e-9)
    assert whitened.entries["other"].score == pytest.approx(paper.embedding, abs=1e-9)
    assert abs(paper.embedding - whitened.embedding) > 1e-4


def test_sums_of_features_belong_to_the_map_in_use() -> None:
    """Where the map was drawn anew, they are those of all rows with the new one."""
    random = RandomState(1)
    X = random.uniform(-2.0, 2.0, size=(1024, 4))
    model, evaluation = followed(X, X[:, 0] * X[:, 1], **WHITENED)
    assert not np.allclose(model.relevance_, 0.25)
    assert evaluation.kept is not None
    features = model.input_map_.transform(evaluation.kept.inputs)
    centred = features - features.mean(axis=0)
    assert len(features) == evaluation.rows == 1024 - BLOCK
    np.testing.assert_allclose(evaluation.features.gram, centred.T @ centred, atol=1e-8)


@pytest.mark.parametrize("settings", [{}, WHITENED])
@pytest.mark.parametrize("classes", [False, True])
def test_a_run_that_is_saved_after_every_block_is_the_same_to_the_bit(
    settings: dict[str, Any], classes: bool
) -> None:
    X, y = rows()
    if classes:
        y = (y > 0.3).astype(np.int64)
    runs = []
    for saves in (False, True):
        model = OKSPCA(2, n_random_features=D, random_state=0, **settings)
        record = StreamRecord(("r",), "y", ("a", "b", "c"), "raise")
        record = record._replace(evaluation=Evaluation.start(D, 3))
        for start in range(0, N, BLOCK):
            some = slice(start, start + BLOCK)
            block = Block(X[some], y[some], np.ones(BLOCK, dtype=np.bool_), None)
            record = learn(model, record, block)
            if saves:
                model, again = model_from(OKSPCA, model_bytes(model, record))
                assert again is not None
                record = again
        runs.append(model_bytes(model, record))
    assert runs[0] == runs[1]


def gappy() -> tuple[Floats, Floats, Floats]:
    """Rows of which one column tells nothing but by whether it is missing."""
    random = RandomState(5)
    X, is_missing = random.normal(size=(N, 2)), random.uniform(size=N) < 0.4
    y = X[:, 0] + 2.0 * is_missing + 0.1 * random.normal(size=N)
    marked = np.column_stack([X, np.zeros(N), is_missing])
    marked[is_missing, 1] = 0.0
    X[is_missing, 1] = np.nan
    return X, marked, y


def learned_with_gaps(X: Floats, y: Floats, *, saves: bool) -> tuple[OKSPCA, StreamRecord]:
    settings: dict[str, Any] = {"missing": "impute", "missing_indicators": True}
    model = OKSPCA(2, n_random_features=D, random_state=0, **settings)
    record = StreamRecord(("r",), "y", ("a", "b"), "impute", evaluation=Evaluation.start(D, 4))
    for start in range(0, N, BLOCK):
        some = slice(start, start + BLOCK)
        known = np.ones(BLOCK, dtype=np.bool_)
        record = learn(model, record, Block(X[some], y[some], known, np.isnan(X[some])))
        if saves:
            model, again = model_from(OKSPCA, model_bytes(model, record))
            assert again is not None
            record = again
    return model, record


def test_indicators_of_missing_values_are_inputs_of_every_method() -> None:
    X, marked, y = gappy()
    model, record = learned_with_gaps(X, y, saves=False)
    found = scores(record.evaluation, classes=False)
    assert found is not None
    assert model.input_map_.n_inputs == 4
    # Where gaps are filled with the mean, which is about zero, columns made by hand are the same.
    expected = evaluated(marked, y)
    for name in ("inputs", "linear"):
        score = found.entries[name].score
        assert score == pytest.approx(expected.entries[name].score, abs=0.01)
        assert score > 0.9
    assert found.entries["other"].score == pytest.approx(expected.entries["other"].score, abs=0.05)
    assert found.entries["other"].score > 0.5


def test_indicators_of_missing_values_come_through_a_file() -> None:
    X, _, y = gappy()
    whole, resumed = (learned_with_gaps(X, y, saves=saves) for saves in (False, True))
    assert model_bytes(*whole) == model_bytes(*resumed)


def test_scores_do_not_tell_that_a_climb_was_put_off() -> None:
    """The rows so far are kept as long as a map may change, whatever the row number says."""
    X, y = rows()
    settings: dict[str, Any] = {"preset": "predictive", "pilot_rows": 1024}
    expected = evaluated(X, y, **settings)
    model = OKSPCA(2, n_random_features=D, random_state=0, **settings)
    evaluation = Evaluation.start(D, X.shape[1])
    for start in range(0, len(X), BLOCK):
        some = slice(start, start + BLOCK)
        tested = before_learning(model, evaluation, X[some], y[some])
        is_last = start + BLOCK == 1024
        token = ENDING.set((lambda: True) if is_last else (lambda: False))
        try:
            model.partial_fit(X[some], y[some])
            assert bool(model.learned.search.owed) == is_last  # type: ignore[union-attr]
        finally:
            ENDING.reset(token)
        evaluation = after_learning(model, evaluation, tested, X[some], y[some])
        assert (evaluation.kept is not None) == (0 < start < 1024)
    found = scores(evaluation, classes=False)
    assert found is not None
    # One block was predicted with the map that was then in use.
    assert found.embedding == pytest.approx(expected.embedding, abs=0.05)
    assert found.entries["features"].score == pytest.approx(
        expected.entries["features"].score, abs=0.05
    )


def test_a_refused_block_leaves_no_trace_in_the_evaluation() -> None:
    X, y = rows()
    model, evaluation = followed(X[:1024], y[:1024])
    record = StreamRecord(("r",), "y", ("a", "b", "c"), "raise", 1024, evaluation=evaluation)
    before = model_bytes(model, record)
    bad = X[1024:1280].copy()
    bad[3, 1] = np.inf
    with pytest.raises(DataError, match="inf"):
        learn(model, record, Block(bad, y[1024:1280], np.ones(BLOCK, dtype=np.bool_), None))
    assert model_bytes(model, record) == before


def test_wide_inputs_are_left_out_and_cost_no_square() -> None:
    random = RandomState(0)
    X = random.normal(size=(768, MOST_COMPARED + 1))
    model, evaluation = followed(X, X[:, 0])
    found = scores(evaluation, classes=False)
    assert found is not None
    assert found.inputs is None
    assert {"inputs", "pca", "linear", "other"}.isdisjoint(found.entries)
    assert evaluation.inputs.gram.size == 0
    assert evaluation.other is None
    assert "embedding" in found.entries
    assert model.n_samples_seen_ == len(X)


def test_a_class_that_comes_late_is_counted_as_wrong_before_it_is_known() -> None:
    X, y = rows()
    labels = np.where(y > 0.0, "up", "down").astype(object)
    labels[1030:1040] = "new"
    _, evaluation = followed(X, labels)
    assert evaluation.tally.seen.tolist()[-1] == 10.0
    assert evaluation.tally.right[:, -1].max() == 0.0


def test_more_components_of_a_target_with_two_directions_add_nothing() -> None:
    random = RandomState(2)
    X = random.normal(size=(N, 5))
    labels = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    found = evaluated(X, labels)
    assert found.levels[2].score == found.levels[64].score == pytest.approx(found.embedding)


def test_evaluations_of_earlier_files_load_and_begin_anew() -> None:
    """Both older forms: sums about zero with a column of ones, and sums about the means."""
    X, y = rows()
    one, targets = np.column_stack([np.ones(N), X]), y[:, np.newaxis]
    losses = np.array([1024.0, 1.0, 2.0, 3.0])
    arrays = {
        "feature_gram": one.T @ one,
        "feature_cross": one.T @ targets,
        "input_gram": one.T @ one,
        "input_cross": one.T @ targets,
        "losses": losses,
    }
    first = read_evaluation(Source(Content({"features": 4, "inputs": 4, "outputs": 1}, arrays)))
    sink = Sink()
    sink.put("rows", N)
    for name in ("features", "inputs"):
        inner = sink.inside(name)
        for part, array in Side(np.zeros(3), np.eye(3), np.ones((3, 1)))._asdict().items():
            inner.array(part, array)
    sink.array("target_mean", np.ones(1))
    sink.array("losses", losses)
    for found in (first, read_evaluation(Source(sink.content()))):
        assert found.rows == 0
        assert len(found.features.mean) == len(found.inputs.mean) == 3
        assert scores(found, classes=False) is None


def test_what_is_written_is_read_again() -> None:
    X, y = rows()
    _, evaluation = followed(X[:768], y[:768])
    sink = Sink()
    write_evaluation(sink, evaluation)
    found = read_evaluation(Source(sink.content()))
    again = Sink()
    write_evaluation(again, found)
    assert again.content().header == sink.content().header
    for name, array in sink.content().tensors.items():
        np.testing.assert_array_equal(again.content().tensors[name], array)


def test_a_column_that_spreads_late_does_not_spoil_what_is_kept_of_the_others() -> None:
    """Scaled by the rows before it, one row of the first block would make all of the PCA."""
    X, y = rows()
    spoiled = np.column_stack([X, 1e-6 * RandomState(4).normal(size=N)])
    spoiled[2 * BLOCK + 7, 3] = 1.0
    found, plain = evaluated(spoiled, y), evaluated(X, y)
    assert found.entries["inputs"].score == pytest.approx(plain.entries["inputs"].score, abs=0.02)
    assert found.entries["pca"].score > 0.5 * plain.entries["pca"].score


@pytest.mark.parametrize("factor", [1e-100, 1e100])
def test_units_of_the_inputs_change_no_score(factor: float) -> None:
    X, y = rows()
    plain, other = evaluated(X, y), evaluated(X * [factor, 1.0, 7.0], y)
    for name in ("inputs", "pca", "linear"):
        assert other.entries[name].score == pytest.approx(plain.entries[name].score, abs=1e-9)
