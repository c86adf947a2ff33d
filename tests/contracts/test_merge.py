"""Merging pools the realised features exactly, whole or not at all."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA, MergeError, NotReadyError, Status
from okspca.standardize import CausalStandardizer, FrozenStandardizer
from tests.contracts.cases import (
    CACHES,
    FRESH,
    LABEL_TASKS,
    POOLABLE,
    TRACKERS,
    Case,
    Stream,
    cases,
    contract,
    learn,
    make,
    streams,
    with_target,
)
from tests.contracts.closeness import (
    assert_same_basis,
    assert_same_embedding,
    assert_same_moment,
    noise_of,
    tolerance_for,
)
from tests.contracts.fingerprint import fingerprint, state_of

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
fixed_modes = st.sampled_from((None, "frozen"))
compressions = st.sampled_from(((True, True), (False, False), (True, False), (False, True)))


def shards(case: Case, stream: Stream, bounds: list[int], **options: Any) -> tuple[OKSPCA, ...]:
    """Models that each learned the rows between two bounds."""
    return tuple(
        learn(make(case, stream, **options), stream, rows=slice(start, stop))
        for start, stop in pairwise(bounds)
    )


def assert_same_answers(a: OKSPCA, b: OKSPCA, stream: Stream) -> None:
    """Same moment, basis and embedding, up to the order of the classes."""
    assert_same_moment(a, b)
    rank = max(b.basis().rank, 1)
    tolerance = tolerance_for(b.moment_.matrix(), rank, noise_of(b))
    assert_same_basis(a.basis(), b.basis(), tolerance)
    assert_same_embedding(a.transform(stream.X), b.transform(stream.X), tolerance)


@cases(FRESH)
@contract(4)
@given(mode=fixed_modes, compress=compressions, data=st.data())
def test_merging_is_concatenation(
    case: Case, mode: str | None, compress: tuple[bool, bool], data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    cut = data.draw(st.integers(1, stream.n - 1))
    first = make(case, stream, mode, compress=compress[0])
    second = make(case, stream, mode, compress=compress[1])
    learn(first, stream, rows=slice(cut))
    learn(second, stream, rows=slice(cut, None))
    whole = learn(make(case, stream, mode), stream)
    assert first.merge(second) is first
    assert first.n_samples_seen_ == stream.n
    assert_same_answers(first, whole, stream)


@cases(tuple(CACHES))
@contract(3)
@given(mode=fixed_modes, data=st.data())
def test_merging_renews_what_a_cache_holds(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    bounds = [0, data.draw(st.integers(1, stream.n - 1)), stream.n]
    first, second = shards(case, stream, bounds, mode=mode)
    whole = learn(make(case._replace(solver="exact"), stream, mode), stream)
    assert_same_answers(first.merge(second), whole, stream)


@cases(tuple(CACHES))
@contract(2)
@given(mode=fixed_modes, data=st.data())
def test_caches_are_right_again_when_next_built(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = replace(data.draw(streams(case.task, least=25)), n=40)
    cut = data.draw(st.integers(1, 24))
    first, second = shards(case, stream, [0, cut, 25], mode=mode)
    first.merge(second)
    learn(first, stream, rows=slice(25, None))
    whole = learn(make(case, stream, mode), stream)
    built_at = whole.basis().built_at
    assert_same_moment(first, whole)
    behind = learn(make(case, stream, mode), stream, rows=slice(built_at))
    C = behind.moment_.matrix()
    tolerance = tolerance_for(C, max(whole.basis().rank, 1), noise_of(behind))
    assert_same_basis(first.basis(), whole.basis(), tolerance)


@cases(FRESH)
@contract(2)
@given(mode=fixed_modes, data=st.data())
def test_learning_goes_on_after_a_merge(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=6))
    bounds = sorted(data.draw(st.sets(st.integers(1, stream.n - 1), min_size=2, max_size=2)))
    first, second = shards(case, stream, [0, *bounds], mode=mode)
    learn(first.merge(second), stream, rows=slice(bounds[1], None))
    assert_same_answers(first, learn(make(case, stream, mode), stream), stream)


@cases(FRESH)
@contract(2)
@given(mode=fixed_modes, data=st.data())
def test_merging_is_associative(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=6))
    bounds = sorted(data.draw(st.sets(st.integers(1, stream.n - 1), min_size=2, max_size=2)))
    a, b, c = shards(case, stream, [0, *bounds, stream.n], mode=mode)
    d, e, f = shards(case, stream, [0, *bounds, stream.n], mode=mode)
    assert_same_answers(a.merge(b).merge(c), d.merge(e.merge(f)), stream)


@cases(FRESH)
@contract(2)
@given(mode=st.sampled_from((None, "frozen", "causal")), data=st.data())
def test_merging_is_commutative(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=6))
    bounds = [0, data.draw(st.integers(1, stream.n - 1)), stream.n]
    a, b = shards(case, stream, bounds, mode=mode)
    c, d = shards(case, stream, bounds, mode=mode)
    assert_same_answers(a.merge(b), d.merge(c), stream)


@cases(("exact",))
@contract(4)
@given(data=st.data())
def test_causal_standardizers_pool_to_those_of_all_rows(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    bounds = [0, data.draw(st.integers(1, stream.n - 1)), stream.n]
    first, second = shards(case, stream, bounds)
    pooled = first.merge(second).input_standardizer_
    assert isinstance(pooled, CausalStandardizer)
    assert np.isclose(pooled.count, stream.n)
    scale = np.abs(stream.X).max()
    assert np.allclose(pooled.mean, stream.X.mean(axis=0), rtol=0.0, atol=1e-12 * scale)
    assert np.allclose(pooled.variance, stream.X.var(axis=0), rtol=0.0, atol=1e-12 * scale**2)


@cases(FRESH, ("scalar",))
@contract(4)
@given(data=st.data())
def test_compressed_targets_may_lie_in_different_directions(
    case: Case, data: st.DataObject
) -> None:
    """The sides have seen different parts of the curve of target features, and few enough rows."""
    stream = replace(data.draw(streams(case.task, least=8, most=20)), n_target_features=64)
    stream = with_target(stream, np.sort(stream.y))
    first, second = shards(case, stream, [0, stream.n // 2, stream.n], mode=None)
    assert first.moment_.compression is not None
    assert second.moment_.compression is not None
    assert_same_answers(first.merge(second), learn(make(case, stream, None), stream), stream)
    assert first.moment_.compression is not None


@cases(("exact", "contrast", "warm-block", "exact-wide"), ("multiclass",))
@contract(6)
@given(data=st.data())
def test_classes_may_be_known_to_one_side_only(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=4, most=30))
    cut = data.draw(st.integers(1, stream.n - 1))
    mine, theirs = (
        data.draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=3, unique=True))
        for _ in range(2)
    )
    labels = [mine[row % len(mine)] for row in range(cut)]
    labels += [theirs[row % len(theirs)] for row in range(stream.n - cut)]
    stream = with_target(stream, np.array(labels))
    first, second = shards(case, stream, [0, cut, stream.n], mode=None)
    assert_same_answers(first.merge(second), learn(make(case, stream, None), stream), stream)


@cases(POOLABLE, LABEL_TASKS)
@contract(1)
@given(mode=st.sampled_from((None, "frozen", "causal")), data=st.data())
def test_one_class_on_each_side_is_a_target(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=20, most=30))
    stream = with_target(stream, np.where(np.arange(stream.n) < 10, "a", "b"))
    first, second = shards(case, stream, [0, 10, stream.n], mode=mode)
    assert first.merge(second).basis().status is Status.VALID


@cases(FRESH)
@contract(2)
@given(mode=fixed_modes, forgetting=st.sampled_from((0.9, 0.5)), data=st.data())
def test_forgetting_states_pool_at_equal_clocks(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, most=20))
    half = stream.n // 2
    rows = slice(2 * half)
    first, second = shards(case, stream, [0, half, 2 * half], mode=mode, forgetting=forgetting)
    first.merge(second)
    weights = np.tile(forgetting ** np.arange(half - 1.0, -1.0, -1.0), 2)
    weights = np.append(weights, np.ones(stream.n - 2 * half))
    whole = learn(make(case, stream, mode), stream, rows=rows, weights=weights)
    assert_same_answers(first, whole, stream)


@cases(POOLABLE)
@contract(1)
@given(data=st.data())
def test_forgetting_states_do_not_pool_at_unequal_clocks(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=3, most=20))
    first, second = shards(case, stream, [0, 1, stream.n], mode=None, forgetting=0.9)
    assert_rejected(first, second, "equal clocks")


@cases(TRACKERS)
@contract(2)
@given(mode=st.sampled_from((None, "frozen", "causal")), data=st.data())
def test_trackers_do_not_pool(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    first, second = shards(case, stream, [0, 1, stream.n], mode=mode)
    assert_rejected(first, second, r"solver='exact'")


@cases(POOLABLE)
@contract(2)
@given(mode=st.sampled_from((None, "frozen", "causal")), data=st.data())
def test_merging_leaves_the_other_unchanged(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    first, second = shards(case, stream, [0, 1, stream.n], mode=mode)
    before = state_of(second)
    first.merge(second)
    learn(first, stream)
    assert state_of(second) == before


def other_frozen(stream: Stream) -> FrozenStandardizer:
    """A frozen standardiser unlike the one that models of this stream share."""
    return FrozenStandardizer(np.full(stream.d, 7.0), np.full(stream.d, 2.0))


Difference = Callable[[Stream], dict[str, Any]]
DIFFERENCES: dict[str, tuple[str, Difference]] = {
    "map": ("input maps differ", lambda stream: {"random_state": stream.seed + 1}),
    "solver": ("solver", lambda stream: {"solver": "warm-block"}),
    "components": ("n_components", lambda stream: {"n_components": 4}),
    "front end": (
        "standardise",
        lambda stream: {"standardize": "causal", "input_standardizer": None},
    ),
    "frozen": ("frozen", lambda stream: {"input_standardizer": other_frozen(stream)}),
    "forgetting": ("forgetting", lambda stream: {"forgetting": 0.9}),
}


@pytest.mark.parametrize("difference", DIFFERENCES)
@cases(("exact",))
@contract(1)
@given(data=st.data())
def test_models_that_differ_do_not_pool(case: Case, difference: str, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    message, options = DIFFERENCES[difference]
    if (difference, case.precision) == ("map", "float32"):  # the second one is drawn
        message = "precision of their features"
    first = learn(make(case, stream, "frozen"), stream)
    second = learn(make(case, stream, "frozen", **options(stream)), stream)
    assert_rejected(first, second, message)


@cases(("exact",), LABEL_TASKS)
@contract(2)
@given(data=st.data())
def test_models_of_different_tasks_do_not_pool(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    first = learn(make(case, stream, None), stream)
    second = learn(make(case, stream, None), replace(stream, task="scalar"))
    assert_rejected(first, second, "task")


@cases(("exact",), LABEL_TASKS)
@contract(2)
@given(data=st.data())
def test_rows_held_back_do_not_pool(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    first = learn(make(case, stream, bandwidth="median"), stream)
    second = learn(make(case, stream, bandwidth="median"), stream)
    before = state_of(first), state_of(second)
    with pytest.raises(NotReadyError, match="rows"):
        first.merge(second)
    assert (state_of(first), state_of(second)) == before


def assert_rejected(first: OKSPCA, second: OKSPCA, message: str) -> None:
    """Merging raises, either way round, and leaves both as they were."""
    before = fingerprint((vars(first), vars(second)))
    for one, other in ((first, second), (second, first)):
        with pytest.raises(MergeError, match=message):
            one.merge(other)
    assert fingerprint((vars(first), vars(second))) == before
