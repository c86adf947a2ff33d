r"""Features in single precision: a product and a cosine that take twice as many numbers at a time.

The argument of a cosine is measured in turns.  With ``W' = W / 2 pi`` and ``b' = b / 2 pi`` rounded
to single precision, and a standardised row rounded likewise::

    t = z W'^T + b',      f = t - (nearest integer to t),      g = 1/4 - |f|,
    sqrt(2 / D) cos(2 pi t) = sqrt(2 / D) sin(2 pi g),         -1/4 <= g <= 1/4.

``f`` is exact.  The sine is ``g`` times a polynomial of degree four in ``g^2``, fitted so that it
is off by 3.4e-9 at most.  Each number of the product is a sum in the order of
:mod:`okspca.numerics.matrix`, so that a row has the same bits alone and in any block.

What single precision does to a feature follows from ``u = 2^-24`` and the number of terms d, whose
sums are made of at most n = min(d, DEPTH) + d / DEPTH roundings.  With ``S = |w| |z|`` (norms)::

    sqrt(D / 2) |difference| <= u ((n + 5) S + 2 pi + 8)

(:func:`rounding_error`): each term of the product is off by ``n + 3`` roundings at most, the sum of
the product and the phase by one more, and both are in turns; what follows is off by less than
``8 u``.  Rows whose S exceeds ``LARGEST_PRODUCT`` are for double precision.
"""

from typing import NamedTuple

import numpy as np

from okspca.numerics.arrays import Floats, Singles
from okspca.numerics.compiled import compiled, fused
from okspca.numerics.matrix import DEPTH
from okspca.numerics.sums import inner
from okspca.numerics.tile import HEIGHT, SINGLE_WIDTH, fill_single_tile

#: Unit roundoff of single precision.
UNIT = 2.0**-24
#: Rows whose products may be larger, in radians, are for double precision.
LARGEST_PRODUCT = 1024.0
#: Rows and columns whose arguments stay in the nearest caches until their cosines are taken.
ROWS, COLUMNS = 8 * HEIGHT, 256
TURN = 2.0 * np.pi

# Adding and subtracting 1.5 * 2^23 rounds to the nearest integer.
_ROUNDER, _QUARTER = np.float32(12582912.0), np.float32(0.25)
_S0, _S1 = np.float32(6.283185160089465), np.float32(-41.34165503141476)
_S2, _S3 = np.float32(81.60100407318185), np.float32(-76.54978229199241)
_S4 = np.float32(39.53670605517982)


class SingleArrays(NamedTuple):
    """Frequencies and phases in turns, in single precision.

    Attributes
    ----------
    weights : ndarray
        W' as tiles read it, or with one row for each input, as single rows do.
    phases : ndarray
        b', with as many zeros after them as make whole tiles.
    """

    weights: Singles
    phases: Singles


