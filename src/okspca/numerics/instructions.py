r"""What the files that emit vector instructions have in common.

They are few: the tile of a matrix product, rows of a triangular factor, and sums in a fixed order.
In the first and the last, a product and the sum that it goes into may round once ("contract"): they
do on every processor that can (with AVX2 or NEON), and never elsewhere, wherever the instructions
are copied to.  Vectors may be longer than those of the processor, which then takes several.
"""

from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba.extending import intrinsic

#: Numbers in a vector of a sum: its order depends on them.
LANES = 4
INT, DOUBLE = ir.IntType(64), ir.DoubleType()
VECTOR = ir.VectorType(DOUBLE, LANES)
ZERO = ir.Constant(VECTOR, [0.0] * LANES)
_FUSE = ("contract",)


def _has_wide_vectors() -> bool:
    """Whether machine code is made for a processor whose vectors have 64 bytes."""
    settings = vars(numba.config)
    if settings["CPU_NAME"] is not None or settings["CPU_FEATURES"] is not None:
        return False
    try:
        return bool(get_host_cpu_features().get("avx512f"))
    except RuntimeError:  # it is not told on every platform
        return False


#: A vector of numbers in single precision; how many they are changes no bit.
SINGLES = ir.VectorType(ir.FloatType(), 16 if _has_wide_vectors() else 8)


def emitted(emitter: Callable[..., Any], plain: Callable[..., Any]) -> Any:
    """Return what kernels call; ``plain`` does the same where compilation is switched off."""
    switched_off: bool = vars(numba.config)["DISABLE_JIT"]
    return plain if switched_off else intrinsic(emitter)


def fused(builder: Any, a: Any, b: Any, total: Any) -> Any:
    """Emit ``a b + total``."""
    return builder.fadd(builder.fmul(a, b, flags=_FUSE), total, flags=_FUSE)


def unpacked(builder: Any, numbers: Any) -> Any:
    """Emit the members of a tuple."""
    return [builder.extract_value(numbers, i) for i in range(len(numbers.type))]


def spread(builder: Any, number: Any, vector: Any = VECTOR) -> Any:
    """Emit a vector all of whose numbers are one."""
    empty, kind, n = ir.Constant(vector, ir.Undefined), ir.IntType(32), vector.count
    first = builder.insert_element(empty, number, kind(0))
    pattern = ir.Constant(ir.VectorType(kind, n), [0] * n)
    return builder.shuffle_vector(first, empty, pattern)


def moved(builder: Any, pointer: Any, by: Any) -> Any:
    """Emit the address that is a number of bytes away from a pointer."""
    first = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    return builder.bitcast(builder.gep(first, [by]), pointer.type)


def load_vector(builder: Any, pointer: Any, i: Any, vector: Any = VECTOR) -> Any:
    """Emit the load of a vector from number ``i`` on."""
    return builder.load(vector_place(builder, pointer, i, vector), align=size_of(vector.element))


def vector_place(builder: Any, pointer: Any, i: Any, vector: Any = VECTOR) -> Any:
    """Emit the address of a vector from number ``i`` on."""
    return builder.bitcast(builder.gep(pointer, [i]), vector.as_pointer())


def size_of(number: Any) -> int:
    """Bytes of a number."""
    return 8 if number == DOUBLE else 4


def loop(
    builder: Any,
    span: tuple[Any, Any, int],
    totals: list[Any],
    body: Callable[[list[Any], Any], list[Any]],
) -> tuple[Any, list[Any]]:
    """Emit a loop over whole steps of ``span``: start, end, step.

    ``body`` emits what turns the totals at an index into those after it.  Return the index at which
    no whole step was left, and the totals there.
    """
    start, end, step = span
    before, head = builder.block, builder.append_basic_block("loop.head")
    inside, done = builder.append_basic_block("loop.body"), builder.append_basic_block("loop.done")
    builder.branch(head)
    builder.position_at_end(head)
    index, *now = carried = [builder.phi(kind) for kind in (INT, *(t.type for t in totals))]
    after = builder.add(index, INT(step))
    builder.cbranch(builder.icmp_signed("<=", after, end), inside, done)
    builder.position_at_end(inside)
    grown = body(now, index)
    for variable, first, later in zip(carried, [start, *totals], [after, *grown], strict=True):
        variable.add_incoming(first, before)
        variable.add_incoming(later, builder.block)
    builder.branch(head)
    builder.position_at_end(done)
    return index, now
