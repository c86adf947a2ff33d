"""What every rung of the ladder of input maps owes its users while a map is being learned.

The contracts of all models run over the rungs too (``climbing=True`` in their files); here is what
only a model that climbs can get wrong.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from okspca import OKSPCA, MergeError
from okspca.estimators.map_search import ENDING, MapSearch
from okspca.features import CosineMap
from okspca.pipeline import Pipeline
from tests.contracts.cases import (
    CLIMBING,
    PILOT_ROWS,
    Case,
    Stream,
    learn,
    learn_singly,
    make,
)
from tests.contracts.closeness import assert_same_moment
from tests.contracts.fingerprint import fingerprint, state_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::okspca.RankWarning"),
    pytest.mark.usefixtures("early_climbs"),
]
#: After 8 rows and after 12 a climb is made.
PLACES = (5, 7, 8, 9, 11, 12, 13)
WHITENED = tuple(case for case in CLIMBING if case.objective == "whitened")
LABELLED = tuple(case for case in CLIMBING if case.task in ("binary", "multiclass"))


def climbing(cases: tuple[Case, ...] = CLIMBING) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=["-".join(case) for case in cases])


def stream_of(case: Case, seed: int = 3) -> Stream:
    """Twenty rows of three inputs."""
    return Stream(case.task, 20, 3, seed, "plain", 2, 16, None)


def search_of(model: OKSPCA) -> MapSearch:
    found: MapSearch = model.ready().state.companions["search"]
    return found


class Ticks:
    """Counts the moments of a climb at which a process may be asked to end, and acts at one."""

    def __init__(self, at: int = 0, act: Any = lambda: False) -> None:
        self.count, self.at, self.act = 0, at, act

    def __call__(self) -> bool:
        self.count += 1
        return bool(self.act()) if self.count == self.at else False


@contextmanager
def asked_during_climbs(question: Any) -> Iterator[None]:
    token = ENDING.set(question)
    try:
        yield
    finally:
        ENDING.reset(token)


def moments_of(case: Case, stream: Stream) -> list[int]:
    """Some moments of the climbs of a stream: the first ones, the last one, and between them."""
    ticks = Ticks()
    with asked_during_climbs(ticks):
        learn(make(case, stream), stream)
    assert ticks.count > 2
    return sorted({1, 2, *range(3, ticks.count, max(ticks.count // 4, 1)), ticks.count})


@climbing()
def test_the_cases_reach_their_rungs(case: Case) -> None:
    """So that nothing else here, and nothing said of climbing cases elsewhere, is empty."""
    stream = stream_of(case)
    model = learn(make(case, stream), stream, rows=slice(7))
    drawn = model.input_map_
    learn(model, stream, rows=slice(7, 11))
    assert (search_of(model).climbed_at, search_of(model).n_held) == (8, 11)
    assert not search_of(model).is_final
    learn(model, stream, rows=slice(11, PILOT_ROWS))
    assert search_of(model).is_final
    assert search_of(model).place.rung == case.rung
    assert not model.input_map_.equals(drawn)


@climbing(WHITENED)
def test_cuts_leave_no_trace_in_files(case: Case) -> None:
    """At no stage: before the first climb, between climbs, after the last."""
    stream = stream_of(case)
    classes = sorted(set(stream.y.tolist())) if stream.has_labels else None
    for place in PLACES:
        rows = slice(1, place)
        # A first row of its own: the width of a moment without rows is that of the first block.
        whole, singly, cut = (
            make(case, stream).partial_fit(stream.X[:1], stream.y[:1], classes=classes)
            for _ in range(3)
        )
        learn(whole, stream, rows=rows)
        learn_singly(singly, stream, rows)
        learn(cut, stream, [2, 7, 9], rows=rows)
        assert singly.to_bytes() == whole.to_bytes()
        assert cut.to_bytes() == whole.to_bytes()


@climbing()
def test_cuts_do_not_change_a_bit_of_the_map(case: Case) -> None:
    stream = stream_of(case)
    whole = learn(make(case, stream), stream)
    for places in (list(range(1, 20)), [3, 10], [8], [12]):
        model = learn(make(case, stream), stream, places)
        assert fingerprint(search_of(model).place) == fingerprint(search_of(whole).place)


@climbing()
def test_fit_learns_the_same_map(case: Case) -> None:
    """Though it knows all classes beforehand, and in another order."""
    stream = stream_of(case)
    model, fitted = learn(make(case, stream), stream), make(case, stream)
    fitted.fit(stream.X, stream.y)
    assert fitted.input_map_.equals(model.input_map_)
    np.testing.assert_array_equal(fitted.relevance_, model.relevance_)


@climbing(LABELLED)
def test_the_order_of_declared_classes_does_not_matter(case: Case) -> None:
    stream = stream_of(case)
    classes = sorted(set(stream.y.tolist()))
    never: Any = 99 if stream.y.dtype.kind == "i" else "never"
    models = []
    for declared in (classes, classes[::-1], [never, *classes]):
        model = make(case, stream)
        model.partial_fit(stream.X[:1], stream.y[:1], classes=declared)
        models.append(learn(model, stream, rows=slice(1, None)))
    for model in models[1:]:
        assert model.input_map_.equals(models[0].input_map_)


@climbing()
def test_a_model_saved_at_any_stage_goes_on_to_the_same_bytes(case: Case) -> None:
    stream = stream_of(case)
    for place in PLACES:
        model = learn(make(case, stream), stream, rows=slice(place))
        again = OKSPCA.from_bytes(model.to_bytes())
        assert again.to_bytes() == model.to_bytes()
        for one in (model, again):
            learn(one, stream, rows=slice(place, None))
        assert again.to_bytes() == model.to_bytes()
        assert again.transform(stream.X).tobytes() == model.transform(stream.X).tobytes()


@climbing()
def test_a_climb_put_off_at_any_moment_is_made_up_for(case: Case) -> None:
    """Rows are learned all the same, the file is whole, and in the end nothing tells."""
    stream = stream_of(case)
    whole = learn(make(case, stream), stream, [14])
    for moment in moments_of(case, replace(stream, n=14)):
        model = make(case, stream)
        with asked_during_climbs(Ticks(moment, lambda: True)):
            learn(model, stream, rows=slice(14))
        assert model.n_samples_seen_ == 14
        assert search_of(model).owed
        again = OKSPCA.from_bytes(model.to_bytes())
        assert again.to_bytes() == model.to_bytes()
        for one in (model, again):
            learn(one, stream, rows=slice(14, None))
            assert one.input_map_.equals(whole.input_map_)
            if case.objective == "whitened":
                assert one.to_bytes() == whole.to_bytes()
            else:
                assert_same_moment(one, whole)
        assert again.to_bytes() == model.to_bytes()


def interrupt() -> bool:
    raise KeyboardInterrupt


@climbing()
def test_an_interrupted_climb_leaves_no_trace(case: Case) -> None:
    stream = stream_of(case)
    model, whole = make(case, stream), learn(make(case, stream), stream, [7])
    learn(model, stream, rows=slice(7))
    before = state_of(model)
    for moment in moments_of(case, stream):
        with asked_during_climbs(Ticks(moment, interrupt)), pytest.raises(KeyboardInterrupt):
            learn(model, stream, rows=slice(7, None))
        assert state_of(model) == before
    with asked_during_climbs(Ticks(1, interrupt)), pytest.raises(KeyboardInterrupt):
        model.learn_one(stream.X[7], stream.y[7])
    assert state_of(model) == before
    assert learn(model, stream, rows=slice(7, None)).to_bytes() == whole.to_bytes()


@climbing()
def test_an_error_after_a_climb_takes_the_climb_back(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the same call: rows are learned again with the new map, then those that follow."""
    stream = stream_of(case)
    model = learn(make(case, stream), stream, rows=slice(7))
    before, run = state_of(model), Pipeline.run
    for last in (1, 2, 3):
        left = [last]

        def failing(self: Pipeline, *rows: Any, _left: list[int] = left, **more: Any) -> None:
            _left[0] -= 1
            if _left[0] == 0:
                raise ArithmeticError
            run(self, *rows, **more)

        with monkeypatch.context() as patch:
            patch.setattr(Pipeline, "run", failing)
            with pytest.raises(ArithmeticError):
                learn(model, stream, rows=slice(7, None))
        assert left[0] == 0
        assert state_of(model) == before