def rounding_error(n_inputs: int, product: float | Floats) -> Floats:
    """Bound on what single precision does to a feature, in units of ``sqrt(2 / D)``.

    Parameters
    ----------
    n_inputs : int
        Number of terms of a sum.
    product : float or ndarray
        What the norm of a frequency times the norm of a row does not exceed.

    Examples
    --------
    >>> bool(rounding_error(64, 10.0) < 5e-5)
    True
    """
    n = min(n_inputs, DEPTH) + -(-n_inputs // DEPTH)
    # Second-order terms, and what doubles do, are within one in a thousand.
    return np.asarray(1.001 * UNIT * ((n + 5) * product + TURN + 8.0))


def in_turns(weights: Floats, phases: Floats) -> tuple[Floats, Floats]:
    """Frequencies and phases in turns, these to the nearest whole one, still as doubles."""
    turns = phases / TURN
    return weights / TURN, turns - np.rint(turns)


def packed(weights: Floats, phases: Floats) -> SingleArrays:
    """Round frequencies and phases, in the order in which tiles read them.

    Examples
    --------
    >>> found = packed(np.full((3, 2), np.pi), np.zeros(3))
    >>> found.weights[:5].tolist(), found.phases.size == SINGLE_WIDTH
    ([0.5, 0.5, 0.5, 0.0, 0.0], True)
    """
    W, b = in_turns(weights, phases)
    missing = -len(b) % SINGLE_WIDTH
    W, b = np.pad(W, ((0, missing), (0, 0))), np.pad(b, (0, missing))
    parts = [
        W[:, p : p + DEPTH].reshape(len(b) // SINGLE_WIDTH, SINGLE_WIDTH, -1).transpose(0, 2, 1)
        for p in range(0, W.shape[1], DEPTH)
    ]
    return _rounded(np.concatenate([part.ravel() for part in parts]), b)


def by_input(weights: Floats, phases: Floats) -> SingleArrays:
    """Round frequencies and phases, with one row for each input.

    Examples
    --------
    >>> by_input(np.full((3, 2), np.pi), np.zeros(3)).weights.tolist()
    [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    """
    W, b = in_turns(weights, phases)
    return _rounded(np.ascontiguousarray(W.T), b)


def _rounded(weights: Floats, phases: Floats) -> SingleArrays:
    """Round to single precision."""
    # No row is within reach of a frequency that has no single precision.
    with np.errstate(over="ignore"):
        return SingleArrays(weights.astype(np.float32), phases.astype(np.float32))


@compiled
def fill_single(Z: Floats, arrays: SingleArrays, amplitude: float, out: Floats) -> None:
    """Fill ``out`` with the features of rows, given the :func:`packed` map."""
    (n, d), width = Z.shape, out.shape[1]
    whole, size = arrays.phases.shape[0], np.float32(amplitude)
    A = np.empty(ROWS * d, np.float32)
    C = np.empty((ROWS, COLUMNS), np.float32)
    for i in range(0, n, ROWS):
        height = min(ROWS, n - i)
        _pack_rows(Z[i : i + height], A)
        for j in range(0, whole, COLUMNS):
            columns = min(COLUMNS, whole - j)
            for p in range(0, d, DEPTH):
                depth = min(DEPTH, d - p)
                for b in range(0, columns, SINGLE_WIDTH):
                    for a in range(0, height, HEIGHT):
                        starts = a * d + p * HEIGHT, p * whole + (j + b) * depth
                        place = (a * COLUMNS + b) * 4
                        sizes = COLUMNS * 4, depth
                        _fill(A, arrays.weights, C, (*starts, place), sizes, p > 0)
            wanted = min(columns, width - j)
            for r in range(height):
                row, phases = C[r, :wanted], arrays.phases[j : j + wanted]
                single_cosine_row(row, phases, size)
                target = out[i + r, j : j + wanted]
                for c in range(wanted):
                    target[c] = row[c]


@compiled
def _fill(
    A: Singles,
    B: Singles,
    C: Singles,
    starts: tuple[int, int, int],
    sizes: tuple[int, int],
    adds: bool,
) -> None:
    """Fill a tile of arguments, or add to it."""
    fill_single_tile(A, B, C, starts, sizes, adds, np.float32(1.0))


@compiled
def _pack_rows(Z: Floats, A: Singles) -> None:
    """Round rows, HEIGHT of them next to each other; the last is repeated."""
    n, d = Z.shape
    for a in range(0, n, HEIGHT):
        for r in range(HEIGHT):
            z = Z[min(a + r, n - 1)]
            for p in range(d):
                A[a * d + p * HEIGHT + r] = z[p]


@compiled
def single_row(z: Floats, arrays: SingleArrays, reach: float, out: Floats) -> bool:
    """Fill ``out`` with the features of one row, given the map :func:`by_input`.

    False, with nothing done, where the norm of the row exceeds ``reach``.
    """
    if not inner(z, z, 0) <= reach * reach:
        return False
    row = np.zeros(out.shape[0], np.float32)
    _add_products(z, 0, min(z.shape[0], DEPTH), arrays.weights, row)
    # A longer sum is one of chunks, each of which begins at zero.
    chunk = np.empty(row.shape[0] if z.shape[0] > DEPTH else 0, np.float32)
    for first in range(DEPTH, z.shape[0], DEPTH):
        chunk[:] = np.float32(0.0)
        _add_products(z, first, min(z.shape[0], first + DEPTH), arrays.weights, chunk)
        for j in range(row.shape[0]):
            row[j] += chunk[j]
    single_cosine_row(row, arrays.phases, np.float32(np.sqrt(2.0 / out.shape[0])))
    for j in range(row.shape[0]):
        out[j] = row[j]
    return True


@fused
def _add_products(z: Floats, first: int, stop: int, W: Singles, row: Singles) -> None:
    """Add the products with some inputs, one input after the other."""
    for p in range(first, stop):
        factor = np.float32(z[p])
        for j in range(row.shape[0]):
            row[j] += factor * W[p, j]


@fused
def single_cosine_row(row: Singles, phases: Singles, amplitude: np.float32) -> None:
    """Replace one row ``t``, in turns, by ``amplitude cos(2 pi (t + phases))``, in place."""
    for j in range(row.shape[0]):
        t = row[j] + phases[j]
        f = t - ((t + _ROUNDER) - _ROUNDER)
        g = _QUARTER - abs(f)
        u = g * g
        row[j] = (amplitude * g) * (_S0 + u * (_S1 + u * (_S2 + u * (_S3 + u * _S4))))
