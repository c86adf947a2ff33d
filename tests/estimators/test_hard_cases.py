"""Cases that once gave a wrong number, a false certificate or a lost state."""

import enum
from typing import Any, cast

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA, DataError, OKSPCARegressor
from okspca.features import FeatureMap, IdentityMap
from okspca.moments import SubMoments
from okspca.numerics.arrays import Floats
from okspca.pipeline.fast_row import Lane
from okspca.services.warm_block import WarmBlock, power_step


def rows(n: int = 1500, seed: int = 0) -> tuple[Floats, Floats]:
    X = RandomState(seed).normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


@pytest.mark.parametrize("features", ["chebyshev", "raw"])
@pytest.mark.parametrize(("unit", "offset"), [(1e5, 2e5), (1e-4, 3.0), (1.0, -1e6)])
def test_predictions_do_not_depend_on_the_unit_of_the_response(
    features: str, unit: float, offset: float
) -> None:
    X, y = rows()

    def score(response: Floats) -> float:
        model = OKSPCARegressor(n_random_features=64, target_features=features, random_state=0)
        return float(model.fit(X[:1000], response[:1000]).score(X[1000:], response[1000:]))

    assert score(offset + unit * y) == pytest.approx(score(y), abs=1e-6)


def test_unbounded_inputs_do_not_depend_on_their_unit() -> None:
    X, y = rows()
    bases = [
        OKSPCA(1, input_map=IdentityMap(3), random_state=0).fit(A, y).basis().vectors
        for A in (X, 1e6 + 1e4 * X)
    ]
    np.testing.assert_allclose(bases[0], bases[1], atol=1e-8)


def test_a_cautious_standardiser_is_kept_in_files() -> None:
    X, y = rows(40)
    for window in (None, 32):
        model = OKSPCA(1, target_features="raw", window=window, random_state=0)
        model.partial_fit(X[:5], 100.0 + y[:5])
        again = OKSPCA.from_bytes(model.to_bytes())
        for one in (model, again):
            one.partial_fit(X[5:], 100.0 + y[5:])
        assert again.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("exponent", [-110.0, -83.25, -81.0, -61.0, -59.0, 59.0, 61.0, 76.0, 110.0])
@pytest.mark.parametrize("solver", ["exact", "warm-block", "adam"])
def test_certificates_are_true_whatever_the_unit_of_the_weights(
    solver: str, exponent: float
) -> None:
    random = RandomState(1)
    X = random.normal(size=(300, 9))
    Y = X @ random.normal(size=(9, 5)) + 0.1 * random.normal(size=(300, 5))
    settings: dict[str, Any] = {"input_map": IdentityMap(9), "target_features": "raw"}
    model = OKSPCA(2, solver=solver, standardize=None, random_state=0, **settings)
    model.partial_fit(X, Y, sample_weight=np.full(300, 10.0**exponent))
    basis = model.basis()
    np.testing.assert_allclose(basis.vectors.T @ basis.vectors, np.eye(2), atol=1e-12)
    exact = np.linalg.svd(model.moment_.matrix())[0][:, :2]
    distance = np.linalg.norm(exact @ exact.T - basis.vectors @ basis.vectors.T)
    assert basis.certificate is not None
    bound = basis.certificate.distance_upper
    assert bound is None or distance <= bound + 1e-12


def test_a_file_written_when_the_moment_grows_wide_goes_on_with_the_same_bits() -> None:
    X, y = rows()
    model, again = OKSPCA(2, kernel="laplacian", random_state=0), None
    for x, target in zip(X[:800], y[:800].tolist(), strict=True):
        model.learn_one(x, target)
        if again is not None:
            again.learn_one(x, target)
        elif model.moment_.width > 64:
            again = OKSPCA.from_bytes(model.to_bytes())
    assert again is not None
    assert again.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("moment", ["kernel", "groups"])
