"""Features of a scalar response as polynomials: the same numbers, to rounding, or none at all."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from okspca import OKSPCA
from okspca.features import FourierMap, IdentityMap
from okspca.features.curve import LEAST_ROWS, polynomials
from okspca.moments import TargetCompression
from okspca.numerics.arrays import Floats

EPS = float(np.finfo(np.float64).eps)


def responses(seed: int, n: int, spread: float) -> Floats:
    return spread * np.random.RandomState(seed).standard_normal((n, 1))


@pytest.mark.slow
@settings(deadline=None)
@given(
    seed=st.integers(0, 1000),
    D=st.sampled_from((96, 200, 256)),
    bandwidth=st.floats(0.7, 4.0),
    spread=st.floats(1e-6, 1.5),
)
def test_polynomials_give_the_features_to_rounding(
    seed: int, D: int, bandwidth: float, spread: float
) -> None:
    psi = FourierMap.sample(1, D, bandwidth=bandwidth, seed=seed)
    Z = responses(seed, LEAST_ROWS, spread)
    found = polynomials(psi, Z)
    if found is None:
        # Some way below the limit, since the reach is rounded up to a multiple of a step.
        assert np.abs(Z).max() * np.abs(psi.weights).max() > D / 10
        return
    T, coefficients = found
    exact = np.sqrt(2.0 / D) * np.cos(
        np.asarray(Z, np.longdouble) * psi.weights[:, 0] + psi.phases, dtype=np.longdouble
    )
    assert np.linalg.norm(T.T @ coefficients - exact, axis=1).max() <= 64 * EPS
    assert 2 * T.shape[0] <= D + 2


def test_the_first_blocks_and_later_ones_share_their_coefficients() -> None:
    psi = FourierMap.sample(1, 128, bandwidth=1.0, seed=0)
    one = polynomials(psi, np.linspace(-2.9, 2.8, 200)[:, np.newaxis])
    other = polynomials(psi, np.linspace(-1.0, 2.99, 300)[:, np.newaxis])
    assert one is not None
    assert other is not None
    assert one[1] is other[1]


@pytest.mark.parametrize(
    "Z",
    [
        np.full((LEAST_ROWS, 1), np.nan),
        np.full((LEAST_ROWS, 1), np.inf),
        np.full((LEAST_ROWS, 1), 1e6),
        np.zeros((LEAST_ROWS, 1)),
        np.ones((LEAST_ROWS - 1, 1)),
        np.ones((LEAST_ROWS, 2)),
    ],
    ids=["nan", "infinite", "far away", "all zero", "few rows", "two outputs"],
)
def test_where_there_is_no_such_description_nothing_is_returned(Z: Floats) -> None:
    assert polynomials(FourierMap.sample(Z.shape[1], 128, bandwidth=1.0, seed=0), Z) is None


def test_other_maps_have_no_curve() -> None:
    assert polynomials(IdentityMap(1), np.ones((LEAST_ROWS, 1))) is None


@pytest.mark.parametrize("seed", range(5))
def test_encoding_along_the_curve_is_encoding(seed: int) -> None:
    psi = FourierMap.sample(1, 256, bandwidth=1.0, seed=seed)
    Z = responses(seed, 900, 1.0)
    along, plain = TargetCompression(256), TargetCompression(256)
    for compression in along, plain:
        compression.encode(psi.transform(Z[:100]))
    for start in range(100, 900, 200):
        block = Z[start : start + 200]
        found = polynomials(psi, block)
        assert found is not None
        expected, _ = plain.encode(psi.transform(block))
        encoded = along.encode_along(*found)
        assert encoded is not None
        coordinates, dropped = encoded
        # A residual at the tolerance itself may fall on either side of it.
        assert abs(along.rank - plain.rank) <= 1
        back, again = coordinates @ along.directions, expected @ plain.directions
        np.testing.assert_allclose(back, again, rtol=0.0, atol=1e-13)
        left = np.linalg.norm(psi.transform(block) - back, axis=1)
        np.testing.assert_allclose(np.sqrt(dropped), left, rtol=1e-3, atol=1e-14)
        gram = along.directions @ along.directions.T
        np.testing.assert_allclose(gram, np.eye(along.rank), rtol=0.0, atol=1e-14)
    assert along.rank > 20


def test_a_row_outside_what_was_seen_adds_directions_and_what_is_dropped_is_counted() -> None:
    psi = FourierMap.sample(1, 256, bandwidth=1.0, seed=3)
    compression = TargetCompression(256, tolerance=1e-6)
    compression.encode(psi.transform(np.linspace(-1.0, 1.0, 200)[:, np.newaxis]))
    rank, Z = compression.rank, np.linspace(-1.0, 3.0, 200)[:, np.newaxis]
    found = polynomials(psi, Z)
    assert found is not None
    encoded = compression.encode_along(*found)
    assert encoded is not None
    coordinates, dropped = encoded
    left = np.linalg.norm(psi.transform(Z) - coordinates @ compression.directions, axis=1)
    assert compression.rank > rank
    assert 1e-9 < left.max() <= 1e-6 * 1.001
    np.testing.assert_allclose(np.sqrt(dropped), left, rtol=1e-6, atol=1e-13)


def test_coordinates_follow_directions_that_are_turned() -> None:
    psi = FourierMap.sample(1, 256, bandwidth=1.0, seed=3)
    compression = TargetCompression(256)
    Z = np.linspace(-2.0, 2.0, 200)[:, np.newaxis]
    compression.encode(psi.transform(Z))
    found = polynomials(psi, Z)
    assert found is not None
    assert compression.encode_along(*found) is not None
    compression.turn(
        np.linalg.qr(
            responses(0, compression.rank, 1.0) * np.ones(compression.rank)
            + np.eye(compression.rank)
        )[0]
    )
    encoded = compression.encode_along(*found)
    assert encoded is not None
    back = encoded[0] @ compression.directions
    np.testing.assert_allclose(back, psi.transform(Z), rtol=0.0, atol=2e-14)


def test_nothing_seen_or_no_longer_worthwhile_is_left_to_the_plain_way() -> None:
    psi = FourierMap.sample(1, 80, bandwidth=1.0, seed=3)
    found = polynomials(psi, np.linspace(-2.0, 2.0, 200)[:, np.newaxis])
    assert found is not None
    assert TargetCompression(80).encode_along(*found) is None
    full = TargetCompression(80)
    full.directions = np.eye(80)[:41]
    assert full.encode_along(*found) is None


@pytest.mark.parametrize("options", [{}, {"forgetting": 0.995}, {"window": 256}, {"stability": 4}])
def test_long_blocks_and_single_rows_end_in_the_same_moment(options: dict[str, Any]) -> None:
    random = np.random.RandomState(0)
    X = random.standard_normal((700, 3))
    y = X[:, 0] + X[:, 1] ** 2 + 0.1 * random.standard_t(3, 700)
    blocks = OKSPCA(2, n_random_features=128, random_state=0, **options)
    rows = OKSPCA(2, n_random_features=128, random_state=0, **options)
    for start in range(0, 700, 350):
        blocks.partial_fit(X[start : start + 350], y[start : start + 350])
    for start in range(0, 700, 7):
        rows.partial_fit(X[start : start + 7], y[start : start + 7])
    one, other = blocks.moment_, rows.moment_
    np.testing.assert_allclose(one.matrix(), other.matrix(), rtol=0.0, atol=1e-12)
    certificate = blocks.basis().certificate
    assert certificate is not None
    assert certificate.distance_upper is not None
    assert certificate.distance_upper < 1e-8
