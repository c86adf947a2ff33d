r"""Products of matrices to about twice the working precision, by slices that multiply exactly.

Both factors are cut into slices of ``beta`` bits each, on grids of powers of two.  A product of two
slices is a sum of n integers below ``2^(2 beta)``, in units of the product of their grids; where
``n 2^(2 beta) <= 2^53`` it is free of rounding, whatever the order of the additions.  Two slices
are taken off each factor, and only products with what is left over, of relative size
``2^(-2 beta)``, are rounded.  So all work is done by an ordinary matrix product.

A :class:`Pair` is the unevaluated sum of two arrays, the second one at rounding level of the first.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from okspca.numerics import matrix
from okspca.numerics.arrays import Floats
from okspca.numerics.scratch import scratch

_UNIT = 0.5 * float(np.finfo(np.float64).eps)
_DIGITS = 53
# More than all products can lose that are below the smallest number.
_UNDERFLOW = 1e-300
#: Splits a number into two halves of its digits.
_SPLITTER = 2.0**27 + 1.0


class Pair(NamedTuple):
    """An unevaluated sum ``high + low``, and a bound on the Frobenius norm of what it lacks.

    Examples
    --------
    >>> Pair(np.ones(1), np.full(1, 2.0**-60), 0.0).times(np.full(1, 3.0)).low.tolist()
    [2.6020852139652106e-18]
    """

    high: Floats
    low: Floats
    error: float

    @classmethod
    def of(cls, exact: Floats) -> "Pair":
        """Take an array as it is."""
        return cls(exact, np.zeros_like(exact), 0.0)

    def plus(self, other: "Pair") -> "Pair":
        """Add two pairs."""
        high, low = two_sum(self.high, other.high)
        low = low + (self.low + other.low)
        return Pair(high, low, self.error + other.error + 4.0 * _UNIT * norm(low))

    def minus(self, other: "Pair") -> "Pair":
        """Subtract a pair."""
        return self.plus(other._replace(high=-other.high, low=-other.low))

    def times(self, factors: Floats) -> "Pair":
        """Multiply by an array, element by element."""
        high, low = two_product(self.high, factors)
        rest = self.low * factors
        low = low + rest
        largest = float(np.max(np.abs(factors), initial=0.0))
        return Pair(high, low, largest * self.error + 4.0 * _UNIT * (norm(low) + norm(rest)))

    def matmul(self, B: Floats) -> "Pair":
        """Multiply by a small matrix from the right."""
        rest = matrix.product(self.low, B)
        rounding = 2.0 * B.shape[0] * _UNIT * norm(self.low) * norm(B)
        multiplied = product(self.high, Pair.of(B))
        low = multiplied.low + rest
        error = multiplied.error + rounding + norm(B) * self.error + 2.0 * _UNIT * norm(low)
        return Pair(multiplied.high, low, error)


def norm(array: Floats) -> float:
    """Euclidean norm of all entries."""
    return math.sqrt(float(np.sum(array * array)))


def two_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Rounded sum, and exactly what rounding took.

    Examples
    --------
    >>> float(two_sum(np.float64(1.0), np.float64(2.0**-60))[1]) == 2.0**-60
    True
    """
    # Knuth's form: it need not know which of the two is larger.
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Rounded product, and exactly what rounding took (factors of moderate size).

    Examples
    --------
    >>> x = np.float64(1.0 + 2.0**-30)
    >>> float(two_product(x, x)[1]) == 2.0**-60
    True
    """
    product = a * b
    a_high, b_high = _upper_half(a), _upper_half(b)
    a_low, b_low = a - a_high, b - b_high
    return product, a_low * b_low - (
        ((product - a_high * b_high) - a_low * b_high) - a_high * b_low
    )


def product(A: Floats, B: Pair) -> Pair:
    """``A B`` as a pair.

    All entries must be of moderate size: powers of two are divided out beforehand.
    """
    (rows, n), q = A.shape, B.high.shape[1]
    bits = (_DIGITS - math.ceil(math.log2(max(n, 2)))) // 2
    kept = np.empty(B.high.shape), np.empty(B.high.shape)
    sizes = _largest(B.high)
    # Copied, as each slice is valid only until the next is made.
    parts = np.hstack([*(part.copy() for part in _slices(B.high, sizes, bits, kept)), B.low])
    a = max(float(A.max(initial=0.0)), -float(A.min(initial=0.0)))
    pieces = _slices(A, np.array(a), bits, scratch("slices", (2, rows, n)))
    first, second, third = (matrix.product(piece, parts).reshape(rows, 4, q) for piece in pieces)
    # The three largest products are exact: only what their sum loses joins the rest.
    high, one = two_sum(first[:, 0], first[:, 1])
    high, other = two_sum(high, second[:, 0])
    low = one + other + first[:, 2:].sum(axis=1) + second[:, 1:].sum(axis=1) + third.sum(axis=1)
    # What is rounded, per entry: five products with what is left over, each within
    # n^2 u 2^(-2 bits) a b; three with B.low, within n^2 u a c; and the sum ``low``, whose terms
    # are within 4 n (2^(-2 bits) + u) a b and n a c.
    b, c = norm(sizes), norm(_largest(B.low))
    leftover = (8.0 * n + 64.0) * n * _UNIT * (2.0 ** (-2 * bits) + _UNIT) * b
    error = math.sqrt(rows) * a * (leftover + (4.0 * n + 16.0) * n * _UNIT * c)
    error += math.sqrt(rows * n) * a * B.error + _UNDERFLOW
    return Pair(high, low, error)


def _largest(A: Floats) -> Floats:
    """Largest magnitudes of the columns."""
    return np.asarray(np.max(np.abs(A), axis=0, initial=0.0))


def _slices(
    A: Floats, sizes: Floats, bits: int, work: Sequence[Floats] | Floats
) -> Iterator[Floats]:
    """Two slices of so many bits, and the rest; each is valid until the next.

    The grids belong to the largest magnitudes, ``sizes``; ``work``: two arrays of the shape of A.
    """
    part, rest = work
    rest[...] = A
    grid = np.ldexp(1.0, np.frexp(sizes)[1])
    for _ in range(2):
        grid = np.ldexp(grid, -bits)
        # Adding a large enough number rounds in the right place.
        large = 1.5 * 2.0 ** (_DIGITS - 1) * grid
        np.add(rest, large, out=part)
        part -= large
        rest -= part
        yield part
    yield rest


def _upper_half(a: Floats) -> Floats:
    """The leading half of the digits."""
    scaled = _SPLITTER * a
    return np.asarray(scaled - (scaled - a))