def test_ctrl_c_within_a_row_leaves_all_counts_alike(
    monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    X, y = rows(300)
    model = OKSPCA(1, n_random_features=16, stability=4, random_state=0)
    model.partial_fit(X[:200], y[:200]).learn_one(X[200], float(y[200]))
    pipeline: Any = model._learned.pipeline
    lane = pipeline._lane
    assert isinstance(lane, Lane)
    learn = lane.learn

    def interrupted(*arguments: Any) -> int:
        learn(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if moment == "kernel":
            patch.setattr(lane, "learn", interrupted)
        else:
            add = SubMoments.add_one
            calls: list[int] = []

            def once(self: SubMoments, *arguments: Any) -> None:
                calls.append(1)
                if len(calls) == 1:
                    raise KeyboardInterrupt
                add(self, *arguments)

            patch.setattr(SubMoments, "add_one", once)
        with pytest.raises(KeyboardInterrupt):
            model.learn_one(X[201], float(y[201]))
    assert pipeline.rows == pipeline.moment.rows == pipeline.sub_moments.rows == 202
    assert OKSPCA.from_bytes(model.to_bytes()).n_samples_seen_ == 202


def test_ctrl_c_before_the_lane_is_renewed_adds_no_direction_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y = rows(120)
    y[60] = 40.0  # far from all before: a new target direction
    model, calm = (OKSPCA(1, n_random_features=64, random_state=0) for _ in range(2))

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    for i, x in enumerate(X):
        calm.learn_one(x, float(y[i]))
        if i == 60:
            with monkeypatch.context() as patch:
                patch.setattr(Lane, "renew", interrupt)
                with pytest.raises(KeyboardInterrupt):
                    model.learn_one(x, float(y[i]))
        model.learn_one(x, float(y[i]))
    assert model.n_samples_seen_ == model.moment_.rows == 120
    assert model.moment_.width == calm.moment_.width
    np.testing.assert_allclose(model.moment_.matrix(), calm.moment_.matrix(), rtol=0, atol=1e-12)


class Picky(FeatureMap):
    """Refuses large inputs."""

    n_inputs, n_features = 3, 3

    def transform(self, Z: Floats) -> Floats:
        if np.abs(Z).max(initial=0.0) > 50.0:
            message = "out of my domain"
            raise ValueError(message)
        return Z

    def equals(self, other: FeatureMap) -> bool:
        return isinstance(other, Picky)


@pytest.mark.parametrize("one_row", [True, False])
def test_a_class_whose_row_was_not_learned_is_not_known(one_row: bool) -> None:
    X, y = rows(60)
    model = OKSPCA(1, input_map=Picky(), random_state=0).partial_fit(X, np.where(y > 0, "a", "b"))
    far = np.full((1, 3), 1e6)
    with pytest.raises(ValueError, match="my domain"):
        model.learn_one(far[0], "c") if one_row else model.partial_fit(far, ["c"])
    assert set(model.classes_.tolist()) == {"a", "b"}
    assert model.n_samples_seen_ == 60
    model.learn_one(X[0], "d")
    assert set(model.classes_.tolist()) == {"a", "b", "d"}


class Colour(enum.StrEnum):
    RED = "red"
    BLUE = "blue"


class Grade(enum.IntEnum):
    LOW = 1
    HIGH = 2


@pytest.mark.parametrize("labels", [Colour, Grade])
def test_enumerations_as_labels_can_be_saved(labels: type[enum.Enum]) -> None:
    X, y = rows(60)
    low, high = labels
    model = OKSPCA(1, n_random_features=16, random_state=0)
    given: Any = [high if value > 0.0 else low for value in y]
    model.partial_fit(X, given)
    model.learn_one(X[0], low)
    again = OKSPCA.from_bytes(model.to_bytes())
    assert set(again.classes_.tolist()) == {low.value, high.value}
    assert again.n_samples_seen_ == 61


def test_a_forgetting_factor_of_single_precision_is_one_number_for_all_blocks() -> None:
    X, y = rows(400)
    found, single = [], cast("float", np.float32(0.999))
    for size in (1, 7, 400):
        model = OKSPCA(1, n_random_features=16, forgetting=single, random_state=0)
        for start in range(0, 400, size):
            model.partial_fit(X[start : start + size], y[start : start + size])
        found.append(model.moment_.matrix())
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0, atol=1e-12)


def test_a_block_stays_orthonormal_however_little_a_moment_leaves_of_it() -> None:
    for seed in range(60):
        random = RandomState(seed)
        block, Ct = WarmBlock().start(32, 2, 0).rows.copy(), np.zeros((8, 32))
        for _ in range(3):
            Ct[random.randint(8), random.randint(32)] = random.choice([0.5, 0.25, 0.75])
        for _ in range(100):
            power_step(block, Ct)
        np.testing.assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-12)


def test_a_far_offset_of_the_response_costs_a_block_no_digits() -> None:
    settings: dict[str, Any] = {"input_map": IdentityMap(3), "target_features": "raw"}
    for seed in range(10):
        random = RandomState(seed)
        X, y = 1.0 + random.normal(size=(512, 3)), 1e7 + random.normal(size=512)
        model = OKSPCA(1, standardize=None, random_state=0, **settings).partial_fit(X, y)
        left, right = X.astype(np.longdouble), y.astype(np.longdouble)
        exact = (left - left.mean(axis=0)).T @ (right - right.mean()) / 512
        np.testing.assert_allclose(model.moment_.matrix()[:, 0], exact, rtol=0, atol=1e-12)


def test_a_refused_row_does_not_widen_groups() -> None:
    X, y = rows(300)
    model = OKSPCA(1, n_random_features=64, stability=8, random_state=0)
    model.partial_fit(X[:200], y[:200]).partial_fit(X[200:203], 30.0 + y[200:203])
    before = model.to_bytes()
    with pytest.raises(DataError):
        model.learn_one(np.array([np.nan, 0.0, 0.0]), 1.0)
    assert model.to_bytes() == before


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1j, 0.0, 0.0], 1.0),
        ([0.0, 0.0, 0.0], 10**400),
        ([10**400, 0.0, 0.0], 1.0),
    ],
)
def test_what_is_no_number_is_refused(x: Any, y: Any) -> None:
    X, targets = rows(60)
    model = OKSPCA(1, n_random_features=16, random_state=0).partial_fit(X, targets)
    before = model.to_bytes()
    with pytest.raises(DataError):
        model.learn_one(x, y)
    assert model.to_bytes() == before


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "timedelta64[ns]", object])
def test_a_block_of_one_row_is_checked_as_longer_ones_are(dtype: Any) -> None:
    X, y = rows(60)
    model = OKSPCA(1, n_random_features=16, random_state=0).partial_fit(X, y)
    with pytest.raises(DataError):
        model.partial_fit(X[:1], np.array([1.5 if dtype is object else 1], dtype=dtype))
    assert model.n_samples_seen_ == 60
