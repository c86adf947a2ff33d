"""The one way kernels are compiled.

Kernels are plain functions of arrays.  They are compiled on first use, cached on disk, release the
interpreter lock, and never use fast-math: a recursion must round the same way however it is called.

Where the cache is kept: :mod:`okspca.numerics.caching`.  That a compilation is announced to the
user: :mod:`okspca.numerics.announcing`.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar, cast

import numba
import numpy as np
from numba.core import event

from okspca.numerics.announcing import ANNOUNCER
from okspca.numerics.caching import cache_of

Kernel = TypeVar("Kernel", bound=Callable[..., object])
Result = TypeVar("Result")

event.register("numba:compile", ANNOUNCER)  # type: ignore[no-untyped-call]


def compiled(function: Kernel) -> Kernel:
    """Compile ``function`` to machine code, keeping its type for the type checker."""
    return _compile(function, set())


def fused(function: Kernel) -> Kernel:
    """Compile arithmetic in which a product and a sum may round once instead of twice."""
    return _compile(function, {"contract"})


def reordered(function: Kernel) -> Kernel:
    """Compile a sum whose additions may be reordered and fused; see :mod:`okspca.numerics.sums`."""
    return _compile(function, {"reassoc", "contract"})


def _compile(function: Kernel, fastmath: set[str]) -> Kernel:
    """Compile with the cache of this version of the kernels, or without one.

    Division follows NumPy (no exception), so that loops can be vectorised.
    """
    jit = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath or False)
    kernel = jit(function)
    cache = cache_of(function)
    if cache is not None and hasattr(kernel, "_cache"):  # NUMBA_DISABLE_JIT: a plain function
        kernel._cache = cache
    return cast(Kernel, kernel)


def bound(kernel: Callable[..., Result], *arguments: object) -> Callable[..., Result]:
    """Return the machine code of ``kernel`` for exactly the types of ``arguments``.

    A normal call looks the types up each time, which costs microseconds for a state of many arrays.
    The result must only ever be called with arguments of the very same types.
    """
    dispatcher, typeof = cast(Any, kernel), cast(Any, numba.typeof)
    if not hasattr(dispatcher, "overloads"):  # NUMBA_DISABLE_JIT leaves a plain function
        return kernel
    known = kernel, _kind(arguments)
    if known not in _MACHINE_CODE:
        types = tuple(typeof(argument) for argument in arguments)
        dispatcher.compile(types)
        _MACHINE_CODE[known] = dispatcher.overloads[types].entry_point
    return cast(Callable[..., Result], _MACHINE_CODE[known])


#: By kernel and kinds of arguments: asking Numba again takes a millisecond.
_MACHINE_CODE: dict[object, Callable[..., Any]] = {}


def _kind(argument: object) -> object:
    """What decides the compiled type of an argument: arrays, numbers, and tuples of them."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return (
            argument.dtype.num,
            argument.ndim,
            (flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned),
        )
    if isinstance(argument, tuple):
        return type(argument), tuple(_kind(part) for part in argument)
    return type(argument)


class BoundKernel(Generic[Result]):
    """A kernel bound to the types of its first call, which all its calls must share.

    Attributes
    ----------
    code : callable
        Call this: the machine code itself, once there was a first call.

    Examples
    --------
    >>> BoundKernel(abs).code(-3)
    3
    """

    code: Callable[..., Result]

    def __init__(self, kernel: Callable[..., Result]) -> None:
        def first(*arguments: object) -> Result:
            self.code = bound(kernel, *arguments)
            return self.code(*arguments)

        self.code = first
