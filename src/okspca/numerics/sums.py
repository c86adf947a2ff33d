"""Inner products and norms of vectors and matrices, compiled.

They use vector instructions in one fixed order (:mod:`okspca.numerics.ordered`), so that they round
alike wherever they are called.
"""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled
from okspca.numerics.ordered import ordered_inner, ordered_shifted_square


@compiled
def inner(a: Floats, b: Floats, start: int) -> float:
    """Inner product of two vectors over the coordinates from ``start`` on."""
    return float(ordered_inner(a, b, start))


@compiled
def shifted_square(a: Floats, b: Floats, factor: float) -> float:
    """Squared Euclidean norm of ``a - factor b``."""
    return float(ordered_shifted_square(a, b, -factor))


@compiled
def square(matrix: Floats) -> float:
    """Squared Frobenius norm."""
    total = 0.0
    for i in range(matrix.shape[0]):
        total += inner(matrix[i], matrix[i], 0)
    return total


@compiled
def distance(one: Floats, other: Floats) -> float:
    """Frobenius norm of a difference."""
    total = 0.0
    for i in range(one.shape[0]):
        total += shifted_square(one[i], other[i], 1.0)
    return total**0.5


@compiled
def largest_magnitude(a: Floats) -> float:
    """Largest magnitude in a vector; four at a time, so that comparisons need not wait."""
    w = x = y = z = 0.0
    n = a.shape[0]
    for j in range(0, n - 3, 4):
        w, x = max(w, abs(a[j])), max(x, abs(a[j + 1]))
        y, z = max(y, abs(a[j + 2])), max(z, abs(a[j + 3]))
    for j in range(n - n % 4, n):
        w = max(w, abs(a[j]))
    return max(max(w, x), max(y, z))


@compiled
def row_squares(matrix: Floats) -> Floats:
    """Squared Euclidean norms of the rows."""
    squares = np.empty(matrix.shape[0])
    for i in range(matrix.shape[0]):
        squares[i] = inner(matrix[i], matrix[i], 0)
    return squares


@compiled
def rows_above(matrix: Floats, squares: Floats, least: float) -> Floats:
    """The rows whose squared norms exceed ``least``; the matrix itself where all do."""
    count = 0
    for i in range(squares.size):
        count += squares[i] > least
    if count == squares.size:
        return matrix
    kept = np.empty((count, matrix.shape[1]))
    row = 0
    for i in range(squares.size):
        if squares[i] > least:
            for j in range(matrix.shape[1]):
                kept[row, j] = matrix[i, j]
            row += 1
    return kept


@compiled
def subtract_from(matrix: Floats, other: Floats) -> Floats:
    """Replace ``other`` by ``matrix - other``; return squared norms of the rows of ``matrix``."""
    squares = np.empty(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            other[i, j] = matrix[i, j] - other[i, j]
        squares[i] = inner(matrix[i], matrix[i], 0)
    return squares


@compiled
def column_squares(matrix: Floats) -> Floats:
    """Squared Euclidean norms of the columns."""
    squares = np.zeros(matrix.shape[1])
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            squares[j] += matrix[i, j] * matrix[i, j]
    return squares


@compiled
def first_above(values: Floats, limits: Floats, start: int) -> int:
    """First index from ``start`` on whose value is not within its limit; the length if none is."""
    for i in range(start, values.shape[0]):
        # Written so that NaN counts as above.
        if not values[i] <= limits[i]:
            return i
    return int(values.shape[0])
