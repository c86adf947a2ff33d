"""States of shards merge to what one frozen run gives; what cannot merge says why."""

import functools
import re
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.base import clone

from okspca import OKSPCA, DataError, MergeError, NotReadyError, StateError, Status
from okspca.distributed import (
    Survey,
    identity,
    learn,
    merge_states,
    merge_surveys,
    survey_of,
    tree_depth,
)
from okspca.distributed.states import groups
from okspca.estimators import OKSPCARegressor
from okspca.standardize import CausalStandardizer
from tests.contracts.cases import Case, Stream, cases, contract, cuts, make, streams
from tests.contracts.closeness import assert_close, noise_of
from tests.contracts.fingerprint import fingerprint, state_of

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
Blocks = list[tuple[Any, ...]]


def shards_of(stream: Stream, places: list[int]) -> list[Blocks]:
    bounds = [0, *places, stream.n]
    return [[(stream.X[a:b], stream.y[a:b])] for a, b in pairwise(bounds)]


def two_passes(model: OKSPCA, shards: list[Blocks]) -> list[bytes]:
    surveys = [survey_of(model, blocks) for blocks in shards]
    survey = Survey.from_bytes(model, merge_surveys(model, surveys))
    first = shards[0][0]
    start = identity(model, survey, pilot=first).to_bytes()
    return [learn(type(model), start, blocks) for blocks in shards]


def assert_same_sums(merged: OKSPCA, alone: OKSPCA, relative: float = 1e-12) -> None:
    assert merged.n_samples_seen_ == alone.n_samples_seen_
    C = alone.moment_.matrix()
    assert_close(merged.moment_.matrix(), C, noise_of(alone), relative)
    assert merged.basis().status is alone.basis().status


@cases(("exact",), single=False)
@contract(6)
@given(data=st.data())
def test_two_passes_equal_one_frozen_run(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    model = make(case, stream)
    states = two_passes(model, shards_of(stream, data.draw(cuts(stream.n))))
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, states))
    alone = OKSPCA(**{**model.get_params(), "standardize": "frozen"}).fit(stream.X, stream.y)
    assert merged.get_params() == alone.get_params()
    if stream.has_labels:
        assert merged.classes_.tolist() == alone.classes_.tolist()
    assert_same_sums(merged, alone)


@cases(("exact",))
@contract(3)
@given(data=st.data())
def test_merging_is_associative_and_commutative(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=6))
    places = sorted(data.draw(st.sets(st.integers(1, stream.n - 1), min_size=2, max_size=2)))
    a, b, c = two_passes(make(case, stream), shards_of(stream, places))
    merge = functools.partial(merge_states, OKSPCA)
    wanted = OKSPCA.from_bytes(merge([merge([a, b]), c]))
    assert_same_sums(OKSPCA.from_bytes(merge([a, merge([b, c])])), wanted)
    for order in permutations((a, b, c)):
        assert_same_sums(OKSPCA.from_bytes(merge(order)), wanted)


