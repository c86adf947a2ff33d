r"""Sums over vectors that use vector instructions and are made in one order everywhere.

A compiler that may reorder a sum does so differently in every function it is copied into, and which
copy runs depends on what was loaded first.  Here the order is part of the instructions: sixteen
partial sums, one for each residue of the index (counted from the start), as far as whole groups of
sixteen go; four of them for what is left in whole groups of four; then, after they were added up
pairwise, the last terms one by one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import types

from okspca.numerics.arrays import Floats
from okspca.numerics.instructions import (
    INT,
    LANES,
    VECTOR,
    ZERO,
    emitted,
    fused,
    load_vector,
    loop,
    moved,
    spread,
    unpacked,
)

_GROUPS = 4


def _emit_inner(_: Any, a: Any, b: Any, start: Any) -> tuple[Any, Callable[..., Any]]:
    """Inner product of two vectors over the coordinates from ``start`` on."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def grow(total: Any, terms: Sequence[Any]) -> Any:
            return fused(builder, terms[0], terms[1], total)

        return _emit_sum(
            builder, _operands(context, builder, signature, arguments), arguments[2], grow
        )

    return types.float64(a, b, start), code


def _emit_shifted_square(_: Any, a: Any, b: Any, shift: Any) -> tuple[Any, Callable[..., Any]]:
    """Squared Euclidean norm of ``a + shift b``."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        shifts = {VECTOR: spread(builder, arguments[2]), arguments[2].type: arguments[2]}

        def grow(total: Any, terms: Sequence[Any]) -> Any:
            away = fused(builder, shifts[terms[1].type], terms[1], terms[0])
            return fused(builder, away, away, total)

        return _emit_sum(builder, _operands(context, builder, signature, arguments), INT(0), grow)

    return types.float64(a, b, shift), code


class _Operand:
    """A vector: where its numbers are, and whether they lie side by side."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self._data, is_plain = array.data, kind.layout == "C"
        self.length = unpacked(builder, array.shape)[0]
        self._apart = None if is_plain else unpacked(builder, array.strides)[0]

    def number(self, builder: Any, i: Any) -> Any:
        """Emit the load of number ``i``."""
        if self._apart is None:
            place = builder.gep(self._data, [i])
        else:
            place = moved(builder, self._data, builder.mul(i, self._apart))
        return builder.load(place, align=8)

    def vector(self, builder: Any, i: Any) -> Any:
        """Emit the load of LANES numbers from ``i`` on."""
        if self._apart is None:
            return load_vector(builder, self._data, i)
        found = ir.Constant(VECTOR, ir.Undefined)
        for lane in range(LANES):
            value = self.number(builder, builder.add(i, INT(lane)))
            found = builder.insert_element(found, value, ir.IntType(32)(lane))
        return found


def _operands(context: Any, builder: Any, signature: Any, arguments: Any) -> list[_Operand]:
    """Both vectors of a call."""
    return [_Operand(context, builder, signature.args[i], arguments[i]) for i in (0, 1)]


def _emit_sum(builder: Any, vectors: list[_Operand], start: Any, grow: Callable[..., Any]) -> Any:
    """Emit the sum over all indices from ``start`` on, in the order said above."""
    end = vectors[0].length

    def by_vector(totals: list[Any], i: Any) -> list[Any]:
        places = [builder.add(i, INT(g * LANES)) for g in range(len(totals))]
        loaded = [[v.vector(builder, at) for v in vectors] for at in places]
        return [grow(total, terms) for total, terms in zip(totals, loaded, strict=True)]

    def by_number(totals: list[Any], i: Any) -> list[Any]:
        return [grow(totals[0], [v.number(builder, i) for v in vectors])]

    at, sums = loop(builder, (start, end, LANES * _GROUPS), [ZERO] * _GROUPS, by_vector)
    at, first = loop(builder, (at, end, LANES), sums[:1], by_vector)
    one, two, three, four = [*first, *sums[1:]]
    together = builder.fadd(builder.fadd(one, two), builder.fadd(three, four))
    lanes = [builder.extract_element(together, ir.IntType(32)(lane)) for lane in range(LANES)]
    pairs = builder.fadd(lanes[0], lanes[1]), builder.fadd(lanes[2], lanes[3])
    return loop(builder, (at, end, 1), [builder.fadd(*pairs)], by_number)[1][0]


def _plain_inner(a: Floats, b: Floats, start: int) -> float:
    """What the instructions compute, up to rounding."""
    return float((a[start:] * b[start:]).sum())


def _plain_shifted_square(a: Floats, b: Floats, shift: float) -> float:
    """What the instructions compute, up to rounding."""
    return float(((a + shift * b) ** 2).sum())


ordered_inner = emitted(_emit_inner, _plain_inner)
ordered_shifted_square = emitted(_emit_shifted_square, _plain_shifted_square)
