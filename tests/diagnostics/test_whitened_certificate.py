"""Certificates of the whitened objective against 80-digit arithmetic on the stored sums.

The longer form is a command: ``python -m tests.diagnostics.whitened_certificates``.
"""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.basis import Basis
from okspca.diagnostics.certificate import UNPROVEN
from okspca.diagnostics.whitened_certificate import whitened_bounds
from okspca.features import IdentityMap
from okspca.moments import WhitenedMoment
from okspca.moments.pencil import Pencil
from okspca.numerics.arrays import Floats
from okspca.numerics.leading import by_svd
from okspca.numerics.subspace import principal_angles
from okspca.services import Exact, ExactSnapshot, Service, WarmBlock
from tests.diagnostics.whitened_cases import orthonormal, stored_numbers
from tests.diagnostics.whitened_certificates import Tally, check, faults
from tests.reference.exact_whitening import Truth, truth_about

D = 24


def prescribed(variances: Floats, squares: Floats, ridge: float, seed: int = 0) -> WhitenedMoment:
    """A moment whose S has these eigenvalues, and whose whitened matrix these squared values."""
    random, n = RandomState(seed), len(variances)
    moment = WhitenedMoment(n, len(squares), ridge=ridge)
    moment.is_steady = False  # so that the ridge is in units of the variances below
    axes, left = orthonormal(random, n, n), orthonormal(random, n, len(squares))
    root = np.sqrt(variances + ridge * variances.mean())
    T = (left * np.sqrt(squares)) @ orthonormal(random, len(squares), len(squares)).T
    moment.covariance.sums[...] = 100.0 * (axes * variances) @ axes.T
    moment.arrays.sums[...] = 100.0 * ((axes * root) @ T).T
    moment.arrays.totals[...] = 100.0, 100.0, 1e-300, 1e-300, 0.0
    return moment


def served(moment: WhitenedMoment, k: int, service: Service[Any] | None = None) -> Basis:
    service = service or ExactSnapshot()
    n = moment.arrays.sums.shape[1]
    return service.serve(service.start(n, k, 0), moment, 100)


def truth_of(basis: Basis, moment: WhitenedMoment) -> Truth:
    return truth_about(moment.feature_weights(basis.vectors), stored_numbers(moment))


def three_classes(ridge: float, little: float, seed: int = 1) -> WhitenedMoment:
    """Three classes whose means are a triangle: two directions, tied but for a little."""
    random, n = RandomState(seed), 400
    moment, y = WhitenedMoment(D, 3, ridge=ridge, labels=True), np.arange(n) % 3
    corners = 2.0 * np.pi * y / 3
    X = random.normal(size=(n, D)) * 10.0 ** -np.linspace(0, 6, D)
    X[:, 0], X[:, 1] = np.cos(corners), (1.0 + little) * np.sin(corners)
    moment.update(X @ orthonormal(random, D, D), np.eye(3)[y], np.ones(n))
    return moment


@pytest.mark.slow
def test_dozens_of_cases_of_all_kinds() -> None:
    tally = Tally()
    for seed in range(96):
        check(tally, seed)
    assert tally.violations == []
    assert tally.blunt == []
    assert tally.angles_claimed > 50
    assert tally.due_to_be_sharp > 30


@pytest.mark.parametrize("ridge", [1e-6, 1e-8, 1e-10])
def test_an_ill_conditioned_covariance(ridge: float) -> None:
    variances = 10.0 ** -np.linspace(0, 12, D)
    moment = prescribed(variances, np.array([1.0, 0.8, 0.5]), ridge)
    basis = served(moment, 1)
    assert faults(basis, truth_of(basis, moment)) == []


@pytest.mark.parametrize("ridge", [1e-6, 1e-10])
@pytest.mark.parametrize("little", [1e-3, 1e-6, 1e-9, 1e-12])
def test_three_classes_near_a_tie(ridge: float, little: float) -> None:
    moment = three_classes(ridge, little)
    basis = served(moment, 1)
    assert faults(basis, truth_of(basis, moment)) == []


