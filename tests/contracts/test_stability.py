"""Contracts of the sub-moments: they follow the main moment whatever happens to it."""

import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA, DataError, MergeError, NotReadyError
from okspca.features import FourierMap, IdentityMap
from okspca.moments import GroupArrays
from okspca.moments.dealing import SEED
from okspca.numerics.arrays import Floats, is_writable
from tests.contracts.cases import (
    MODES,
    ROUTES,
    Case,
    Stream,
    cases,
    contract,
    cuts,
    learn,
    learn_singly,
    make,
    modes,
    streams,
)
from tests.contracts.closeness import assert_close, assert_same_moment, noise_of
from tests.contracts.fingerprint import fingerprint, state_of
from tests.reference.stability import groups_of_rows, half_sample_distances, weights_of

G = 4
forgettings = st.sampled_from((1.0, 0.9))


def groups_of(model: OKSPCA) -> GroupArrays:
    """The sub-moments over all target features, so that inner coordinates do not matter."""
    pipeline = model.ready().state
    assert pipeline.sub_moments is not None
    arrays = pipeline.sub_moments.arrays(pipeline.moment.rows)
    if pipeline.moment.compression is None:
        return arrays
    Q = pipeline.moment.compression.directions[: arrays.sums.shape[1]]
    return arrays._replace(sums=Q.T @ arrays.sums, right_means=arrays.right_means @ Q)


def pooled(groups: GroupArrays) -> Floats:
    """C̄ of all groups together, by the textbook formula."""
    shares = groups.weights / groups.weights.sum()
    left, right = shares @ groups.left_means, shares @ groups.right_means
    raw = sum(
        S / groups.weights.sum() + share * np.outer(r, m)
        for S, share, m, r in zip(
            groups.sums, shares, groups.left_means, groups.right_means, strict=True
        )
    )
    return (raw - np.outer(right, left)).T


def assert_groups_make_the_moment(model: OKSPCA) -> None:
    found, wanted = pooled(groups_of(model)), model.moment_.matrix()
    found = np.pad(found, ((0, 0), (0, wanted.shape[1] - found.shape[1])))
    assert_close(found, wanted, noise_of(model))


def assert_same_groups(a: OKSPCA, b: OKSPCA) -> None:
    mine, theirs = groups_of(a), groups_of(b)
    assert mine.rows.tolist() == theirs.rows.tolist()
    for found, wanted in zip(mine[1:], theirs[1:], strict=True):
        assert_close(found, wanted, noise_of(a) * mine.weights.sum())


def with_groups(case: Case, stream: Stream, mode: str | None, **options: Any) -> OKSPCA:
    return make(case, stream, mode, stability=G, **options)


@cases(solvers=ROUTES)
@contract(8)
@given(data=st.data(), mode=modes, forgetting=forgettings)
def test_all_groups_together_are_the_moment_however_the_stream_is_cut(
    case: Case, data: st.DataObject, mode: str | None, forgetting: float
) -> None:
    stream = data.draw(streams(case.task))
    whole, cut = (with_groups(case, stream, mode, forgetting=forgetting) for _ in range(2))
    learn(whole, stream, weights=stream.weights)
    learn(cut, stream, data.draw(cuts(stream.n)), weights=stream.weights)
    assert_groups_make_the_moment(whole)
    assert_same_groups(whole, cut)


@cases(solvers=("exact", "adam"))
@contract(5)
@given(data=st.data(), mode=modes)
def test_single_rows_fill_the_groups_as_a_block_does(
    case: Case, data: st.DataObject, mode: str | None
) -> None:
    stream = data.draw(streams(case.task))
    whole = learn(with_groups(case, stream, mode), stream)
    assert_same_groups(whole, learn_singly(with_groups(case, stream, mode), stream))


@cases(solvers=ROUTES)
@contract(4)
@given(data=st.data(), mode=modes)
def test_groups_change_no_bit_of_anything_else(
    case: Case, data: st.DataObject, mode: str | None
) -> None:
    stream = data.draw(streams(case.task))
    with_, without = with_groups(case, stream, mode), make(case, stream, mode)
    learn(with_, stream), learn(without, stream)
    for name in ("moment", "input_standardizer", "target_standardizer", "service_state"):
        parts = (getattr(model.ready().state, name) for model in (with_, without))
        assert len({fingerprint(part) for part in parts}) == 1
    assert fingerprint(with_.basis()) == fingerprint(without.basis())
    assert without.ready().state.sub_moments is None


