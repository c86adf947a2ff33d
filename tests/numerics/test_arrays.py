"""Exact scaling and copies."""

import numpy as np
import pytest

from okspca.moments import CrossMoment, TargetCompression
from okspca.numerics.arrays import copied, frozen, unit_scaled


@pytest.mark.parametrize("size", [1.0, 3e-7, 1e-150, 1e150, 5e-324, 1.7e308, 2.0**-1022, 8.9e307])
def test_scaling_is_exact_and_reversible(size: float) -> None:
    matrix = np.array([[size, -size / 3.0], [0.0, size / 7.0]])
    scaled, factor = unit_scaled(matrix)
    np.testing.assert_array_equal(scaled * factor, matrix)
    assert 0.5 <= np.abs(scaled).max() < 4.0
    assert np.frexp(factor)[0] == 0.5


def test_zero_keeps_its_unit() -> None:
    scaled, factor = unit_scaled(np.zeros((2, 3)))
    assert factor == 1.0
    assert not scaled.any()
    assert unit_scaled(np.zeros((0, 3)))[1] == 1.0


def test_frozen_copies_cannot_be_written() -> None:
    original = np.ones(3)
    copy = frozen(original)
    original[0] = 5.0
    assert copy[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        copy[0] = 2.0


def test_a_copied_moment_is_independent() -> None:
    moment = CrossMoment(2, 8, compression=TargetCompression(8))
    random = np.random.RandomState(0)
    moment.update(random.normal(size=(3, 2)), random.normal(size=(3, 8)), np.ones(3))
    twin = copied(moment)
    before = twin.matrix()
    moment.update(random.normal(size=(1, 2)), random.normal(size=(1, 8)), np.ones(1))
    np.testing.assert_array_equal(twin.matrix(), before)
    assert twin.compression is not None
    assert twin.compression.rank == 3
    assert not np.array_equal(moment.matrix(), before)