@cases(("exact",))
@contract(6)
@given(forgetting=st.sampled_from((1.0, 0.9)), stability=st.sampled_from((0, 4)), data=st.data())
def test_zero_rows_are_neutral_on_either_side(
    case: Case, forgetting: float, stability: int, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    model = make(case, stream, forgetting=forgetting, stability=stability)
    start = identity(model, Survey(model).add(stream.X, stream.y))
    learned = OKSPCA.from_bytes(start.to_bytes()).partial_fit(stream.X, stream.y)
    for pair in ((start, learned), (learned, start)):
        first, second = (OKSPCA.from_bytes(state.to_bytes()) for state in pair)
        assert_same_sums(first.merge(second), learned)
        assert first.moment_.rows == learned.moment_.rows
        assert first.moment_.is_constant == learned.moment_.is_constant


@pytest.mark.parametrize(
    "settings", [{"align": True}, {"solver": "cached"}, {"solver": "warm-block"}]
)
def test_zero_rows_leave_anchor_cache_and_block_alone(settings: dict[str, Any]) -> None:
    random = np.random.RandomState(0)
    X = random.normal(size=(297, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    model = OKSPCA(2, n_random_features=32, random_state=0, **settings)
    start = identity(model, Survey(model).add(X, y))
    learned = OKSPCA.from_bytes(start.to_bytes())
    for i in range(0, 297, 11):
        learned.partial_fit(X[i : i + 11], y[i : i + 11])
    wanted, basis = learned.transform(X), learned.basis()
    for pair in ((start, learned), (learned, start)):
        first, second = (OKSPCA.from_bytes(state.to_bytes()) for state in pair)
        merged = first.merge(second)
        np.testing.assert_allclose(merged.transform(X), wanted, atol=1e-12)
        assert merged.basis().built_at == basis.built_at


def test_a_constant_response_stays_no_target_in_every_order() -> None:
    X = np.random.RandomState(0).normal(size=(30, 2))
    y = np.full(30, 7.0)
    model = OKSPCA(1, n_random_features=8, random_state=0)
    start = identity(model, Survey(model).add(X, y))
    for rows in (1, 10):  # the first row alone goes the way of single rows
        state = OKSPCA.from_bytes(start.to_bytes())
        for x, value in zip(X[:rows], y, strict=False):
            state.learn_one(x, float(value))
        merged = OKSPCA.from_bytes(start.to_bytes()).merge(state)
        assert state.basis().status is merged.basis().status is Status.NO_TARGET
        assert state.moment_.is_constant
        assert merged.moment_.is_constant


def test_median_bandwidth_and_weights_equal_one_frozen_run() -> None:
    random = np.random.RandomState(3)
    X, w = random.normal(size=(900, 3)) * [1.0, 5.0, 0.1], random.choice([0.0, 0.5, 2.0], size=900)
    y = X[:, 0] ** 2
    settings: dict[str, Any] = {
        "n_random_features": 16,
        "bandwidth": "median",
        "target_bandwidth": "median",
    }
    model = OKSPCA(2, random_state=0, **settings)
    blocks = [(X[i : i + 300], y[i : i + 300], w[i : i + 300]) for i in range(0, 900, 300)]
    surveys = [survey_of(model, [block]) for block in blocks]
    survey = Survey.from_bytes(model, merge_surveys(model, surveys))
    with pytest.raises(ValueError, match="pilot"):
        identity(model, survey)
    with pytest.raises(DataError, match="unlike the rows"):
        identity(model, survey, pilot=(X[:, :2], y))
    kept = w > 0.0
    start = identity(model, survey, pilot=(X[kept], y[kept])).to_bytes()
    states = [learn(OKSPCA, start, [block]) for block in blocks]
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, states))
    alone = OKSPCA(2, random_state=0, standardize="frozen", **settings)
    # Weights do not enter the bandwidth, but standardisers of the pilot do see all rows of weight.
    assert_same_sums(merged, alone.fit(X, y, sample_weight=w))


def test_predictors_shard_as_well() -> None:
    random = np.random.RandomState(0)
    X = random.normal(size=(600, 3))
    y = np.sin(X[:, 0]) * X[:, 1]
    model = OKSPCARegressor(n_random_features=32, ridge=0.01, random_state=0)
    states = two_passes(model, [[(X[i::3], y[i::3])] for i in range(3)])
    merged = OKSPCARegressor.from_bytes(merge_states(OKSPCARegressor, states))
    alone = clone(model).set_params(standardize="frozen", frequencies="drawn")
    np.testing.assert_allclose(merged.predict(X), alone.fit(X, y).predict(X), atol=1e-9)


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("frequencies", ["auto", "scaled", "trained"])
def test_frequencies_are_learned_once_for_all_shards(frequencies: str, labels: bool) -> None:
    """On the driver, from first rows; then shards add up to one run with the same map."""
    X = np.random.RandomState(0).uniform(-2.0, 2.0, size=(900, 4))
    y: Any = X[:, 0] * X[:, 1]
    y = np.array(["low", "high"])[(y > 0.0).astype(int)] if labels else y
    settings: dict[str, Any] = {"preset": "predictive", "n_random_features": 24, "ridge": 0.01}
    model = OKSPCA(1, frequencies=frequencies, random_state=0, **settings)
    shards: list[Blocks] = [[(X[:600], y[:600])], [(X[600:700], y[600:700])], [(X[700:], y[700:])]]
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, two_passes(model, shards)))
    drawn = clone(model).set_params(frequencies="drawn").fit(X, y)
    assert not merged.input_map_.equals(drawn.input_map_)
    assert merged.relevance_[:2].sum() > 0.8
    alone = clone(model).set_params(
        standardize="frozen", input_map=merged.input_map_, frequencies="drawn"
    )
    assert_same_sums(merged, alone.fit(X, y), 1e-10)
    again = OKSPCA.from_bytes(merged.to_bytes())
    assert again.to_bytes() == merged.to_bytes()


