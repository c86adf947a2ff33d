r"""The innermost part of a triangular factor: what a row loses to the rows above it.

``take_off`` computes COLUMNS numbers of row i, from column ``at`` on::

    A[i, j] <- ((A[i, j] - A[s, i] A[s, j]) - A[s + 1, i] A[s + 1, j]) - ...,    s, ..., i - 1

one row after the other, with a rounding after every product and every difference, and keeps them in
vector registers meanwhile.  So a number depends neither on its place nor on the others.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core import types

from okspca.numerics.arrays import Floats
from okspca.numerics.instructions import (
    DOUBLE,
    INT,
    emitted,
    load_vector,
    loop,
    spread,
    vector_place,
)

#: Numbers in a vector (one of AVX-512, or two of AVX2), and vectors that are kept at a time.
_LANES, _VECTORS = 8, 4
_VECTOR = ir.VectorType(DOUBLE, _LANES)
COLUMNS = _LANES * _VECTORS


def _emit_take_off(_: Any, A: Any, start: Any, i: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """Take what the rows from ``start`` on contribute off a part of row ``i``; A is in C order."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        n = builder.extract_value(array.shape, 1)
        _, first, row, column = arguments

        def places(r: Any) -> list[Any]:
            here = builder.add(builder.mul(r, n), column)
            return [builder.add(here, INT(g * _LANES)) for g in range(_VECTORS)]

        def step(totals: list[Any], r: Any) -> list[Any]:
            number = builder.load(builder.gep(array.data, [builder.add(builder.mul(r, n), row)]))
            share = spread(builder, number, _VECTOR)
            vectors = [load_vector(builder, array.data, j, _VECTOR) for j in places(r)]
            products = [builder.fmul(share, vector) for vector in vectors]
            return [builder.fsub(a, b) for a, b in zip(totals, products, strict=True)]

        mine = places(row)
        totals = [load_vector(builder, array.data, j, _VECTOR) for j in mine]
        left = loop(builder, (first, row, 1), totals, step)[1]
        for j, total in zip(mine, left, strict=True):
            builder.store(total, vector_place(builder, array.data, j, _VECTOR), align=8)
        return context.get_dummy_value()

    return types.void(A, start, i, at), code


def _plain_take_off(A: Floats, start: int, i: int, at: int) -> None:
    """Do what the instructions do."""
    row = A[i, at : at + COLUMNS]
    for r in range(start, i):
        row -= A[r, i] * A[r, at : at + COLUMNS]


take_off = emitted(_emit_take_off, _plain_take_off)
