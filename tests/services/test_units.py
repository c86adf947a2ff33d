"""Singular values and proven gaps are those of the moment itself, in its own units."""

from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from okspca import OKSPCA
from okspca.basis import Basis
from okspca.features import IdentityMap
from okspca.numerics.arrays import Floats
from okspca.numerics.leading import by_svd

X = RandomState(0).normal(size=(300, 4))
NUMBER = np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2
WORDS = np.array(["a", "b", "c", "d"])[np.digitize(NUMBER, [-0.5, 0.4, 1.0])]
EXACT = ("exact", "exact-snapshot", "exact-each", "warm-block")


def answer_and_truth(solver: str, y: Any) -> tuple[Basis, Floats]:
    """A basis of two directions, and all singular values of the moment."""
    settings: dict[str, Any] = {"n_random_features": 48, "random_state": 0, "solver": solver}
    model = OKSPCA(2, **settings).partial_fit(X, y)
    sigma: Floats = by_svd(model.moment_.matrix()).sigma
    return model.basis(), sigma


def proven_and_true(basis: Basis, sigma: Floats) -> tuple[float | None, float]:
    """The gap after two directions."""
    assert basis.certificate is not None
    return basis.certificate.gap_lower, float(sigma[1] ** 2 - sigma[2] ** 2)


@pytest.mark.parametrize("y", [NUMBER, WORDS], ids=["number", "words"])
@pytest.mark.parametrize("solver", EXACT)
def test_an_exact_service_has_the_values_and_proves_nearly_all_of_the_gap(
    solver: str, y: Any
) -> None:
    basis, sigma = answer_and_truth(solver, y)
    np.testing.assert_allclose(basis.singular_values, sigma[:2], rtol=1e-12)
    proven, true = proven_and_true(basis, sigma)
    assert proven is not None
    # The warm block does not inspect all directions, so some of the energy may be anywhere.
    least = 0.2 if solver == "warm-block" else 0.99
    assert least * true <= proven <= true * (1.0 + 1e-12)


@pytest.mark.parametrize(
    ("solver", "y"),
    [("adam", NUMBER), ("adam", WORDS), ("projected-gradient", NUMBER), ("contrast", WORDS)],
    ids=["adam, number", "adam, words", "projected gradient", "contrast"],
)
def test_no_service_claims_a_gap_that_is_not_there(solver: str, y: Any) -> None:
    proven, true = proven_and_true(*answer_and_truth(solver, y))
    assert proven is None or proven <= true * (1.0 + 1e-12)


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
