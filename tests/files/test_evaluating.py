"""Scores of predictions made before a block is learned: levels and units change nothing."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.errors import DataError
from okspca.files.evaluating import Scores, after_learning, before_learning, scores
from okspca.numerics.arrays import Floats
from okspca.state.container import Content
from okspca.state.evaluations import Evaluation, read_evaluation
from okspca.state.fields import Source

N, BLOCK, D = 2048, 256, 32


def rows() -> tuple[Floats, Floats]:
    random = RandomState(0)
    X = random.normal(size=(N, 3))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.3 * random.normal(size=N)


def evaluated(X: Floats, y: Floats) -> Scores:
    model, evaluation = OKSPCA(2, n_random_features=D, random_state=0), Evaluation.start(D, 3)
    for start in range(0, N, BLOCK):
        some = slice(start, start + BLOCK)
        tested = before_learning(model, evaluation, X[some], y[some])
        model.partial_fit(X[some], y[some])
        evaluation = after_learning(model, evaluation, tested, y[some])
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


def test_sums_about_zero_of_older_files_are_centred() -> None:
    X, y = rows()
    one, targets = np.column_stack([np.ones(N), X]), y[:, np.newaxis]
    arrays = {
        "feature_gram": one.T @ one,
        "feature_cross": one.T @ targets,
        "input_gram": one.T @ one,
        "input_cross": one.T @ targets,
        "losses": np.array([1024.0, 1.0, 2.0, 3.0]),
    }
    found = read_evaluation(Source(Content({"features": 4, "inputs": 4, "outputs": 1}, arrays)))
    centred = X - X.mean(axis=0)
    assert found.rows == N
    np.testing.assert_allclose(found.target_mean, [y.mean()])
    np.testing.assert_allclose(found.features.gram, centred.T @ centred, atol=1e-9)
    np.testing.assert_allclose(found.inputs.cross[:, 0], centred.T @ y, atol=1e-9)
