"""Alignment turns columns within their span, towards an anchor that only learning renews."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA
from okspca.numerics.arrays import Floats
from okspca.numerics.subspace import projector_distance
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
from tests.contracts.closeness import EPS
from tests.contracts.fingerprint import fingerprint, state_of

pytestmark = pytest.mark.filterwarnings("ignore::okspca.RankWarning")
ROUNDING = 1000.0 * EPS
#: What a basis does by itself is the same for all solvers; these deliver different kinds of basis.
PURE = ("exact", "cached-7", "adam", "warm-block")


def anchor_of(model: OKSPCA) -> Floats | None:
    """The anchor a model holds."""
    return model.ready().state.anchor


def aligned_model(case: Case, stream: Stream, mode: str | None = "causal") -> OKSPCA:
    """Make a model that aligns; two columns, so that there is something to turn."""
    n_components = 1 if case.task == "binary" else 2
    return make(case, stream, mode, align=True, n_components=n_components)


def rotation(seed: int, size: int) -> Floats:
    """A random orthogonal matrix."""
    return np.linalg.qr(np.random.RandomState(seed).normal(size=(size, size)))[0]


@cases()
@contract(1)
@given(data=st.data())
def test_anchors_are_renewed_at_powers_of_two_only(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=130, most=130, quirks=("plain",)))
    model = learn(aligned_model(case, stream), stream, rows=slice(60))
    renewed, last = [], fingerprint(anchor_of(model))
    for row in range(60, stream.n):
        learn_singly(model, stream, slice(row, row + 1))
        if fingerprint(anchor_of(model)) != last:
            renewed.append(row + 1)
        last = fingerprint(anchor_of(model))
    assert renewed == [64, 128]


@cases(ROUTES)
@contract(2)
@given(mode=modes, data=st.data())
def test_blocks_do_not_move_anchors(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=250, most=260, quirks=("plain",)))
    model = aligned_model(case, stream, mode)
    places = [0, *data.draw(cuts(stream.n)), stream.n]
    for start, stop in pairwise(places):
        before = fingerprint(anchor_of(model)) if start else fingerprint(None)
        learn(model, stream, rows=slice(start, stop))
        crossed = any(start < power <= stop for power in (64, 128, 256))
        assert (fingerprint(anchor_of(model)) != before) == crossed


@cases()
@contract(1)
@given(mode=modes, data=st.data())
def test_reading_does_not_renew_the_anchor(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=70, most=70, quirks=("plain",)))
    model = learn(aligned_model(case, stream, mode), stream)
    before = state_of(model)
    model.transform(stream.X)
    assert model.components_.shape[1] == stream.n_features
    assert state_of(model) == before


@cases()
@contract(1)
@given(mode=modes, data=st.data())
def test_an_anchor_is_what_embeddings_used_when_it_was_set(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=64, most=64))
    anchor = anchor_of(learn(aligned_model(case, stream, mode), stream))
    plain = learn(make(case, stream, mode, n_components=anchor_columns(anchor)), stream)
    assert fingerprint(anchor) == fingerprint(np.ascontiguousarray(plain.components_.T))


def anchor_columns(anchor: Floats | None) -> int:
    """Number of columns of an anchor."""
    assert anchor is not None
    return int(anchor.shape[1])


@cases()
@contract(1)
@given(mode=modes, data=st.data())
def test_embeddings_move_no_more_than_their_span(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    """Between anchors ``A``, columns move by at most ``2 ||P - P'|| / (s + s')``.

    The columns are the polar factor of ``P A``; ``s`` and ``s'`` are its smallest singular values.
    """
    stream = data.draw(streams(case.task, least=84, most=84, quirks=("plain", "offset")))
    model = learn(aligned_model(case, stream, mode), stream, rows=slice(64))
    anchor = anchor_of(model)
    assert anchor is not None
    before: Floats | None = None
    for row in range(64, stream.n):
        learn_singly(model, stream, slice(row, row + 1))
        columns = model.components_.T
        if not (columns.any(axis=0).all() and anchor.any(axis=0).all()):
            continue
        if before is not None:
            smallest = sum(_smallest(one.T @ anchor) for one in (columns, before))
            moved = projector_distance(columns, before)
            assert np.linalg.norm(columns - before) <= (2.0 * moved + ROUNDING) / smallest
        before = columns


@cases()
@contract(1)
@given(mode=modes, data=st.data())
def test_aligned_embeddings_keep_the_span(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=66, most=80))
    model = learn(make(case, stream, mode, align=True), stream)
    basis = model.basis(kind="maintained")
    columns, rank = model.components_[: basis.rank].T, basis.rank
    assert projector_distance(columns, basis.vectors) <= ROUNDING
    assert np.linalg.norm(columns.T @ columns - np.eye(rank)) <= ROUNDING
    assert not model.components_[rank:].any()


@cases(PURE)
@contract(2)
@given(mode=modes, data=st.data())
def test_align_to_turns_within_the_span_only(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=22))
    model = learn(make(case, stream, mode), stream, rows=slice(20))
    earlier = model.basis()
    learn(model, stream, rows=slice(20, None))
    basis = model.basis()
    aligned = model.basis(align_to=earlier)
    kept = [(one.status, one.rank, one.built_at, one.age) for one in (basis, aligned)]
    assert kept[0] == kept[1]
    assert aligned.certificate == basis.certificate
    energies = [float(np.sum(one.singular_values**2)) for one in (basis, aligned)]
    assert energies[1] == pytest.approx(energies[0], rel=1e-12)
    if basis.rank:
        assert projector_distance(aligned.vectors, basis.vectors) <= ROUNDING


@cases(PURE)
@contract(3)
@given(mode=modes, data=st.data())
def test_align_to_is_as_near_as_possible(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=22))
    model = learn(make(case, stream, mode), stream, rows=slice(20))
    earlier = model.basis()
    learn(model, stream, rows=slice(20, None))
    basis, aligned = model.basis(), model.basis(align_to=earlier)
    if basis.rank == earlier.rank > 0:
        distance = np.linalg.norm(aligned.vectors - earlier.vectors)
        for seed in range(5):
            turned = basis.vectors @ rotation(seed, basis.rank)
            assert distance <= np.linalg.norm(turned - earlier.vectors) + ROUNDING
        assert distance <= np.linalg.norm(basis.vectors - earlier.vectors) + ROUNDING


@cases(PURE)
@contract(2)
@given(mode=modes, data=st.data())
def test_aligning_and_measuring_drift_are_pure(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=22))
    model = learn(make(case, stream, mode), stream, rows=slice(20))
    earlier = model.basis()
    learn(model, stream, rows=slice(20, None))
    before = state_of(model), fingerprint(earlier)
    answers: list[Any] = [
        (model.basis(align_to=earlier), model.basis().drift_from(earlier)) for _ in range(2)
    ]
    assert fingerprint(answers[0]) == fingerprint(answers[1])
    assert (state_of(model), fingerprint(earlier)) == before


@cases(PURE)
@contract(2)
@given(mode=modes, data=st.data())
def test_drift_is_about_spans(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=22))
    model = learn(make(case, stream, mode), stream, rows=slice(20))
    earlier = model.basis()
    learn(model, stream, rows=slice(20, None))
    basis, aligned = model.basis(), model.basis(align_to=earlier)
    there, back = basis.drift_from(earlier), earlier.drift_from(basis)
    assert np.isclose(there.distance, back.distance, rtol=0.0, atol=ROUNDING)
    assert np.isclose(there.distance, aligned.drift_from(earlier).distance, atol=ROUNDING)
    assert basis.drift_from(basis).distance <= ROUNDING
    if basis.rank == earlier.rank > 0:
        projectors = [one.vectors @ one.vectors.T for one in (basis, earlier)]
        expected = np.linalg.norm(projectors[0] - projectors[1])
        assert np.isclose(there.distance, expected, rtol=0.0, atol=1e-7)


def _smallest(matrix: Floats) -> float:
    """Smallest singular value."""
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])


def test_alignment_keeps_signs_while_the_rank_grows() -> None:
    X = np.random.RandomState(0).normal(size=(300, 5))
    labels = (X[:, 0] > 0).astype(int)
    labels[70:][X[70:, 1] > 0.5] = 2
    model = OKSPCA(2, random_state=0, align=True).partial_fit(X[:88], labels[:88])
    before = model.transform(X)
    for i in range(88, 160):
        model.learn_one(X[i], labels[i])
        now = model.transform(X)
        assert (np.sum(now * before, axis=0) > 0.0).all()
        before = now
