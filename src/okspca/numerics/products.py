r"""Inner products between the rows of small matrices, compiled.

A linear-algebra library is built for large matrices; for a few dozen rows, most of its time goes
into repacking them.  Here rows are taken two and four at a time, so that the sums of a loop stay in
registers.  They may be reordered, as in :mod:`okspca.numerics.sums`.
"""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled, reordered
from okspca.numerics.matrix import combine_into


@compiled
def gram(A: Floats) -> Floats:
    """Inner products of all rows with each other, ``A A^T``; exactly symmetric."""
    n = A.shape[0]
    out = np.empty((n, n))
    for i in range(0, n, 2):
        for j in range(0, i + 2, 4):
            _inner_products(A, i, A, j, out)
    # Groups of four reach over the diagonal; mirroring makes the result exactly symmetric.
    for i in range(n):
        for j in range(i):
            out[j, i] = out[i, j]
    return out


@compiled
def row_products(A: Floats, B: Floats) -> Floats:
    """Inner products of the rows of two matrices, ``A B^T``."""
    out = np.empty((A.shape[0], B.shape[0]))
    # Few rows of A stay in the nearest cache while those of B pass by once.
    for j in range(0, B.shape[0], 4):
        for i in range(0, A.shape[0], 2):
            _inner_products(A, i, B, j, out)
    return out


@compiled
def combine_rows(A: Floats, B: Floats, out: Floats) -> None:
    """Replace ``out`` by ``A B``; for few rows of A, as no part of B is copied."""
    for i in range(A.shape[0]):
        combine_into(A[i], B, out[i])


@reordered
def _inner_products(A: Floats, i: int, B: Floats, j: int, out: Floats) -> None:
    """Products of rows ``i, i + 1`` with rows ``j ... j + 3``; past the end, the last row again."""
    i1, last = min(i + 1, A.shape[0] - 1), B.shape[0] - 1
    j = min(j, last)
    j1, j2, j3 = min(j + 1, last), min(j + 2, last), min(j + 3, last)
    a, b = A[i], A[i1]
    c, d, e, f = B[j], B[j1], B[j2], B[j3]
    ac = ad = ae = af = bc = bd = be = bf = 0.0
    for m in range(A.shape[1]):
        ac += a[m] * c[m]
        ad += a[m] * d[m]
        ae += a[m] * e[m]
        af += a[m] * f[m]
        bc += b[m] * c[m]
        bd += b[m] * d[m]
        be += b[m] * e[m]
        bf += b[m] * f[m]
    out[i, j], out[i, j1], out[i, j2], out[i, j3] = ac, ad, ae, af
    out[i1, j], out[i1, j1], out[i1, j2], out[i1, j3] = bc, bd, be, bf
