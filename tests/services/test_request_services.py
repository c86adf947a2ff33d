"""What is special to the services that work on request, and to services of one's own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA, Basis, DataError, Status
from okspca.features import IdentityMap
from okspca.moments import CrossMoment, Moment, ScaledMoment, WhitenedMoment
from okspca.moments.arrays import Change
from okspca.numerics.leading import by_svd
from okspca.numerics.subspace import principal_angles, projector_distance
from okspca.services import (
    BY_NAME,
    Binary,
    Cached,
    Contrast,
    Exact,
    ExactSnapshot,
    Service,
    ServiceState,
    WarmBlock,
)
from okspca.services import answers as answers_module
from okspca.services.warm_block import power_step

Array = NDArray[np.float64]


def scaled_of(C: Array) -> ScaledMoment:
    return ScaledMoment(np.ascontiguousarray(C.T), 1.0, 0.0, is_zero=False, labels=False)


def test_warm_block_escalates_at_a_tie_and_not_where_it_is_warm(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[int] = []

    def counted(Ct: Array, n_components: int) -> Any:
        calls.append(n_components)
        return by_svd(Ct)

    monkeypatch.setattr(answers_module, "leading_exactly", counted)
    service = WarmBlock(n_guards=3)
    random = RandomState(0)
    gapped = random.normal(size=(40, 40)) * 0.5 ** np.arange(40)
    moment = CrossMoment(40, 40)
    moment.arrays.sums[...], moment.arrays.totals[0] = gapped.T, 1.0
    state = service.start(40, 3, 0)
    for t in range(1, 30):
        service.observe(state, moment, None, t)
    basis = service.serve(state, moment, 30)
    assert not calls
    exact = by_svd(gapped.T).rows[:3].T
    assert projector_distance(basis.vectors, exact) < 1e-11
    moment.arrays.sums[...] = np.eye(40)
    service.serve(state, moment, 30)
    assert len(calls) == 1


def test_warm_block_iterates_to_rounding_however_little_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(answers_module, "leading_exactly", None)
    service = WarmBlock(n_guards=3, tolerance=0.5, max_steps=60)
    gapped = RandomState(0).normal(size=(30, 30)) * 0.6 ** np.arange(30)
    moment = CrossMoment(30, 30)
    moment.arrays.sums[...], moment.arrays.totals[0] = gapped.T, 1.0
    basis = service.serve(service.start(30, 3, 0), moment, 1)
    assert projector_distance(basis.vectors, by_svd(gapped.T).rows[:3].T) < 1e-11


def test_wide_moments_are_served_exactly() -> None:
    random = RandomState(0)
    X = random.normal(size=(300, 6))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    model = OKSPCA(3, n_random_features=96, random_state=0)
    for block in np.array_split(np.arange(300), 7):
        model.partial_fit(X[block], Y[block])
        report = model.diagnose()
        assert report.extracted is not None
        assert report.extracted.max_angle is not None
        assert report.extracted.max_angle < 1e-6
    assert model.moment_.width == 96


def test_cached_answers_before_at_and_after_a_refresh() -> None:
    X = RandomState(0).normal(size=(25, 3))
    model = OKSPCA(2, solver=Cached(every=10), random_state=0)
    seen = []
    for x in X:
        basis = model.learn_one(x, x[0] * x[1]).basis()
        seen.append((basis.status, basis.built_at, basis.age))
    assert seen[8] == (Status.NOT_INITIALISED, 0, 9)
    assert seen[9] == (Status.VALID, 10, 0)
    assert seen[24] == (Status.VALID, 20, 5)
    np.testing.assert_array_equal(model.components_[:, 0], model.basis().vectors[0])


@pytest.mark.parametrize("every", [0, -3, 2.5, "ten"])
def test_cached_refuses_a_period_that_is_none(every: Any) -> None:
    with pytest.raises(ValueError, match="every="):
        Cached(every=every)


def test_structured_services_refuse_other_targets() -> None:
    X = RandomState(0).normal(size=(20, 3))
    with pytest.raises(DataError, match="two classes, not 3 classes"):
        OKSPCA(solver="binary").partial_fit(X, np.arange(20) % 3)
    with pytest.raises(DataError, match="continuous target"):
        OKSPCA(solver=Binary()).partial_fit(X, X[:, 0])
    with pytest.raises(DataError, match="continuous target"):
        OKSPCA(solver=Contrast()).partial_fit(X, X[:, 0])
    model = OKSPCA(1, solver="binary", random_state=0).partial_fit(X, np.arange(20) % 2)
    before = model.moment_.matrix()
    with pytest.raises(DataError, match="3 classes"):
        model.partial_fit(X, np.full(20, 2))
    np.testing.assert_array_equal(model.moment_.matrix(), before)
    assert model.classes_.tolist() == [0, 1]


@dataclass
class CountingState(ServiceState):
    changes: int = 0
    product: float = 0.0


class Counting(Service[CountingState]):
    """A user's own service: exact answers, and a record of the changes it was shown."""

    def start(self, n_features: int, n_components: int, seed: int) -> CountingState:
        return CountingState(n_features, n_components)

    def period(self, state: CountingState, width: int) -> int | None:
        return 1

    def observe(self, state: CountingState, moment: Moment, change: Change | None, t: int) -> None:
        assert change is not None
        assert t == moment.rows
        state.changes += 1
        state.product += change.scale * float(change.left.sum() * change.right.sum())

    def request(self, state: CountingState, scaled: ScaledMoment, t: int) -> Basis:
        return Exact().request(Exact().start(state.n_features, state.n_components, 0), scaled, t)


