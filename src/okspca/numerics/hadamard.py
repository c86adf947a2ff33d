r"""The Walsh-Hadamard transform, and products of it with diagonal matrices.

With H_1 = 1, the Hadamard matrices of powers of two are::

    H_2n = [H_n  H_n; H_n  -H_n],

symmetric, with entries of plus and minus one and H_n H_n = n I.  A product with one takes n log2(n)
additions.  They are made in one order for every n, so a row has the same bits in any company.
"""

from typing import Any

import numpy as np
from numba.core import types

from okspca.numerics.arrays import Floats, Signs
from okspca.numerics.compiled import compiled
from okspca.numerics.shared import nothing, read_row, read_rows, rows, shared

#: So many numbers are finished as far as they go before the next ones are looked at: 4 KB.
CHUNK = 512
_array: Any = types.Array
_read_signs = _array(types.int8, 3, "C", readonly=True)


@compiled
def hadamard_in_place(x: Floats) -> None:
    """Replace ``x``, whose length is a power of two, by ``H x``.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, 4.0])
    >>> hadamard_in_place(x)
    >>> x.tolist()
    [10.0, -2.0, -4.0, 0.0]
    """
    size = min(x.shape[0], CHUNK)
    for start in range(0, x.shape[0], size):
        _near_steps(x[start : start + size])
    _steps_from(x, size)


@compiled
def _signed_hadamard(x: Floats, signs: Signs, n: int) -> None:
    """Replace ``x``, of which all but the first ``n`` numbers are zero, by ``H diag(signs) x``."""
    size = min(x.shape[0], CHUNK)
    for start in range(0, n, size):
        part = x[start : start + size]
        _change_signs(part, signs[start : start + size])
        _near_steps(part)
    _steps_from(x, size)


@compiled
def _near_steps(x: Floats) -> None:
    """All steps within a chunk."""
    if x.shape[0] < 8:
        _steps_from(x, 1)
        return
    # Steps of four, two and one, in the form that is quick for neighbours.
    for place in range(x.shape[0] // 8):
        i = 8 * place
        a, b, c, d = x[i] + x[i + 4], x[i + 1] + x[i + 5], x[i + 2] + x[i + 6], x[i + 3] + x[i + 7]
        e, f, g, h = x[i] - x[i + 4], x[i + 1] - x[i + 5], x[i + 2] - x[i + 6], x[i + 3] - x[i + 7]
        p, q, r, s = a + c, b + d, a - c, b - d
        t, u, v, w = e + g, f + h, e - g, f - h
        x[i], x[i + 1], x[i + 2], x[i + 3] = p + q, p - q, r + s, r - s
        x[i + 4], x[i + 5], x[i + 6], x[i + 7] = t + u, t - u, v + w, v - w
    _steps_from(x, 8)


@compiled
def _steps_from(x: Floats, h: int) -> None:
    """All steps between numbers that are at least ``h`` apart: two in a pass, then one."""
    while 4 * h <= x.shape[0]:
        _two_steps(x, h)
        h *= 4
    if 2 * h <= x.shape[0]:
        _one_step(x, h)


@compiled
def _two_steps(x: Floats, h: int) -> None:
    """Sums and differences of numbers ``h`` apart, then of those ``2 h`` apart."""
    for start in range(0, x.shape[0], 4 * h):
        y = x[start : start + 4 * h]
        first, second, third, fourth = y[:h], y[h : 2 * h], y[2 * h : 3 * h], y[3 * h :]
        for j in range(h):
            a, b = first[j] + second[j], first[j] - second[j]
            c, d = third[j] + fourth[j], third[j] - fourth[j]
            first[j], second[j], third[j], fourth[j] = a + c, b + d, a - c, b - d


@compiled
def _one_step(x: Floats, h: int) -> None:
    """Sums and differences of numbers ``h`` apart."""
    for start in range(0, x.shape[0], 2 * h):
        y = x[start : start + 2 * h]
        first, second = y[:h], y[h:]
        for j in range(h):
            first[j], second[j] = first[j] + second[j], first[j] - second[j]


@compiled
def _change_signs(x: Floats, signs: Signs) -> None:
    """Multiply every number by its sign."""
    for j in range(x.shape[0]):
        x[j] *= signs[j]


@compiled
def _add_signed(y: Floats, x: Floats, signs: Signs) -> None:
    """Add numbers with their signs to others."""
    for j in range(y.shape[0]):
        y[j] += signs[j] * x[j]


@compiled
def _least_power(n: int) -> int:
    """Smallest power of two that is not below ``n``."""
    power = 1
    while power < n:
        power *= 2
    return power


@shared(nothing, read_rows, read_row, _read_signs, read_row, rows)
def mix_rows(Z: Floats, scales: Floats, signs: Signs, lengths: Floats, out: Floats) -> None:
    """Fill ``out`` with products of rows, scaled, with blocks ``diag(l) H D3 H D2 H D1``.

    ``signs`` holds the diagonals D1, D2, D3 of each block of p outputs; rows of fewer than p
    numbers are followed by zeros.  Of the last block, the first outputs are taken.
    """
    p, n_inputs, n_outputs = signs.shape[2], Z.shape[1], lengths.shape[0]
    x = np.empty(p)
    for i in range(Z.shape[0]):
        row = Z[i]
        for block in range(signs.shape[0]):
            start = block * p
            n = min(p, n_outputs - start)
            for j in range(n_inputs):
                x[j] = row[j] * scales[j]
            x[n_inputs:] = 0.0
            _signed_hadamard(x, signs[block, 0], n_inputs)
            _signed_hadamard(x, signs[block, 1], p)
            # The first m rows of H_p are copies of H_m, side by side.
            m = _least_power(n)
            y = x[:m]
            _change_signs(y, signs[block, 2, :m])
            for place in range(m, p, m):
                _add_signed(y, x[place : place + m], signs[block, 2, place : place + m])
            hadamard_in_place(y)
            found = out[i, start : start + n]
            for j in range(n):
                found[j] = lengths[start + j] * y[j]


@shared(nothing, read_rows, read_row, _read_signs, read_row, rows)
def unmix_rows(V: Floats, scales: Floats, signs: Signs, lengths: Floats, out: Floats) -> None:
    """Fill ``out`` with products of rows with the transpose of the matrix of :func:`mix_rows`."""
    p, n_inputs, n_outputs = signs.shape[2], out.shape[1], lengths.shape[0]
    x = np.empty(p)
    for i in range(V.shape[0]):
        row = out[i]
        row[:] = 0.0
        for block in range(signs.shape[0]):
            start = block * p
            n = min(p, n_outputs - start)
            m = _least_power(n)
            for j in range(n):
                x[j] = lengths[start + j] * V[i, start + j]
            x[n:m] = 0.0
            hadamard_in_place(x[:m])
            for place in range(m, p, m):
                x[place : place + m] = x[:m]
            _signed_hadamard(x, signs[block, 2], p)
            _signed_hadamard(x, signs[block, 1], p)
            for j in range(n_inputs):
                row[j] += scales[j] * signs[block, 0, j] * x[j]
