r"""Products of matrices on one thread, compiled.

Linear-algebra libraries start threads of their own, one pool per library, and in the products of
this package, which take microseconds, the pools cost more than they bring.  Here one thread does
the work, always: so results do not depend on the number of cores, on settings of threads, or on
which linear-algebra library is installed.

``keep C + factor A B`` is computed in tiles (:mod:`okspca.numerics.tile`) from packed copies of A
and B, which may have any strides.  Each number of ``A B`` is a sum in one order, which depends on
the length of that sum alone::

    sum over chunks of DEPTH terms (sum of the terms, one after the other)

* Row i of ``A B`` has the same bits whatever other rows A has; likewise columns.
* ``A^T A`` is exactly symmetric.
* The error of a sum of n terms is at most ``gamma_n`` times the sum of their magnitudes, as for any
  order of summation (Higham, *Accuracy and Stability of Numerical Algorithms*, chapter 3).

Kernels call :func:`multiplied`, :func:`multiply_into`, :func:`mirror`, :func:`apply_into` and
:func:`combine_into`; Python code may call
:func:`product` and :func:`gram`.
"""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled, fused
from okspca.numerics.ordered import ordered_inner
from okspca.numerics.shared import (
    matrix,
    nothing,
    number,
    read_matrix,
    read_row,
    read_rows,
    row,
    rows,
    shared,
    truth,
)
from okspca.numerics.tile import HEIGHT, WIDTH, copy_columns, copy_rows, fill_tile

#: Terms that are summed in registers; rows of A and columns of B whose copies stay in the caches.
DEPTH, ROWS, COLUMNS = 256, 96, 512
SQUARE = 16
#: Where a product is cut at multiples of this, its parts are made of the tiles of the whole: even
#: what lies below a diagonal, without a meaning, has the same bits.
TILES = 24
_MISFIT = "Matrices of such shapes cannot be multiplied."


def product(A: Floats, B: Floats, out: Floats | None = None) -> Floats:
    """``A @ B`` of matrices or vectors, as NumPy understands it.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.arange(6.0).reshape(2, 3)
    >>> product(A, A.T)
    array([[ 5., 14.],
           [14., 50.]])
    >>> product(A, np.ones(3))
    array([ 3., 12.])
    """
    left, right = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    shape = left.shape[:-1] + right.shape[1:]
    left = left[np.newaxis] if left.ndim == 1 else left
    right = right[:, np.newaxis] if right.ndim == 1 else right
    found = np.empty((left.shape[0], right.shape[1])) if out is None else out
    multiply_into(left, right, found, 1.0, 0.0, False)
    return found.reshape(shape)


