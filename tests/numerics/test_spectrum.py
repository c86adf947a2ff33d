"""Rank, gap, ties and contrasts."""

import numpy as np
import pytest

from okspca.numerics import spectrum
from tests.reference import geometry

SPECTRA = [
    np.array([1.0, 0.5, 0.5, 1e-6]),
    np.array([1e-3, 1e-3 - 1e-12]),
    np.array([5.0, 5.0 * (1 - 1e-13), 1e-4]),
    np.array([1e-7, 1e-8]),
    np.array([2.0, 0.0]),
    np.array([1.0, 1.0000001e-5, 0.9999999e-5]),
]


@pytest.mark.parametrize("sigma", SPECTRA, ids=str)
def test_rules_equal_the_reference(sigma: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
    assert spectrum.numerical_rank(sigma) == geometry.numerical_rank(sigma)
    for q in range(1, sigma.size + 1):
        assert spectrum.is_service_tie(sigma, q) == geometry.service_tie(sigma, q)
        assert spectrum.is_reconstruction_tie(sigma, q) == geometry.reconstruction_tie(sigma, q)
        assert spectrum.boundary_gap(sigma, q) == pytest.approx(
            geometry.boundary_gap(sigma, q), abs=1e-14
        )


def test_the_two_tie_rules_differ_for_small_moments() -> None:
    sigma = np.array([1e-7, 1e-8])
    assert spectrum.is_service_tie(sigma, 1)
    assert not spectrum.is_reconstruction_tie(sigma, 1)


def test_rank_does_not_depend_on_the_unit() -> None:
    sigma = np.array([1.0, 2e-5, 0.5e-5])
    for unit in (1e-200, 1.0, 1e200):
        assert spectrum.numerical_rank(sigma * unit) == 2
    assert spectrum.numerical_rank(np.zeros(3)) == 0
    assert spectrum.numerical_rank(np.zeros(0)) == 0


def test_gap_of_close_values_does_not_cancel() -> None:
    sigma = np.array([1.0, 1.0 - 2.0**-40])
    assert spectrum.boundary_gap(sigma, 1) == pytest.approx(2.0**-39, rel=1e-11)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 11])
def test_contrasts_span_the_complement_of_ones(n_classes: int) -> None:
    H = spectrum.helmert(n_classes)
    assert H.shape == (n_classes, n_classes - 1)
    np.testing.assert_allclose(H, geometry.helmert(n_classes), atol=1e-15)
    centring = np.eye(n_classes) - np.ones((n_classes, n_classes)) / n_classes
    np.testing.assert_allclose(H @ H.T, centring, atol=1e-14)
