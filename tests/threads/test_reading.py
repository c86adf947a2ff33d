"""One thread learns, four read: every answer is that of a replay at the row it names."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, Basis
from okspca.pipeline.answers import stability
from okspca.pipeline.snapshot import Readable
from tests.threads.meeting import answers_of

N = 300
X = RandomState(0).normal(size=(N, 5))
RESPONSES: dict[str, Any] = {
    "number": np.sin(X[:, 0]) + X[:, 1] ** 2,
    "label": np.digitize(X[:, 0] + X[:, 1] ** 2, [0.3, 1.2]),
}


def one_by_one(model: OKSPCA, y: Any, start: int) -> None:
    for x, target in zip(X[start:], y[start:].tolist(), strict=True):
        model.learn_one(x, target)


def by_blocks(model: OKSPCA, y: Any, start: int) -> None:
    for first in range(start, N, 7):
        rows = slice(first, first + 7)
        model.partial_fit(X[rows], y[rows])


@pytest.mark.parametrize("learn", [one_by_one, by_blocks])
@pytest.mark.parametrize("target", ["number", "label"])
@pytest.mark.parametrize("solver", ["exact", "adam", "cached", "warm-block"])
def test_every_answer_is_that_of_a_replay(
    solver: str, target: str, learn: Callable[[OKSPCA, Any, int], None]
) -> None:
    y, start = RESPONSES[target], 30
    settings: dict[str, Any] = {"solver": solver, "n_random_features": 64, "random_state": 0}
    model = OKSPCA(2, **settings).partial_fit(X[:start], y[:start])
    answers: list[Basis] = answers_of(lambda: learn(model, y, start), model.basis)
    replay = OKSPCA(2, **settings).partial_fit(X[:start], y[:start])
    expected = {start: replay.basis()}
    step = 1 if learn is one_by_one else 7
    for first in range(start, N, step):
        if step == 1:
            replay.learn_one(X[first], y[first].item())
        else:
            replay.partial_fit(X[first : first + step], y[first : first + step])
        expected[replay.n_samples_seen_] = replay.basis()
    assert answers
    for basis in answers:
        at = basis.built_at + basis.age
        np.testing.assert_array_equal(basis.vectors, expected[at].vectors)
        assert basis.certificate == expected[at].certificate


def test_embeddings_come_from_one_state() -> None:
    y = RESPONSES["number"]
    model = OKSPCA(2, n_random_features=64, random_state=0).partial_fit(X[:30], y[:30])
    probe = X[:3]
    embeddings = answers_of(
        lambda: one_by_one(model, y, 30), lambda: model.transform(probe).tobytes()
    )
    replay = OKSPCA(2, n_random_features=64, random_state=0).partial_fit(X[:30], y[:30])
    known = {replay.transform(probe).tobytes()}
    for x, target in zip(X[30:], y[30:].tolist(), strict=True):
        known.add(replay.learn_one(x, target).transform(probe).tobytes())
    assert embeddings
    assert set(embeddings) <= known


def test_a_snapshot_shares_no_sub_moments() -> None:
    y = RESPONSES["number"]
    model = OKSPCA(2, n_random_features=64, stability=4, random_state=0).partial_fit(X, y)
    model.learn_one(X[0], float(y[0]))  # from here on the groups are changed in place
    snapshot = model.ready().snapshot()
    before = stability(snapshot)
    for x, target in zip(X, y.tolist(), strict=True):
        model.learn_one(x, target)
    assert stability(snapshot) == before
    assert model.estimate_stability() != before


class Halves:
    """A state of two halves that belong together."""

    def __init__(self, value: int = 1) -> None:
        self.halves = [value, value]

    def twin(self) -> "Halves":
        twin = Halves()
        twin.halves = list(self.halves)
        return twin


def test_an_answer_from_a_torn_state_is_asked_again() -> None:
    held, seen = Readable(Halves()), []

    def question(asked: Halves) -> tuple[int, ...]:
        seen.append(asked)
        if len(seen) == 1:
            held.version += 2
            asked.halves = [2, 2]
            return 1, 2
        return tuple(asked.halves)

    assert held.read_as_is(question) == (2, 2)
    assert seen[0] is held.state
    assert seen[1] is not held.state


def test_an_error_is_the_readers_own_only_if_nothing_changed() -> None:
    held = Readable(Halves())

    def fails(asked: Halves) -> int:
        if asked is held.state:
            held.version += 2
            raise ArithmeticError
        return 7

    assert held.read_as_is(fails) == 7

    def always(asked: Halves) -> int:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        held.read_as_is(always)


def test_a_state_that_was_replaced_while_it_was_read_is_as_true_as_the_new_one() -> None:
    held = Readable(Halves())

    def question(asked: Halves) -> int:
        held.state = Halves(2)
        return sum(asked.halves)

    assert held.read_as_is(question) == 2
    assert held.read_as_is(question) == 4


def test_a_copy_made_while_the_state_changed_is_made_again() -> None:
    class Restless(Halves):
        copies = 0

        def twin(self) -> "Restless":
            self.copies += 1
            twin = Restless()
            twin.halves = list(self.halves)
            if self.copies == 1:
                held.version += 2
                self.halves = [2, 2]
            if self.copies == 2:
                held.version += 2
                self.halves = [3, 3]
                raise ArithmeticError
            return twin

    held = Readable(Restless())
    assert held.snapshot().halves == [3, 3]


def test_a_copy_taken_during_a_change_is_not_in_the_middle_of_one() -> None:
    held = Readable(Halves())
    held.version = 5
    for twin in (copy.copy(held), pickle.loads(pickle.dumps(held))):
        assert twin.version == 0
        assert twin.read_as_is(lambda asked: list(asked.halves)) == [1, 1]
