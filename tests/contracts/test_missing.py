"""Rows that lack values: what is learned is what complete rows would have taught, however cut."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.sparse import csr_array

from okspca import OKSPCA, DataError, MergeError, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.filling import Means
from okspca.numerics.arrays import Floats
from tests.contracts.cases import (
    ROUTES,
    Case,
    Stream,
    cases,
    contract,
    cuts,
    frozen_on,
    learn,
    make,
    streams,
)
from tests.contracts.closeness import assert_same_moment
from tests.contracts.fingerprint import fingerprint, state_of
from tests.reference.filling import filled

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
policies = st.sampled_from(("impute", "skip"))
SETTINGS: tuple[dict[str, Any], ...] = (
    {"mode": "causal"},
    {"mode": None},
    {"mode": "causal", "forgetting": 0.9},
    {"mode": "causal", "window": 16},
    {"mode": "causal", "missing_indicators": True},
)
settings = st.sampled_from(SETTINGS)


def gappy(stream: Stream, share: float = 0.25) -> Stream:
    """The same stream with values missing, in the first rows too."""
    random = RandomState(stream.seed + 7)
    X = np.where(random.rand(stream.n, stream.d) < share, np.nan, stream.X)
    X[0, 0] = np.nan
    return with_rows(stream, X, stream.y)


def with_rows(stream: Stream, X: Floats, y: NDArray[Any]) -> Stream:
    """The recipe with other rows."""
    changed = replace(stream, n=len(X))
    vars(changed).update(X=np.ascontiguousarray(X), y=y)
    return changed


def means_of(model: OKSPCA) -> Means:
    """What a model fills in."""
    assert model.learned is not None
    assert model.learned.preparation is not None
    assert model.learned.preparation.means is not None
    return model.learned.preparation.means


def completed(stream: Stream, policy: str, options: dict[str, Any]) -> Stream:
    """What the policy makes of a stream, by the reference."""
    if policy == "skip":
        kept = ~np.isnan(stream.X).any(axis=1)
        return with_rows(stream, stream.X[kept], stream.y[kept])
    window = options.get("window")
    fades = 1.0 - 1.0 / window if window else options.get("forgetting", 1.0)
    X = filled(stream.X, np.ones(stream.n), fades)
    if options.get("missing_indicators"):
        X = np.hstack([X, np.isnan(stream.X)])
    return with_rows(stream, X, stream.y)


@cases(ROUTES, single=False)
@contract(6)
@given(policy=policies, options=settings, data=st.data())
def test_what_is_learned_are_the_completed_rows(
    case: Case, policy: str, options: dict[str, Any], data: st.DataObject
) -> None:
    stream = gappy(data.draw(streams(case.task, least=8)))
    whole = completed(stream, policy, options)
    plain = {name: value for name, value in options.items() if name != "missing_indicators"}
    if policy == "skip":
        options = plain
    model = learn(make(case, stream, missing=policy, **options), stream)
    if not whole.n:
        assert model.n_samples_seen_ == 0
        assert model.n_rows_skipped_ == stream.n
        return
    expected = learn(make(case, whole, **plain), whole)
    np.testing.assert_array_equal(model.moment_.matrix(), expected.moment_.matrix())
    assert model.n_samples_seen_ == whole.n
    assert model.n_rows_skipped_ == stream.n - whole.n
    assert model.n_values_imputed_ == (np.isnan(stream.X).sum() if policy == "impute" else 0)


@cases(ROUTES)
@contract(5)
@given(policy=policies, options=settings, data=st.data())
def test_cuts_change_nothing(
    case: Case, policy: str, options: dict[str, Any], data: st.DataObject
) -> None:
    stream = gappy(data.draw(streams(case.task, least=8)))
    places = data.draw(cuts(stream.n))
    at_once, in_parts, singly = (make(case, stream, missing=policy, **options) for _ in range(3))
    learn(at_once, stream)
    learn(in_parts, stream, places)
    for x, y in zip(stream.X, stream.y, strict=True):
        singly.learn_one(x, y)
    for model in (in_parts, singly):
        assert model.n_rows_skipped_ == at_once.n_rows_skipped_
        assert model.n_values_imputed_ == at_once.n_values_imputed_
        if at_once.n_samples_seen_:
            assert_same_moment(model, at_once)
        if policy == "impute":
            assert fingerprint(means_of(model)) == fingerprint(means_of(at_once))


@cases(("exact", "adam"))
@contract(4)
@given(policy=policies, options=settings, held=st.booleans(), data=st.data())
def test_saved_in_between_is_never_stopped(
    case: Case, policy: str, options: dict[str, Any], held: bool, data: st.DataObject
) -> None:
    stream = gappy(data.draw(streams(case.task, least=8)))
    cut = data.draw(st.integers(1, stream.n - 1))
    if held:  # rows wait for a bandwidth, with their gaps
        options = {**options, "bandwidth": "median"}
    straight, stopped = (make(case, stream, missing=policy, **options) for _ in range(2))
    learn(straight, stream, [cut])
    learn(stopped, stream, rows=slice(cut))
    resumed = OKSPCA.from_bytes(stopped.to_bytes())
    assert resumed.to_bytes() == stopped.to_bytes()
    learn(resumed, stream, rows=slice(cut, None))
    assert resumed.to_bytes() == straight.to_bytes()


@cases(("exact", "cached-7"))
@contract(4)
@given(policy=policies, options=settings, data=st.data())
def test_a_refused_block_leaves_no_trace(
    case: Case, policy: str, options: dict[str, Any], data: st.DataObject
) -> None:
    stream = gappy(data.draw(streams(case.task, least=8)))
    model = learn(make(case, stream, missing=policy, **options), stream, rows=slice(5))
    before = state_of(model)
    bad = stream.X[5:].copy()
    bad[-1, -1] = np.inf
    with pytest.raises(DataError, match=rf"inf.*row {len(bad) - 1}, column {stream.d - 1}"):
        model.partial_fit(bad, stream.y[5:])
    with pytest.raises(DataError, match=r"sample_weight"):
        model.partial_fit(stream.X[5:], stream.y[5:], sample_weight=-np.ones(stream.n - 5))
    assert state_of(model) == before


@cases(("exact",))
@contract(4)
@given(policy=policies, data=st.data())
def test_merged_frozen_parts_are_one_run(case: Case, policy: str, data: st.DataObject) -> None:
    stream = gappy(data.draw(streams(case.task, least=10)), share=0.1)
    cut = data.draw(st.integers(3, stream.n - 3))
    options: dict[str, Any] = {
        "mode": None,
        "standardize": "frozen",
        "input_standardizer": frozen_on(np.nan_to_num(stream.X) + 0.5),
        "missing": policy,
    }
    if not stream.has_labels:
        options["target_standardizer"] = frozen_on(stream.y.reshape(stream.n, -1))
    options.pop("mode")
    whole, first, second = (make(case, stream, **options) for _ in range(3))
    learn(whole, stream)
    learn(first, stream, rows=slice(cut))
    learn(second, stream, rows=slice(cut, None))
    if min(first.n_samples_seen_, second.n_samples_seen_) == 0:
        return
    first.merge(second)
    assert_same_moment(first, whole)
    for name in ("n_rows_skipped_", "n_values_imputed_", "n_samples_seen_"):
        assert getattr(first, name) == getattr(whole, name)


def test_merged_means_are_those_of_all_rows() -> None:
    random = RandomState(0)
    X = np.where(random.rand(60, 3) < 0.3, np.nan, random.normal(size=(60, 3)))
    one, two = (
        OKSPCA(2, n_random_features=8, random_state=0, missing="impute").fit(
            X[rows], random.normal(size=30)
        )
        for rows in (slice(30), slice(30, 60))
    )
    np.testing.assert_allclose(means_of(one.merge(two)).values(), np.nanmean(X, axis=0), atol=1e-14)
    plain = OKSPCA(2, n_random_features=8, random_state=0).fit(np.ones((5, 3)), np.arange(5.0))
    with pytest.raises(MergeError, match="missing"):
        one.merge(plain)


@pytest.mark.parametrize("policy", ["impute", "skip"])
@pytest.mark.parametrize("head", [OKSPCARegressor, OKSPCAClassifier])
def test_heads_learn_what_complete_rows_teach(head: Any, policy: str) -> None:
    random = RandomState(1)
    raw = random.normal(size=(200, 3))
    y: Any = raw[:, 0] ** 2 if head is OKSPCARegressor else np.where(raw[:, 0] > 0.2, "a", "b")
    X = np.where(random.rand(200, 3) < 0.2, np.nan, raw)
    kept: Any = ~np.isnan(X).any(axis=1) if policy == "skip" else np.full(200, True)
    whole = filled(X, np.ones(200))[kept]
    model = head(n_random_features=16, random_state=0, missing=policy, prequential=True)
    plain = head(n_random_features=16, random_state=0, prequential=True)
    model.partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    n_first = int(kept[:100].sum())
    plain.partial_fit(whole[:n_first], y[kept][:n_first])
    plain.partial_fit(whole[n_first:], y[kept][n_first:])
    np.testing.assert_array_equal(model.moment_.matrix(), plain.moment_.matrix())
    assert model.prequential_score_ == plain.prequential_score_
    assert head.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize("cut", [1, 7, 39])
def test_sparse_rows_fill_stored_gaps(cut: int) -> None:
    random = RandomState(2)
    dense = np.where(random.rand(40, 5) < 0.5, 0.0, random.normal(size=(40, 5)))
    dense[random.rand(40, 5) < 0.2] = np.nan
    y = random.normal(size=40)
    X, whole = csr_array(dense), csr_array(filled(dense, np.ones(40)))
    expected = OKSPCA(2, n_random_features=8, random_state=0).partial_fit(whole, y)
    model = OKSPCA(2, n_random_features=8, random_state=0, missing="impute")
    model.partial_fit(X[:cut], y[:cut]).partial_fit(X[cut:], y[cut:])
    assert_same_moment(model, expected)
    assert model.n_values_imputed_ == np.isnan(dense).sum()
    np.testing.assert_allclose(
        model.transform(X),
        expected.transform(csr_array(np.where(np.isnan(dense), np.nanmean(dense, 0), dense))),
        atol=1e-12,
    )
    skipping = OKSPCA(2, n_random_features=8, random_state=0, missing="skip").fit(X, y)
    assert skipping.n_rows_skipped_ == np.isnan(dense).any(axis=1).sum()
    assert np.isnan(skipping.transform(X)).any(axis=1).sum() == skipping.n_rows_skipped_