def test_bytes_are_those_of_a_file(tmp_path: Any) -> None:
    model = OKSPCA(1, n_random_features=8, random_state=0).fit([[1.0], [2.0], [4.0]], [0, 1, 1])
    model.save(tmp_path / "m.okspca")
    assert (tmp_path / "m.okspca").read_bytes() == model.to_bytes()
    assert state_of(OKSPCA.from_bytes(model.to_bytes())) == state_of(model)
    with pytest.raises(StateError, match="checksum"):
        OKSPCA.from_bytes(model.to_bytes()[:-1] + b"\0\1"[:1])


def test_a_state_of_zero_rows_answers_honestly() -> None:
    model = OKSPCA(1, n_random_features=8, random_state=0)
    start = identity(model, Survey(model).add([[1.0], [3.0]], [0.5, 1.5]))
    assert start.basis().status is Status.NOT_INITIALISED
    with pytest.raises(NotReadyError, match="no rows"):
        start.transform([[1.0]])
    with pytest.raises(NotReadyError, match="no rows"):
        identity(model, Survey(model))


X2 = np.random.RandomState(1).normal(size=(20, 2))
Y2 = X2[:, 0]


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (OKSPCA(1, n_random_features=8, random_state=1).fit(X2, Y2), "input maps"),
        (OKSPCA(2, n_random_features=8, random_state=0).fit(X2, Y2), "parameter n_components: 1"),
        (OKSPCA(1, n_random_features=8, random_state=0, align=True).fit(X2, Y2), "parameter align"),
        (
            OKSPCA(1, n_random_features=8, random_state=0, objective="whitened").fit(X2, Y2),
            "parameter objective: covariance here, whitened there",
        ),
        (
            OKSPCA(1, n_random_features=8, random_state=0, forgetting=0.5).fit(X2, Y2),
            "parameter forgetting: 1.0 here, 0.5 there",
        ),
        (OKSPCA(1, n_random_features=8, random_state=0).fit(X2[:, :1], Y2), "schema: 2 inputs"),
        (OKSPCA(1, n_random_features=8, random_state=0).fit(X2, Y2 > 0), "schema (task"),
        (OKSPCA(1, n_random_features=8, random_state=0).fit(X2, X2), "of 1 outputs here"),
        (OKSPCA(1, n_random_features=8, random_state=0, standardize=None).fit(X2, Y2), "standard"),
        (OKSPCARegressor(1, n_random_features=8, random_state=0).fit(X2, Y2), "estimator: OKSPCA"),
    ],
)
def test_a_refusal_names_what_differs(other: OKSPCA, told: str) -> None:
    model = OKSPCA(1, n_random_features=8, random_state=0).fit(X2, Y2)
    before = model.to_bytes()
    with pytest.raises(MergeError, match=re.escape(told)):
        model.merge(other)
    assert model.to_bytes() == before


@pytest.mark.parametrize(
    "setting",
    [
        {"solver": "adam"},
        {"window": 64},
        {"input_standardizer": CausalStandardizer(2)},
    ],
    ids=lambda setting: next(iter(setting)),
)
def test_what_follows_one_stream_is_refused(setting: dict[str, Any]) -> None:
    model = OKSPCA(**setting)
    with pytest.raises(ValueError, match=next(iter(setting))):
        identity(model, Survey(OKSPCA()).add(X2, Y2))


def test_surveys_refuse_other_schemas_and_bad_rows() -> None:
    survey = Survey(OKSPCA()).add(X2, Y2)
    with pytest.raises(MergeError, match="schema: 2 inputs here, 1 there"):
        survey.merge(Survey(OKSPCA()).add(X2[:, :1], Y2))
    with pytest.raises(MergeError, match="task"):
        survey.merge(Survey(OKSPCA()).add(X2, Y2 > 0))
    before = survey.to_bytes()
    with pytest.raises(DataError, match="NaN at row 0"):
        survey.add([[np.nan, 1.0]], [1.0])
    with pytest.raises(DataError, match="features"):
        survey.add([[1.0]], [1.0])
    assert survey.to_bytes() == before
    with pytest.raises(StateError):
        Survey.from_bytes(OKSPCA(), OKSPCA().to_bytes())
    empty = Survey.from_bytes(OKSPCA(), Survey(OKSPCA()).to_bytes())
    assert empty.merge(survey).to_bytes() == before
    assert survey.merge(Survey(OKSPCA())).to_bytes() == before


