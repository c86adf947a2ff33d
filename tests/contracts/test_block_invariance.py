"""The observation is the unit, a block is transport: where blocks end changes no result."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.standardize import FrozenStandardizer
from tests.contracts.cases import (
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
from tests.contracts.closeness import (
    assert_same_basis,
    assert_same_embedding,
    assert_same_moment,
    assert_same_standardizers,
    noise_of,
    tolerance_for,
    tolerance_of_tracker,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::okspca.RankWarning"),
    pytest.mark.usefixtures("early_climbs"),
]
Maker = Callable[[], OKSPCA]


def transports(make_one: Maker, stream: Stream, places: list[int]) -> Iterator[OKSPCA]:
    """Models that learned the same rows one at a time, in blocks, and some this way, some that."""
    yield learn_singly(make_one(), stream)
    yield learn(make_one(), stream, places)
    mixed = make_one()
    for turn, (start, stop) in enumerate(pairwise([0, *places, stream.n])):
        way = learn_singly if turn % 2 else learn
        way(mixed, stream, rows=slice(start, stop))
    yield mixed


def moment_behind(model: OKSPCA, case: Case, stream: Stream, **options: Any) -> Floats:
    """The moment from which the present basis was built: an earlier one for a cache."""
    built_at = model.basis().built_at
    if built_at in (0, stream.n):
        return model.moment_.matrix()
    parts: dict[str, Any] = {"input_map": model.input_map_}
    if not stream.has_labels:
        parts["target_map"] = model.target_map_
    if isinstance(model.input_standardizer_, FrozenStandardizer):
        parts["input_standardizer"] = model.input_standardizer_
        parts["target_standardizer"] = model.target_standardizer_
    earlier = make(case, stream, **{**options, **parts, "solver": "exact", "align": False})
    return learn(earlier, stream, rows=slice(built_at)).moment_.matrix()


def assert_same_answers(
    a: OKSPCA, b: OKSPCA, C: Floats, X: Floats, *, tracks: bool, aligned: bool = False
) -> None:
    """Same basis, singular values and embedding, as closely as the gaps of ``C`` allow."""
    tolerance = tolerance_for(C, max(b.basis().rank, 1), noise_of(b))
    if tracks:
        tolerance = tolerance_of_tracker(C)
    assert_same_basis(a.basis(), b.basis(), tolerance)
    assert_same_basis(a.basis(kind="maintained"), b.basis(kind="maintained"), tolerance)
    if aligned:  # columns are fixed by the anchor, not by the gaps between them
        tolerance = tolerance._replace(column=10.0 * tolerance.span)
    assert_same_embedding(a.transform(X), b.transform(X), tolerance)


@cases(ROUTES, climbing=True)
@contract(4)
@given(data=st.data())
def test_standardizers_are_bit_identical(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    places = data.draw(cuts(stream.n))
    whole = learn(make(case, stream), stream)
    rows = learn(make(case, stream), stream, range(1, stream.n))
    for model in (rows, *transports(lambda: make(case, stream), stream, places)):
        assert_same_standardizers(model, whole)


@cases(ROUTES, climbing=True)
@contract(4)
@given(mode=modes, data=st.data())
def test_means_and_moment_agree(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    places = data.draw(cuts(stream.n))
    whole = learn(make(case, stream, mode), stream)
    for model in transports(lambda: make(case, stream, mode), stream, places):
        assert_same_moment(model, whole)


@cases(climbing=True)
@contract(3)
@given(mode=modes, data=st.data())
def test_answers_agree(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, most=30))
    places = data.draw(cuts(stream.n))
    whole = learn(make(case, stream, mode), stream)
    C = moment_behind(whole, case, stream, mode=mode)
    for model in transports(lambda: make(case, stream, mode), stream, places):
        assert_same_answers(model, whole, C, stream.X, tracks=case.tracks)


@cases(ROUTES, climbing=True)
@contract(3)
@given(data=st.data())
def test_weighted_streams_agree(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=3))
    weights = np.where(np.arange(stream.n) % 5 == 4, 0.0, stream.weights)
    whole = learn(make(case, stream), stream, weights=weights)
    for places in (list(range(1, stream.n)), data.draw(cuts(stream.n))):
        model = learn(make(case, stream), stream, places, weights=weights)
        assert_same_standardizers(model, whole)
        assert_same_moment(model, whole)
        assert model.n_samples_seen_ == whole.n_samples_seen_


@cases(climbing=True)
@contract(2)
@given(data=st.data(), forgetting=st.sampled_from((0.9, 0.5)))
def test_forgetting_streams_agree(case: Case, forgetting: float, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, most=30))
    places = data.draw(cuts(stream.n))
    options: dict[str, Any] = {"mode": "causal", "forgetting": forgetting}
    whole = learn(make(case, stream, **options), stream)
    C = moment_behind(whole, case, stream, **options)
    for model in transports(lambda: make(case, stream, **options), stream, places):
        assert_same_standardizers(model, whole)
        assert_same_moment(model, whole)
        assert_same_answers(model, whole, C, stream.X, tracks=case.tracks)


@cases()
@contract(1)
@given(data=st.data())
def test_aligned_embeddings_agree(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=64, most=70, quirks=("plain",)))
    places = data.draw(cuts(stream.n))
    options: dict[str, Any] = {"mode": "causal", "align": True}
    whole = learn(make(case, stream, **options), stream)
    C = moment_behind(whole, case, stream, **options)
    singly = learn_singly(make(case, stream, **options), stream)
    cut = learn(make(case, stream, **options), stream, places)
    for model in (singly, cut):
        assert_same_answers(model, whole, C, stream.X, tracks=case.tracks, aligned=True)


@pytest.mark.parametrize("held_back_for", ["median", "frozen"])
@cases(("exact", "cached-7", "adam"), ("multiclass", "scalar"))
@contract(2)
@given(data=st.data())
def test_rows_held_back_at_the_start_agree(
    case: Case, held_back_for: str, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=500, most=530, quirks=("plain", "offset")))
    options: dict[str, Any] = {"mode": "causal", "bandwidth": "median"}
    if held_back_for == "frozen":
        options = {"standardize": "frozen"}
    whole = learn(make(case, stream, **options), stream)
    around = learn(make(case, stream, **options), stream, range(495, stream.n))
    cut = learn(make(case, stream, **options), stream, data.draw(cuts(stream.n)))
    singly = learn(make(case, stream, **options), stream, rows=slice(505))
    learn_singly(singly, stream, slice(505, None))
    for model in (around, cut, singly):
        assert model.n_samples_seen_ == whole.n_samples_seen_ == stream.n
        assert model.basis().status is whole.basis().status
        if stream.n >= 512:
            assert_same_standardizers(model, whole)
            assert_same_moment(model, whole)
            C = moment_behind(whole, case, stream, **options)
            assert_same_answers(model, whole, C, stream.X[:9], tracks=case.tracks)