@climbing()
def test_whoever_asks_during_a_climb_is_told_of_the_rows_before(case: Case) -> None:
    """At once, by another thread, and about one state."""
    stream = stream_of(case)
    model = learn(make(case, stream), stream, rows=slice(7))

    def told() -> str:
        return fingerprint([model.basis(), model.transform(stream.X), model.n_samples_seen_])

    before, answers = told(), []

    def ask() -> bool:
        reader = threading.Thread(target=lambda: answers.append(told()))
        reader.start()
        reader.join(60.0)
        assert not reader.is_alive()
        return False

    for moment in moments_of(case, stream)[:3]:
        twin = OKSPCA.from_bytes(model.to_bytes())
        with asked_during_climbs(Ticks(moment, ask)):
            learn(model, stream, rows=slice(7, None))
        model = twin
    assert answers == [before] * 3


@pytest.mark.parametrize(
    "options", [{}, {"forgetting": 0.9}, {"window": 16}, {"forgetting": 0.9, "stability": 4}]
)
@climbing()
def test_in_the_end_it_is_a_model_that_had_the_map_from_the_start(
    case: Case, options: dict[str, Any]
) -> None:
    """With weights; under forgetting and with a window too."""
    stream = replace(stream_of(case), n=30)
    model = learn(make(case, stream, **options), stream, [5, 10], weights=stream.weights)
    fixed = {**options, "input_map": model.input_map_, "frequencies": "drawn"}
    plain = learn(make(case, stream, **fixed), stream, weights=stream.weights)
    assert isinstance(model.input_map_, CosineMap)
    assert_same_moment(model, plain)
    np.testing.assert_allclose(
        model.transform(stream.X), plain.transform(stream.X), rtol=1e-7, atol=1e-9
    )