def gram(A: Floats) -> Floats:
    """``A^T A``, exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> gram(np.array([[1.0, 2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    found = np.empty((A.shape[1], A.shape[1]))
    multiply_into(A.T, A, found, 1.0, 0.0, True)
    mirror(found)
    return found


def _plain_multiply(
    A: Floats, B: Floats, out: Floats, factor: float, keep: float, upper: bool
) -> None:
    """Do as :func:`multiply_into`, up to rounding, where compilation is switched off."""
    kept = keep * out if keep != 0.0 else 0.0
    out[...] = kept + factor * np.matmul(A, B)


@shared(nothing, read_matrix, read_matrix, matrix, number, number, truth, plain=_plain_multiply)
def multiply_into(
    A: Floats, B: Floats, out: Floats, factor: float, keep: float, upper: bool
) -> None:
    """Replace ``out`` by ``keep * out + factor * A @ B``; it must not overlap the others.

    With ``upper``, only what is on and above the diagonal has a meaning afterwards.
    """
    (m, k), n = A.shape, B.shape[1]
    if B.shape[0] != k or out.shape != (m, n):
        raise ValueError(_MISFIT)
    if (keep != 0.0 and keep != 1.0) or k == 0:
        for i in range(m):
            for j in range(n):
                out[i, j] = keep * out[i, j] if keep != 0.0 else 0.0
    most = min(k, DEPTH)
    packed_A = np.empty((min(m, ROWS) + HEIGHT) * most)
    packed_B = np.empty((min(n, COLUMNS) + WIDTH) * most)
    edge = np.empty((HEIGHT, WIDTH))
    for j in range(0, n, COLUMNS):
        width = min(COLUMNS, n - j)
        for p in range(0, k, DEPTH):
            depth, adds = min(DEPTH, k - p), p > 0 or keep != 0.0
            for b in range(0, width, WIDTH):
                copy_columns(B, (j + b, p), (min(WIDTH, width - b), depth), packed_B, b * depth)
            # Where only the upper triangle is wanted, blocks below the diagonal are left out.
            for i in range(0, min(m, j + width) if upper else m, ROWS):
                height = min(ROWS, m - i)
                for a in range(0, height, HEIGHT):
                    copy_rows(A, (i + a, p), (min(HEIGHT, height - a), depth), packed_A, a * depth)
                block = i, j, height, width, depth
                _fill_block((packed_A, packed_B, edge), out, block, (adds, upper), factor)


@compiled
def _fill_block(
    packed: tuple[Floats, Floats, Floats],
    out: Floats,
    block: tuple[int, int, int, int, int],
    ways: tuple[bool, bool],
    factor: float,
) -> None:
    """Put the product of packed blocks into a block of the result, or add it there."""
    A, B, edge = packed
    i0, j0, height, width, depth = block
    (adds, upper), (row, step) = ways, out.strides
    for j in range(0, width, WIDTH):
        for i in range(0, height, HEIGHT):
            if upper and i0 + i >= j0 + j + WIDTH:
                continue
            a, b, c = i * depth, j * depth, (i0 + i) * row + (j0 + j) * step
            if i + HEIGHT <= height and j + WIDTH <= width and step == 8:
                fill_tile(A, B, out, (a, b, c), (row, depth), adds, factor)
                continue
            fill_tile(A, B, edge, (a, b, 0), (WIDTH * 8, depth), False, factor)
            for r in range(min(HEIGHT, height - i)):
                for s in range(min(WIDTH, width - j)):
                    before = out[i0 + i + r, j0 + j + s] if adds else 0.0
                    out[i0 + i + r, j0 + j + s] = before + edge[r, s]


@shared(rows, read_matrix, read_matrix)
def multiplied(A: Floats, B: Floats) -> Floats:
    """``A @ B``."""
    out = np.empty((A.shape[0], B.shape[1]))
    multiply_into(A, B, out, 1.0, 0.0, False)
    return out


@shared(nothing, matrix)
def mirror(A: Floats) -> None:
    """Copy what is above the diagonal of a square matrix to below it."""
    n = A.shape[0]
    # In squares, so that what is read down a column stays in the nearest cache.
    for i0 in range(0, n, SQUARE):
        for j0 in range(0, i0 + 1, SQUARE):
            for i in range(i0, min(i0 + SQUARE, n)):
                for j in range(j0, min(j0 + SQUARE, i)):
                    A[i, j] = A[j, i]


@shared(nothing, read_rows, read_row, row)
def apply_into(A: Floats, x: Floats, out: Floats) -> None:
    """Replace ``out`` by ``A @ x``; each number is an inner product of two vectors in C order."""
    if A.shape != (out.size, x.size):
        raise ValueError(_MISFIT)
    for i in range(A.shape[0]):
        out[i] = ordered_inner(A[i], x, 0)


@shared(nothing, read_row, read_rows, row)
def combine_into(x: Floats, A: Floats, out: Floats) -> None:
    """Replace ``out`` by ``x @ A``, adding one row of A after the other, all in C order."""
    if A.shape != (x.size, out.size):
        raise ValueError(_MISFIT)
    for j in range(out.size):
        out[j] = 0.0
    for i in range(A.shape[0]):
        for j in range(out.size):
            out[j] += x[i] * A[i, j]


@fused
def row_product_into(x: Floats, A: Floats, out: Floats) -> None:
    """Replace ``out`` by ``x @ A`` with the bits of :func:`multiply_into`, all in C order.

    Nothing is packed, so it is quicker for one row, and slower for many.
    """
    for j in range(out.shape[0]):
        out[j] = 0.0
    for p in range(min(x.shape[0], DEPTH)):
        for j in range(out.shape[0]):
            out[j] += x[p] * A[p, j]
    # A longer sum is one of chunks, each of which begins at zero.
    chunk = np.empty(out.shape[0] if x.shape[0] > DEPTH else 0)
    for first in range(DEPTH, x.shape[0], DEPTH):
        chunk[:] = 0.0
        for p in range(first, min(x.shape[0], first + DEPTH)):
            for j in range(out.shape[0]):
                chunk[j] += x[p] * A[p, j]
        for j in range(out.shape[0]):
            out[j] += chunk[j]


@shared(nothing, read_rows, read_rows, rows)
def thin_product_into(A: Floats, B: Floats, out: Floats) -> None:
    """Replace ``out`` by ``A^T @ B`` with the bits of :func:`multiply_into`, all in C order.

    Nothing is packed, so it is quicker for few columns of A.
    """
    if B.shape[0] != A.shape[0] or out.shape != (A.shape[1], B.shape[1]):
        raise ValueError(_MISFIT)
    _fill_thin(A, B, out)


@fused
def _fill_thin(A: Floats, B: Floats, out: Floats) -> None:
    """Add up the products of four rows at a time, each number in the order of the rows."""
    (n, m), chunk = A.shape, np.empty(out.shape)
    out[:] = 0.0
    for first in range(0, n, DEPTH):
        chunk[:] = 0.0
        end = min(n, first + DEPTH)
        # Four rows of B at a time stay in the nearest cache for all columns of A.
        for i in range(first, end, 4):
            i1, i2, i3 = min(i + 1, end - 1), min(i + 2, end - 1), min(i + 3, end - 1)
            a, b, c, d = B[i], B[i1], B[i2], B[i3]
            for t in range(m):
                row, p = chunk[t], A[i, t]
                # Past the end, zero times the last row, which changes no bit of a sum.
                q = A[i1, t] if i + 1 < end else 0.0
                r = A[i2, t] if i + 2 < end else 0.0
                s = A[i3, t] if i + 3 < end else 0.0
                for j in range(row.shape[0]):
                    row[j] = (((row[j] + p * a[j]) + q * b[j]) + r * c[j]) + s * d[j]
        for t in range(m):
            for j in range(out.shape[1]):
                out[t, j] += chunk[t, j]