def test_a_service_of_ones_own_sees_every_rank_one_change() -> None:
    X = RandomState(0).normal(size=(30, 4))
    Y = X[:, :2] ** 2
    model = OKSPCA(
        2, solver=Counting(), standardize=None, input_map=IdentityMap(4), target_map=IdentityMap(2)
    )
    model.partial_fit(X, Y)
    state = model.ready().state.service_state
    assert state.changes == 30
    assert state.product == pytest.approx(model.moment_.arrays.sums.sum())
    plain = OKSPCA(2, standardize=None, input_map=IdentityMap(4), target_map=IdentityMap(2))
    assert projector_distance(model.basis().vectors, plain.fit(X, Y).basis().vectors) < 1e-10


@pytest.mark.parametrize("name", BY_NAME)
def test_every_name_selects_a_service(name: str) -> None:
    X = RandomState(0).normal(size=(30, 4))
    model = OKSPCA(1, solver=name, random_state=0).fit(X, X[:, 0] > 0)
    assert model.basis().rank == 1
    assert model.basis().status is Status.VALID


def test_answers_are_private_copies() -> None:
    X = RandomState(0).normal(size=(30, 4))
    model = OKSPCA(1, solver="exact-each", random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="read-only"):
        model.basis().vectors[0, 0] = 1.0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_block_wider_than_the_moment_is_served_exactly(n_classes: int) -> None:
    X = RandomState(0).normal(size=(200, 3))
    y = np.digitize(X[:, 0], [0.0, 0.7][: n_classes - 1])
    block = OKSPCA(1, solver=WarmBlock(refresh_every=4), n_random_features=32, random_state=0)
    exact = OKSPCA(1, n_random_features=32, random_state=0)
    for rows in np.array_split(np.arange(200), 20):
        answers = [m.partial_fit(X[rows], y[rows]).basis().vectors for m in (block, exact)]
        assert projector_distance(*answers) < 1e-12
    state = block.ready().state.service_state
    np.testing.assert_allclose(state.rows @ state.rows.T, np.eye(len(state.rows)), atol=1e-13)


def test_exact_finds_the_leading_direction_behind_an_invariant_block() -> None:
    """The strongest direction is spread over many target coordinates, each weaker than others."""
    inputs, targets = [], []
    for sign in (1.0, -1.0):
        for i in range(9):
            x, y = np.zeros(60), np.zeros(30)
            x[i] = sign
            y[i:] = 0.7 * sign if i == 8 else 0.0
            if i < 8:
                y[i] = sign * (1.0 - 0.02 * i)
            inputs.append(x)
            targets.append(y)
    maps = {"input_map": IdentityMap(60), "target_map": IdentityMap(30)}
    model = OKSPCA(2, standardize=None, solver=Exact(), **maps)  # type: ignore[arg-type]
    basis = model.partial_fit(np.array(inputs), np.array(targets)).basis()
    left, sigma, _ = np.linalg.svd(model.moment_.matrix())
    assert principal_angles(basis.vectors, left[:, :2])[0] < 1e-9
    np.testing.assert_allclose(basis.singular_values, sigma[:2], rtol=1e-12)


def test_a_block_stays_orthonormal_however_little_a_moment_leaves_of_it() -> None:
    for seed in range(60):
        random = RandomState(seed)
        block, Ct = WarmBlock().start(32, 2, 0).rows.copy(), np.zeros((8, 32))
        for _ in range(3):
            Ct[random.randint(8), random.randint(32)] = random.choice([0.5, 0.25, 0.75])
        for _ in range(100):
            power_step(block, Ct)
        np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-12)


@pytest.mark.parametrize("width", [3, 90])
def test_exact_serves_a_whitened_moment_as_it_is_shown(width: int) -> None:
    random = RandomState(0)
    Phi = random.normal(size=(200, 80))
    Psi = Phi @ random.normal(size=(80, width))
    moment = WhitenedMoment(80, width, ridge=0.1)
    moment.update(Phi, Psi, np.ones(200))
    services: list[Service[Any]] = [Exact(), ExactSnapshot()]
    bases = [service.serve(service.start(80, 2, 0), moment, 200) for service in services]
    assert bases[0].vectors.tobytes() == bases[1].vectors.tobytes()
    assert bases[0].certificate == bases[1].certificate


def test_exact_keeps_no_block_beside_a_moment_whose_rows_wait() -> None:
    exact = Exact()
    assert exact.suited_to(CrossMoment(3, 2)) is exact
    assert exact.suited_to(WhitenedMoment(3, 2)) == ExactSnapshot()
