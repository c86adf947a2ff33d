"""Products on one thread against exact sums: shapes, strides, order, symmetry, safety."""

import math

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.matrix import (
    COLUMNS,
    DEPTH,
    ROWS,
    apply_into,
    combine_into,
    gram,
    mirror,
    multiply_into,
    product,
    thin_product_into,
)

EPS = float(np.finfo(np.float64).eps)
# Around every size at which tiles, bands and blocks end.
HEIGHTS = (1, 5, 6, 7, ROWS - 1, ROWS, ROWS + 7)
WIDTHS = (1, 7, 8, 9, 30, COLUMNS + 3)
DEPTHS = (1, 2, 20, DEPTH, DEPTH + 1)


def exactly(A: Floats, B: Floats) -> tuple[Floats, Floats]:
    """The product rounded once, and the sums of magnitudes that its error is measured by."""
    rows = [[math.fsum(a * b) for b in B.T] for a in A]
    return np.array(rows).reshape(A.shape[0], B.shape[1]), np.abs(A) @ np.abs(B)


def laid_out(matrix: Floats, layout: str) -> Floats:
    if layout == "transposed":
        return np.asfortranarray(matrix)
    if layout == "strided":
        room = np.full((2 * matrix.shape[0], 3 * matrix.shape[1]), np.nan)
        room[::2, ::3] = matrix
        return room[::2, ::3]
    if layout == "backwards":
        return np.ascontiguousarray(matrix[::-1, ::-1])[::-1, ::-1]
    return matrix


@pytest.mark.parametrize("k", DEPTHS)
@pytest.mark.parametrize("n", WIDTHS)
def test_products_are_as_exact_as_any_order_of_summing_is(n: int, k: int) -> None:
    random = RandomState(n + k)
    B = random.normal(size=(k, n)) * 10.0 ** random.uniform(-4, 4, (k, 1))
    for m in HEIGHTS[:5] if n > ROWS else HEIGHTS:
        A = random.normal(size=(m, k))
        truth, size = exactly(A[:2], B)
        found = product(A, B)
        assert (np.abs(found[:2] - truth) <= k * EPS * size[:2]).all()
        np.testing.assert_allclose(
            found, A @ B, rtol=0, atol=2 * k * EPS * np.abs(A).max() * np.abs(B).sum()
        )


@pytest.mark.parametrize("layout", ["plain", "transposed", "strided", "backwards"])
def test_strides_change_no_bit(layout: str) -> None:
    random = RandomState(0)
    A, B = random.normal(size=(ROWS + 5, DEPTH + 3)), random.normal(size=(DEPTH + 3, 21))
    plain = product(A, B)
    np.testing.assert_array_equal(product(laid_out(A, layout), laid_out(B, layout)), plain)
    out = laid_out(np.zeros_like(plain), layout)
    assert product(A, B, out) is not None
    np.testing.assert_array_equal(out, plain)
    np.testing.assert_array_equal(product(B.T, A.T).T, plain)


def test_a_row_has_the_same_bits_whatever_the_others_are() -> None:
    random = RandomState(1)
    A, B = random.normal(size=(ROWS + 9, DEPTH + 50)), random.normal(size=(DEPTH + 50, COLUMNS + 9))
    whole = product(A, B)
    for rows in (slice(0, 1), slice(3, 10), slice(ROWS - 2, ROWS + 3)):
        np.testing.assert_array_equal(product(A[rows], B), whole[rows])
    for columns in (slice(5, 6), slice(COLUMNS - 3, COLUMNS + 2)):
        np.testing.assert_array_equal(product(A, B[:, columns]), whole[:, columns])


def test_what_was_there_is_kept_scaled_or_forgotten() -> None:
    random = RandomState(2)
    A, B = random.normal(size=(13, 300)), random.normal(size=(300, 11))
    before, whole = random.normal(size=(13, 11)), product(A, B)
    for factor, keep in ((1.0, 1.0), (-1.0, 1.0), (2.0, 0.5), (-1.0, 0.0)):
        out = before.copy()
        multiply_into(A, B, out, factor, keep, False)
        np.testing.assert_allclose(out, keep * before + factor * whole, rtol=0, atol=1e-13)
    out = np.full((13, 11), np.nan)
    multiply_into(A, B, out, 1.0, 0.0, False)
    np.testing.assert_array_equal(out, whole)


