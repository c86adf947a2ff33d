"""The whitened moment against dense algebra, its two limits, and what every moment owes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import RandomState
from sklearn.base import clone
from sklearn.cross_decomposition import CCA
from sklearn.linear_model import Ridge

from okspca import OKSPCA, MergeError
from okspca.features import IdentityMap
from okspca.moments import WhitenedMoment
from okspca.moments.whitened_moment import CLASS_WEIGHTING
from okspca.numerics.arrays import Floats, copied
from okspca.numerics.subspace import principal_angles
from tests.contracts.cases import contract
from tests.reference.whitening import ridge_added, weighted_moments, whitened

seeds = st.integers(0, 10_000)


def pairs(seed: int, n: int = 60) -> tuple[Floats, Floats]:
    """Correlated inputs of different scales, and three targets."""
    random = RandomState(seed)
    X = random.normal(size=(n, 5)) @ random.normal(size=(5, 5)) + 3.0
    return X, X @ random.normal(size=(5, 3)) + random.normal(size=(n, 3))


def learned(moment: WhitenedMoment, X: Floats, Y: Floats, cuts: Any = ()) -> WhitenedMoment:
    for rows in np.split(np.arange(len(X)), cuts):
        if len(rows):
            moment.update(X[rows], Y[rows], np.ones(len(rows)))
    return moment


def linear(k: int, X: Floats, Y: Floats, **options: Any) -> OKSPCA:
    maps: dict[str, Any] = {
        "input_map": IdentityMap(X.shape[1]),
        "target_map": IdentityMap(Y.shape[1]),
    }
    return OKSPCA(k, standardize=None, **maps, **options).fit(X, Y)


@given(seed=seeds, ridge=st.sampled_from((1e-6, 0.1, 1.0, 100.0)))
@contract(20)
def test_it_is_the_dense_solution(seed: int, ridge: float) -> None:
    X, Y = pairs(seed)
    model = linear(2, X, Y, objective="whitened", ridge=ridge)
    W, sigma, _ = whitened(X, Y, np.ones(len(X)), ridge)
    np.testing.assert_allclose(model.singular_values_, sigma[:2], rtol=1e-9)
    signs = np.sign((model.components_ * W[:, :2].T).sum(axis=1))
    scale = np.abs(W[:, :2]).max()
    np.testing.assert_allclose(model.components_, (W[:, :2] * signs).T, atol=1e-7 * scale)


@given(seed=seeds)
@contract(10)
def test_a_large_ridge_is_the_papers_target(seed: int) -> None:
    X, Y = pairs(seed)
    plain = linear(2, X, Y)
    limit = linear(2, X, Y, objective="whitened", ridge=1e12)
    angle = principal_angles(plain.components_.T, np.linalg.qr(limit.components_.T)[0])[0]
    assert np.sin(np.radians(angle)) < 1e-8
    ratio = limit.singular_values_ / plain.singular_values_
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-8)


def test_a_large_ridge_is_the_papers_target_with_random_features() -> None:
    X = RandomState(0).normal(size=(400, 4))
    y, small = np.sin(X[:, 0]) + X[:, 1], OKSPCA(3, n_random_features=32, random_state=0)
    limit = clone(small).set_params(objective="whitened", ridge=1e12, target_features="fourier")
    models = [small.fit(X, y), limit.fit(X, y)]
    columns = [np.linalg.qr(model.components_.T)[0] for model in models]
    assert np.sin(np.radians(principal_angles(*columns)[0])) < 1e-8


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_small_ridge_is_canonical_correlation(seed: int) -> None:
    """CCA whitens both sides; one side whitened and one given as white is the same."""
    X, Y = pairs(seed, n=300)
    centred = Y - Y.mean(axis=0)
    white = centred @ np.linalg.inv(np.linalg.cholesky(centred.T @ centred / len(Y)).T)
    model = linear(2, X, white, objective="whitened", ridge=1e-10)
    cca = CCA(2, scale=False, max_iter=20_000, tol=1e-14).fit(X, Y)
    ours, theirs = model.transform(X), cca.transform(X)
    for mine, other in zip(ours.T, theirs.T, strict=True):
        assert abs(np.corrcoef(mine, other)[0, 1]) > 1.0 - 1e-8
    found = [np.corrcoef(theirs[:, j], cca.transform(X, Y)[1][:, j])[0, 1] for j in range(2)]
    np.testing.assert_allclose(model.singular_values_, found, atol=1e-6)


@pytest.mark.parametrize("ridge", [1e-6, 0.1, 3.0])
def test_all_directions_together_predict_as_ridge_regression(ridge: float) -> None:
    X, Y = pairs(3)
    model = linear(3, X, Y, objective="whitened", ridge=ridge)
    S, C, _ = weighted_moments(X, Y, np.ones(len(X)))
    W = model.components_.T
    penalty = ridge_added(S, ridge, len(X)) * len(X)
    theirs = Ridge(alpha=penalty).fit(X, Y).coef_.T
    np.testing.assert_allclose(W @ (W.T @ C), theirs, rtol=1e-7, atol=1e-9)


@given(seed=seeds, data=st.data(), forgetting=st.sampled_from((1.0, 0.98)))
@contract(15)
def test_blocks_rows_and_one_array_give_the_same(
    seed: int, data: st.DataObject, forgetting: float
) -> None:
    X, Y = pairs(seed, n=150)
    cuts = sorted(data.draw(st.lists(st.integers(1, 149), unique=True, max_size=8)))
    made = [
        learned(WhitenedMoment(5, 3, forgetting=forgetting), X, Y, places)
        for places in ((), cuts, range(1, 150))
    ]
    weights = forgetting ** np.arange(149.0, -1.0, -1.0)
    S = weighted_moments(X, Y, weights)[0]
    for moment in made:
        np.testing.assert_allclose(moment.input_covariance(), S, rtol=1e-10, atol=1e-12)
        assert moment.choice is not None
        np.testing.assert_allclose(moment.choice.errors, made[0].choice.errors, rtol=1e-9)  # type: ignore[union-attr]
    assert made[0].choice.errors.any()  # type: ignore[union-attr]


@given(seed=seeds, place=st.integers(1, 59))
@contract(10)
def test_pooled_parts_are_the_whole(seed: int, place: int) -> None:
    X, Y = pairs(seed)
    whole = learned(WhitenedMoment(5, 3, ridge=0.1), X, Y)
    first = learned(WhitenedMoment(5, 3, ridge=0.1), X[:place], Y[:place])
    first.merge(learned(WhitenedMoment(5, 3, ridge=0.1), X[place:], Y[place:]))
    np.testing.assert_allclose(first.input_covariance(), whole.input_covariance(), rtol=1e-10)
    np.testing.assert_allclose(first.scaled().Ct, whole.scaled().Ct, rtol=1e-9, atol=1e-12)


def test_models_are_pooled_whatever_the_order_of_their_classes() -> None:
    X = RandomState(1).normal(size=(300, 3))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.0])
    options: dict[str, Any] = {"standardize": None, "ridge": 0.01, "random_state": 0}
    one, other, whole = (
        OKSPCA(2, n_random_features=16, objective="whitened", **options) for _ in range(3)
    )
    order = np.argsort(-y[150:], kind="stable") + 150
    one.partial_fit(X[:150], y[:150]).merge(other.partial_fit(X[order], y[order]))
    whole.partial_fit(X, y)
    angle = principal_angles(*(np.linalg.qr(m.components_.T)[0] for m in (one, whole)))[0]
    assert angle < 1e-8


def test_moments_with_other_settings_are_not_pooled() -> None:
    X, Y = pairs(0)
    mine = learned(WhitenedMoment(5, 3, ridge=0.1), X, Y)
    with pytest.raises(MergeError, match="ridge"):
        mine.merge(learned(WhitenedMoment(5, 3, ridge=0.2), X, Y))


@pytest.mark.parametrize("weighting", CLASS_WEIGHTING)
def test_classes_count_as_they_should(weighting: str) -> None:
    random = RandomState(2)
    X = random.normal(size=(300, 4))
    y = np.digitize(X[:, 0] + 0.5 * random.normal(size=300), [0.5, 1.2])
    model = OKSPCA(
        2,
        input_map=IdentityMap(4),
        standardize=None,
        objective="whitened",
        ridge=0.05,
        class_weighting=weighting,
    ).fit(X, y)
    W, sigma, _ = whitened(X, np.eye(3)[y], np.ones(300), 0.05, CLASS_WEIGHTING[weighting])
    np.testing.assert_allclose(model.singular_values_, sigma[:2], rtol=1e-9)
    assert principal_angles(np.linalg.qr(W[:, :2])[0], np.linalg.qr(model.components_.T)[0])[0] < (
        1e-6
    )


@given(seed=seeds)
@contract(10)
def test_the_certificate_is_true_in_whitened_coordinates(seed: int) -> None:
    X, Y = pairs(seed)
    model = linear(2, X, Y, objective="whitened", ridge=0.01)
    basis = model.basis()
    assert basis.certificate is not None
    scaled = model.moment_.scaled()
    exact = np.linalg.svd(scaled.Ct.T)[0][:, :2]
    distance = np.linalg.norm(exact @ exact.T - basis.vectors @ basis.vectors.T)
    assert basis.certificate.distance_upper is not None
    assert distance <= basis.certificate.distance_upper + 1e-14
    assert basis.certificate.rho_lower > 1.0 - 1e-9
    report = model.diagnose()
    assert report.extracted is not None
    assert (report.extracted.max_angle or 0.0) < 1e-6


def test_noise_is_given_a_larger_ridge_than_a_clear_signal() -> None:
    random = RandomState(0)
    X = random.normal(size=(600, 30))
    clear = X @ random.normal(size=(30, 1))
    ridges = []
    for y in (clear, 0.05 * clear + random.normal(size=(600, 1))):
        moment = learned(WhitenedMoment(30, 1), X, y)
        ridges.append(moment.ridge_in_use)
    assert ridges[0] < 1e-3 < ridges[1]


def test_an_empty_moment_is_no_target() -> None:
    assert WhitenedMoment(3, 2).scaled().is_zero


def test_a_copy_does_not_follow() -> None:
    X, Y = pairs(0)
    moment = learned(WhitenedMoment(5, 3), X, Y)
    twin, before = copied(moment), moment.input_covariance()
    learned(twin, X, Y)
    assert np.array_equal(moment.input_covariance(), before)


def test_stability_is_about_the_whitened_directions() -> None:
    X = RandomState(4).normal(size=(4000, 3)) * [1.0, 10.0, 1.0]
    y = X[:, :1] + RandomState(5).normal(size=(4000, 1))
    options: dict[str, Any] = {"objective": "whitened", "ridge": 1e-6, "stability": 8}
    stability = linear(1, X, y, **options).estimate_stability()
    assert stability.angles[0] < 5.0
    assert linear(1, X, y, stability=8).estimate_stability().angles[0] > 5.0


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"objective": "other"}, "objective"),
        ({"objective": "whitened", "solver": "adam"}, "solver"),
        ({"objective": "whitened", "ridge": 0.0}, "ridge"),
        ({"ridge": "large"}, "ridge"),
        ({"class_weighting": "balanced"}, "class_weighting"),
    ],
)
def test_settings_that_cannot_be_used_are_named(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        OKSPCA(1, **options).fit(np.eye(3), np.arange(3.0))


def test_a_merge_pools_what_is_known_about_the_ridge() -> None:
    X, Y = pairs(0, 400)
    one, other = (
        learned(WhitenedMoment(5, 3, n_directions=2), X[part], Y[part])
        for part in (slice(200), slice(200, 400))
    )
    assert one.choice is not None
    assert other.choice is not None
    wanted = one.choice.errors + other.choice.errors
    assert other.choice.errors.any()
    one.merge(other)
    assert np.array_equal(one.choice.errors, wanted)


def test_errors_of_earlier_rounds_count_a_tenth() -> None:
    X, Y = pairs(1, 128)
    moment = learned(WhitenedMoment(5, 3, n_directions=2), X[:127], Y[:127])
    assert moment.choice is not None
    before = moment.choice.errors.copy()
    moment.update(X[127:], Y[127:], np.ones(1))
    assert ((moment.choice.errors > 0.1 * before) & (moment.choice.errors < 0.2 * before)).all()


def test_columns_of_zeros_change_no_discriminant() -> None:
    random = RandomState(0)
    moment = WhitenedMoment(6, 3, ridge=0.1, labels=True)
    moment.update(random.normal(size=(90, 6)), np.eye(3)[random.randint(3, size=90)], np.ones(90))
    W, mean = random.normal(size=(6, 2)), moment.left_mean()
    alone = moment.judgement_of(W, mean)[0]
    padded = moment.judgement_of(np.insert(W, 1, 0.0, axis=1), mean)[0]
    np.testing.assert_array_equal(padded.weights, np.insert(alone.weights, 1, 0.0, axis=0))
    np.testing.assert_array_equal(padded.offset, alone.offset)
    nothing, belief = moment.judgement_of(np.zeros((6, 2)), mean)
    assert belief is None
    np.testing.assert_array_equal(nothing.of(np.ones((1, 2)))[0], np.log(nothing.shares))