def test_a_tree_over_neighbours_has_the_depth_it_says() -> None:
    for n in (1, 7, 8, 9, 64, 65):
        items: list[Any] = list(range(n))
        depth = 0
        while len(items) > 1:
            items, depth = [tuple(group) for group in groups(items)], depth + 1
        assert depth == tree_depth(n)
    with pytest.raises(ValueError, match="fan_in=1 merges nothing"):
        tree_depth(5, fan_in=1)


def test_far_from_zero_only_the_first_pass_loses_digits() -> None:
    random = np.random.RandomState(0)
    X = random.normal(size=(4000, 3)) + 1e6
    y = np.sin(X[:, 0] - 1e6)
    model = OKSPCA(2, n_random_features=16, random_state=0)
    shards: list[Blocks] = [[(X[i::4], y[i::4])] for i in range(4)]
    alone = OKSPCA(2, n_random_features=16, random_state=0, standardize="frozen").fit(X, y)
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, two_passes(model, shards)))
    assert_same_sums(merged, alone, relative=1e-8)
    start = identity(model, Survey(model).add(X[:512], y[:512])).to_bytes()
    states = [learn(OKSPCA, start, blocks) for blocks in shards]
    whole = OKSPCA.from_bytes(learn(OKSPCA, start, [(X, y)]))
    assert_same_sums(OKSPCA.from_bytes(merge_states(OKSPCA, states)), whole)


def test_one_shard_is_one_frozen_run_to_the_last_bit() -> None:
    random = np.random.RandomState(0)
    X = random.normal(size=(3000, 3))
    y = np.sin(X[:, 0])
    model = OKSPCA(2, n_random_features=16, random_state=0)
    (state,) = two_passes(model, [[(X[:1000], y[:1000]), (X[1000:], y[1000:])]])
    alone = OKSPCA(2, n_random_features=16, random_state=0, standardize="frozen").fit(X, y)
    found = OKSPCA.from_bytes(state).input_standardizer_
    assert fingerprint(found) == fingerprint(alone.input_standardizer_)
    assert_same_sums(OKSPCA.from_bytes(state), alone, relative=1e-14)


GAPS: list[dict[str, Any]] = [
    {"missing": "impute"},
    {"missing": "skip"},
    {"missing": "impute", "missing_indicators": True},
    {"missing": "impute", "bandwidth": "median"},
    {"missing": "skip", "bandwidth": "median"},
]


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("options", GAPS, ids=str)
def test_shards_that_lack_values_equal_one_frozen_run(
    options: dict[str, Any], is_sparse: bool
) -> None:
    if is_sparse and "missing_indicators" in options:
        return
    random = np.random.RandomState(0)
    dense = random.normal(size=(400, 3)) * [1.0, 5.0, 0.1] + [0.0, 100.0, 3.0]
    y = dense[:, 0] + dense[:, 2]
    dense[random.rand(400, 3) < 0.5 * is_sparse] = 0.0
    dense[random.rand(400, 3) < 0.2] = np.nan
    y[5] = np.nan
    X: Any = csr_array(dense) if is_sparse else dense
    model = OKSPCA(2, n_random_features=32, random_state=0, **options)
    parts = [slice(0, 390), slice(390, 395), slice(395, 400)]
    states = two_passes(model, [[(X[rows], y[rows])] for rows in parts])
    merged = OKSPCA.from_bytes(merge_states(OKSPCA, states))
    # A bandwidth is taken from the first rows, which are here the first shard.
    fixed = {**options, "bandwidth": "sqrt-dim", "input_map": merged.input_map_}
    alone = OKSPCA(2, standardize="frozen", random_state=0, **fixed).set_params(
        target_map=merged.target_map_
    )
    alone.fit(X, y)
    assert_same_sums(merged, alone, 1e-11)
    assert merged.n_rows_skipped_ == alone.n_rows_skipped_ > 0
    assert merged.n_values_imputed_ == alone.n_values_imputed_
