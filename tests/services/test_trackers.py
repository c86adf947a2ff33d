"""What is special to Adam and projected gradient."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca import OKSPCA
from okspca.features import IdentityMap
from okspca.moments import CrossMoment
from okspca.numerics.subspace import projector_distance
from okspca.services import Adam, ProjectedGradient
from okspca.services.gradient import gaussian_rows

Array = NDArray[np.float64]


def data(n: int = 200) -> tuple[Array, Array]:
    X = RandomState(0).normal(size=(n, 5))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1]


def model(solver: Any, **settings: Any) -> OKSPCA:
    return OKSPCA(3, n_random_features=24, solver=solver, random_state=0, **settings)


@pytest.mark.parametrize("solver", [Adam(), ProjectedGradient()], ids=str)
def test_maintained_basis_is_orthonormal_and_used_by_transform(solver: Any) -> None:
    X, y = data()
    fitted = model(solver).partial_fit(X, y)
    U = fitted.basis(kind="maintained").vectors
    np.testing.assert_allclose(U.T @ U, np.eye(3), atol=1e-13)
    np.testing.assert_array_equal(fitted.components_, U.T)
    features = fitted.input_map_.transform(fitted.input_standardizer_.transform(X))
    np.testing.assert_allclose(fitted.transform(X), features @ U, atol=1e-14)
    extracted = fitted.basis().vectors
    assert projector_distance(U, extracted) < 1e-12
    assert np.abs(U - extracted).max() > 1e-3


def test_transform_keeps_all_columns_beyond_the_rank() -> None:
    X, _ = data()
    fitted = model(Adam()).partial_fit(X, X[:, 0] > 0)
    assert fitted.basis().rank == 1
    assert (np.std(fitted.transform(X), axis=0) > 1e-3).all()


def test_a_zero_moment_leaves_the_span_where_it_started() -> None:
    X, _ = data()
    fitted = model(Adam(random_state=7)).partial_fit(X[:1], [0])
    start = gaussian_rows(24, 3, 7)
    np.testing.assert_allclose(fitted.basis(kind="maintained").vectors, start.T, atol=1e-14)
    assert fitted.solver_health()["steps"] == 1


def test_displacement_limit_shortens_steps() -> None:
    X, y = data()
    free, held = model(Adam()), model(Adam(max_displacement=1e-3))
    for i in range(30):
        before = held.basis(kind="maintained").vectors if i else None
        free.learn_one(X[i], y[i])
        held.learn_one(X[i], y[i])
        if before is not None:
            assert projector_distance(before, held.basis(kind="maintained").vectors) <= 1.5e-3
    assert held.solver_health()["shortened"] > 0
    assert free.solver_health()["shortened"] == 0


def test_basis_change_limit_is_kept_at_every_step() -> None:
    X, y = data()
    held = model(Adam(max_basis_change=0.01))
    for i in range(50):
        before = held.basis(kind="maintained").vectors if i else None
        held.learn_one(X[i], y[i])
        if before is not None:
            assert projector_distance(before, held.basis(kind="maintained").vectors) <= 0.01 + 1e-12
    assert held.solver_health()["restricted"] > 0


def test_clips_are_counted() -> None:
    X, y = data()
    health = model(Adam(clip=1e-6)).partial_fit(X, y).solver_health()
    assert 0 < health["clipped"] <= health["steps"] == 200
    assert health["gradient_norm"] <= 1e-6 * (1 + 1e-9)
    assert health["condition"] >= 1.0


@pytest.mark.parametrize("solver", [Adam(), ProjectedGradient()], ids=str)
def test_non_finite_basis_is_replaced_and_counted(solver: Any) -> None:
    """Products of 1e150 with 1e150 overflow in the gradient; the moment itself stays finite."""
    D, k = 4, 2
    moment, state = CrossMoment(D, D), solver.start(D, k, 0)
    Phi = RandomState(1).normal(size=(6, D)) * 1e120
    solver.scan(state, moment, moment.encode(Phi, Phi, np.ones(6)), 0)
    assert state.reinitialised > 0
    rows = solver.maintained(state)
    np.testing.assert_array_equal(rows, gaussian_rows(D, k, 6))
    assert solver.health(state)["reinitialised"] == state.reinitialised
    assert np.isfinite(moment.matrix()).all()


def test_population_form_identity_features_without_standardiser() -> None:
    X, _ = data(400)
    Y = X[:, :3] @ np.diag([1.0, 0.5, 0.1])
    fitted = OKSPCA(
        2,
        solver=Adam(random_state=1),
        standardize=None,
        input_map=IdentityMap(5),
        target_map=IdentityMap(3),
    ).partial_fit(X, Y)
    report = fitted.diagnose()
    assert report.extracted is not None
    assert report.extracted.rho is not None
    assert report.extracted.rho > 0.99


@pytest.mark.parametrize("solver", [Adam(), ProjectedGradient()], ids=str)
def test_trackers_do_not_depend_on_the_unit_of_weights(solver: Any) -> None:
    X, Y = data(300)
    plain, scaled = (
        OKSPCA(2, solver=solver, random_state=0).fit(X, Y, np.full(300, weight))
        for weight in (1.0, 1.0 / 300)
    )
    U, V = (m.basis(kind="maintained").vectors for m in (plain, scaled))
    np.testing.assert_allclose(U, V, atol=1e-8)