@climbing()
def test_the_unit_of_weight_does_not_matter(case: Case) -> None:
    stream = stream_of(case)
    maps = {
        unit: learn(make(case, stream), stream, weights=unit * stream.weights).input_map_
        for unit in (1.0, 4.0, 3.0)
    }
    assert maps[4.0].equals(maps[1.0])
    same, other = (maps[unit].transform(stream.X) for unit in (1.0, 3.0))
    np.testing.assert_allclose(other, same, rtol=1e-6, atol=1e-8)
    unweighted = learn(make(case, stream), stream)
    assert not unweighted.input_map_.equals(maps[1.0])


@climbing(tuple(case for case in CLIMBING if case.solver == "exact"))
def test_models_of_one_final_map_merge(case: Case) -> None:
    stream = replace(stream_of(case), n=40)
    first = learn(make(case, stream, None, ridge=0.01), stream, rows=slice(20))
    fixed = {"ridge": 0.01, "input_map": first.input_map_, "frequencies": "drawn"}
    second = learn(make(case, stream, None, **fixed), stream, rows=slice(20, None))
    whole = learn(make(case, stream, None, **fixed), stream)
    relevance = first.relevance_
    other = OKSPCA.from_bytes(second.to_bytes()).merge(first)
    for merged in (first.merge(second), other):
        assert merged.n_samples_seen_ == 40
        assert_same_moment(merged, whole)
    np.testing.assert_array_equal(first.relevance_, relevance)
    again = OKSPCA.from_bytes(first.to_bytes())
    for one in (first, again):
        learn(one, stream, rows=slice(5))
    assert again.to_bytes() == first.to_bytes()


@climbing(tuple(case for case in CLIMBING if case.solver == "exact"))
def test_models_of_other_maps_do_not_merge(case: Case) -> None:
    stream, other = stream_of(case), replace(stream_of(case), n=20)
    vars(other)["X"] = stream.X[:, ::-1].copy()
    first, second = (learn(make(case, one), one) for one in (stream, other))
    begun = learn(make(case, stream), stream, rows=slice(10))
    before = fingerprint([vars(model) for model in (first, second, begun)])
    for pair, message in (
        ((first, second), "frequencies='drawn'"),
        ((first, begun), "still finding out"),
        ((begun, first), "still finding out"),
    ):
        with pytest.raises(MergeError, match=message):
            pair[0].merge(pair[1])
    assert fingerprint([vars(model) for model in (first, second, begun)]) == before
