"""A block is learned whole or not at all; what is rejected leaves no trace."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA, DataError
from okspca.features import FourierMap
from okspca.numerics.arrays import Floats
from tests.contracts.cases import ROUTES, Case, Stream, cases, contract, learn, make, modes, streams
from tests.contracts.fingerprint import state_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::okspca.RankWarning"),
    pytest.mark.usefixtures("early_climbs"),
]


class Block(NamedTuple):
    """What is offered to `partial_fit`."""

    X: Any
    y: Any
    sample_weight: Any = None


Spoil = Callable[[Floats, NDArray[Any]], Block]


class Fault(NamedTuple):
    """How a good block is spoilt, and what the message must say."""

    spoil: Spoil
    message: str
    #: Whether the block is bad by itself, not only after other blocks.
    at_once: bool = True
    tasks: tuple[str, ...] = ("binary", "multiclass", "scalar", "two-output")


NUMBERS = ("scalar", "two-output")
LABELS = ("binary", "multiclass")


def put(values: NDArray[Any], row: int, column: int, value: float) -> Floats:
    """Copy an array with one value replaced."""
    changed = np.array(values, dtype=np.float64)
    changed[(row, column)[: changed.ndim]] = value
    return changed


def spoil_label(y: NDArray[Any], label: object) -> NDArray[Any]:
    """Labels as objects, the last one replaced."""
    changed = np.array(y.tolist(), dtype=object)
    changed[-1] = label
    return changed


def with_new_class(y: NDArray[Any]) -> NDArray[Any]:
    """Targets whose first label was never seen before, so that learning it would leave a trace."""
    if y.dtype.kind == "f":
        return y
    return np.array([8 if y.dtype.kind == "i" else "new", *y[1:].tolist()])


FAULTS: dict[str, Fault] = {
    "NaN": Fault(
        lambda X, y: Block(put(X, -1, 0, np.nan), y), r"X contains NaN at row 19, col.* 0"
    ),
    "inf": Fault(lambda X, y: Block(put(X, 3, -1, -np.inf), y), r"X contains inf.* row 3, column"),
    "huge": Fault(lambda X, y: Block(put(X, 4, 0, 1e200), y), r"X contains 1e\+200 at row 4"),
    "text in X": Fault(
        lambda X, y: Block(X.astype(str).astype(object) + "?", y), "X contains .* row 0, column 0"
    ),
    "no rows": Fault(lambda X, y: Block(X[:0], y[:0]), "0 sample"),
    "one row as a vector": Fault(lambda X, y: Block(X[0], y[:1]), "X|1D"),
    "wider": Fault(lambda X, y: Block(np.c_[X, X], y), "X has .* features", at_once=False),
    "no target": Fault(lambda X, y: Block(X, None), "requires y"),
    "y too short": Fault(lambda X, y: Block(X, y[:-1]), "X has 20 rows but y has 19"),
    "y too long": Fault(lambda X, y: Block(X[:-1], y), "X has 19 rows but y has 20"),
    "three dimensions": Fault(lambda X, y: Block(X, y.reshape(20, -1, 1)[:, :, [0, 0]]), "y has"),
    "negative weight": Fault(
        lambda X, y: Block(X, y, put(np.ones(20), 7, 0, -0.5)), r"sample_weight is -0.5 at row 7"
    ),
    "NaN weight": Fault(
        lambda X, y: Block(X, y, put(np.ones(20), 7, 0, np.nan)), r"sample_weight .*NaN at row 7"
    ),
    "huge weight": Fault(
        lambda X, y: Block(X, y, put(np.ones(20), 7, 0, 1e200)), r"sample_weight .* at row 7"
    ),
    "too few weights": Fault(lambda X, y: Block(X, y, np.ones(19)), "sample_weight.shape"),
    "weights of text": Fault(lambda X, y: Block(X, y, ["heavy"] * 20), "sample_weight must"),
    "NaN in y": Fault(
        lambda X, y: Block(X, put(y, 5, -1, np.nan)), "y contains NaN at row 5", tasks=NUMBERS
    ),
    "inf in y": Fault(
        lambda X, y: Block(X, put(y, 5, -1, np.inf)), "y contains inf.* at row 5", tasks=NUMBERS
    ),
    "huge y": Fault(
        lambda X, y: Block(X, put(y, 5, -1, -1e200)), r"y contains -1e\+200 at row 5", tasks=NUMBERS
    ),
    "another number of outputs": Fault(
        lambda X, y: Block(X, np.c_[y, y]), "y has . columns", at_once=False, tasks=NUMBERS
    ),
    "labels after numbers": Fault(
        lambda X, y: Block(X, np.array(["a"] * 20)), "y must be num", at_once=False, tasks=NUMBERS
    ),
    "numbers after labels": Fault(
        lambda X, y: Block(X, np.arange(20.0)), "y holds floating", at_once=False, tasks=LABELS
    ),
    "another kind of label": Fault(
        lambda X, y: Block(X, np.ones(20, dtype=bool)), "y holds truth", at_once=False, tasks=LABELS
    ),
    "NaN label": Fault(
        lambda X, y: Block(X, spoil_label(y, float("nan"))),
        "y contains NaN at row 19",
        tasks=LABELS,
    ),
    "missing label": Fault(
        lambda X, y: Block(X, spoil_label(y, None)), "y contains None at row 19", tasks=LABELS
    ),
    "mixed labels in a list": Fault(
        lambda X, y: Block(X, spoil_label(y, True).tolist()), "y mixes .*; labels", tasks=LABELS
    ),
    "no columns in y": Fault(
        lambda X, y: Block(X, np.zeros((20, 0))), "y has (no|0) columns", tasks=NUMBERS
    ),
    "mixed labels": Fault(
        lambda X, y: Block(X, spoil_label(y, True)), "y mixes .*; labels", tasks=LABELS
    ),
}


def faults(solvers: tuple[str, ...], *, first: bool = False) -> pytest.MarkDecorator:
    """Parametrise over targets and what is a fault for them (as the first block), taking turns."""
    found = [
        pytest.param(Case(solvers[turn % len(solvers)], task), fault, id=f"{task}-{name}")
        for turn, (name, fault) in enumerate(FAULTS.items())
        for task in fault.tasks
        if fault.at_once or not first
    ]
    return pytest.mark.parametrize(("case", "fault"), found)


def offer(model: OKSPCA, block: Block, message: str) -> None:
    """Offer a bad block: it must raise, say why, and leave no trace."""
    before = state_of(model)
    with pytest.raises(ValueError, match=message):
        model.partial_fit(block.X, block.y, sample_weight=block.sample_weight)
    assert state_of(model) == before


@faults(("exact", "adam", "cached-7"))
@contract(2)
@given(mode=modes, data=st.data())
def test_a_rejected_block_leaves_no_trace(
    case: Case, fault: Fault, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=21))
    bad = fault.spoil(stream.X[:20], with_new_class(stream.y[:20]))
    model, twin = (make(case, stream, mode) for _ in range(2))
    for one in (model, twin):
        learn(one, stream, rows=slice(20))
    offer(model, bad, fault.message)
    for one in (model, twin):
        learn(one, stream, rows=slice(20, None))
    assert state_of(model) == state_of(twin)


@faults(("exact", "adam"), first=True)
@contract(2)
@given(mode=modes, data=st.data())
def test_a_rejected_first_block_leaves_the_model_unfitted(
    case: Case, fault: Fault, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=20, most=20))
    model = make(case, stream, mode)
    offer(model, fault.spoil(stream.X, stream.y), fault.message)
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "n_features_in_")
    learn(model, stream)
    assert state_of(model) == state_of(learn(make(case, stream, mode), stream))


@faults(("exact",))
@contract(1)
@given(data=st.data())
def test_a_rejected_block_leaves_held_back_rows_alone(
    case: Case, fault: Fault, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=20, most=20))
    model = learn(make(case, stream, bandwidth="median"), stream)
    offer(model, fault.spoil(stream.X, with_new_class(stream.y)), fault.message)


@cases(climbing=True)
@contract(1)
@given(data=st.data())
def test_one_bad_value_in_a_late_row_rejects_all_rows(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task, least=520, most=520, quirks=("plain",)))
    model = learn(make(case, stream), stream, rows=slice(10))
    offer(model, Block(put(stream.X, 500, 0, np.nan), stream.y), "X contains NaN at row 500, col")


@cases(climbing=True)
@contract(2)
@given(data=st.data(), value=st.sampled_from((np.nan, np.inf, -1e200)))
def test_a_rejected_single_row_leaves_no_trace(
    case: Case, value: float, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream), stream)
    before = state_of(model)
    x = stream.X[0].copy()
    x[-1] = value
    with pytest.raises(DataError, match=f"row 0, column {stream.d - 1}"):
        model.learn_one(x, stream.y[0])
    with pytest.raises(DataError, match="values"):
        model.learn_one(np.append(x, 1.0), stream.y[0])
    with pytest.raises(DataError, match="one-dimensional"):
        model.learn_one(stream.X[:1], stream.y[0])
    with pytest.raises(DataError, match=r"y "):
        model.learn_one(stream.X[0], None if stream.has_labels else stream.y[0] * np.nan)
    assert state_of(model) == before


@cases(("binary",))
@contract(2)
@given(data=st.data())
def test_a_target_the_solver_cannot_serve_leaves_no_trace(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream), stream)
    third = np.array([7 if stream.y.dtype.kind == "i" else "third"] * stream.n)
    third[:2] = np.resize(np.unique(stream.y), 2)
    known = set(stream.y.tolist()) | set(third.tolist())
    if len(known) > 2:
        offer(model, Block(stream.X, third), "solver='binary' serves two classes")


@cases(("exact", "adam"), ("scalar",))
@contract(2)
@given(data=st.data())
def test_a_bandwidth_that_cannot_be_found_leaves_no_trace(case: Case, data: st.DataObject) -> None:
    stream = data.draw(streams(case.task))
    model = make(case, stream, None, bandwidth="median", random_state=RandomState(0))
    same = Block(np.tile(stream.X[:1], (512, 1)), np.arange(512.0))
    offer(model, same, "bandwidth='median'")
    model.partial_fit(same.X[:511], same.y[:511])
    offer(model, Block(same.X[511:], same.y[511:]), "bandwidth='median'")
    model.partial_fit(same.X[511:] + 1.0, same.y[511:])
    assert model.n_samples_seen_ == 512


class BrittleMap(FourierMap):
    """A feature map of one's own that fails on large values."""

    def transform(self, Z: Floats) -> Floats:
        """Map rows, or fail."""
        if (Z > 1e6).any():
            message = "brittle"
            raise ArithmeticError(message)
        return super().transform(Z)


