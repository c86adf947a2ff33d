"""Maps in single precision: every row within the bound, whatever form it comes in."""

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState
from scipy.sparse import csr_matrix

from okspca.diagnostics.feature_error import feature_error
from okspca.features import FourierMap, IdentityMap, SingleFourierMap
from okspca.features.single import in_double, in_precision
from okspca.numerics.arrays import Floats
from okspca.numerics.crew import threads
from tests.reference.features import fourier

Z = RandomState(0).normal(size=(700, 6))
SINGLE = SingleFourierMap.sample(6, 50, bandwidth=1.5, seed=3)


def with_far_rows() -> Floats:
    rows = Z.copy()
    rows[::7] *= 10.0 ** np.arange(100.0)[:, np.newaxis]
    return rows


def test_features_equal_the_reference_within_the_bound() -> None:
    found, bounds = SINGLE.transform(Z[:50]), SINGLE.error_bounds(Z[:50])
    expected = np.array([fourier(row, SINGLE.weights, SINGLE.phases) for row in Z[:50]])
    errors = np.abs(found - expected).max(axis=1)
    assert (errors <= bounds).all()
    assert errors.max() > 1e-9  # computed in single precision indeed
    assert bounds.max() < SINGLE.largest_error


def test_rows_that_are_far_out_are_double_precision() -> None:
    rows = with_far_rows()
    far = np.linalg.norm(rows, axis=1) > SINGLE.reach
    assert 80 < far.sum() < 100
    found, double = SINGLE.transform(rows), in_double(SINGLE).transform(rows)
    np.testing.assert_array_equal(found[far], double[far])
    assert (SINGLE.error_bounds(rows)[far] == 0.0).all()
    assert np.abs(found - double).max() <= SINGLE.largest_error
    for i in (0, 7, 14, 350, 693):
        np.testing.assert_array_equal(SINGLE.of_row(rows[i]), found[i])


def test_sparse_rows_have_the_bits_of_dense_ones() -> None:
    rows = np.where(Z > 0.5, with_far_rows(), 0.0)
    np.testing.assert_array_equal(SINGLE.transform(csr_matrix(rows)), SINGLE.transform(rows))


@pytest.mark.parametrize("layout", ["fortran", "strided", "read-only", "float32"])
def test_layouts_change_no_bit(layout: str) -> None:
    rows = Z.astype(np.float32).astype(np.float64)
    given: Any = {
        "fortran": np.asfortranarray(rows),
        "strided": np.repeat(rows, 2, axis=0)[::2],
        "read-only": rows.copy(),
        "float32": rows.astype(np.float32),
    }[layout]
    given.flags.writeable = layout != "read-only"
    np.testing.assert_array_equal(SINGLE.transform(given), SINGLE.transform(rows))


def test_threads_change_no_bit() -> None:
    big, map_ = np.tile(with_far_rows(), (4, 1)), SingleFourierMap.sample(6, 300, bandwidth=1.0)
    alone = map_.transform(big)
    with threads(2):
        np.testing.assert_array_equal(map_.transform(big), alone)


def test_values_that_are_not_finite_stay_so() -> None:
    rows = Z[:3].copy()
    rows[1, 2] = np.nan
    found = SINGLE.transform(rows)
    assert np.isnan(found[1]).all()
    assert np.isfinite(found[[0, 2]]).all()


def test_maps_of_other_precision_are_other_maps() -> None:
    double = in_double(SINGLE)
    assert not SINGLE.equals(double)
    assert not double.equals(SINGLE)
    assert in_precision(double, "float32").equals(SINGLE)
    assert in_precision(double, "float64") is double
    assert in_precision(SINGLE, "float64") is SINGLE
    identity = IdentityMap(6)
    assert in_precision(identity, "float32") is identity
    assert (double.precision, SINGLE.precision, identity.precision) == (
        "float64",
        "float32",
        "float64",
    )
    assert type(SINGLE.rescaled(np.ones(6))) is SingleFourierMap


def test_copies_leave_out_what_can_be_made_again() -> None:
    used = SingleFourierMap(SINGLE.weights, SINGLE.phases)
    bare = len(pickle.dumps(used))
    used.transform(Z)
    used.of_row(Z[0])
    data = pickle.dumps(used)
    assert len(data) == bare
    twin = pickle.loads(data)
    assert twin.equals(used)
    np.testing.assert_array_equal(twin.transform(Z), used.transform(Z))


@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-30, 1e140])
def test_frequencies_of_any_size_are_served(size: float) -> None:
    double = FourierMap(size * SINGLE.weights, SINGLE.phases)
    single = SingleFourierMap(double.weights, double.phases)
    errors = np.abs(single.transform(Z) - double.transform(Z)).max(axis=1)
    assert (errors <= single.error_bounds(Z)).all()
    assert np.isfinite(single.longest)


def test_heavy_tails_are_double_precision() -> None:
    """Frequencies of a Laplacian kernel reach thousands, which single precision cannot follow."""
    double = FourierMap.sample(6, 200, bandwidth=2.0, kernel="laplacian", seed=0)
    single = SingleFourierMap(double.weights, double.phases)
    errors = np.abs(single.transform(Z) - double.transform(Z)).max(axis=1)
    assert (errors <= single.error_bounds(Z)).all()
    assert errors.max() <= single.largest_error


def test_the_error_is_told_in_numbers_and_words() -> None:
    found = feature_error(SINGLE, Z)
    assert 0.0 < found.largest <= found.of_rows <= found.bound  # type: ignore[operator]
    assert found.usual <= found.bound
    assert found.amplitude == pytest.approx(0.2)
    assert found.bound == SINGLE.largest_error
    assert "in these rows" in str(found)
    assert feature_error(SINGLE, csr_matrix(Z)) == found
    bare = feature_error(SINGLE)
    assert (bare.of_rows, bare.largest, bare.bound) == (None, None, found.bound)
    assert "in these rows" not in str(bare)
    double = feature_error(in_double(SINGLE), Z)
    assert (double.precision, double.bound, double.usual) == ("float64", 0.0, 0.0)
