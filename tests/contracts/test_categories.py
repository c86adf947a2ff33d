"""Text columns: what is learned are the indicators of a vocabulary that a row number fixes."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA, DataError, MergeError, OKSPCAClassifier, OKSPCARegressor
from okspca.estimators.categories import CATEGORY_ROWS
from okspca.numerics.arrays import Floats
from tests.contracts.cases import contract
from tests.contracts.closeness import assert_same_moment
from tests.contracts.fingerprint import state_of
from tests.reference.dummies import dummies, most_frequent
from tests.reference.filling import filled

N, MOST = CATEGORY_ROWS + 60, 3
TEXTS = ["colour", "kind"]
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"solver": "adam"},
    {"objective": "whitened", "bandwidth": "median"},
    {"standardize": None, "solver": "cached"},
    {"forgetting": 0.99},
)
policies = st.sampled_from(("raise", "skip", "impute"))
options_ = st.sampled_from(OPTIONS)
seeds = st.integers(0, 99)
#: Where streams are cut: while rows wait, at the row that fixes the vocabulary, and afterwards.
places = st.lists(
    st.one_of(st.integers(1, N - 1), st.sampled_from((1, CATEGORY_ROWS - 1, CATEGORY_ROWS, N - 1))),
    max_size=5,
    unique=True,
).map(sorted)


def stream(seed: int, policy: str = "raise") -> tuple[pd.DataFrame, NDArray[Any]]:
    """Rows with two text columns, values that come late, and gaps unless they are refused."""
    random = RandomState(seed)
    shares = [0.4, 0.3, 0.15, 0.15]
    frame = pd.DataFrame(
        {
            "size": random.normal(size=N),
            "colour": random.choice(["red", "blue", "green", "violet"], N, p=shares),
            "kind": pd.Categorical(random.choice([10, 9, 2], N)),
            "flag": random.rand(N) > 0.5,
        }
    )
    frame.loc[CATEGORY_ROWS + 5 :: 7, "colour"] = "late"
    y = frame["size"].to_numpy() + (frame.colour == "red") + 0.1 * random.normal(size=N)
    if policy != "raise":
        frame["colour"] = frame.colour.astype(object)
        frame.loc[random.rand(N) < 0.1, "size"] = np.nan
        frame.loc[random.rand(N) < 0.1, "colour"] = None
        frame.loc[[0, 1], "colour"] = None
        frame.loc[random.rand(N) < 0.1, "kind"] = None
    return frame, y


def make(policy: str = "raise", **options: Any) -> OKSPCA:
    settings = {"n_random_features": 8, "random_state": 0, "missing": policy, **options}
    return OKSPCA(2, categories="one-hot", max_categories=MOST, **settings)


def learn(model: Any, X: Any, y: Any, cuts: list[int]) -> Any:
    """Learn rows in blocks that end at these places."""
    for start, stop in zip([0, *cuts], [*cuts, len(y)], strict=True):
        model.partial_fit(X[start:stop], y[start:stop])
    return model


def expected(
    frame: pd.DataFrame, policy: str, fades: float = 1.0
) -> tuple[Floats, NDArray[np.bool_], list[str]]:
    """Complete rows by the reference, which of all rows they are, and the names of inputs."""
    kept = ~frame.isna().any(axis=1).to_numpy() if policy == "skip" else np.full(N, True)
    values = most_frequent(frame[kept][:CATEGORY_ROWS], TEXTS, MOST)
    X, names = dummies(frame[kept], values)
    return (filled(X, np.ones(len(X)), fades) if policy == "impute" else X), kept, names


@contract(12)
@given(seed=seeds, policy=policies, options=options_)
def test_what_is_learned_are_the_dummies(seed: int, policy: str, options: dict[str, Any]) -> None:
    frame, y = stream(seed, policy)
    X, kept, names = expected(frame, policy, options.get("forgetting", 1.0))
    # Rows wait while there are too few that are complete: fit takes what there is.
    model = make(policy, **options).fit(frame, y)
    plain = OKSPCA(2, n_random_features=8, random_state=0, **options).fit(X, y[kept])
    np.testing.assert_array_equal(model.moment_.matrix(), plain.moment_.matrix())
    assert model.input_names_ == names
    assert model.n_values_imputed_ == (frame.isna().sum().sum() if policy == "impute" else 0)
    learned = frame[kept]
    unseen = {
        name: sum(f"{name}={value}" not in names for value in learned[name].dropna())
        for name in TEXTS
    }
    assert model.n_unseen_categories_ == unseen
    assert unseen["colour"] > 0 or policy == "skip"
    if policy == "raise":
        np.testing.assert_array_equal(model.transform(frame), plain.transform(X))


@contract(12)
@given(seed=seeds, policy=policies, options=options_, cuts=places)
def test_cuts_change_nothing(
    seed: int, policy: str, options: dict[str, Any], cuts: list[int]
) -> None:
    frame, y = stream(seed, policy)
    whole, parts = make(policy, **options).fit(frame, y), make(policy, **options)
    learn(parts, frame, y, cuts)
    if whole.n_samples_seen_ < CATEGORY_ROWS:  # so many were left out that rows still wait
        assert parts.learned is not None
        assert parts.learned.pipeline is None
        return
    assert parts.input_names_ == whole.input_names_
    assert parts.n_unseen_categories_ == whole.n_unseen_categories_
    assert_same_moment(parts, whole)


@contract(3)
@given(seed=seeds, policy=policies)
def test_single_rows_are_a_stream_too(seed: int, policy: str) -> None:
    frame, y = stream(seed, policy)
    whole = make(policy).partial_fit(frame, y)
    single = make(policy).partial_fit(frame[:1], y[:1])
    for row in range(1, N):
        x = frame.iloc[row]
        single.learn_one(dict(x) if row % 2 else x.tolist(), y[row])
    assert single.n_rows_skipped_ == whole.n_rows_skipped_
    assert single.n_samples_seen_ == whole.n_samples_seen_
    if whole.n_samples_seen_ >= CATEGORY_ROWS:
        assert single.input_names_ == whole.input_names_
        assert single.n_unseen_categories_ == whole.n_unseen_categories_
        assert_same_moment(single, whole)
    else:
        assert single.to_bytes() == whole.to_bytes()


@contract(8)
@given(seed=seeds, policy=policies, options=options_, cut=places.filter(bool))
def test_saved_in_between_is_never_stopped(
    seed: int, policy: str, options: dict[str, Any], cut: list[int]
) -> None:
    frame, y = stream(seed, policy)
    place = cut[0]
    straight = learn(make(policy, **options), frame, y, [place])
    stopped = make(policy, **options).partial_fit(frame[:place], y[:place])
    resumed = OKSPCA.from_bytes(stopped.to_bytes())
    assert resumed.to_bytes() == stopped.to_bytes()
    resumed.partial_fit(frame[place:], y[place:])
    assert resumed.to_bytes() == straight.to_bytes()


@contract(6)
@given(seed=seeds, policy=policies, place=st.sampled_from((5, CATEGORY_ROWS + 20)))
def test_a_refused_block_leaves_no_trace(seed: int, policy: str, place: int) -> None:
    frame, y = stream(seed, policy)
    model = make(policy).partial_fit(frame[:place], y[:place])
    before = state_of(model), model.to_bytes()
    bad = frame[place:].copy()
    bad["colour"] = "never seen"
    bad.iloc[-1, 0] = np.inf
    with pytest.raises(DataError, match=rf"inf.*row {len(bad) - 1}, column 'size'"):
        model.partial_fit(bad, y[place:])
    with pytest.raises(DataError, match="sample_weight"):
        model.partial_fit(bad.assign(size=1.0), y[place:], sample_weight=-np.ones(N - place))
    assert (state_of(model), model.to_bytes()) == before


@contract(4)
@given(seed=seeds, cut=st.integers(1, CATEGORY_ROWS))
def test_rows_that_do_not_count_leave_no_values(seed: int, cut: int) -> None:
    frame, y = stream(seed)
    ignored = frame[:3].assign(colour=["x", "y", "z"])
    plain, model = (make().partial_fit(frame[:2], y[:2]) for _ in range(2))
    model.partial_fit(ignored, y[:3], sample_weight=np.zeros(3))
    model.partial_fit(frame[2:cut], y[2:cut]) if cut > 2 else None
    plain.partial_fit(frame[2:cut], y[2:cut]) if cut > 2 else None
    assert model.to_bytes() == plain.to_bytes()


@contract(4)
@given(seed=seeds)
def test_later_rows_do_not_change_the_vocabulary(seed: int) -> None:
    frame, y = stream(seed)
    later = frame.copy()
    later.loc[CATEGORY_ROWS:, "colour"] = "violet"
    one, two = make().fit(frame, y), make().fit(later, y)
    assert one.input_names_ == two.input_names_
    first = make().partial_fit(frame[:CATEGORY_ROWS], y[:CATEGORY_ROWS])
    assert first.input_names_ == one.input_names_
    again = make().partial_fit(later[:CATEGORY_ROWS], y[:CATEGORY_ROWS])
    assert state_of(first) == state_of(again)


def test_merges_compare_vocabularies() -> None:
    frame, y = stream(0)
    one, two = make().fit(frame, y), make().fit(frame[::-1], y[::-1])
    assert one.input_names_ == two.input_names_  # though other rows were counted
    unseen = [model.n_unseen_categories_["colour"] for model in (one, two)]
    before = two.to_bytes()
    one.merge(two)
    assert two.to_bytes() == before
    assert one.n_unseen_categories_["colour"] == sum(unseen)
    other = make().fit(frame.assign(colour=frame.colour.replace("red", "scarlet")), y)
    with pytest.raises(MergeError, match=r"column 'colour': 'blue', .*'red'.* here, .*'scarlet'"):
        two.merge(other)
    numbers = make().fit(frame.assign(colour=1.0), y)
    with pytest.raises(MergeError, match=r"column 'colour': 'blue', .* here, numbers there"):
        two.merge(numbers)
    assert two.to_bytes() == before


@pytest.mark.parametrize("policy", ["raise", "impute"])
@pytest.mark.parametrize("head", [OKSPCARegressor, OKSPCAClassifier])
def test_heads_learn_the_dummies(head: Any, policy: str) -> None:
    frame, y = stream(1, policy)
    targets: Any = y if head is OKSPCARegressor else np.where(y > 0.3, "a", "b")
    settings: dict[str, Any] = {"n_random_features": 16, "random_state": 0, "prequential": True}
    model = head(categories="one-hot", max_categories=MOST, missing=policy, **settings)
    plain = head(**settings)
    X, _, names = expected(frame, policy)
    for rows in (slice(CATEGORY_ROWS), slice(CATEGORY_ROWS, N)):
        model.partial_fit(frame[rows], targets[rows])
        plain.partial_fit(X[rows], targets[rows])
    np.testing.assert_array_equal(model.moment_.matrix(), plain.moment_.matrix())
    np.testing.assert_array_equal(model.relevance_, plain.relevance_)
    assert model.prequential_score_ == plain.prequential_score_
    assert model.input_names_ == names
    if policy == "raise":
        np.testing.assert_array_equal(model.predict(frame), plain.predict(X))
    assert head.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
