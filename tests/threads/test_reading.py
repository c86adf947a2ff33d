"""One thread learns, four read: every answer is that of a replay at the row it names."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, Basis
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
    snapshot = model._ready().snapshot()
    before = snapshot.stability()
    for x, target in zip(X, y.tolist(), strict=True):
        model.learn_one(x, target)
    assert snapshot.stability() == before
    assert model.stability() != before


class Torn(Readable):
    """A state that changes under its reader's eyes, once."""

    def __init__(self) -> None:
        self.halves = [1, 1]

    def twin(self) -> "Torn":
        twin = Torn()
        twin.halves = list(self.halves)
        return twin


def test_an_answer_from_a_torn_state_is_asked_again() -> None:
    state, seen = Torn(), []

    def question(asked: Torn) -> tuple[int, ...]:
        seen.append(asked)
        if len(seen) == 1:
            asked.version += 2
            asked.halves = [2, 2]
            return 1, 2
        return tuple(asked.halves)

    assert state.read(question) == (2, 2)
    assert seen[0] is state
    assert seen[1] is not state


def test_an_error_is_the_readers_own_only_if_nothing_changed() -> None:
    state = Torn()

    def fails(asked: Torn) -> int:
        if asked is state:
            asked.version += 2
            raise ArithmeticError
        return 7

    assert state.read(fails) == 7

    def always(asked: Torn) -> int:
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        state.read(always)


def test_while_a_block_is_learned_the_state_before_it_is_read() -> None:
    state = Torn()
    state.published = state.twin()
    state.version += 1
    state.halves = [5, 0]
    assert state.read(lambda asked: list(asked.halves)) == [1, 1]


def test_a_copy_made_while_the_state_changed_is_made_again() -> None:
    class Restless(Torn):
        copies = 0

        def twin(self) -> "Restless":
            self.copies += 1
            twin = Restless()
            twin.halves = list(self.halves)
            if self.copies == 1:
                self.version += 2
                self.halves = [2, 2]
            if self.copies == 2:
                self.version += 2
                self.halves = [3, 3]
                raise ArithmeticError
            return twin

    assert Restless().snapshot().halves == [3, 3]


def test_a_copy_taken_during_a_change_is_not_in_the_middle_of_one() -> None:
    state = Torn()
    state.version, state.published = 5, state.twin()
    for copied in (copy.copy(state), pickle.loads(pickle.dumps(state))):
        assert (copied.version, copied.published) == (0, None)
        assert copied.read(lambda asked: list(asked.halves)) == [1, 1]
