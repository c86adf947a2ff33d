"""Array types and exact power-of-two scaling."""

import copy
import math
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Singles: TypeAlias = NDArray[np.float32]
Integers: TypeAlias = NDArray[np.int64]
Signs: TypeAlias = NDArray[np.int8]
Part = TypeVar("Part")
LARGEST_EXPONENT = 1022
#: Inputs and responses of a larger magnitude cannot be squared safely and are refused.
LARGEST_VALUE = 1e150


def frozen(array: Floats) -> Floats:
    """Return a read-only, contiguous copy, safe to hand out."""
    copy = np.array(array, dtype=np.float64, order="C")
    copy.flags.writeable = False
    return copy


def copied(part: Part) -> Part:
    """Copy an object; changing its arrays, in place or by replacement, leaves the copy alone.

    Arrays, tuples of arrays, and the parts named in its ``copy_parts`` are copied; the rest is
    shared.  An object that keeps views of its own arrays has a method ``renew_views``.
    """
    twin = copy.copy(part)
    for name, value in list(vars(twin).items()):
        if isinstance(value, np.ndarray):
            setattr(twin, name, np.array(value))
        elif isinstance(value, tuple) and all(isinstance(item, np.ndarray) for item in value):
            setattr(twin, name, type(value)(*(np.array(item) for item in value)))
        elif name in getattr(twin, "copy_parts", ()) and value is not None:
            setattr(twin, name, copied(value))
    if hasattr(twin, "renew_views"):
        twin.renew_views()
    return twin


def is_writable(part: object) -> bool:
    """Whether every array of an object can be changed in place (memory-mapped ones may not be)."""
    for value in vars(part).values():
        arrays = value if isinstance(value, tuple) else (value,)
        if not all(a.flags.writeable for a in arrays if isinstance(a, np.ndarray)):
            return False
    inner = [getattr(part, name) for name in getattr(part, "copy_parts", ())]
    return all(is_writable(other) for other in inner if other is not None)


def unit_scaled(matrix: Floats) -> tuple[Floats, float]:
    """Split ``matrix`` into ``scaled * factor`` with ``factor`` a power of two.

    The largest magnitude of ``scaled`` lies in [0.5, 1) (or just above, at the very end of the
    range), so that squares neither overflow nor
    underflow.  Multiplying by a power of two is exact.  A zero matrix keeps factor 1.
    """
    largest = float(np.max(np.abs(matrix), initial=0.0))
    if largest == 0.0:
        return matrix.copy(), 1.0
    exponent = min(math.frexp(largest)[1], LARGEST_EXPONENT)
    factor = math.ldexp(1.0, exponent)
    if abs(exponent) < LARGEST_EXPONENT:
        return matrix * math.ldexp(1.0, -exponent), factor
    # Slower, but free of rounding even where the inverse power cannot be written.
    return np.ldexp(matrix, -exponent), factor