def test_the_angle_is_sharp_up_to_a_condition_of_a_million_and_a_gap_of_a_thousandth() -> None:
    for seed, n in ((0, 8), (1, 64), (2, 256)):
        variances = np.append(np.ones(n - 1), 1.01e-6)
        moment = prescribed(variances, np.array([1.0, 1.0 - 1.01e-3, 0.99]), 1e-10, seed)
        basis = served(moment, 1)
        truth = truth_of(basis, moment)
        assert truth.condition > 9e5
        assert truth.relative_gap < 1.02e-3
        assert faults(basis, truth) == []
        assert basis.certificate is not None
        assert basis.certificate.angle_upper is not None
        assert basis.certificate.angle_upper <= 1e-6


def test_columns_are_corrected_where_rounding_moved_them() -> None:
    """What the rounded matrix has for its leading direction is far from what is delivered."""
    variances = 10.0 ** -np.linspace(0, 9, 64)
    moment = prescribed(variances, np.array([1.0, 0.9989, 0.5]), 1e-10)
    basis = served(moment, 1)
    rounded = by_svd(moment.scaled().Ct).rows[:1].T
    before = truth_about(moment.feature_weights(rounded), stored_numbers(moment))
    assert truth_of(basis, moment).angle < 1e-2 * before.angle


@pytest.mark.parametrize("service", [Exact(), WarmBlock(), WarmBlock(n_guards=0)], ids=str)
def test_no_service_takes_the_stored_sums_for_the_target(service: Service[Any]) -> None:
    moment = prescribed(10.0 ** -np.linspace(0, 2, D), np.array([1.0, 0.5, 0.2, 0.1]), 0.1)
    basis = served(moment, 2, service)
    assert principal_angles(basis.vectors, served(moment, 2).vectors)[0] < 1e-9
    assert faults(basis, truth_of(basis, moment)) == []


@pytest.mark.parametrize(("left", "is_proven"), [(1e-3, True), (3e-6, False)])
def test_sums_of_squares_that_are_none(left: float, is_proven: bool) -> None:
    """Rounding may leave S with a negative eigenvalue: here nearly as large as the ridge."""
    moment = prescribed(np.append(np.ones(D - 1), 0.0), np.array([1.0, 0.5]), 1e-6)
    axis = orthonormal(RandomState(0), D, D)[:, -1]
    ridge = 1e-6 * (D - 1) / D
    moment.covariance.sums -= 100.0 * (1.0 - left) * ridge * np.outer(axis, axis)
    basis, pencil = served(moment, 1), moment.scaled().pencil
    assert pencil is not None
    assert (pencil.bounds is not None) == is_proven
    assert pencil.bounds is None or 0.1 * left * ridge < pencil.bounds.smallest < left * ridge
    assert faults(basis, truth_of(basis, moment)) == []


def test_where_nothing_is_proven_it_says_so() -> None:
    moment = prescribed(np.ones(D), np.array([1.0, 0.5]), 1e-6)
    scaled = moment.scaled()
    assert isinstance(scaled.pencil, Pencil)
    unknown = scaled._replace(pencil=scaled.pencil._replace(bounds=None))
    leading = by_svd(scaled.Ct)
    rho, gap, distance, angle, _ = whitened_bounds(leading.rows[:1], leading.sigma**2, unknown)
    assert (rho, gap, distance, angle) == (0.0, UNPROVEN, UNPROVEN, UNPROVEN)


def test_what_was_dropped_is_counted_in_the_units_of_the_target() -> None:
    """Inputs in other units are the same features, so what compression left out is the same."""
    random = RandomState(0)
    X, y = random.normal(size=(300, 3)), random.normal(size=300)
    settings: dict[str, Any] = {"input_map": IdentityMap(3), "n_target_features": 512}
    dropped = []
    for objective in ("covariance", "whitened"):
        for unit in (1.0, 2.0**-20):
            model = OKSPCA(1, objective=objective, random_state=0, **settings).fit(X * unit, y)
            scaled = model.moment_.scaled()
            dropped.append(scaled.dropped * scaled.scale)
    assert dropped[0] > 0.0
    np.testing.assert_allclose(dropped[::2], dropped[1::2], rtol=1e-6)
