"""T² and SPE by the equations; contributions add up."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.diagnostics.monitoring import reference_of, residuals_of, smoothed
from tests.reference import monitoring as plain


def rows(seed: int, n: int = 200, d: int = 5, k: int = 2) -> tuple[np.ndarray, np.ndarray]:
    random = RandomState(seed)
    S = random.normal(size=(n, d)) @ random.normal(size=(d, d)) + 3.0
    return S[:, :k] @ random.normal(size=(k, k)) + 0.1 * random.normal(size=(n, k)), S


@pytest.mark.parametrize("n", [45, 200])
def test_statistics_are_those_of_the_equations(n: int) -> None:
    Z, S = rows(0, n)
    nothing = np.zeros((2, 5))
    found, known = reference_of(Z, S, nothing), plain.reference(Z, S)
    new_Z, new_S = rows(1)
    apart = new_Z - found.centre
    np.testing.assert_allclose(found.t2(apart), [plain.t2(known, z) for z in new_Z], rtol=1e-9)
    parts = found.inputs.parts(found.inputs.errors(apart, new_S))
    expected = [plain.spe_parts(known, z, s) for z, s in zip(new_Z, new_S, strict=True)]
    np.testing.assert_allclose(parts, expected, rtol=1e-8, atol=1e-10)


def test_plain_residuals_are_not_weighted() -> None:
    Z, S = rows(0)
    found = reference_of(Z, S, np.zeros((2, 5)), weighted=False)
    errors = found.inputs.errors(Z - found.centre, S)
    np.testing.assert_array_equal(found.inputs.parts(errors), errors**2)
    np.testing.assert_allclose(errors.T @ (Z - found.centre), 0.0, atol=1e-9)


def test_contributions_to_t2_add_up() -> None:
    random = RandomState(0)
    added = random.normal(size=(300, 2, 4))
    Z = 1.5 + added.sum(axis=2)
    found = reference_of(Z, random.normal(size=(300, 4)), added.mean(axis=0))
    parts = found.t2_parts(Z - found.centre, added - found.added)
    np.testing.assert_allclose(parts.sum(axis=1), found.t2(Z - found.centre), rtol=1e-10)


def test_components_that_do_not_vary_do_not_count() -> None:
    Z, S = rows(0)
    wide = np.hstack([Z, np.zeros((len(Z), 1))])
    found = reference_of(wide, S, np.zeros((3, 5)))
    narrow = reference_of(Z, S, np.zeros((2, 5)))
    far = np.array([[0.0, 0.0, 5.0]])
    assert found.t2(far)[0] == 0.0
    np.testing.assert_allclose(found.t2(wide), narrow.t2(Z), rtol=1e-10)


def test_inputs_that_hang_together_exactly_are_watched_for_that() -> None:
    random = RandomState(0)
    S = random.normal(size=(400, 3))
    S[:, 2] = S[:, 0] + S[:, 1]
    found = residuals_of(np.zeros((400, 1)), np.zeros((1, 1)), S)
    usual = found.parts(S - found.means).sum(axis=1).max()
    broken = found.parts(S[:1] - found.means + np.array([0.0, 0.0, 1e-2])).sum()
    assert broken > 10.0 * usual


@pytest.mark.parametrize("n", [50, 1000])
def test_what_does_not_vary_in_control_is_an_alarm_when_it_does(n: int) -> None:
    S = RandomState(0).normal(size=(n, 3))
    S[:, 1] = 0.25
    found = residuals_of(np.zeros((n, 1)), np.zeros((1, 1)), S)
    assert np.isfinite(found.weights).all()
    assert found.parts(np.array([[0.0, 1e-6, 0.0]])).sum() > 1e4


def test_chance_correlations_are_shrunk_away() -> None:
    S = RandomState(0).normal(size=(30, 40))
    found = residuals_of(np.zeros((30, 1)), np.zeros((1, 1)), S)
    new = found.parts(RandomState(1).normal(size=(500, 40)) - found.means).sum(axis=1)
    assert 30.0 < new.mean() < 60.0


def test_smoothing_is_cut_invariant() -> None:
    values = RandomState(0).normal(size=(20, 3))
    whole = smoothed(np.zeros(3), values, 0.1)
    half = smoothed(np.zeros(3), values[:7], 0.1)
    np.testing.assert_array_equal(smoothed(half[-1], values[7:], 0.1), whole[7:])
    last = np.zeros(3)
    for row in values:
        last = 0.9 * last + 0.1 * row
    np.testing.assert_allclose(whole[-1], last, rtol=1e-12)
