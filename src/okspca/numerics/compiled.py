"""The one way kernels are compiled.

Kernels are plain functions of arrays.  They are compiled on first use, cached on disk, release the
interpreter lock, and never use fast-math: a recursion must round the same way however it is called.

How helpers become part of the kernels that call them: :mod:`okspca.numerics.parts`.  Where the
cache is kept: :mod:`okspca.numerics.caching`.  That a compilation is announced to the
user: :mod:`okspca.numerics.announcing`.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Generic, TypeVar, cast

import numba
import numpy as np

from okspca.numerics.parts import KernelDispatcher
from okspca.numerics.scalars import plain

Kernel = TypeVar("Kernel", bound=Callable[..., object])
Result = TypeVar("Result")


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
    """Compile with the cache of this version of the kernels, which also tells of compiling.

    Division follows NumPy (no exception), so that loops can be vectorised.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    options = {
        "nopython": True,
        "nogil": True,
        "error_model": "numpy",
        "fastmath": fastmath or False,
        "boundscheck": None,
        "no_cfunc_wrapper": True,
    }
    return cast(Kernel, CompiledKernel(function, options))


class CompiledKernel:
    """A kernel of which Numba hears when it is first needed.

    What Numba keeps of a function takes as long to make as importing a small module.  Of all
    kernels, a process calls one in eight; those that only other kernels call it loads with them.

    Attributes
    ----------
    py_func : callable
        The function as it was written.

    Examples
    --------
    >>> import math
    >>> CompiledKernel(math.hypot, {}).__name__
    'hypot'
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.__wrapped__ = self.py_func = function
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        self._options = options

    def __call__(self, *arguments: object) -> object:
        """Compute."""
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """What compiles it; of two threads that ask at the same time, both get the first."""
        made = KernelDispatcher(self.py_func, {}, self._options)
        return self.__dict__.setdefault("dispatcher", made)

    @property
    def overloads(self) -> Any:
        """Machine code by the types of arguments."""
        return self.dispatcher.overloads

    def compile(self, types: Any) -> Any:
        """Compile for arguments of these types, or load."""
        return self.dispatcher.compile(types)

    @property
    def _numba_type_(self) -> Any:
        return self.dispatcher._numba_type_


def bound(kernel: Callable[..., Result], *arguments: object) -> Callable[..., Result]:
    """Return the machine code of ``kernel`` for arguments such as these.

    A normal call looks the types up each time, which costs microseconds for a state of many arrays.

    Numbers are bound as int64, float64 or bool, whatever width these have: machine code converts
    numbers to the types it was made for, and for a narrower one it would cut off their upper bits.
    Arrays it takes as they are, so they must be in C order, here and in every later call.
    """
    dispatcher, typeof = cast(Any, kernel), cast(Any, numba.typeof)
    if not hasattr(dispatcher, "overloads"):  # NUMBA_DISABLE_JIT leaves a plain function
        return kernel
    examples = tuple(_example(argument) for argument in arguments)
    known = kernel, _kind(examples)
    if known not in _MACHINE_CODE:
        types = tuple(typeof(example) for example in examples)
        dispatcher.compile(types)
        _MACHINE_CODE[known] = dispatcher.overloads[types].entry_point
    return cast(Callable[..., Result], _MACHINE_CODE[known])


#: By kernel and kinds of arguments: asking Numba again takes a millisecond.
_MACHINE_CODE: dict[object, Callable[..., Any]] = {}


def _example(argument: Any) -> Any:
    """A value of the type that an argument is bound as: writable arrays, plain numbers."""
    if isinstance(argument, np.ndarray):
        if not argument.flags.c_contiguous:
            message = "A kernel can only be bound to arrays in C order."
            raise TypeError(message)
        return np.empty((0,) * argument.ndim, argument.dtype)
    if isinstance(argument, tuple):
        parts = [_example(part) for part in argument]
        return type(argument)(*parts) if hasattr(argument, "_fields") else tuple(parts)
    return plain(argument)


def _kind(example: Any) -> object:
    """What decides the compiled type of an example: arrays, numbers, and tuples of them."""
    if isinstance(example, np.ndarray):
        return example.dtype.num, example.ndim
    if isinstance(example, tuple):
        return type(example), tuple(_kind(part) for part in example)
    return type(example)


class BoundKernel(Generic[Result]):
    """A kernel bound at its first call; see :func:`bound` for what later calls may give.

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