@cases(solvers=("exact", "adam"))
@contract(4)
@given(data=st.data(), mode=modes)
def test_rejected_rows_leave_the_groups_alone(
    case: Case, data: st.DataObject, mode: str | None
) -> None:
    stream = data.draw(streams(case.task, least=4))
    model = learn(with_groups(case, stream, mode), stream)
    before = state_of(model)
    bad = stream.X.copy()
    bad[-1, 0] = np.nan
    with pytest.raises(DataError):
        model.partial_fit(bad, stream.y)
    with pytest.raises(DataError):
        model.learn_one(bad[-1], stream.y[-1])
    assert state_of(model) == before


def test_an_error_half_way_puts_the_groups_back(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).normal(size=(3000, 2))
    model = OKSPCA(1, n_random_features=8, stability=G, random_state=0).fit(X[:500], X[:500, 0])
    before, calls = fingerprint(model.ready().state.sub_moments), []
    original = FourierMap.fill

    def failing(self: FourierMap, Z: Floats, features: Floats) -> Floats:
        calls.append(len(Z))
        if len(calls) > 4:  # inputs and responses of two chunks pass
            raise MemoryError
        return original(self, Z, features)

    monkeypatch.setattr(FourierMap, "fill", failing)
    with pytest.raises(MemoryError):
        model.partial_fit(X, X[:, 0])
    assert len(calls) > 4
    assert fingerprint(model.ready().state.sub_moments) == before


@cases(solvers=("exact", "adam"))
@contract(3)
@given(data=st.data(), mode=modes, forgetting=forgettings)
def test_a_pickled_model_goes_on_bit_for_bit(
    case: Case, data: st.DataObject, mode: str | None, forgetting: float
) -> None:
    stream = data.draw(streams(case.task, least=2 * G))
    model = with_groups(case, stream, mode, forgetting=forgetting)
    learn(model, stream, rows=slice(0, 7))
    twin = pickle.loads(pickle.dumps(model))
    assert state_of(twin) == state_of(model)
    for one in (model, twin):
        learn(one, stream, rows=slice(7, None))
    assert state_of(twin) == state_of(model)
    assert twin.estimate_stability() == model.estimate_stability()


@pytest.mark.parametrize("singly", [False, True])
def test_a_model_from_a_memory_mapped_file_goes_on(tmp_path: Path, singly: bool) -> None:
    X = np.random.RandomState(0).normal(size=(200, 3))
    y = np.sin(X[:, 0])
    model = OKSPCA(2, n_random_features=64, stability=G, random_state=0).fit(X[:150], y[:150])
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    assert not all(is_writable(group) for group in loaded.ready().state.sub_moments.groups)
    for one in (model, loaded):
        if singly:
            for row, target in zip(X[150:], y[150:], strict=True):
                one.learn_one(row, float(target))
        else:
            one.partial_fit(X[150:], y[150:])
    for mine, theirs in zip(groups_of(loaded), groups_of(model), strict=True):
        assert np.array_equal(mine, theirs)


@cases(solvers=("exact", "cached-7", "adam"))
@contract(3)
@given(data=st.data(), mode=modes)
def test_asking_for_stability_learns_nothing(
    case: Case, data: st.DataObject, mode: str | None
) -> None:
    stream = data.draw(streams(case.task, least=2 * G))
    model = learn(with_groups(case, stream, mode), stream)
    before = state_of(model)
    first = model.estimate_stability()
    assert model.estimate_stability() == first
    model.error_lines()
    assert state_of(model) == before


@cases(solvers=("exact", "warm-block"))
@contract(8)
@given(data=st.data(), mode=modes)
def test_merged_groups_are_equally_full_and_stay_so(
    case: Case, data: st.DataObject, mode: str | None
) -> None:
    """Also where a class or a target direction is new to one side."""
    stream = data.draw(streams(case.task, least=4))
    place = data.draw(st.integers(1, stream.n - 1))
    parts = [slice(0, place), slice(place, None)]
    first, second = (learn(with_groups(case, stream, mode), stream, rows=rows) for rows in parts)
    first.merge(second)
    assert_groups_make_the_moment(first)
    assert np.ptp(groups_of(first).rows) <= 1
    if mode != "causal":
        assert_same_moment(learn(with_groups(case, stream, mode), stream), first)
    learn(first, stream, rows=slice(0, 3))
    assert_groups_make_the_moment(first)
    assert np.ptp(groups_of(first).rows) <= 1


@cases(solvers=("exact",))
@contract(5)
@given(data=st.data(), mode=modes)
def test_groups_that_forget_merge_at_equal_clocks(
    case: Case, data: st.DataObject, mode: str | None
) -> None:
    stream = data.draw(streams(case.task, least=4))
    half = stream.n // 2
    models = [with_groups(case, stream, mode, forgetting=0.9) for _ in range(2)]
    learn(models[0], stream, rows=slice(0, half))
    learn(models[1], stream, rows=slice(half, 2 * half))
    models[0].merge(models[1])
    assert_groups_make_the_moment(models[0])
    learn(models[0], stream, rows=slice(0, 3))
    assert_groups_make_the_moment(models[0])


