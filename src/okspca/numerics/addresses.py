"""Two ways past the cost of handing arrays to and from compiled code.

* A kernel that works on the twenty arrays of one state takes a table of their addresses instead:
  each array handed over by itself costs as much as forty additions, every call.
* An array that a kernel returns can be read-only from the start.

Both do the same where compilation is switched off, only slowly.
"""

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import intrinsic, overload

from okspca.numerics.arrays import Floats, Integers
from okspca.numerics.compiled import compiled


def table_of(arrays: Sequence[Floats]) -> Integers:
    """List where arrays of one or two dimensions are, and their lengths.

    Whoever uses the table must keep the arrays alive, and make a new one when an array is replaced.

    Examples
    --------
    >>> import numpy as np
    >>> array = np.arange(6.0).reshape(2, 3)
    >>> matrix_at(table_of([array]), 0).tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    """
    for array in arrays:
        if not (array.dtype == np.float64 and array.flags.carray):
            message = "Only plain, writable arrays of float64 can be reached by their address."
            raise ValueError(message)
    return np.array([(_address(a), *a.shape, 1)[:3] for a in arrays], dtype=np.int64)


def _address(array: Floats) -> int:
    """Where an array is, by the quickest way there is to ask."""
    buffer: Any = array
    return ctypes.addressof(ctypes.c_char.from_buffer(buffer)) if array.size else 0


def vector_at(table: Integers, i: int) -> Floats:
    """Array number ``i`` of a table, of one dimension."""
    return _array_at(int(table[i, 0]), (int(table[i, 1]),))


def matrix_at(table: Integers, i: int) -> Floats:
    """Array number ``i`` of a table, of two dimensions."""
    return _array_at(int(table[i, 0]), (int(table[i, 1]), int(table[i, 2])))


@compiled
def enter_vector(table: Integers, i: int, array: Floats) -> None:
    """Put an array of one dimension, plain and writable, into a table."""
    table[i, 0], table[i, 1], table[i, 2] = array.ctypes.data, array.shape[0], 1


@compiled
def enter_matrix(table: Integers, i: int, array: Floats) -> None:
    """Put an array of two dimensions, plain and writable, into a table."""
    table[i, 0], table[i, 1], table[i, 2] = array.ctypes.data, array.shape[0], array.shape[1]


def read_only(array: Floats) -> Floats:
    """Return an array that nobody else holds, so that nobody can change it."""
    array.setflags(write=False)
    return array


def _array_at(address: int, shape: tuple[int, ...]) -> Floats:
    """What the compiled forms do, in plain Python."""
    if 0 in shape:
        return np.empty(shape)
    return np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_double)), shape)


def _pointer(_: Any, address: Any) -> tuple[Any, Callable[..., Any]]:
    """Take a number for the address of float64 values."""
    floats: Any = types.CPointer
    pointer = floats(types.float64)

    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    return pointer(address), code


def _unwritable(_: Any, array: Any) -> tuple[Any, Callable[..., Any]]:
    """Take an array for a read-only one."""

    def code(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return borrowed(context, builder, array, arguments[0])

    return array.copy(readonly=True)(array), code


# Numba's own types do not describe what follows.
carray: Any = numba.carray  # type: ignore[attr-defined]
borrowed: Any = impl_ret_borrowed
pointer: Any = intrinsic(_pointer)
unwritable: Any = intrinsic(_unwritable)


@overload(vector_at, inline="always", strict=False)
def _compiled_vector_at(table: Any, i: Any) -> Callable[..., Any]:
    return lambda table, i: carray(pointer(table[i, 0]), (table[i, 1],))


@overload(matrix_at, inline="always", strict=False)
def _compiled_matrix_at(table: Any, i: Any) -> Callable[..., Any]:
    return lambda table, i: carray(pointer(table[i, 0]), (table[i, 1], table[i, 2]))


@overload(read_only, strict=False)
def _compiled_read_only(array: Any) -> Callable[..., Any]:
    return lambda array: unwritable(array)
