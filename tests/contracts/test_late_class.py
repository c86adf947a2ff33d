"""A class that appears late gives what a class declared at the start would have given."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from okspca import OKSPCA
from tests.contracts.cases import (
    LABEL_TASKS,
    SOLVERS,
    Case,
    Stream,
    cases,
    contract,
    cuts,
    learn,
    make,
    modes,
    streams,
    with_target,
)
from tests.contracts.closeness import (
    assert_close,
    assert_same_basis,
    assert_same_embedding,
    assert_same_moment,
    noise_of,
    tolerance_for,
    tolerance_of_tracker,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore::okspca.RankWarning"),
    pytest.mark.usefixtures("early_climbs"),
]


@st.composite
def late_streams(draw: st.DrawFn, case: Case) -> Stream:
    """Draw a stream whose classes come one after the other, and whose last row builds a cache."""
    stream = draw(streams(case.task, least=12, most=30))
    every = case.every or 1
    n = stream.n // every * every
    names = ["d", "a"] if case.task == "binary" else ["d", "b", "a", "c"]
    # The class with number j is unknown before row j n / C; from then on known ones alternate.
    known = 1 + np.arange(n) * len(names) // n
    y = np.array(names)[(np.arange(n) + stream.seed) % known]
    y[np.flatnonzero(np.diff(known, prepend=0))] = names
    return with_target(replace(stream, n=n), y)


def declared(model: OKSPCA, stream: Stream, classes: list[str], places: list[int]) -> OKSPCA:
    """Learn a stream with all classes declared at the first row."""
    model.partial_fit(stream.X[:1], stream.y[:1], classes=classes)
    for rows in np.split(np.arange(1, stream.n), [place - 1 for place in places if place > 1]):
        if rows.size:
            model.partial_fit(stream.X[rows], stream.y[rows])
    return model


@cases(tuple(SOLVERS), LABEL_TASKS, climbing=True)
@contract(3)
@given(mode=modes, forgetting=st.sampled_from((1.0, 0.9)), data=st.data())
def test_the_moment_is_the_same_up_to_the_order_of_columns(
    case: Case, mode: str | None, forgetting: float, data: st.DataObject
) -> None:
    stream = data.draw(late_streams(case))
    classes = data.draw(st.permutations(sorted(set(stream.y.tolist()))))
    places = data.draw(cuts(stream.n))
    options = {"forgetting": forgetting}
    late = learn(make(case, stream, mode, **options), stream, [1, *places[1:]])
    early = declared(make(case, stream, mode, **options), stream, classes, places)
    assert late.classes_.tolist() == list(dict.fromkeys(stream.y.tolist()))
    assert early.classes_.tolist() == classes
    assert_same_moment(late, early)


@cases(tuple(SOLVERS), LABEL_TASKS, climbing=True)
@contract(3)
@given(mode=modes, data=st.data())
def test_the_answers_are_the_same(case: Case, mode: str | None, data: st.DataObject) -> None:
    stream = data.draw(late_streams(case))
    classes = data.draw(st.permutations(sorted(set(stream.y.tolist()))))
    late = learn(make(case, stream, mode), stream, range(1, stream.n))
    early = declared(make(case, stream, mode), stream, classes, data.draw(cuts(stream.n)))
    C = early.moment_.matrix()
    tolerance = tolerance_for(C, max(early.basis().rank, 1), noise_of(early))
    if case.tracks:
        tolerance = tolerance_of_tracker(C)
    assert_same_basis(late.basis(), early.basis(), tolerance)
    assert_same_embedding(late.transform(stream.X), early.transform(stream.X), tolerance)


@cases(tuple(name for name in SOLVERS if name != "binary"), LABEL_TASKS, climbing=True)
@contract(2)
@given(mode=modes, data=st.data())
def test_a_class_that_never_comes_changes_nothing(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(late_streams(case))
    seen = sorted(set(stream.y.tolist()))
    more = declared(make(case, stream, mode), stream, ["never", *seen, "ever"], [])
    fewer = declared(make(case, stream, mode), stream, seen, [])
    C = fewer.moment_.matrix()
    assert not more.moment_.matrix()[:, [0, -1]].any()
    assert_close(more.moment_.matrix()[:, 1:-1], C, noise_of(fewer))
    tolerance = tolerance_for(C, max(fewer.basis().rank, 1), noise_of(fewer))
    if case.tracks:
        tolerance = tolerance_of_tracker(C)
    assert_same_basis(more.basis(), fewer.basis(), tolerance)