@cases(ROUTES)
@contract(3)
@given(mode=modes, align=st.booleans(), data=st.data())
def test_an_error_halfway_through_a_block_leaves_no_trace(
    case: Case, mode: str | None, align: bool, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task, least=30, most=80))
    brittle = BrittleMap.sample(stream.d, 8, bandwidth=1.0, seed=stream.seed)
    model = make(case, stream, mode, align=align, input_map=brittle)
    learn(model, stream, rows=slice(20))
    before = state_of(model)
    with pytest.raises(ArithmeticError, match="brittle"):
        model.partial_fit(put(stream.X[20:], -1, 0, 1e100), stream.y[20:])
    assert state_of(model) == before


@cases(("exact", "adam", "cached-7"), climbing=True)
@contract(2)
@given(mode=modes, data=st.data())
def test_a_failed_fit_keeps_what_was_learned(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream = data.draw(streams(case.task))
    model = learn(make(case, stream, mode), stream)
    before = state_of(model)
    with pytest.raises(DataError, match="X contains NaN at row 1"):
        model.fit(put(stream.X, 1, 0, np.nan), stream.y)
    assert state_of(model) == before


@cases(("exact", "adam", "cached-7"), climbing=True)
@contract(2)
@given(mode=modes, data=st.data())
def test_bad_rows_to_transform_leave_no_trace(
    case: Case, mode: str | None, data: st.DataObject
) -> None:
    stream: Stream = data.draw(streams(case.task))
    model = learn(make(case, stream, mode), stream)
    before = state_of(model)
    with pytest.raises(ValueError, match="X contains NaN at row 1"):
        model.transform(put(stream.X, 1, 0, np.nan))
    with pytest.raises(ValueError, match="features"):
        model.transform(np.c_[stream.X, stream.X])
    assert state_of(model) == before
