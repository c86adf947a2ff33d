"""The vectorised cosine against forty digits."""

import mpmath
import numpy as np
import pytest
from numpy.random import RandomState
from numpy.typing import NDArray

from okspca.features import FourierMap
from okspca.moments import TargetCompression
from okspca.numerics.cosine import LARGEST_ARGUMENT, cosine_features

Array = NDArray[np.float64]


def ours(x: Array) -> Array:
    rows = x[np.newaxis].copy()
    cosine_features(rows, np.zeros(x.size), 1.0)
    return rows[0]


def arguments() -> Array:
    """Everywhere, near every zero and extremum, tiny ones, and the ends of the range."""
    random = RandomState(0)
    quarter_turns = np.arange(1, 6366) * (np.pi / 2)
    return np.concatenate(
        [
            random.uniform(-LARGEST_ARGUMENT, LARGEST_ARGUMENT, 4000),
            random.uniform(-8.0, 8.0, 4000),
            quarter_turns,
            np.nextafter(quarter_turns[:500], 0.0),
            -quarter_turns[:200],
            (np.arange(200) + 0.5) * (np.pi / 2),
            10.0 ** random.uniform(-300.0, 0.0, 300),
            [0.0, -0.0, LARGEST_ARGUMENT, -LARGEST_ARGUMENT],
        ]
    )


def test_error_is_below_two_units_in_the_last_place() -> None:
    x = arguments()
    computed = ours(x)
    with mpmath.workdps(40):
        exact = [mpmath.cos(mpmath.mpf(float(value))) for value in x]
        errors = np.array(
            [float(mpmath.mpf(float(c)) - e) for c, e in zip(computed, exact, strict=True)]
        )
        units = np.spacing(np.abs(np.array([float(e) for e in exact])))
    assert np.abs(errors).max() <= 2.3e-16
    assert (np.abs(errors) / units).max() <= 2.0


@pytest.mark.parametrize("large", [1.0001e4, 1e6, 1e22, -1e150])
def test_larger_arguments_go_to_the_library(large: float) -> None:
    x = np.array([0.3, large, -2.0])
    np.testing.assert_allclose(ours(x), np.cos(x), rtol=0, atol=1e-15)


def test_phases_and_amplitude() -> None:
    rows = RandomState(0).normal(size=(3, 5))
    phases = np.linspace(0.0, 6.0, 5)
    expected = 0.7 * np.cos(rows + phases)
    cosine_features(rows, phases, 0.7)
    np.testing.assert_allclose(rows, expected, rtol=0, atol=1e-15)


def test_compression_rank_is_that_of_the_library_cosine() -> None:
    """A cosine with errors of 5e-13 would need about a hundred directions instead of some forty."""
    psi = FourierMap.sample(1, 256, bandwidth=1.0, seed=0)
    y = RandomState(1).normal(size=(2000, 1))
    library = np.sqrt(2.0 / 256) * np.cos(y @ psi.weights.T + psi.phases)
    ranks = []
    for features in (
        psi.transform(y),
        library,
        library + 5e-13 * RandomState(2).normal(size=library.shape),
    ):
        compression = TargetCompression(256)
        compression.encode(features)
        ranks.append(compression.rank)
    # A row whose residual lies at the tolerance itself may fall on either side of it.
    assert abs(ranks[0] - ranks[1]) <= 1
    assert ranks[1] < 60
    assert ranks[2] > ranks[1] + 20
