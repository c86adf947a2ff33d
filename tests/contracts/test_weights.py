"""A weight counts as repetition; a row of weight zero is not there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.standardize import CausalStandardizer
from tests.contracts.cases import (
    FRESH,
    ROUTES,
    Case,
    Stream,
    cases,
    contract,
    cuts,
    learn,
    make,
    modes,
    streams,
)
from tests.contracts.closeness import (
    TRACKED,
    assert_close,
    assert_same_basis,
    assert_same_embedding,
    assert_same_moment,
    noise_of,
    tolerance_for,
)
from tests.contracts.fingerprint import state_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::okspca.RankWarning"),
    pytest.mark.usefixtures("early_climbs"),
]
fixed_modes = st.sampled_from((None, "frozen"))


def whole_weights(data: st.DataObject, stream: Stream, least: int) -> Floats:
    """Draw a whole number per row."""
    drawn = data.draw(st.lists(st.integers(least, 4), min_size=stream.n, max_size=stream.n))
    drawn[0] = max(drawn[0], 1)
    return np.array(drawn, dtype=float)


def repeated(model: OKSPCA, stream: Stream, weights: Floats) -> OKSPCA:
    """Learn every row as many times as its weight says."""
    counts = weights.astype(int)
    return model.partial_fit(stream.X.repeat(counts, axis=0), stream.y.repeat(counts, axis=0))


def without(stream: Stream, model: OKSPCA, kept: Floats, places: list[int]) -> OKSPCA:
    """Learn the rows that are kept, in the blocks that the cuts leave of them."""
    for rows in np.split(np.arange(stream.n), places):
        some = rows[kept[rows] > 0.0]
        if some.size:
            model.partial_fit(stream.X[some], stream.y[some], sample_weight=kept[some])
    return model


@cases(FRESH)
@contract(4)
@given(mode=fixed_modes, data=st.data())
def test_a_whole_weight_is_repetition(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, most=25))
    weights = whole_weights(data, stream, 0)
    model = learn(make(case, stream, mode), stream, data.draw(cuts(stream.n)), weights=weights)
    again = repeated(make(case, stream, mode), stream, weights)
    assert_same_moment(model, again)
    tolerance = tolerance_for(again.moment_.matrix(), max(again.basis().rank, 1), noise_of(again))
    assert model.basis().status is again.basis().status
    assert_same_embedding(model.transform(stream.X), again.transform(stream.X), tolerance)


@cases(ROUTES)
@contract(3)
@given(data=st.data())
def test_standardizers_take_a_whole_weight_as_repetition(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, most=25))
    weights = whole_weights(data, stream, 1)
    model = learn(make(case, stream), stream, weights=weights)
    again = repeated(make(case, stream), stream, weights)
    pairs = (
        (model.input_standardizer_, again.input_standardizer_, stream.X),
        (model.target_standardizer_, again.target_standardizer_, stream.y),
    )
    for one, other, values in pairs[: 1 if stream.has_labels else 2]:
        assert isinstance(one, CausalStandardizer)
        assert isinstance(other, CausalStandardizer)
        size = float(np.abs(values).max())
        assert one.count == other.count == weights.sum()
        assert_close(one.mean, other.mean, 1e-12 * size)
        assert_close(one.variance, other.variance, 1e-12 * size**2)


@cases(climbing=True)
@contract(3)
@given(mode=modes, forgetting=st.sampled_from((1.0, 0.9)), data=st.data())
def test_weight_zero_is_an_absent_row(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=4))
    places = data.draw(cuts(stream.n))
    kept = np.where(whole_weights(data, stream, 0) > 0.0, stream.weights, 0.0)
    model, absent = (make(case, stream, mode, forgetting=forgetting) for _ in range(2))
    learn(model, stream, places, weights=kept)
    without(stream, absent, kept, places)
    assert model.n_samples_seen_ == np.count_nonzero(kept)
    assert state_of(model) == state_of(absent)


@cases(climbing=True)
@contract(1)
@given(mode=modes, data=st.data())
def test_a_block_of_weight_zero_changes_no_later_answer(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    nothing = np.zeros(stream.n)
    model = learn(make(case, stream, mode), stream, weights=nothing)
    assert model.n_samples_seen_ == 0
    learn(learn(model, stream), stream, weights=nothing)
    twin = learn(make(case, stream, mode), stream)
    assert state_of(model) == state_of(twin)


@cases(ROUTES)
@contract(4)
@given(mode=modes, factor=st.sampled_from((0.5, 3.0, 1e-6, 1e6)), data=st.data())
def test_the_unit_of_weight_does_not_matter(
    case: Case, mode: str | None, factor: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    places = data.draw(cuts(stream.n))
    model = learn(make(case, stream, mode), stream, places, weights=stream.weights)
    scaled = learn(make(case, stream, mode), stream, places, weights=factor * stream.weights)
    assert_same_moment(scaled, model, same_weight=False)
    assert np.isclose(scaled.moment_.weight, factor * model.moment_.weight, rtol=1e-12)


@cases(FRESH)
@contract(2)
@given(mode=modes, factor=st.sampled_from((0.5, 3.0, 1e-6, 1e6)), data=st.data())
def test_the_unit_of_weight_does_not_move_the_basis(
    case: Case, mode: str | None, factor: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream, mode), stream, weights=stream.weights)
    scaled = learn(make(case, stream, mode), stream, weights=factor * stream.weights)
    tolerance = tolerance_for(model.moment_.matrix(), max(model.basis().rank, 1), noise_of(model))
    assert_same_basis(scaled.basis(), model.basis(), tolerance)


@cases(ROUTES)
@contract(2)
@given(data=st.data())
def test_rows_are_counted_not_weights(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream), stream, weights=stream.weights)
    assert model.n_samples_seen_ == stream.n
    assert np.isclose(model.moment_.weight, stream.weights.sum(), rtol=1e-12)


@cases(("adam",))
@contract(3)
@given(mode=modes, data=st.data())
def test_adam_takes_one_step_per_row(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream, mode), stream, weights=stream.weights)
    assert model.solver_health()["steps"] == stream.n


@cases(("projected-gradient",))
@contract(5)
@given(mode=modes, data=st.data())
def test_projected_gradient_takes_one_step_per_row(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, most=10))
    model = make(case, stream, mode)
    # The first row has no moment and leaves the initial basis where it is.
    U = learn(model, stream, rows=slice(1), weights=stream.weights).components_.T
    for row in range(1, stream.n):
        learn(model, stream, rows=slice(row, row + 1), weights=stream.weights)
        mean_C = model.moment_.matrix()
        C = mean_C * ((row + 1) / row)  # rows, not weights: their unit must not matter
        gradient = 2.0 * C @ (C.T @ U)
        tangent = gradient - U @ (U.T @ gradient + gradient.T @ U) / 2.0
        Q, R = np.linalg.qr(U + tangent / (2.0 * np.sum(mean_C**2) + 1e-12))
        U = Q * np.where(np.diagonal(R) < 0.0, -1.0, 1.0)
    assert np.abs(model.components_.T - U).max() <= TRACKED


@cases(ROUTES)
@contract(3)
@given(mode=modes, data=st.data())
def test_bessel_uses_the_total_weight_less_one(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    moment = learn(make(case, stream, mode), stream, weights=stream.weights).moment_
    total = stream.weights.sum()
    expected = moment.matrix() * (total / (total - 1.0) if total > 1.0 else 0.0)
    assert_close(moment.bessel(), expected, 0.0)


@cases(ROUTES, climbing=True)
@contract(2)
@given(mode=modes, data=st.data())
def test_no_weights_are_weights_of_one(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream, mode), stream)
    ones = learn(make(case, stream, mode), stream, weights=np.ones(stream.n))
    assert state_of(model) == state_of(ones)
