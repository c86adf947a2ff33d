"""Merging by the estimators: what pools, what is refused, and what is renewed."""

import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from sklearn.exceptions import NotFittedError

from okspca import OKSPCA, MergeError, StateError, Status
from okspca.distributed import Survey, identity, merge_states
from okspca.numerics.subspace import projector_distance
from okspca.services import Cached
from okspca.standardize import NoStandardizer
from okspca.state.container import pack, unpack

X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


def test_merge_is_in_place_and_checks() -> None:
    X = RandomState(0).normal(size=(200, 4))
    y = np.sin(X[:, 0]) + X[:, 1] ** 2
    one = OKSPCA(standardize=None, random_state=0).partial_fit(X[:90], y[:90])
    two = OKSPCA(standardize=None, random_state=0).partial_fit(X[90:], y[90:])
    assert one.merge(two) is one
    assert one.n_samples_seen_ == 200
    whole = OKSPCA(standardize=None, random_state=0).fit(X, y)
    np.testing.assert_allclose(one.moment_.matrix(), whole.moment_.matrix(), atol=1e-14)
    for other, message in (
        (OKSPCA(standardize=None, random_state=1).fit(X, y), "input maps differ"),
        (OKSPCA(random_state=0).fit(X, y), "different ways"),
        (OKSPCA(3, standardize=None, random_state=0).fit(X, y), "n_components"),
        (OKSPCA(standardize=None, random_state=0).fit(X, y > 0), "task"),
        (OKSPCA(standardize=None, random_state=0).fit(X[:, :2], y), "4 inputs here, 2 there"),
    ):
        with pytest.raises(MergeError, match=message):
            one.merge(other)
    with pytest.raises(NotFittedError):
        one.merge(OKSPCA())


def test_merge_that_brings_a_third_class_to_the_binary_solver() -> None:
    labels = (X[:, 0] > 0).astype(int)
    one, two = (
        OKSPCA(1, solver="binary", random_state=0).partial_fit(X, labels + shift)
        for shift in (0, 1)
    )
    with pytest.raises(MergeError, match="two classes, not 3 classes"):
        one.merge(two)
    assert sorted(one.classes_.tolist()) == [0, 1]


@pytest.mark.parametrize("solver", ["exact", "binary", "contrast", "exact-each", "cached"])
def test_one_class_on_each_side_of_a_merge_is_a_target(solver: str) -> None:
    """Shards by class: each side has its only class in its first column."""
    one, two = (
        OKSPCA(1, solver=solver, standardize=None, random_state=0).partial_fit(
            X[100 * label : 100 * label + 100], np.full(100, label)
        )
        for label in (0, 1)
    )
    assert one.basis().status in (Status.NO_TARGET, Status.NOT_INITIALISED)
    basis = one.merge(two).basis()
    whole = OKSPCA(1, standardize=None, random_state=0).fit(X[:200], np.repeat([0, 1], 100))
    assert basis.status is Status.VALID
    assert projector_distance(basis.vectors, whole.basis().vectors) < 1e-12


def test_merge_compares_names_label_kinds_and_target_standardisers() -> None:
    names = [list("abcde"), list("edcba")]
    one, two = (OKSPCA(random_state=0).fit(pd.DataFrame(X, columns=n), Y) for n in names)
    with pytest.raises(MergeError, match="feature names"):
        one.merge(two)
    numbers = OKSPCA(random_state=0).fit(X, (Y > 0).astype(int))
    words = OKSPCA(random_state=0).fit(X, np.where(Y > 0, "a", "b"))
    with pytest.raises(MergeError, match="kind of labels"):
        numbers.merge(words)
    plain = OKSPCA(random_state=0, target_standardizer=NoStandardizer()).fit(X, Y)
    with pytest.raises(MergeError, match="different ways"):
        plain.merge(OKSPCA(random_state=0).fit(X, Y))


def test_merge_renews_what_a_cache_holds() -> None:
    for solver in (Cached(every=1000), "exact-each"):
        one, two = (
            OKSPCA(2, solver=solver, standardize=None, random_state=0).partial_fit(X[half], Y[half])
            for half in (slice(0, 100), slice(100, 300))
        )
        basis = one.merge(two).basis()
        whole = OKSPCA(2, standardize=None, random_state=0).fit(X, Y).basis()
        assert (basis.status, basis.age, basis.built_at) == (Status.VALID, 0, 300)
        assert projector_distance(basis.vectors, whole.vectors) < 1e-9


def part(seed: int, n: int = 40, **settings: Any) -> OKSPCA:
    """A model of some rows of its own."""
    inputs = RandomState(seed).normal(size=(n, 3))
    return OKSPCA(2, n_random_features=8, random_state=0, **settings).fit(inputs, inputs[:, 0])


def same(model: OKSPCA) -> OKSPCA:
    """The model as another process would load it."""
    return OKSPCA.from_bytes(model.to_bytes())


@pytest.mark.parametrize("objective", ["covariance", "whitened"])
def test_no_row_is_counted_twice(objective: str) -> None:
    a, b, c = (part(seed, objective=objective) for seed in range(3))
    both = same(b).merge(a)
    pairs = {
        "itself": (a, a),
        "a copy": (a, copy.deepcopy(a)),
        "the file again": (same(a), same(a)),
        "the same part again": (both, a),
        "one that contains it": (a, same(both)),
        "a part in common": (same(both), same(c).merge(same(a))),
        "the other part": (same(both), b),
    }
    for what, (one, other) in pairs.items():
        before = one.to_bytes(), other.to_bytes()
        with pytest.raises(MergeError, match="rows would count twice"):
            one.merge(other)
        assert (one.to_bytes(), other.to_bytes()) == before, what
    assert same(both).merge(c).n_samples_seen_ == 120
    assert same(a).merge(a, distinct=True).n_samples_seen_ == 80
    assert same(both).to_bytes() == same(b).merge(same(a)).to_bytes()


def test_merged_models_remember_their_parts_while_they_learn() -> None:
    a, b = part(0), part(1)
    both = same(b).merge(a)
    for i in range(3):
        both.learn_one(X[i, :3], float(i))
    both.partial_fit(np.ones((2, 3)), [0.5, 1.5])
    with pytest.raises(MergeError, match="twice"):
        both.merge(a)


def test_alike_shards_of_an_engine_are_different_rows() -> None:
    a = part(0)
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, [a.to_bytes()] * 3))
    assert merged.n_samples_seen_ == 120
    assert b"ancestry" not in merged.to_bytes()


def test_states_of_zero_rows_stay_neutral() -> None:
    inputs = RandomState(0).normal(size=(30, 2))
    model = OKSPCA(1, n_random_features=8, random_state=0)
    start = identity(model, Survey(model).add(inputs, inputs[:, 0]))
    learned = same(start).partial_fit(inputs, inputs[:, 0])
    assert same(start).merge(start).n_samples_seen_ == 0
    for merged in (same(start).merge(learned), same(learned).merge(start)):
        assert b"ancestry" not in merged.to_bytes()
        with pytest.raises(MergeError, match="twice"):
            merged.merge(learned)


def test_a_digest_that_is_none_is_refused() -> None:
    data = part(0).merge(part(1)).to_bytes()
    content = unpack(data)
    content.header["fitted"]["ancestry"][0] = "no digest"
    with pytest.raises(StateError, match="ancestry"):
        OKSPCA.from_bytes(pack(content))
