"""Bandwidth rules."""

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.errors import DataError
from okspca.features.bandwidth import median_distance, sqrt_dimension


def test_median_is_over_positive_pairwise_distances() -> None:
    Z = RandomState(0).normal(size=(40, 3))
    Z[5] = Z[7]
    distances = [
        np.linalg.norm(Z[i] - Z[j]) for i in range(40) for j in range(i) if (i, j) != (7, 5)
    ]
    assert median_distance(Z) == pytest.approx(np.median(distances) / np.sqrt(2.0))


def test_median_uses_at_most_512_rows() -> None:
    Z = RandomState(0).normal(size=(600, 2))
    changed = Z.copy()
    changed[512:] *= 1e6
    assert median_distance(Z) == median_distance(changed)


def test_identical_rows_have_no_median() -> None:
    with pytest.raises(DataError, match="no two different rows"):
        median_distance(np.ones((10, 2)))


def test_square_root_rule() -> None:
    assert sqrt_dimension(9) == 3.0
