"""Features in single precision: within what is proven, and the same bits alone and in blocks."""

import os
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features
from numpy.random import RandomState

from okspca.numerics.arrays import Floats
from okspca.numerics.matrix import DEPTH
from okspca.numerics.single import (
    COLUMNS,
    LARGEST_PRODUCT,
    ROWS,
    UNIT,
    by_input,
    fill_single,
    packed,
    rounding_error,
    single_cosine_row,
    single_row,
)
from okspca.numerics.tile import HEIGHT, SINGLE_WIDTH

# Around every size at which tiles, bands and blocks end.
DEPTHS = (1, 2, 20, DEPTH - 1, DEPTH, DEPTH + 1, 2 * DEPTH + 3)
WIDTHS = (1, SINGLE_WIDTH - 1, SINGLE_WIDTH, 30, COLUMNS, COLUMNS + 3)
HEIGHTS = (1, HEIGHT - 1, HEIGHT, HEIGHT + 1, ROWS, ROWS + 7)


def drawn(d: int, width: int, seed: int = 0) -> tuple[Floats, Floats]:
    random = RandomState(seed)
    return random.normal(size=(width, d)) / np.sqrt(d), random.uniform(0.0, 6.28, width)


def in_blocks(Z: Floats, weights: Floats, phases: Floats) -> Floats:
    out = np.full((len(Z), len(phases)), np.nan)
    fill_single(Z, packed(weights, phases), np.sqrt(2.0 / len(phases)), out)
    return out


def alone(z: Floats, weights: Floats, phases: Floats) -> Floats:
    out = np.full(len(phases), np.nan)
    assert single_row(z, by_input(weights, phases), 1e9, out)
    return out


@pytest.mark.parametrize("d", DEPTHS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_row_has_the_same_bits_alone_and_in_any_block(d: int, width: int) -> None:
    weights, phases = drawn(d, width)
    Z = RandomState(1).normal(size=(ROWS + 7, d))
    whole = in_blocks(Z, weights, phases)
    for height in HEIGHTS:
        np.testing.assert_array_equal(
            in_blocks(Z[5 : 5 + height], weights, phases), whole[5:][:height]
        )
    for i in (0, 1, ROWS, ROWS + 6):
        np.testing.assert_array_equal(alone(Z[i], weights, phases), whole[i])
    assert (whole == whole.astype(np.float32)).all()


@pytest.mark.parametrize("d", [1, 3, 64, DEPTH + 40, 1500])
@pytest.mark.parametrize("size", [1e-3, 1.0, 10.0, LARGEST_PRODUCT / 2.0])
def test_features_are_as_close_as_is_proven(d: int, size: float) -> None:
    """Rows along a frequency, where rounding adds up most, and others."""
    weights, phases = drawn(d, 40)
    longest = np.linalg.norm(weights, axis=1).max()
    Z = RandomState(2).normal(size=(30, d))
    Z[:10] = np.abs(weights[:10])
    Z *= size / (longest * np.linalg.norm(Z, axis=1, keepdims=True))
    exact = np.cos(np.asarray(Z @ weights.T, dtype=np.longdouble) + phases)
    errors = np.abs(in_blocks(Z, weights, phases) * np.sqrt(20.0) - exact)
    assert errors.max() <= rounding_error(d, size)
    # Worst cases are rare, but it is single precision.
    assert errors.max() >= 1e-3 * rounding_error(d, size)


def test_sums_that_round_one_way_are_within_the_bound() -> None:
    """Equal terms, each of which rounds the sum by half a unit in the same direction."""
    d = DEPTH
    z, weights = np.full((1, d), 1.0), np.full((16, d), 1.0 + 0.3 / d)
    weights *= (1.0 + np.arange(16.0) / 160.0)[:, np.newaxis]
    found = in_blocks(z, weights, np.zeros(16)) * np.sqrt(8.0)
    product = np.linalg.norm(weights, axis=1).max() * np.linalg.norm(z)
    assert np.abs(found - np.cos(weights.sum(axis=1))).max() <= rounding_error(d, product)


def test_the_bound_is_what_its_equation_says() -> None:
    for d, terms in ((64, 64 + 1), (DEPTH, DEPTH + 1), (1000, DEPTH + 4)):
        expected = 2.0**-24 * ((terms + 5) * 7.0 + 2.0 * np.pi + 8.0)
        assert expected < rounding_error(d, 7.0) < 1.01 * expected


def test_the_cosine_is_within_eight_roundings() -> None:
    turns = np.linspace(-0.5, 0.5, 2**18 + 1).astype(np.float32)
    row = np.concatenate([turns, turns[::64] + np.float32(3.0), [np.float32(1000.25)]])
    with mpmath.workdps(30):
        some = slice(0, None, 997)
        exact = [float(mpmath.cos(2 * mpmath.pi * mpmath.mpf(float(t)))) for t in row[some]]
    phases, found = np.zeros(row.size, np.float32), row.copy()
    single_cosine_row(found, phases, np.float32(1.0))
    assert np.abs(found[some] - exact).max() <= 4.0 * UNIT
    assert np.abs(found - np.cos(2.0 * np.pi * row.astype(np.float64))).max() <= 5.0 * UNIT


DIGEST = """
import hashlib
import numpy as np
from okspca.features import SingleFourierMap
Z = np.random.RandomState(0).normal(size=(100, 300))
found = SingleFourierMap.sample(300, 70, bandwidth=17.0, seed=1).transform(Z)
print(hashlib.sha256(found.tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_narrower_vectors_change_no_bit() -> None:
    """As on a processor that has fused products but no vectors of 64 bytes."""
    narrow = {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma"}
    found = []
    for settings in ({}, narrow if "fma" in known_features() else {}):
        env = {**os.environ, **settings}
        command = [sys.executable, "-c", DIGEST]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        found.append(done.stdout)
    assert found[0] == found[1]


def known_features() -> set[str]:
    try:
        return {name for name, is_there in get_host_cpu_features().items() if is_there}
    except RuntimeError:
        return set()


def test_a_row_out_of_reach_is_left_alone() -> None:
    weights, phases = drawn(3, 5)
    out = np.full(5, 7.0)
    arrays = by_input(weights, phases)
    for z in (np.array([0.0, 3.0, 4.1]), np.array([0.0, np.nan, 0.0]), np.full(3, 1e200)):
        assert not single_row(z, arrays, 5.0, out)
    assert (out == 7.0).all()
    assert single_row(np.array([0.0, 3.0, 4.0]), arrays, 5.0, out)
