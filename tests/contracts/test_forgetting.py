"""Forgetting by a factor g weighs row i of t by g^(t-i), in moments and standardisers alike."""

from typing import Any

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
    learn_singly,
    make,
    modes,
    streams,
)
from tests.contracts.closeness import (
    assert_close,
    assert_same_basis,
    assert_same_embedding,
    assert_same_moment,
    assert_same_standardizers,
    noise_of,
    tolerance_for,
)

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
factors = st.sampled_from((0.9, 0.99, 0.5, 0.05))


def fading(forgetting: float, n: int) -> Floats:
    """Weights that explicit forgetting gives to ``n`` rows."""
    return forgetting ** np.arange(n - 1.0, -1.0, -1.0)


def standardizers(model: OKSPCA) -> list[CausalStandardizer]:
    """The causal standardisers of a model."""
    both = (model.input_standardizer_, model.target_standardizer_)
    return [one for one in both if isinstance(one, CausalStandardizer)]


def written_out(model: OKSPCA, stream: Stream, weights: Floats) -> Floats:
    """C̄ from its definition, with standardisers that forget nothing."""
    columns = [stream.X] if stream.has_labels else [stream.X, stream.y.reshape(stream.n, -1)]
    shown = [
        CausalStandardizer(values.shape[1]).scan(np.ascontiguousarray(values), np.ones(stream.n))
        for values in columns
    ]
    Phi = model.input_map_.transform(shown[0])
    if stream.has_labels:
        Psi = (stream.y[:, np.newaxis] == model.classes_).astype(float)
    else:
        Psi = model.target_map_.transform(shown[1])
    shares = weights / weights.sum()
    centred = (Phi - shares @ Phi) * shares[:, np.newaxis]
    return np.asarray(centred.T @ (Psi - shares @ Psi))


@cases(ROUTES)
@contract(4)
@given(mode=modes, forgetting=factors, data=st.data())
def test_the_moment_is_that_of_fading_weights(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    places = data.draw(cuts(stream.n))
    model = learn(make(case, stream, mode, forgetting=forgetting), stream, places)
    weighted = learn(make(case, stream, mode), stream, weights=fading(forgetting, stream.n))
    assert_same_moment(model, weighted)


@cases(ROUTES)
@contract(3)
@given(forgetting=factors, data=st.data())
def test_the_standardizers_are_those_of_fading_weights(
    case: Case, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream, forgetting=forgetting), stream)
    weights = fading(forgetting, stream.n)
    shares = weights / weights.sum()
    for one, values in zip(standardizers(model), (stream.X, stream.y), strict=False):
        rows = values.reshape(stream.n, -1)
        mean = shares @ rows
        size = np.abs(rows).max()
        assert np.isclose(one.count, weights.sum(), rtol=1e-12)
        assert_close(one.mean, mean, 1e-12 * size)
        assert_close(one.variance, shares @ (rows - mean) ** 2, 1e-12 * size**2)
        assert one.rows == stream.n


@cases(FRESH)
@contract(2)
@given(mode=modes, forgetting=factors, data=st.data())
def test_the_basis_is_that_of_fading_weights(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream, mode, forgetting=forgetting), stream)
    weighted = learn(make(case, stream, mode), stream, weights=fading(forgetting, stream.n))
    rank = max(weighted.basis().rank, 1)
    tolerance = tolerance_for(weighted.moment_.matrix(), rank, noise_of(weighted))
    assert_same_basis(model.basis(), weighted.basis(), tolerance)
    assert_same_embedding(model.transform(stream.X), weighted.transform(stream.X), tolerance)


@cases(ROUTES)
@contract(3)
@given(forgetting=factors, data=st.data())
def test_standardizers_can_be_kept_from_forgetting(
    case: Case, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    options: dict[str, Any] = {"forgetting": forgetting, "forget_standardizers": False}
    model = learn(make(case, stream, **options), stream)
    assert_same_standardizers(model, learn(make(case, stream), stream))
    expected = written_out(model, stream, fading(forgetting, stream.n))
    assert_close(model.moment_.matrix(), expected, noise_of(model))


@cases(ROUTES)
@contract(3)
@given(forgetting=factors, switch=st.booleans(), data=st.data())
def test_blocks_do_not_matter(
    case: Case, forgetting: float, switch: bool, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    places = data.draw(cuts(stream.n))
    options: dict[str, Any] = {"forgetting": forgetting, "forget_standardizers": switch}
    singly = learn_singly(make(case, stream, **options), stream)
    for blocks in ([], places):
        model = learn(make(case, stream, **options), stream, blocks)
        assert_same_standardizers(model, singly)
        assert_same_moment(model, singly)


@cases(ROUTES)
@contract(2)
@given(mode=modes, data=st.data())
def test_a_factor_of_one_forgets_nothing(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream, mode, forgetting=1.0), stream)
    ones = np.ones(stream.n)
    assert_same_moment(model, learn(make(case, stream, mode), stream, weights=ones))
    assert model.moment_.weight == stream.n
