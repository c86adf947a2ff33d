"""A target that does not vary gives no basis: not one of rounding noise, however it arrives."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA, Status
from tests.contracts.cases import (
    FRESH,
    POOLABLE,
    QUIRKS,
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
    with_target,
)

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
NUMBERS = (1e6, 0.0, -3.7, 0.1, 1e-8, 1e-200)
labels = st.sampled_from((3, "only"))


@st.composite
def constant_streams(
    draw: st.DrawFn, task: str, least: int = 2, most: int = 30, quirks: Sequence[str] = QUIRKS
) -> Stream:
    """Draw a stream whose target never varies."""
    stream = draw(streams(task, least=least, most=most, quirks=quirks))
    if stream.has_labels:
        return with_target(stream, np.array([draw(labels)] * stream.n))
    n_outputs = stream.y.reshape(stream.n, -1).shape[1]
    value = [draw(st.sampled_from(NUMBERS)) for _ in range(n_outputs)]
    return with_target(stream, np.tile(value, (stream.n, 1)).reshape(stream.y.shape))


def assert_no_target(model: OKSPCA, case: Case, stream: Stream) -> None:
    """Say so, deliver nothing, and embed everything at zero unless a tracker embeds."""
    basis = model.basis()
    waits = case.every is not None and model.n_samples_seen_ < case.every
    assert basis.status is (Status.NOT_INITIALISED if waits else Status.NO_TARGET)
    assert basis.rank == 0
    assert basis.certificate is None
    assert model.diagnose().reference_rank == 0
    if not case.tracks:
        assert not model.transform(stream.X).any()
        assert not model.components_.any()
        assert not model.singular_values_.any()


@cases()
@contract(3)
@given(mode=modes, data=st.data())
def test_by_block(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(constant_streams(case.task))
    model = learn(make(case, stream, mode), stream, data.draw(cuts(stream.n)))
    assert_no_target(model, case, stream)


@cases()
@contract(2)
@given(mode=modes, data=st.data())
def test_by_row(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(constant_streams(case.task, most=25))
    assert_no_target(learn_singly(make(case, stream, mode), stream), case, stream)


@cases()
@contract(2)
@given(mode=modes, data=st.data())
def test_with_weights(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(constant_streams(case.task))
    places = data.draw(cuts(stream.n))
    model = learn(make(case, stream, mode), stream, places, weights=stream.weights)
    assert_no_target(model, case, stream)


@cases()
@contract(2)
@given(mode=modes, forgetting=st.sampled_from((0.9, 0.5)), data=st.data())
def test_under_forgetting(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(constant_streams(case.task))
    model = make(case, stream, mode, forgetting=forgetting)
    assert_no_target(learn(model, stream, data.draw(cuts(stream.n))), case, stream)


@cases(POOLABLE)
@contract(2)
@given(mode=modes, data=st.data())
def test_after_a_merge(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(constant_streams(case.task, least=20))
    first = learn(make(case, stream, mode), stream, rows=slice(10))
    second = learn(make(case, stream, mode), stream, rows=slice(10, None))
    assert_no_target(first.merge(second), case, stream)


@cases()
@contract(2)
@given(mode=modes, data=st.data())
def test_after_one_row(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=1, most=1))
    assert_no_target(learn(make(case, stream, mode), stream), case, stream)
    assert_no_target(learn_singly(make(case, stream, mode), stream), case, stream)


@cases()
@contract(1)
@given(mode=modes, data=st.data())
def test_a_target_that_was_forgotten(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=20, most=30, quirks=("plain", "offset")))
    model = learn(make(case, stream, mode, forgetting=0.5), stream)
    rest = replace(stream, n=140 + -stream.n % 70)
    value = stream.y[:1] if stream.has_labels else np.zeros_like(stream.y[:1])
    learn(model, with_target(rest, value.repeat(rest.n, axis=0)), data.draw(cuts(rest.n)))
    assert_no_target(model, case, stream)


@cases()
@contract(2)
@given(mode=modes, data=st.data())
def test_a_target_that_begins_to_vary(case: Case, mode: str | None, data: st.DataObject) -> None:
    drawn = constant_streams(case.task, least=35, most=35, quirks=("plain", "offset", "repeats"))
    stream = data.draw(drawn)
    y = stream.y.copy()
    if stream.has_labels:
        y[14::3] = 1 if y.dtype.kind == "i" else "both"
    else:
        y[14:] += 2.0 * stream.raw[14:, 0].reshape(21, *[1] * (y.ndim - 1))
    model = make(case, stream, mode)
    stream = with_target(stream, y)
    learn(model, stream, rows=slice(14))
    assert_no_target(model, case, stream)
    learn(model, stream, rows=slice(14, None))
    assert model.basis().status is Status.VALID
    assert model.basis().rank >= 1


@pytest.mark.parametrize("turn", [1, -1], ids=["into the constant", "into the varying"])
@cases(FRESH)
@contract(1)
@given(mode=modes, data=st.data())
def test_a_merge_that_brings_variation(
    turn: int, case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=30, most=30, quirks=("plain", "offset")))
    y = stream.y.copy()
    y[:10] = y[0]
    stream = with_target(stream, y)
    parts = [
        learn(make(case, stream, mode), stream, rows=slice(*pair)) for pair in ((10,), (10, 30))
    ]
    assert_no_target(parts[0], case, stream)
    first, second = parts[::turn]
    assert first.merge(second).basis().status is Status.VALID