@pytest.mark.parametrize("D", [1, 6, 8, 25, ROWS + 3, COLUMNS + 40])
def test_a_gram_matrix_is_symmetric_and_equals_the_whole_product(D: int) -> None:
    A = RandomState(D).normal(size=(17, D))
    found = gram(A)
    np.testing.assert_array_equal(found, product(A.T, A))
    np.testing.assert_array_equal(found, found.T)


def test_only_the_upper_part_is_asked_for() -> None:
    A = RandomState(3).normal(size=(40, 150))
    before = gram(RandomState(4).normal(size=(9, 150)))
    out = before.copy()
    multiply_into(A.T, A, out, 1.0, 0.9, True)
    mirror(out)
    np.testing.assert_allclose(out, 0.9 * before + A.T @ A, rtol=0, atol=1e-12)


def test_infinite_and_missing_numbers_stay_in_their_rows_and_columns() -> None:
    A, B = np.ones((8, 9)), np.ones((9, 10))
    A[2, 3], B[4, 5] = np.inf, np.nan
    found = product(A, B)
    spoiled = np.zeros((8, 10), bool)
    spoiled[2], spoiled[:, 5] = True, True
    np.testing.assert_array_equal(np.isfinite(found), ~spoiled)


@pytest.mark.parametrize("shape", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_empty_matrices_have_products(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    np.testing.assert_array_equal(product(np.ones((m, k)), np.ones((k, n))), np.zeros((m, n)))


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="multiplied"):
        product(np.ones((2, 3)), np.ones((2, 3)))
    with pytest.raises(ValueError, match="multiplied"):
        product(np.ones((2, 3)), np.ones((3, 2)), np.ones((3, 2)))
    with pytest.raises(ValueError, match="multiplied"):
        apply_into(np.ones((2, 3)), np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match="multiplied"):
        combine_into(np.ones(3), np.ones((2, 3)), np.ones(3))


@pytest.mark.parametrize("k", [0, 1, 3, 4, 15, 16, 17, 37, 400])
def test_products_with_vectors(k: int) -> None:
    random = RandomState(k)
    A, x, y = random.normal(size=(7, k)), random.normal(size=k), random.normal(size=7)
    right, left = np.empty(7), np.empty(k)
    apply_into(A, x, right)
    combine_into(y, A, left)
    np.testing.assert_allclose(right, A @ x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(left, y @ A, rtol=0, atol=1e-13)
    np.testing.assert_allclose(product(A, x), A @ x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(product(y, A), y @ A, rtol=0, atol=1e-13)


@compiled
def projected(rows: Floats, Ct: Floats) -> Floats:
    out = np.empty((rows.shape[0], Ct.shape[0]))
    multiply_into(rows, Ct.T, out, 1.0, 0.0, False)
    return out


def test_kernels_get_the_same_bits() -> None:
    random = RandomState(5)
    rows, Ct = random.normal(size=(5, 70)), random.normal(size=(11, 70))
    np.testing.assert_array_equal(projected(rows, Ct), product(rows, Ct.T))
    Ct.flags.writeable = False
    np.testing.assert_array_equal(projected(rows, Ct), product(rows, Ct.T))
    with pytest.raises(ValueError, match="multiplied"):
        projected(rows, Ct[:, :3].copy())


@pytest.mark.parametrize("n", [0, 1, 3, 4, 7, DEPTH - 1, DEPTH, DEPTH + 2, 2 * DEPTH + 9])
@pytest.mark.parametrize("m", [1, 5, 12])
def test_a_thin_product_has_the_bits_of_the_wide_one(n: int, m: int) -> None:
    random = RandomState(n + m)
    A, B = random.normal(size=(n, m)), random.normal(size=(n, 61))
    found, expected = (np.full((m, 61), np.nan) for _ in range(2))
    thin_product_into(A, B, found)
    multiply_into(A.T, B, expected, 1.0, 0.0, False)
    np.testing.assert_array_equal(found, expected)
