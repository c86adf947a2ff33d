"""The fast row path is taken where it should be, declines the rest, and agrees with blocks."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, DataError
from okspca.errors import NumericalError
from okspca.features import IdentityMap
from okspca.pipeline import Pipeline
from okspca.pipeline.fast_row import FastRow
from okspca.services import Cached
from tests.contracts.fingerprint import state_of

X = RandomState(0).normal(size=(200, 4))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2
WORDS = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]


def fast_rows(monkeypatch: pytest.MonkeyPatch, model: OKSPCA, y: Any) -> int:
    """Learn row by row and count the rows that the fast path took."""
    taken = []
    pipeline = Pipeline
    learn_row = pipeline.learn_row

    def counted(self: Any, x: Any, target: float) -> bool:
        learned = learn_row(self, x, target)
        taken.append(learned)
        return learned

    monkeypatch.setattr(pipeline, "learn_row", counted)
    for x, target in zip(X[50:], y[50:], strict=True):
        model.learn_one(x, target)
    return sum(taken)


@pytest.mark.parametrize("y", [Y, WORDS, (Y > 0.5).astype(int)], ids=["number", "word", "label"])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"forgetting": 0.98},
        {"forgetting": 0.98, "forget_standardizers": False},
        {"variance_floor": "paper"},
    ],
)
def test_ordinary_rows_take_the_fast_path_and_agree(
    monkeypatch: pytest.MonkeyPatch, y: Any, settings: dict[str, Any]
) -> None:
    fast = OKSPCA(2, random_state=0, **settings).partial_fit(X[:50], y[:50])
    block = OKSPCA(2, random_state=0, **settings).partial_fit(X[:50], y[:50])
    assert fast_rows(monkeypatch, fast, y.tolist()) >= 140
    block.partial_fit(X[50:], y[50:])
    for side in ("mean", "variance", "counts"):
        one, two = (getattr(m.input_standardizer_, side) for m in (fast, block))
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(fast.moment_.matrix(), block.moment_.matrix(), rtol=0, atol=1e-14)
    assert fast.n_samples_seen_ == block.n_samples_seen_ == fast.moment_.rows == 200


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "exact-each"},
        {"standardize": None},
        {"input_map": IdentityMap(4)},
    ],
    ids=["each row", "no standardiser", "identity map"],
)
def test_other_pipelines_use_the_general_path(
    monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]
) -> None:
    model = OKSPCA(2, random_state=0, **settings).partial_fit(X[:50], Y[:50])
    assert fast_rows(monkeypatch, model, Y.tolist()) == 0
    assert model.n_samples_seen_ == 200


@pytest.mark.parametrize("solver", ["adam", "projected-gradient", "warm-block"])
@pytest.mark.parametrize("y", [Y, WORDS, np.column_stack([Y, X[:, 2]])], ids=["1", "word", "2"])
def test_every_solver_that_follows_rows_does_so_in_the_fast_path(
    monkeypatch: pytest.MonkeyPatch, solver: str, y: Any
) -> None:
    settings: dict[str, Any] = {"solver": solver, "n_random_features": 64, "random_state": 0}
    fast, block = (OKSPCA(2, **settings).partial_fit(X[:50], y[:50]) for _ in range(2))
    rows = list(y) if y.ndim == 2 else y.tolist()
    assert fast_rows(monkeypatch, fast, rows) >= 140
    block.partial_fit(X[50:], y[50:])
    np.testing.assert_allclose(fast.moment_.matrix(), block.moment_.matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(fast.transform(X), block.transform(X), rtol=0, atol=1e-11)
    assert fast.basis().built_at == 200


def test_a_block_of_one_plain_row_takes_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    fast, general = (OKSPCA(2, random_state=0).partial_fit(X[:50], Y[:50]) for _ in range(2))
    taken = []
    learn_row = Pipeline.learn_row

    def counted(self: Any, x: Any, target: float) -> bool:
        taken.append(learn_row(self, x, target))
        return taken[-1]

    monkeypatch.setattr(Pipeline, "learn_row", counted)
    for i in range(50, 200):
        fast.partial_fit(X[i : i + 1], Y[i : i + 1])
    assert sum(taken) >= 140
    general.partial_fit(X[50:], Y[50:])
    np.testing.assert_allclose(fast.moment_.matrix(), general.moment_.matrix(), rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match="features"):
        fast.partial_fit(X[:1, :3], Y[:1])
    with pytest.raises(DataError):
        fast.partial_fit(np.full((1, 4), np.nan), Y[:1])


def test_scheduled_work_is_done_in_the_fast_path() -> None:
    model = OKSPCA(2, solver=Cached(every=10), align=True, random_state=0)
    model.partial_fit(X[:50], Y[:50])
    for x, target in zip(X[50:135], Y[50:135].tolist(), strict=True):
        model.learn_one(x, target)
    assert model.basis().built_at == 130
    whole = OKSPCA(2, solver=Cached(every=10), align=True, random_state=0)
    np.testing.assert_allclose(
        model.transform(X), whole.partial_fit(X[:135], Y[:135]).transform(X), atol=1e-12
    )


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([np.nan, 0.0, 0.0, 0.0], 1.0),
        ([1e200, 0.0, 0.0, 0.0], 1.0),
        ([0.0, 0.0, 0.0, 0.0], float("inf")),
        ([0.0, 0.0, 0.0], 1.0),
        (["a", "b", "c", "d"], 1.0),
        ([0.0, 0.0, 0.0, 0.0], "word"),
    ],
)
def test_bad_rows_are_refused_and_leave_no_trace(x: Any, y: Any) -> None:
    model = OKSPCA(2, random_state=0).partial_fit(X[:50], Y[:50])
    model.learn_one(X[50], float(Y[50]))
    before = state_of(model)
    with pytest.raises(DataError):
        model.learn_one(x, y)
    assert state_of(model) == before


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning", "ignore:invalid:RuntimeWarning")
@pytest.mark.parametrize("side", ["input", "target"])
def test_features_that_are_not_finite_are_refused_and_leave_no_trace(side: str) -> None:
    tiny = {"input": (1e-138, 1.0), "target": (1.0, 1e-138)}[side]
    narrow: dict[str, Any] = {"bandwidth" if side == "input" else "target_bandwidth": 1e-25}
    model = OKSPCA(2, random_state=0, **narrow).partial_fit(tiny[0] * X[:50], tiny[1] * Y[:50])
    model.learn_one(tiny[0] * X[50], float(tiny[1] * Y[50]))
    before = state_of(model)
    row = (np.full(4, 1e149), 0.1) if side == "input" else (X[51], 1e149)
    with pytest.raises(NumericalError, match="not finite; nothing was learned"):
        model.learn_one(*row)
    assert state_of(model) == before


def test_an_outlying_response_gets_its_direction() -> None:
    model = OKSPCA(2, random_state=0).partial_fit(X[:50], Y[:50])
    width = model.moment_.width
    model.learn_one(X[50], 60.0)
    assert model.moment_.width > width
    whole = OKSPCA(2, random_state=0).partial_fit(X[:51], [*Y[:50], 60.0])
    np.testing.assert_allclose(model.moment_.matrix(), whole.moment_.matrix(), atol=1e-13)


@pytest.mark.parametrize("stability", [0, 4])
@pytest.mark.parametrize("n_target_features", [256, 12])
def test_new_target_directions_are_met_in_the_fast_path(
    monkeypatch: pytest.MonkeyPatch, n_target_features: int, stability: int
) -> None:
    """Twelve target features are soon more than half used; then compression is given up."""
    settings: dict[str, Any] = {"random_state": 0, "n_random_features": 32}
    settings |= {"n_target_features": n_target_features, "stability": stability}
    general, run = [], Pipeline.run

    def counted(self: Any, *rows: Any, **beside: Any) -> None:
        general.append(1)
        run(self, *rows, **beside)

    monkeypatch.setattr(Pipeline, "run", counted)
    fast = OKSPCA(2, **settings)
    for x, target in zip(X, Y.tolist(), strict=True):
        fast.learn_one(x, target)
    assert len(general) <= 3
    assert (fast.moment_.compression is None) == (n_target_features == 12)
    block = OKSPCA(2, **settings).partial_fit(X, Y)
    np.testing.assert_allclose(fast.moment_.matrix(), block.moment_.matrix(), rtol=0, atol=1e-14)
    np.testing.assert_allclose(
        fast.basis().singular_values, block.basis().singular_values, rtol=1e-12
    )
    if stability:
        errors = [m.estimate_stability().distance or 0.0 for m in (fast, block)]
        assert errors[0] > 0.0
        np.testing.assert_allclose(errors[0], errors[1], rtol=1e-8)


def test_a_late_class_and_other_kinds_of_labels() -> None:
    model = OKSPCA(2, random_state=0).partial_fit(X[:50], WORDS[:50])
    model.learn_one(X[50], "new").learn_one(X[51], "new").learn_one(X[52], np.str_("a"))
    assert model.classes_.tolist()[-1] == "new"
    assert model.moment_.matrix().shape[1] == 4
    numbers = OKSPCA(1, random_state=0).partial_fit(X[:50], (Y[:50] > 0).astype(int))
    with pytest.raises(DataError, match="truth values"):
        numbers.learn_one(X[50], True)


def test_copies_do_not_share_the_fast_path() -> None:
    model = OKSPCA(2, random_state=0).partial_fit(X[:50], Y[:50])
    model.learn_one(X[50], float(Y[50]))
    assert isinstance(model.ready()._fast_row, FastRow)
    twin = pickle.loads(pickle.dumps(model))
    twin.learn_one(X[51], float(Y[51]))
    assert (model.n_samples_seen_, twin.n_samples_seen_) == (51, 52)
    model.learn_one(X[51], float(Y[51]))
    np.testing.assert_array_equal(model.moment_.matrix(), twin.moment_.matrix())


@pytest.mark.parametrize("labels", [True, False])
def test_rows_in_any_layout_are_learned_as_they_read(labels: bool) -> None:
    random = np.random.RandomState(0)
    X = random.standard_normal((120, 4))
    y: list[Any] = (X[:, 0] > 0.0).tolist() if labels else X[:, 0].tolist()
    fixed = X.copy()
    fixed.setflags(write=False)
    layouts = (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], fixed, X.tolist())
    models = []
    for rows in layouts:
        model = OKSPCA(1, n_random_features=32, random_state=0).fit(X[:40], np.array(y[:40]))
        for i in range(40, 120):
            model.learn_one(rows[i], y[i])
        models.append(model.moment_.matrix())
    for matrix in models[1:]:
        np.testing.assert_array_equal(matrix, models[0])
