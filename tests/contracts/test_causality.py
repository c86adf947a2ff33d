"""A row is seen with the past only, learned as it was seen, and never learned by reading."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA
from okspca.features import FourierMap, OneHotMap
from okspca.moments import CrossMoment, TargetCompression
from okspca.numerics.arrays import Floats
from okspca.pipeline import Pipeline, PipelineState
from okspca.pipeline.answers import input_features
from okspca.standardize import CausalStandardizer, NoStandardizer, Standardizer
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
    modes,
    service_of,
    streams,
    with_target,
)
from tests.contracts.closeness import EPS, assert_close
from tests.contracts.fingerprint import fingerprint, state_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::okspca.RankWarning"),
    pytest.mark.usefixtures("early_climbs"),
]
forgetting_factors = st.sampled_from((1.0, 0.9))


class RecordingMap(FourierMap):
    """A feature map that keeps the standardised rows it was shown."""

    def __init__(self, weights: Floats, phases: Floats) -> None:
        super().__init__(weights, phases)
        self.seen: list[Floats] = []

    def transform(self, Z: Floats) -> Floats:
        """Keep the rows, then map them."""
        self.seen.append(Z.copy())
        return super().transform(Z)


class Watched(NamedTuple):
    """A pipeline, the recording map of its inputs, and a stream as arrays for it."""

    pipeline: Pipeline
    inputs: RecordingMap
    targets: RecordingMap | OneHotMap
    X: Floats
    Y: Floats

    def step(self, row: int, weight: float = 1.0) -> None:
        """Learn one row."""
        rows = slice(row, row + 1)
        self.pipeline.run(self.X[rows], self.Y[rows], np.array([weight]))


def watch(case: Case, stream: Stream, mode: str | None, forgetting: float = 1.0) -> Watched:
    """Assemble a pipeline by hand, with maps that record."""
    X = np.ascontiguousarray(stream.X)
    inputs = RecordingMap.sample(stream.d, stream.n_features, bandwidth=1.0, seed=stream.seed)
    targets: RecordingMap | OneHotMap
    of_targets: Standardizer = NoStandardizer()
    compression = None
    if stream.has_labels:
        targets = OneHotMap(np.unique(stream.y).tolist())
        Y = targets.index(stream.y.tolist())
    else:
        Y = np.ascontiguousarray(stream.y.reshape(stream.n, -1))
        targets = RecordingMap.sample(Y.shape[1], 32, bandwidth=1.0, seed=stream.seed + 1)
        of_targets = front(mode, Y, forgetting)
        compression = TargetCompression(32) if Y.shape[1] == 1 else None
    moment = CrossMoment(
        inputs.n_features,
        targets.n_features,
        forgetting=forgetting,
        labels=stream.has_labels,
        compression=compression,
    )
    state = PipelineState.start(
        (front(mode, X, forgetting), inputs),
        (of_targets, targets),
        moment,
        service_of(case.solver),
        n_components=stream.n_components,
    )
    return Watched(Pipeline(state), inputs, targets, X, Y)


def front(mode: str | None, values: Floats, forgetting: float) -> Standardizer:
    """Make a standardiser."""
    if mode == "causal":
        return CausalStandardizer(values.shape[1], forgetting=forgetting)
    return NoStandardizer() if mode is None else frozen_on(values)


def with_other_future(stream: Stream, t: int, *, new_class: bool = False) -> Stream:
    """Return the same stream up to row ``t`` and quite different rows from then on."""
    other = replace(stream)
    X, y = stream.X.copy(), stream.y.copy()
    X[t:] = 5.0 - 3.0 * X[t:][::-1]
    y[t:] = y[t:][::-1] if stream.has_labels else 7.0 - y[t:]
    if new_class:
        y[t:] = 9 if y.dtype.kind == "i" else "z"
    vars(other).update(X=X, y=y)
    return other


@cases(ROUTES)
@contract(4)
@given(mode=modes, data=st.data())
def test_a_changed_future_leaves_earlier_rows_alone(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    t = data.draw(st.integers(1, stream.n - 1))
    shown = []
    for one in (stream, with_other_future(stream, t)):
        # Ready-made standardisers come from the first stream: they are not part of the future.
        watched = watch(case, stream, mode)
        Y = watched.Y if stream.has_labels else one.y.reshape(stream.n, -1)
        watched.pipeline.run(np.ascontiguousarray(one.X), Y, np.ones(stream.n))
        targets = [] if isinstance(watched.targets, OneHotMap) else watched.targets.seen
        shown.append([np.concatenate(seen)[:t] for seen in (watched.inputs.seen, targets) if seen])
    assert fingerprint(shown[0]) == fingerprint(shown[1])


@pytest.mark.parametrize("new_class", [False, True], ids=["", "new class"])
@cases(("cached", "cached-7"))
@contract(5)
@given(mode=modes, data=st.data())
def test_a_changed_future_leaves_an_earlier_basis_alone(
    new_class: bool, case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=22, most=27))
    built_at = stream.n // (case.every or 1) * (case.every or 1)
    changed = with_other_future(stream, built_at, new_class=new_class and stream.has_labels)
    kept, other = (learn(make(case, stream, mode), one).basis() for one in (stream, changed))
    assert kept.built_at == other.built_at == built_at
    assert fingerprint((kept.vectors, kept.singular_values, kept.status)) == fingerprint(
        (other.vectors, other.singular_values, other.status)
    )


@cases(("cached", "cached-7"), ("multiclass",))
@contract(6)
@given(mode=modes, data=st.data())
def test_many_classes_of_the_future_leave_an_earlier_basis_alone(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    """Enough of them for a wide moment to be solved in another way than a narrow one."""
    stream = replace(data.draw(streams(case.task, least=27, most=27)), n_features=24)
    rows = np.arange(stream.n)
    built_at = stream.n // (case.every or 1) * (case.every or 1)
    few, many = (with_target(stream, np.where(rows < built_at, rows % 9, y)) for y in (0, rows))
    kept, other = (learn(make(case, stream, mode), one).basis() for one in (few, many))
    assert kept.built_at == other.built_at == built_at
    assert fingerprint(kept.vectors) == fingerprint(other.vectors)


@cases()
@contract(1)
@given(data=st.data())
def test_a_changed_future_leaves_the_anchor_alone(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=66, most=71))
    anchors = []
    for one in (stream, with_other_future(stream, 64)):
        model = learn(make(case, stream, align=True), one)
        anchors.append(model.ready().state.anchor)
    assert anchors[0] is not None
    assert fingerprint(anchors[0]) == fingerprint(anchors[1])


@cases(climbing=True)
@contract(2)
@given(mode=modes, data=st.data())
def test_answers_before_a_row_do_not_depend_on_it(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, most=16))
    t = data.draw(st.integers(1, stream.n - 1))
    answers = []
    for one in (stream, with_other_future(stream, t)):
        model = make(case, stream, mode)
        shown = []
        for row in range(t):
            learn(model, one, rows=slice(row, row + 1))
            shown.append(fingerprint((model.basis(), model.transform(stream.X))))
        answers.append(shown)
    assert answers[0] == answers[1]


@cases(ROUTES)
@contract(4)
@given(mode=modes, forgetting=forgetting_factors, data=st.data())
def test_a_block_is_learned_as_embed_would_have_shown_it(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    block, singly = (watch(case, stream, mode, forgetting) for _ in range(2))
    block.pipeline.run(block.X, block.Y, stream.weights)
    shown = []
    for row in range(stream.n):
        shown.append(singly.pipeline.state.input_standardizer.transform(singly.X[row : row + 1]))
        singly.step(row, stream.weights[row])
    assert fingerprint(np.concatenate(block.inputs.seen)) == fingerprint(np.concatenate(shown))


@cases(ROUTES)
@contract(4)
@given(mode=modes, forgetting=forgetting_factors, data=st.data())
def test_step_consumes_what_embed_showed(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, most=25))
    watched = watch(case, stream, mode, forgetting)
    pipeline = watched.pipeline
    for row, weight in enumerate(stream.weights.tolist()):
        phi = input_features(pipeline.state, watched.X[row : row + 1])[0]
        shown = pipeline.state.target_standardizer.transform(watched.Y[row : row + 1])
        psi = watched.targets.transform(shown)[0]
        moment = pipeline.state.moment
        (left, right), C, before = moment.means(), moment.matrix(), forgetting * moment.weight
        watched.step(row, weight)
        moment = pipeline.state.moment  # learning goes on with a copy
        ratio = weight / (before + weight)
        assert fingerprint(moment.means()[0]) == fingerprint(left + ratio * (phi - left))
        assert_close(moment.means()[1], right + ratio * (psi - right), 64.0 * EPS)
        outer = np.outer(phi - left, psi - right)
        assert_close(moment.matrix(), (1.0 - ratio) * (C + ratio * outer), 64.0 * EPS)


READS: tuple[Callable[[OKSPCA, Floats], object], ...] = (
    lambda model, X: model.basis(),
    lambda model, X: model.basis(kind="maintained"),
    lambda model, X: model.basis(align_to=model.basis()),
    lambda model, X: model.transform(X),
    lambda model, X: model.diagnose(),
    lambda model, X: model.solver_health(),
    lambda model, X: (model.components_, model.singular_values_, model.n_samples_seen_),
    lambda model, X: (model.moment_.matrix(), model.moment_.bessel(), model.moment_.means()),
)


@cases(climbing=True)
@contract(2)
@given(mode=modes, align=st.sampled_from((True, False)), data=st.data())
def test_reading_never_learns(
    case: Case, mode: str | None, align: bool, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, most=70))
    places = [0, *data.draw(cuts(stream.n)), stream.n]
    read, left_alone = (make(case, stream, mode, align=align) for _ in range(2))
    for start, stop in pairwise(places):
        learn(read, stream, rows=slice(start, stop))
        learn(left_alone, stream, rows=slice(start, stop))
        state = state_of(read)
        for look in READS:
            look(read, stream.X)
        assert state_of(read) == state
    assert state_of(read) == state_of(left_alone)
    answers = [
        [fingerprint(look(model, stream.X)) for look in READS] for model in (read, left_alone)
    ]
    assert answers[0] == answers[1]


@cases(climbing=True)
@contract(1)
@given(mode=modes, data=st.data())
def test_an_answer_does_not_change_afterwards(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=12))
    model = learn(make(case, stream, mode), stream, rows=slice(10))
    answers = [look(model, stream.X) for look in READS]
    before = fingerprint(answers)
    learn(model, stream, rows=slice(10, None))
    assert fingerprint(answers) == before
