r"""A float64 cosine that compilers turn into vector instructions.

Random features are cosines, and the library cosine is half of their cost.  This one has no
branches::

    k = nearest integer to 2 x / pi,     r = x - k pi/2  in [-pi/4, pi/4]
    cos x = cos r, -sin r, -cos r, sin r     for k = 0, 1, 2, 3 modulo 4

pi/2 is split in three parts, the first two short enough for ``k`` times them to be exact, so r is
accurate to its last place.  Both polynomials are evaluated and one is selected.  For ``|x| <= 1e4``
the error is below 2 units in the last place and below 2.3e-16; larger arguments go to the library.
Target compression needs this accuracy: a cosine with errors of 5e-13 would look like new
directions.
"""

import numpy as np

from okspca.numerics.arrays import Floats
from okspca.numerics.compiled import compiled, fused

LARGEST_ARGUMENT = 1e4

# Adding and subtracting 1.5 * 2^52 rounds to the nearest integer.
_ROUNDER = 6755399441055744.0
_TWO_OVER_PI = 0.6366197723675814
_HALF_PI_1 = float.fromhex("0x1.921fb54440000p+0")
_HALF_PI_2 = float.fromhex("0x1.68c234c4c4000p-39")
_HALF_PI_3 = float.fromhex("0x1.3145c06e0e689p-78")

# Chebyshev fits on [0, (pi/4)^2] of (sin(r)/r - 1)/r^2 and (cos(r) - 1 + r^2/2)/r^4 in r^2.
_S0, _S1, _S2 = -0.16666666666666666, 0.008333333333330943, -0.0001984126983674956
_S3, _S4, _S5 = 2.755731609787775e-06, -2.5051130870968297e-08, 1.591805913698281e-10
_C0, _C1, _C2 = 0.041666666666666664, -0.0013888888888887393, 2.4801587298760048e-05
_C3, _C4, _C5 = -2.755731726880539e-07, 2.0876145659059344e-09, -1.1382588535352522e-11


@fused
def vector_cosine(x: float) -> float:
    """Cosine of one argument of magnitude at most ``LARGEST_ARGUMENT``."""
    k = (x * _TWO_OVER_PI + _ROUNDER) - _ROUNDER
    r = ((x - k * _HALF_PI_1) - k * _HALF_PI_2) - k * _HALF_PI_3
    u = r * r
    sine = r + r * u * (_S0 + u * (_S1 + u * (_S2 + u * (_S3 + u * (_S4 + u * _S5)))))
    tail = u * u * (_C0 + u * (_C1 + u * (_C2 + u * (_C3 + u * (_C4 + u * _C5)))))
    half = 0.5 * u
    # What 1 - u/2 loses to rounding is (1 - head) - half, exactly, and is put back.
    head = 1.0 - half
    cosine = head + (((1.0 - head) - half) + tail)
    # Parity and sign by floors: conversions to integers would not be vectorised.
    is_odd = k - 2.0 * np.floor(0.5 * k)
    turn = np.floor(0.5 * (k + 1.0))
    sign = 1.0 - 2.0 * (turn - 2.0 * np.floor(0.5 * turn))
    return sign * (sine if is_odd != 0.0 else cosine)


@compiled
def cosine_features(arguments: Floats, phases: Floats, amplitude: float) -> None:
    """Replace every row ``z`` by ``amplitude cos(z + phases)``, in place."""
    for i in range(arguments.shape[0]):
        cosine_row(arguments[i], phases, amplitude)


@compiled
def cosines_along_a_line(
    z: Floats, weights: Floats, phases: Floats, amplitude: float, out: Floats
) -> None:
    """Fill row i of ``out`` with ``amplitude cos(z_i weights + phases)``."""
    for i in range(z.shape[0]):
        row = out[i]
        for j in range(row.shape[0]):
            row[j] = z[i] * weights[j]
        cosine_row(row, phases, amplitude)


@fused
def cosine_row(row: Floats, phases: Floats, amplitude: float) -> None:
    """Replace one row ``z`` by ``amplitude cos(z + phases)``, in place."""
    n_large = 0
    for j in range(row.shape[0]):
        row[j] += phases[j]
        # NaN is not large; it stays NaN in the polynomials.
        n_large += abs(row[j]) > LARGEST_ARGUMENT
    # One large argument sends the row to the library: a test per entry would cost the vectors.
    if n_large == 0:
        for j in range(row.shape[0]):
            row[j] = amplitude * vector_cosine(row[j])
    else:
        for j in range(row.shape[0]):
            row[j] = amplitude * np.cos(row[j])