def test_models_with_other_groups_do_not_merge() -> None:
    X = np.random.RandomState(0).normal(size=(40, 2))
    models = [OKSPCA(1, n_random_features=8, stability=n, random_state=0) for n in (0, 4, 8)]
    for model in models:
        model.fit(X, X[:, 0])
    for a, b in ((0, 1), (1, 0), (1, 2)):
        before = state_of(models[a])
        with pytest.raises(MergeError, match="stability"):
            models[a].merge(models[b])
        assert state_of(models[a]) == before


@pytest.mark.parametrize("n_target_features", [6, 8])
def test_groups_follow_when_compression_is_given_up(n_target_features: int) -> None:
    X = np.random.RandomState(0).normal(size=(60, 2))
    y = X[:, 0]
    y[:20] = 0.25 * np.sign(y[:20])  # few directions at first, more than half of them later
    options: dict[str, Any] = {
        "n_random_features": 8,
        "n_target_features": n_target_features,
        "standardize": None,
        "stability": G,
    }
    models = [OKSPCA(1, random_state=0, **options) for _ in range(3)]
    plain = models[2].set_params(compress=False).fit(X, y)
    for start in range(0, 60, 10):
        models[0].partial_fit(X[start : start + 10], y[start : start + 10])
        assert_groups_make_the_moment(models[0])
    models[1].partial_fit(X[:20], y[:20])
    assert models[1].moment_.compression is not None
    assert models[0].moment_.compression is None
    assert_same_groups(models[0], plain)
    models[1].merge(models[0])
    assert_groups_make_the_moment(models[1])
    models[0].merge(OKSPCA(1, random_state=0, **options).fit(X[:20], y[:20]))
    assert_groups_make_the_moment(models[0])


@pytest.mark.parametrize("forgetting", [1.0, 0.99])
@pytest.mark.parametrize("n_groups", [4, 6, 8])
def test_the_estimate_is_that_of_plain_half_sampling(forgetting: float, n_groups: int) -> None:
    random = np.random.RandomState(1)
    X = random.normal(size=(203, 6))
    Y = X[:, :3] * [1.0, 0.7, 0.4] + random.normal(size=(203, 3))
    model = OKSPCA(
        2,
        input_map=IdentityMap(6),
        target_map=IdentityMap(3),
        standardize=None,
        forgetting=forgetting,
        stability=n_groups,
    )
    model.partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
    groups = groups_of_rows(203, n_groups, SEED)
    distances = half_sample_distances(X, Y, weights_of(203, forgetting), groups, 2)
    stability = model.estimate_stability()
    assert stability.distance == pytest.approx(np.sqrt(np.mean(np.square(distances))), rel=1e-10)
    by_angles = np.sqrt(2.0 * np.sum(np.sin(np.radians(stability.angles)) ** 2))
    assert stability.distance == pytest.approx(by_angles, rel=1e-10)


@pytest.mark.parametrize("mode", MODES)
def test_memory_does_not_grow_with_the_stream(mode: str | None) -> None:
    X = np.random.RandomState(0).normal(size=(4096, 2))
    model = OKSPCA(1, n_random_features=8, standardize=mode, stability=8, random_state=0)
    sizes = []
    for _ in range(3):
        model.partial_fit(X, (X[:, 0] > 0.0).astype(int))
        groups = model.ready().state.sub_moments
        assert groups is not None
        sizes.append(sum(a.nbytes for group in groups.groups for a in group.arrays))
    assert sizes == [sizes[0]] * 3


def test_too_few_rows_and_no_groups_say_what_to_do() -> None:
    X = np.random.RandomState(0).normal(size=(40, 2))
    with pytest.raises(NotReadyError, match="stability=8"):
        OKSPCA(1, n_random_features=8).fit(X, X[:, 0]).estimate_stability()
    with pytest.raises(NotReadyError, match="at least 16"):
        OKSPCA(1, n_random_features=8, stability=8).fit(X[:15], X[:15, 0]).estimate_stability()


def test_a_constant_response_has_no_target_to_be_stable() -> None:
    X = np.random.RandomState(0).normal(size=(40, 2))
    stability = OKSPCA(1, n_random_features=8, stability=8).fit(X, np.ones(40)).estimate_stability()
    assert (stability.rank, stability.distance, stability.recommended_rank) == (0, None, 0)
    assert "no target" in str(stability)
