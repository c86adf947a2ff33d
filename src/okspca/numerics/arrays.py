"""Array types and exact power-of-two scaling."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]


def frozen(array: Floats) -> Floats:
    """Return a read-only, contiguous copy, safe to hand out."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.flags.writeable = False
    return copy


def unit_scaled(matrix: Floats) -> tuple[Floats, float]:
    """Split ``matrix`` into ``scaled * factor`` with ``factor`` a power of two.

    The largest magnitude of ``scaled`` lies in [0.5, 1), so that squares neither overflow nor
    underflow.  Multiplying by a power of two is exact.  A zero matrix keeps factor 1.
    """
    largest = float(np.max(np.abs(matrix), initial=0.0))
    if largest == 0.0:
        return matrix.copy(), 1.0
    exponent = math.frexp(largest)[1]
    # np.ldexp scales in one rounding-free step even where 2.0**-exponent would overflow.
    return np.ldexp(matrix, -exponent), math.ldexp(1.0, exponent)
