"""Products to twice the working precision, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.random import RandomState

from okspca.numerics.accurate import Pair, product, two_product, two_sum
from okspca.numerics.arrays import Floats


def rational(A: Floats) -> list[list[Fraction]]:
    return [[Fraction(float(x)) for x in row] for row in A]


def error_of(pair: Pair, exact: list[list[Fraction]]) -> float:
    """Frobenius norm of what a pair lacks."""
    squares = Fraction(0)
    for high, low, row in zip(rational(pair.high), rational(pair.low), exact, strict=True):
        squares += sum(
            ((h + lo - x) ** 2 for h, lo, x in zip(high, low, row, strict=True)), Fraction(0)
        )
    return float(squares) ** 0.5


def exact_product(A: Floats, B: Floats) -> list[list[Fraction]]:
    rows, columns = rational(A), rational(B.T)
    return [
        [sum((a * b for a, b in zip(row, c, strict=True)), Fraction(0)) for c in columns]
        for row in rows
    ]


@pytest.mark.parametrize("seed", range(12))
def test_products_are_within_their_error_and_far_better_than_rounded_ones(seed: int) -> None:
    random = RandomState(seed)
    m, n, q = random.randint(1, 20), random.randint(1, 40), random.randint(1, 4)
    A = random.normal(size=(m, n)) * 10.0 ** -random.uniform(0, 6, (m, n))
    B = random.normal(size=(n, q)) * 10.0 ** -random.uniform(0, 6, (n, q))
    found, exact = product(A, Pair.of(B)), exact_product(A, B)
    largest = float(np.abs(A).max() * np.abs(B).max())
    assert error_of(found, exact) <= found.error <= 1e-22 * n * n * largest * np.sqrt(m * q)


def test_a_chain_of_operations_stays_within_its_error() -> None:
    random = RandomState(0)
    A, B, C = random.normal(size=(9, 15)), random.normal(size=(15, 2)), random.normal(size=(2, 2))
    factors = random.uniform(0.5, 1.0, size=(9, 1))
    pair = product(A, Pair.of(B)).times(factors).matmul(C)
    pair = pair.minus(Pair.of(np.ones((9, 2))))
    scaled = [
        [Fraction(float(f)) * x for x in row]
        for f, row in zip(factors[:, 0], exact_product(A, B), strict=True)
    ]
    small = rational(C)
    exact = [
        [sum((row[i] * small[i][j] for i in range(2)), Fraction(0)) - 1 for j in range(2)]
        for row in scaled
    ]
    assert error_of(pair, exact) <= pair.error < 1e-25


def test_cancellation_is_not_lost() -> None:
    A = np.array([[1.0, -1.0]])
    B = Pair(np.array([[1.0], [1.0]]), np.array([[2.0**-70], [0.0]]), 0.0)
    found = product(A, B)
    assert float(found.high[0, 0] + found.low[0, 0]) == 2.0**-70


def test_sums_and_products_are_free_of_error() -> None:
    random = RandomState(1)
    a, b = random.normal(size=50), random.normal(size=50) * 10.0 ** random.uniform(-9, 9, 50)
    for pair, operation in ((two_sum(a, b), "+"), (two_product(a, b), "*")):
        for high, low, x, y in zip(*pair, a, b, strict=True):
            first, second = Fraction(float(x)), Fraction(float(y))
            exact = first + second if operation == "+" else first * second
            assert Fraction(float(high)) + Fraction(float(low)) == exact
