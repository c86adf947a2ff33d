"""Odd uses that once gave a wrong number, a false certificate or a lost state."""

import copy
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA, DataError, MergeError, NumericalError, Status
from okspca.features import FourierMap, IdentityMap
from okspca.numerics.subspace import principal_angles, projector_distance
from okspca.services import Adam, Cached, Exact, ProjectedGradient, WarmBlock
from okspca.standardize import CausalStandardizer, FrozenStandardizer, NoStandardizer

Array = NDArray[np.float64]
X = RandomState(0).normal(size=(300, 5))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2


def test_names_that_scikit_learn_refuses_leave_the_model_unfitted() -> None:
    model = OKSPCA(random_state=0)
    with pytest.raises(TypeError):
        model.partial_fit(pd.DataFrame(X, columns=["a", "b", "c", "d", 4]), Y)
    assert not hasattr(model, "n_features_in_")
    assert model.partial_fit(X[:, :2], Y).n_samples_seen_ == 300


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"input_standardizer": CausalStandardizer(3)}, "X has 5 columns, but input_standardizer"),
        (
            {"target_standardizer": CausalStandardizer(2)},
            "y has 1 columns, but target_standardizer",
        ),
        ({"target_map": IdentityMap(2)}, "y has 1 columns, but target_map takes 2"),
        ({"input_map": IdentityMap(4)}, "X has 5 columns, but input_map takes 4"),
    ],
)
def test_ready_made_parts_of_another_width(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        OKSPCA(random_state=0, **settings).partial_fit(X, Y)


@pytest.mark.parametrize(
    ("mean", "scale", "message"),
    [
        (np.zeros(2), np.array([1.0, 0.0]), "Column 1 .* scale 0"),
        (np.zeros(2), np.array([np.nan, 1.0]), "Column 0"),
        (np.zeros(2), np.ones(3), "one number per column"),
    ],
)
def test_unusable_frozen_standardisers(mean: Array, scale: Array, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        FrozenStandardizer(mean, scale)


def test_merge_that_brings_a_third_class_to_the_binary_solver() -> None:
    labels = (X[:, 0] > 0).astype(int)
    one, two = (
        OKSPCA(1, solver="binary", random_state=0).partial_fit(X, labels + shift)
        for shift in (0, 1)
    )
    with pytest.raises(MergeError, match="two classes, not 3 classes"):
        one.merge(two)
    assert sorted(one.classes_.tolist()) == [0, 1]


@pytest.mark.parametrize("solver", ["exact", "binary", "contrast", "exact-each", "cached"])
def test_one_class_on_each_side_of_a_merge_is_a_target(solver: str) -> None:
    """Shards by class: each side has its only class in its first column."""
    one, two = (
        OKSPCA(1, solver=solver, standardize=None, random_state=0).partial_fit(
            X[100 * label : 100 * label + 100], np.full(100, label)
        )
        for label in (0, 1)
    )
    assert one.basis().status in (Status.NO_TARGET, Status.NOT_INITIALISED)
    basis = one.merge(two).basis()
    whole = OKSPCA(1, standardize=None, random_state=0).fit(X[:200], np.repeat([0, 1], 100))
    assert basis.status is Status.VALID
    assert projector_distance(basis.vectors, whole.basis().vectors) < 1e-12


def test_merge_compares_names_label_kinds_and_target_standardisers() -> None:
    names = [list("abcde"), list("edcba")]
    one, two = (OKSPCA(random_state=0).fit(pd.DataFrame(X, columns=n), Y) for n in names)
    with pytest.raises(MergeError, match="feature names"):
        one.merge(two)
    numbers = OKSPCA(random_state=0).fit(X, (Y > 0).astype(int))
    words = OKSPCA(random_state=0).fit(X, np.where(Y > 0, "a", "b"))
    with pytest.raises(MergeError, match="kind of labels"):
        numbers.merge(words)
    plain = OKSPCA(random_state=0, target_standardizer=NoStandardizer()).fit(X, Y)
    with pytest.raises(MergeError, match="different ways"):
        plain.merge(OKSPCA(random_state=0).fit(X, Y))


def test_merge_renews_what_a_cache_holds() -> None:
    for solver in (Cached(every=1000), "exact-each"):
        one, two = (
            OKSPCA(2, solver=solver, standardize=None, random_state=0).partial_fit(X[half], Y[half])
            for half in (slice(0, 100), slice(100, 300))
        )
        basis = one.merge(two).basis()
        whole = OKSPCA(2, standardize=None, random_state=0).fit(X, Y).basis()
        assert (basis.status, basis.age, basis.built_at) == (Status.VALID, 0, 300)
        assert projector_distance(basis.vectors, whole.vectors) < 1e-9


def test_frozen_with_one_ready_side_still_waits_for_the_other() -> None:
    inputs = FrozenStandardizer(X.mean(axis=0), X.std(axis=0))
    model = OKSPCA(standardize="frozen", input_standardizer=inputs, random_state=0)
    model.partial_fit(X, 200.0 * Y)
    assert model.basis().status is Status.NOT_INITIALISED
    labels = OKSPCA(standardize="frozen", input_standardizer=inputs, random_state=0)
    assert labels.partial_fit(X, Y > 0).basis().status is Status.VALID


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


def test_changed_n_components_does_not_change_a_fitted_model() -> None:
    model = OKSPCA(1, random_state=0).fit(X, Y)
    before = model.transform(X)
    model.set_params(n_components=3)
    np.testing.assert_array_equal(model.transform(X), before)
    assert model.get_feature_names_out().tolist() == ["okspca0"]
    assert model.fit(X, Y).transform(X).shape == (300, 3)


def test_parameters_changed_while_rows_are_held_back_are_checked() -> None:
    model = OKSPCA(bandwidth="median", random_state=0).partial_fit(X, Y)
    with pytest.raises(DataError, match="continuous target"):
        model.set_params(solver="binary").partial_fit(X, Y)
    with pytest.raises(ValueError, match="n_random_features=0"):
        model.set_params(solver="exact", n_random_features=0).partial_fit(X, Y)
    assert model.n_samples_seen_ == 300


class Fragile(FourierMap):
    """A map that fails on demand."""

    failure: BaseException | None = None

    def transform(self, Z: Array) -> Array:
        if self.failure is not None and Z.shape[0] < 1024:
            raise self.failure
        return super().transform(Z)


class Poisonous(FourierMap):
    """A map that gives what is not a number for large rows."""

    def transform(self, Z: Array) -> Array:
        features = super().transform(Z)
        features[np.abs(Z[:, 0]) > 100.0] = np.nan
        return features


@pytest.mark.parametrize("solver", ["exact", "adam", "cached", "warm-block"])
@pytest.mark.parametrize("failure", [KeyboardInterrupt(), RuntimeError("broken")])
def test_an_interrupted_block_changes_nothing(solver: str, failure: BaseException) -> None:
    fragile = Fragile(*(lambda m: (m.weights, m.phases))(FourierMap.sample(5, 16, bandwidth=2.0)))
    models = [
        OKSPCA(2, solver=solver, input_map=fragile, align=True, random_state=0).partial_fit(X, Y)
        for _ in range(2)
    ]
    large_X, large_Y = np.tile(X, (5, 1)), np.tile(Y, 5)
    fragile.failure = failure
    with pytest.raises(type(failure)):
        models[0].partial_fit(large_X, large_Y)  # breaks in its second chunk
    fragile.failure = None
    assert models[0].n_samples_seen_ == 300
    for model in models:
        model.partial_fit(X[:50], Y[:50])
    np.testing.assert_array_equal(models[0].moment_.matrix(), models[1].moment_.matrix())
    np.testing.assert_array_equal(models[0].transform(X), models[1].transform(X))


def test_features_that_are_not_finite_never_reach_the_moment() -> None:
    poisonous = Poisonous(
        *(lambda m: (m.weights, m.phases))(FourierMap.sample(5, 16, bandwidth=2.0))
    )
    model = OKSPCA(2, input_map=poisonous, standardize=None, random_state=0).partial_fit(X, Y)
    before = model.moment_.matrix()
    bad = X.copy()
    bad[7, 0] = 1e6
    with pytest.raises(NumericalError, match="input features of observation 308"):
        model.partial_fit(bad, Y)
    np.testing.assert_array_equal(model.moment_.matrix(), before)


@pytest.mark.parametrize("solver", [Adam(), ProjectedGradient()], ids=str)
def test_trackers_do_not_depend_on_the_unit_of_weights(solver: Any) -> None:
    plain, scaled = (
        OKSPCA(2, solver=solver, random_state=0).fit(X, Y, np.full(300, weight))
        for weight in (1.0, 1.0 / 300)
    )
    U, V = (m.basis(kind="maintained").vectors for m in (plain, scaled))
    np.testing.assert_allclose(U, V, atol=1e-8)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y.astype(object), "at row 0, and has dtype object"),
        (np.datetime64("2026-01-01") + np.arange(300), "dtype datetime64"),
        (np.zeros((300, 0)), "no columns"),
        (Y.astype(complex), "dtype complex"),
    ],
)
def test_targets_that_are_neither_numbers_nor_labels(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        OKSPCA(random_state=0).partial_fit(X, y)


def test_declared_classes_must_be_of_the_kind_of_the_labels() -> None:
    with pytest.raises(DataError, match="classes holds text, but y holds numbers"):
        OKSPCA().partial_fit(X, (Y > 0).astype(int), classes=["0", "1"])


def test_singular_values_belong_to_the_columns_shown() -> None:
    model = OKSPCA(3, random_state=0, align=True).fit(X, Y)
    C = model.moment_.matrix()
    expected = np.linalg.norm(C.T @ model.components_.T, axis=0)
    np.testing.assert_allclose(model.singular_values_, expected, rtol=1e-10)
    earlier = OKSPCA(3, random_state=0).fit(X[:80], Y[:80]).basis()
    turned = model.basis(align_to=earlier)
    np.testing.assert_allclose(
        turned.singular_values, np.linalg.norm(C.T @ turned.vectors, axis=0), rtol=1e-9
    )


@pytest.mark.parametrize("offset", [1e4, 1e7, 1.7e9])
def test_an_offset_is_not_taken_for_no_target(offset: float) -> None:
    model = OKSPCA(1, standardize=None, input_map=IdentityMap(5), target_map=IdentityMap(1))
    basis = model.fit(X + offset, Y + offset).basis()
    assert basis.status is Status.VALID
    plain = OKSPCA(1, standardize=None, input_map=IdentityMap(5), target_map=IdentityMap(1))
    exact = plain.fit(X, Y).basis()
    assert principal_angles(basis.vectors, exact.vectors)[0] < 1e-3
    constant = OKSPCA(1, standardize=None, input_map=IdentityMap(5), target_map=IdentityMap(1))
    assert constant.fit(X + offset, np.full(300, offset)).basis().status is Status.NO_TARGET


def test_alignment_keeps_signs_while_the_rank_grows() -> None:
    labels = (X[:, 0] > 0).astype(int)
    labels[70:][X[70:, 1] > 0.5] = 2
    model = OKSPCA(2, random_state=0, align=True).partial_fit(X[:88], labels[:88])
    before = model.transform(X)
    for i in range(88, 160):
        model.learn_one(X[i], labels[i])
        now = model.transform(X)
        assert (np.sum(now * before, axis=0) > 0.0).all()
        before = now


@pytest.mark.parametrize(
    "make",
    [
        lambda: Adam(beta2=1.0),
        lambda: Adam(epsilon=0.0),
        lambda: Adam(learning_rate=float("nan")),
        lambda: Adam(learning_rate="x"),  # type: ignore[arg-type]
        lambda: Adam(max_displacement=-1.0),
        lambda: ProjectedGradient(step=0.0),
        lambda: WarmBlock(refresh_every=0),
        lambda: WarmBlock(n_guards=-1),
        lambda: Cached(every=True),
    ],
)
def test_unusable_service_settings(make: Any) -> None:
    with pytest.raises(ValueError, match="cannot be used; give"):
        make()


def test_accepted_forms_of_settings() -> None:
    assert Cached(every=np.int64(7)).every == 7  # type: ignore[arg-type]
    one, two = (
        OKSPCA(random_state=np.random.default_rng(3)).fit(X, Y).transform(X)  # type: ignore[arg-type]
        for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
    with pytest.raises(ValueError, match="align='yes'"):
        OKSPCA(align="yes").fit(X, Y)  # type: ignore[arg-type]


def test_a_basis_prints_as_one_line() -> None:
    text = repr(OKSPCA(2, random_state=0).fit(X, Y).basis())
    assert "\n" not in text
    assert "captures at least 0.99999999" in text


@pytest.mark.parametrize("solver", ["exact", "adam", "warm-block"])
@pytest.mark.parametrize("settings", [{}, {"compress": False}])
def test_a_memory_mapped_model_goes_on_learning(
    tmp_path: Path, solver: str, settings: dict[str, Any]
) -> None:
    model = OKSPCA(2, solver=solver, random_state=0, **settings).fit(X[:200], Y[:200])
    joblib.dump(model, tmp_path / "model.joblib")
    for by_row in (True, False):
        mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
        twin = copy.deepcopy(model)
        for each in (mapped, twin):
            if by_row:
                for x, y in zip(X[200:210], Y[200:210].tolist(), strict=True):
                    each.learn_one(x, y)
            else:
                each.partial_fit(X[200:], Y[200:])
        np.testing.assert_array_equal(mapped.transform(X), twin.transform(X))


@pytest.mark.parametrize("D", [256, 1024])
def test_rounding_allowance_covers_the_worst_ordered_sums(D: int) -> None:
    """A constant rank-one moment makes the objective bound nearly an equality."""
    from okspca.diagnostics.certificate import certify  # noqa: PLC0415

    u = np.full(D, 1.0 / np.sqrt(D))
    Ct = np.full((D, D), 0.9)
    for sine in (1e-3, 1e-5, 1e-6):
        side = np.zeros(D)
        side[0], side[1] = np.sqrt(0.5), -np.sqrt(0.5)
        row = (np.sqrt(1.0 - sine**2) * u + sine * side)[np.newaxis]
        ritz = np.linalg.svd(row @ Ct.T, compute_uv=False) ** 2
        certificate = certify(Ct, row, np.asarray(ritz, dtype=np.float64))
        assert certificate.rho_lower <= 1.0 - sine**2
        assert certificate.distance_upper is not None
        assert certificate.distance_upper >= np.sqrt(2.0) * sine * (1 - 1e-9)


def test_classes_may_be_a_list_of_numpy_scalars() -> None:
    labels = np.array([3, 1, 2, 1])
    X = np.arange(8.0).reshape(4, 2)
    plain = OKSPCA(1, random_state=0).partial_fit(X, labels, classes=[1, 2, 3])
    listed = OKSPCA(1, random_state=0).partial_fit(X, labels, classes=list(np.unique(labels)))
    np.testing.assert_array_equal(plain.classes_, listed.classes_)
    words = OKSPCA(1, random_state=0).partial_fit(X, list(np.array(["b", "a", "a", "b"])))
    assert list(words.classes_) == ["b", "a"]


def test_a_window_and_stability_are_refused_in_one_line() -> None:
    with pytest.raises(ValueError, match=r"^stability=8 cannot be used; give 0 where a window.*$"):
        OKSPCA(window=32, stability=8).fit(np.zeros((3, 2)), [1.0, 2.0, 3.0])
