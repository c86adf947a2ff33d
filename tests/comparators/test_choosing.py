"""Comparisons and choices by held-back rows: right verdicts, and nothing chosen by chance."""

import numpy as np
import pytest
from numpy.random import RandomState

import okspca
from okspca.comparators.choosing import Trial, cheapest
from okspca.comparators.comparison import compare, dealt
from okspca.errors import DataError
from okspca.estimators.held_out import Score


@pytest.fixture(scope="module")
def rows() -> np.ndarray:
    return RandomState(0).normal(size=(800, 5))


def test_the_last_rows_are_held_back(rows: np.ndarray) -> None:
    found = dealt(rows, np.arange(800.0))
    assert found.new_y.tolist() == list(range(600, 800))
    given = dealt(rows, np.arange(800), (rows[:50], np.arange(50)))
    assert (len(given.y), len(given.new_y), given.measure) == (800, 50, "accuracy")


def test_a_linear_relation_is_no_victory_over_lines(rows: np.ndarray) -> None:
    y = rows @ [1.0, 2.0, 0.0, 0.0, 0.0] + 0.1 * RandomState(1).normal(size=800)
    found = compare(rows, y, n_components=1)
    # One component of PLS is not quite the regression, so ours may be better by a hair.
    assert found.rival.name == "PLS"
    assert found.entries[0].score.value - found.rival.score.value < 0.02
    assert "below the" in found.verdict or "beside the" in found.verdict


def test_what_lines_cannot_tell_is_a_victory(rows: np.ndarray) -> None:
    labels = np.where(rows[:, 0] * rows[:, 1] > 0.0, "same", "opposite")
    found = compare(rows, labels, n_components=1)
    assert found.verdict.startswith("Yes: 1 component of okspca")
    assert "above the" in found.verdict
    assert {entry.width for entry in found.entries if entry.is_reduced} == {1}
    assert all(entry.score.error > 0.0 for entry in found.entries)


@pytest.mark.parametrize(
    ("n", "settings", "problem"),
    [
        (30, {}, "30 rows; a comparison takes at least 40"),
        (100, {"task": "guess"}, "task='guess' is not known"),
        (100, {"test": (np.zeros((5, 5)), np.zeros(5)), "task": "classification"}, "the class"),
    ],
)
def test_impossible_comparisons_are_refused(
    n: int, settings: dict[str, object], problem: str, rows: np.ndarray
) -> None:
    with pytest.raises(DataError, match=problem):
        okspca.compare(rows[:n], np.zeros(n), **settings)


def trial(k: int, width: int, mean: float, noise: int) -> Trial:
    influences = 0.3 * RandomState(noise).normal(size=400)
    return Trial(k, width, 1.0, Score(mean, influences))


def test_the_cheapest_within_an_error_is_chosen() -> None:
    best, near, far = trial(8, 512, 0.800, 0), trial(2, 512, 0.799, 1), trial(1, 512, 0.6, 2)
    assert cheapest([best, near, far]) is near
    assert cheapest([best, far]) is best
    # Rows that both get wrong alike do not blur a difference.
    alike = Trial(1, 512, 1.0, Score(0.78, best.score.influences))
    assert cheapest([best, alike]) is best


def test_rank_and_width_follow_the_rows(rows: np.ndarray) -> None:
    y = np.sin(2.0 * rows).sum(axis=1)
    sizes = {"n_components": (1, 2), "n_random_features": (4, 128), "bandwidth": (1.0, 2.0)}
    found = okspca.choose(rows, y, **sizes)
    assert len(found.trials) == 8
    assert found.trials[0].score.value == max(t.score.value for t in found.trials)
    assert found.chosen.n_random_features == 128
    model = found.model().fit(rows, y)
    assert model.basis().rank == found.chosen.n_components
    assert "chosen" in str(found)


def test_two_classes_leave_one_rank_to_try(rows: np.ndarray) -> None:
    found = okspca.choose(rows, rows[:, 0] > 0.0, n_random_features=(16,), bandwidth=(1.0,))
    assert [t.n_components for t in found.trials] == [1]


def test_impossible_choices_are_refused(rows: np.ndarray) -> None:
    with pytest.raises(DataError, match="n_components="):
        okspca.choose(rows, rows[:, 0], n_components=(0,))
    with pytest.raises(DataError, match="give more of them"):
        okspca.choose(rows, rows[:, 0], n_components=(9,), n_random_features=(8,))
