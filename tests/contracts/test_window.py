"""A window holds the last rows and nothing else, whatever has been there before."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState

from okspca import OKSPCA, MergeError
from okspca.estimators.saving import model_bytes, model_from
from okspca.moments.moment_window import N_BLOCKS, rows_per_block
from okspca.numerics.two_stacks import TwoStacks
from okspca.standardize import PAPER, RELATIVE, CausalStandardizer, VarianceRule
from okspca.standardize.window import WindowStandardizer
from tests.contracts.cases import Case, cases, contract, cuts, learn, make, streams
from tests.contracts.closeness import assert_close
from tests.contracts.fingerprint import state_of

pytestmark = pytest.mark.usefixtures("early_climbs")

WINDOW = 20


def covered(n: int, window: int = WINDOW) -> slice:
    """Rows that count after ``n`` rows."""
    block = rows_per_block(window)
    whole = n // block
    return slice(max(whole - (N_BLOCKS - 1), 0) * block, n)


@cases(("exact", "cached-7", "adam"))
@given(data=st.data(), objective=st.sampled_from(("covariance", "whitened")))
@contract(5)
def test_the_moment_is_that_of_the_last_rows(
    case: Case, data: st.DataObject, objective: str
) -> None:
    """Without standardisers, so that rows have the same features wherever they are."""
    stream = data.draw(streams(case.task, least=30, most=70))
    options: dict[str, Any] = {"objective": objective} if case.solver == "exact" else {}
    places = data.draw(cuts(stream.n))
    windowed = learn(make(case, stream, None, window=WINDOW, **options), stream, places)
    start = learn(make(case, stream, None, **options), stream, rows=covered(stream.n))
    if stream.has_labels:
        columns = [list(windowed.classes_).index(label) for label in start.classes_]
    else:
        columns = list(range(windowed.moment_.matrix().shape[1]))
    assert windowed.moment_.weight == start.moment_.weight
    assert windowed.n_samples_seen_ == stream.n
    assert_close(windowed.moment_.matrix()[:, columns], start.moment_.matrix(), 1e-12)
    if objective == "whitened" and options:
        found = windowed.moment_.input_covariance()  # type: ignore[attr-defined]
        wanted = start.moment_.input_covariance()  # type: ignore[attr-defined]
        assert_close(found, wanted, 1e-12)


@given(data=st.data(), n=st.integers(1, 90))
@contract(20)
def test_the_standardiser_is_that_of_the_last_rows(data: st.DataObject, n: int) -> None:
    X = RandomState(n).normal(size=(n, 2)) + 100.0
    windowed, whole = (WindowStandardizer(2, WINDOW) for _ in range(2))
    whole.scan(X, np.ones(n))
    for rows in np.split(X, data.draw(cuts(n))):
        windowed.scan(rows, np.ones(len(rows)))
    assert np.array_equal(windowed.mean, whole.mean)
    assert np.array_equal(windowed.variance, whole.variance)
    plain = CausalStandardizer(2)
    plain.scan(np.ascontiguousarray(X[covered(n)]), np.ones(len(X[covered(n)])))
    np.testing.assert_allclose(windowed.mean, plain.mean, rtol=1e-13)
    np.testing.assert_allclose(windowed.variance, plain.variance, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("window", [16, 20, 31, 32, 100])
@pytest.mark.parametrize("rule", [RELATIVE, RELATIVE.cautious, PAPER])
def test_a_window_begins_as_all_rows_do(window: int, rule: VarianceRule) -> None:
    """While no row has left, so that the cautious rule ends at the same row."""
    X = RandomState(0).normal(size=(15, 2))
    windowed, plain = WindowStandardizer(2, window, rule), CausalStandardizer(2, rule)
    np.testing.assert_allclose(windowed.scan(X, np.ones(15)), plain.scan(X, np.ones(15)), 1e-12)


def test_an_outlier_that_has_left_has_left_no_trace() -> None:
    X = RandomState(0).normal(size=(300, 3))
    y = X[:, 0] + X[:, 1]
    spoiled = X.copy()
    spoiled[40] = 1e9
    models = [
        OKSPCA(1, n_random_features=8, window=64, standardize=None, random_state=0).partial_fit(
            Z, y
        )
        for Z in (X, spoiled)
    ]
    assert np.array_equal(models[0].moment_.matrix(), models[1].moment_.matrix())


@cases(("exact", "cached-7", "adam"), climbing=True)
@given(data=st.data())
@contract(4)
def test_windows_are_saved_whole(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=40, most=80))
    place = data.draw(st.integers(1, stream.n - 1))
    objective = data.draw(st.sampled_from(("covariance", "whitened")))
    options = {"objective": objective} if case.solver == "exact" else {}
    model = make(case, stream, "causal", window=WINDOW, **options)
    learn(model, stream, rows=slice(place))
    twin, _ = model_from(OKSPCA, model_bytes(model))
    assert model_bytes(twin) == model_bytes(model)
    for one in (model, twin):
        learn(one, stream, rows=slice(place, None))
    assert state_of(twin) == state_of(model)


@given(st.lists(st.integers(-9, 9), max_size=60), st.integers(1, 7))
@contract(30)
def test_two_stacks_hold_the_last_blocks(values: list[int], n_blocks: int) -> None:
    class Values:
        def __init__(self, held: tuple[int, ...]) -> None:
            self.held = list(held)

        def merge(self, other: "Values") -> None:
            self.held = self.held + other.held

    stacks: TwoStacks[Values] = TwoStacks(n_blocks)
    for count, value in enumerate(values, 1):
        stacks.push(Values((value,)))
        total = stacks.total()
        assert total is not None
        assert total.held == values[max(count - n_blocks, 0) : count]


def test_an_interrupted_block_leaves_the_window_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    X = RandomState(0).normal(size=(100, 3))
    model = OKSPCA(1, n_random_features=8, window=32, random_state=0).partial_fit(X, X[:, 0])
    before = state_of(model)

    def broken(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("okspca.moments.cross_moment.CrossMoment.adopt", broken)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X, X[:, 0])
    assert state_of(model) == before


def test_models_with_a_window_are_not_pooled() -> None:
    X = RandomState(0).normal(size=(40, 3))
    one, other = (
        OKSPCA(1, n_random_features=8, window=32, random_state=0).partial_fit(X, X[:, 0])
        for _ in range(2)
    )
    with pytest.raises(MergeError, match="window"):
        one.merge(other)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"window": 5}, "window"),
        ({"window": 100, "forgetting": 0.9}, "forgetting"),
        ({"window": 100, "stability": 8}, "stability"),
    ],
)
def test_wrong_windows_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        OKSPCA(1, **options).fit(np.eye(3), np.arange(3.0))
