r"""Kernels that are compiled once and called by address.

Numba copies a compiled function into every function that calls it and optimises it there again.
For a large one, such as the product of two matrices, this takes seconds for every caller, and the
copies need not round alike.  A shared kernel has one signature and one piece of machine code:
callers read its address from a cell, which machine code, cached or new, finds by its name.

The kernel itself is compiled, or read from the cache, when it is first needed.  A caller that finds
the cell empty asks for that; should it fail, the caller raises and computes nothing.  Python cannot
raise through machine code, so that an interrupt (Ctrl-C) is noted, and raised by the caller.
"""

import ctypes
from collections.abc import Callable
from typing import Any, cast

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.core.typing.templates import ConcreteTemplate, infer_global
from numba.extending import lower_builtin

from okspca.numerics.compiled import CompiledKernel, Kernel, compiled

# Numba's own types do not describe what follows.
_array: Any = types.Array
number, count, nothing, truth = types.float64, types.int64, types.void, types.boolean
#: Arrays of any strides, which an array in C order or a transposed one can be taken for.
read_vector, vector = _array(number, 1, "A", readonly=True), _array(number, 1, "A")
read_matrix, matrix = _array(number, 2, "A", readonly=True), _array(number, 2, "A")
#: Arrays in C order.
read_row, row = _array(number, 1, "C", readonly=True), _array(number, 1, "C")
read_rows, rows = _array(number, 2, "C", readonly=True), _array(number, 2, "C")

_UNTYPED: tuple[Any, Any, Any] = (types.Function, infer_global, lower_builtin)
_emit: Any = cgutils

_FAILED = "A compiled part of okspca could not be prepared; try again."
#: Whether Ctrl-C came while a kernel was prepared, under a name that machine code knows.
_INTERRUPTED = ctypes.c_bool(False)
_INTERRUPT = "okspca_shared_interrupted"
binding.add_symbol(_INTERRUPT, ctypes.addressof(_INTERRUPTED))


def shared(
    returned: Any, *arguments: Any, plain: Callable[..., Any] | None = None
) -> Callable[[Kernel], Kernel]:
    """Compile a function for one signature; other kernels may call it by its name.

    Called from Python, it takes plain numbers, and arrays of float64 with any strides, which it
    does not check.  Where compilation is switched off, ``plain`` takes its place, if given.

    Examples
    --------
    >>> @shared(number, number)
    ... def doubled(x: float) -> float:
    ...     return x + x
    >>> doubled(3.0)
    6.0
    """

    def share(function: Kernel) -> Kernel:
        kernel: Any = compiled(function)
        if not isinstance(kernel, CompiledKernel):  # NUMBA_DISABLE_JIT: a plain function
            return cast(Kernel, plain or function)
        return cast(Kernel, _Shared(kernel, returned(*arguments)))

    return share


class _Shared:
    """One shared kernel: its machine code, and the cell in which callers find the address."""

    def __init__(self, kernel: Any, signature: Any) -> None:
        self.__wrapped__ = self.py_func = kernel.py_func
        self.__name__, self.__doc__ = kernel.__name__, kernel.__doc__
        self.kernel, self._signature = kernel, signature
        self._cell = ctypes.c_void_p(None)
        # Cached machine code knows both by name: a number would depend on the order of imports.
        self._symbol = f"okspca_shared_{kernel.__module__}_{kernel.__name__}".replace(".", "_")
        self._request = f"{self._symbol}_prepare"
        self._callback = ctypes.CFUNCTYPE(None)(self._asked)
        self._code: Callable[..., object] = self._first_call
        binding.add_symbol(self._symbol, ctypes.addressof(self._cell))
        binding.add_symbol(self._request, ctypes.cast(self._callback, ctypes.c_void_p).value)
        _KERNELS.append(self)
        _declare(self, signature, self._emit_call)

    def __call__(self, *arguments: object) -> object:
        return self._code(*arguments)

    def prepare(self) -> None:
        """Compile the kernel, or load it, and tell callers where it is."""
        self.kernel.compile(self._signature.args)
        found = self.kernel.overloads[self._signature.args]
        self._code = found.entry_point
        name = found.fndesc.llvm_func_name
        self._cell.value = found.library.get_pointer_to_function(name)

    def _asked(self) -> None:
        """Machine code has found the cell empty."""
        try:
            self.prepare()
        except KeyboardInterrupt:
            _INTERRUPTED.value = True

    def _first_call(self, *arguments: object) -> object:
        self.prepare()
        return self._code(*arguments)

    def _emit_call(self, context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        """Emit what a caller does: look for the address, ask for it if need be, and call."""
        convention = context.call_conv
        function_type = convention.get_function_type(signature.return_type, signature.args)
        cell = builder.module.globals.get(self._symbol)
        if cell is None:
            kind = function_type.as_pointer()
            cell = _emit.add_global_variable(builder.module, kind, self._symbol)
        with builder.if_then(_emit.is_null(builder, builder.load(cell)), likely=False):
            self._emit_request(builder)
            with builder.if_then(_emit.is_null(builder, builder.load(cell)), likely=False):
                _emit_failure(context, builder)
        status, value = convention.call_function(
            builder, builder.load(cell), signature.return_type, signature.args, arguments
        )
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return value

    def _emit_request(self, builder: Any) -> None:
        """Emit a call of :meth:`prepare`."""
        ask_type = ir.FunctionType(ir.VoidType(), [])
        ask = _emit.get_or_insert_function(builder.module, ask_type, self._request)
        builder.call(ask, [])


def _emit_failure(context: Any, builder: Any) -> None:
    """Emit what a caller does without an address: raise the interrupt that came, or an error."""
    cell = builder.module.globals.get(_INTERRUPT)
    if cell is None:
        cell = _emit.add_global_variable(builder.module, ir.IntType(8), _INTERRUPT)
    with builder.if_then(_emit.is_not_null(builder, builder.load(cell))):
        builder.store(ir.IntType(8)(0), cell)
        python = context.get_python_api(builder)
        lock = python.gil_ensure()
        python.err_set_none("PyExc_KeyboardInterrupt")
        python.gil_release(lock)
        context.call_conv.return_exc(builder)
    context.call_conv.return_user_exc(builder, RuntimeError, (_FAILED,))


def _declare(key: _Shared, signature: Any, emit: Callable[..., Any]) -> None:
    """Tell Numba that kernels may call ``key``: with which types, and by which instructions."""
    base: Any = ConcreteTemplate
    template = type(f"Shared_{key.__name__}", (base,), {"key": key, "cases": [signature]})
    function_type, declare, lower = _UNTYPED
    declare(key, function_type(template))
    lower(key, *signature.args)(emit)


#: All shared kernels of the process: machine code calls them as long as it lives.
_KERNELS: list[_Shared] = []
