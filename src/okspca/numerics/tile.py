r"""The innermost part of a matrix product: a tile of the result, kept in vector registers.

``fill_tile`` computes HEIGHT x WIDTH numbers of a result, or adds to them; ``fill_single_tile``
does the same for HEIGHT x SINGLE_WIDTH numbers in single precision::

    C[r, j] (+)= factor (sum over p of A[r, p] B[p, j]),      p = 0, 1, ..., depth - 1

The sum is made in this order, starting from zero.  So a number depends neither on its place in the
tile nor on the other numbers there.  ``copy_rows`` and ``copy_columns`` pack what it reads.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from okspca.numerics.arrays import Floats, Singles
from okspca.numerics.instructions import (
    DOUBLE,
    INT,
    LANES,
    SINGLES,
    emitted,
    fused,
    load_vector,
    loop,
    moved,
    size_of,
    spread,
    unpacked,
    vector_place,
)

#: A row is one vector of AVX-512, and two where vectors have four numbers: twelve sums, two vectors
#: and a factor at a time then fit the sixteen registers of AVX2.
HEIGHT, WIDTH = 6, 8
_ROW = ir.VectorType(DOUBLE, WIDTH)
#: Two vectors in single precision, as wide as the processor has them.
SINGLE_WIDTH = WIDTH // LANES * SINGLES.count


def _filler(vector: Any, width: int) -> Callable[..., Any]:
    """Make what fills a tile of vectors of a kind, ``width`` numbers wide."""

    def emit_fill(
        _: Any, A: Any, B: Any, C: Any, starts: Any, sizes: Any, adds: Any, factor: Any
    ) -> tuple[Any, Callable[..., Any]]:
        """Put a product into a tile, or add it there.

        A and B are packed, HEIGHT or ``width`` numbers for each step of the sum.  ``starts``: where
        the tile begins in A and B, in numbers, and in C, in bytes.  ``sizes``: how many bytes lie
        between rows of C, and the depth.
        """

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a, b, c = (_array(context, builder, signature, arguments, i).data for i in range(3))
            at_a, at_b, at_c = unpacked(builder, arguments[3])
            row, depth = unpacked(builder, arguments[4])
            packed = builder.gep(a, [at_a]), builder.gep(b, [at_b])
            sums = _emit_sums(builder, packed, depth, vector, width)
            scale = spread(builder, arguments[6], vector)
            sums = [builder.fmul(scale, total) for total in sums]
            _emit_stores(builder, sums, moved(builder, c, at_c), row, arguments[5])
            return context.get_dummy_value()

        return types.void(A, B, C, starts, sizes, adds, factor), code

    return emit_fill


def _emit_sums(builder: Any, packed: tuple[Any, Any], depth: Any, vector: Any, width: int) -> Any:
    """Emit the loop over the depth, with all sums in registers."""
    (a, b), lanes, bytes_each = packed, vector.count, size_of(vector.element)

    def step(sums: list[Any], p: Any) -> list[Any]:
        """Add the products of one column of A with one row of B."""
        at_a = builder.gep(a, [builder.mul(p, INT(HEIGHT))])
        at_b = builder.gep(b, [builder.mul(p, INT(width))])
        vectors = [load_vector(builder, at_b, INT(j), vector) for j in range(0, width, lanes)]
        before, grown = iter(sums), []
        for r in range(HEIGHT):
            number = builder.load(builder.gep(at_a, [INT(r)]), align=bytes_each)
            factor = spread(builder, number, vector)
            grown += [fused(builder, factor, each, next(before)) for each in vectors]
        return grown

    zeros = [ir.Constant(vector, [0.0] * lanes)] * (HEIGHT * width // lanes)
    return loop(builder, (INT(0), depth, 1), zeros, step)[1]


def _emit_stores(builder: Any, sums: list[Any], c: Any, row: Any, adds: Any) -> None:
    """Emit what becomes of the sums: they are added to the tile, or put there."""
    vector, n = sums[0].type, len(sums) // HEIGHT
    lanes, align = vector.count, size_of(vector.element)
    rows = [moved(builder, c, builder.mul(row, INT(r))) for r in range(HEIGHT)]
    places = [vector_place(builder, at, INT(j * lanes), vector) for at in rows for j in range(n)]
    with builder.if_else(adds) as (to_add, to_put):
        with to_add:
            for place, total in zip(places, sums, strict=True):
                before = builder.load(place, align=align)
                builder.store(builder.fadd(before, total), place, align=align)
        with to_put:
            for place, total in zip(places, sums, strict=True):
                builder.store(total, place, align=align)


def _copier(width: int, along: int) -> Callable[..., Any]:
    """Make what packs a band of ``width`` rows of a matrix (or columns, with ``along`` one).

    ``place``: the first of them, and where in each the copy begins; ``shape``: how many there are
    (the last is repeated where these are fewer than ``width``), and how many numbers of each.
    """

    def emit_copy(
        _: Any, source: Any, place: Any, shape: Any, packed: Any, to: Any
    ) -> tuple[Any, Callable[..., Any]]:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, target = (_array(context, builder, signature, arguments, i) for i in (0, 3))
            first, start = unpacked(builder, arguments[1])
            strides = unpacked(builder, array.strides)
            row, step = strides[along], strides[1 - along]
            away = builder.add(builder.mul(first, row), builder.mul(start, step))
            band = moved(builder, array.data, away), row, step
            size = unpacked(builder, arguments[2])
            _emit_band(builder, band, size, builder.gep(target.data, [arguments[4]]), width)
            return context.get_dummy_value()

        return types.void(source, place, shape, packed, to), code

    return emit_copy


def _emit_band(builder: Any, band: tuple[Any, Any, Any], size: Any, to: Any, width: int) -> None:
    """Emit two loops: for numbers that lie side by side as they are packed, and for others."""
    a, row, step = band
    height, depth = size
    is_whole = builder.icmp_signed("==", height, INT(width))
    is_plain = builder.and_(is_whole, builder.icmp_signed("==", row, INT(8)))
    with builder.if_else(is_plain) as (at_once, singly):
        with at_once:
            _emit_moves(builder, [a], (step, depth), to, ir.VectorType(DOUBLE, width))
        with singly:
            last, rows = builder.sub(height, INT(1)), []
            for r in range(width):
                is_there = builder.icmp_signed("<", INT(r), height)
                away = builder.mul(builder.select(is_there, INT(r), last), row)
                rows.append(moved(builder, a, away))
            _emit_moves(builder, rows, (step, depth), to, DOUBLE)


def _emit_moves(builder: Any, sources: list[Any], sizes: Any, to: Any, kind: Any) -> None:
    """Emit a loop that moves one number or vector from each source, ``step`` bytes apart."""
    step, depth = sizes
    width = len(sources) if kind is DOUBLE else kind.count

    def body(_: list[Any], p: Any) -> list[Any]:
        start, away = builder.gep(to, [builder.mul(p, INT(width))]), builder.mul(p, step)
        for r, source in enumerate(sources):
            found = builder.bitcast(moved(builder, source, away), kind.as_pointer())
            place = builder.bitcast(builder.gep(start, [INT(r)]), kind.as_pointer())
            builder.store(builder.load(found, align=8), place, align=8)
        return []

    loop(builder, (INT(0), depth, 1), [], body)


def _array(context: Any, builder: Any, signature: Any, arguments: Any, i: int) -> Any:
    """Argument ``i`` of a call, an array."""
    return context.make_array(signature.args[i])(context, builder, arguments[i])


def _none(*_: object) -> Floats:
    """Without compilation, products are not made of tiles."""
    raise NotImplementedError


def _plain_single_tile(
    A: Singles,
    B: Singles,
    C: Singles,
    starts: tuple[int, int, int],
    sizes: tuple[int, int],
    adds: bool,
    factor: Any,
) -> None:
    """What the instructions for single precision compute, up to rounding."""
    (a, b, place), (row, depth) = starts, sizes
    left = A[a : a + HEIGHT * depth].reshape(depth, HEIGHT)
    right = B[b : b + SINGLE_WIDTH * depth].reshape(depth, SINGLE_WIDTH)
    i, j = place // row, place % row // C.itemsize
    tile = C[i : i + HEIGHT, j : j + SINGLE_WIDTH]
    tile[...] = factor * np.matmul(left.T, right) + (tile if adds else 0.0)


fill_tile = emitted(_filler(_ROW, WIDTH), _none)
fill_single_tile = emitted(_filler(SINGLES, SINGLE_WIDTH), _plain_single_tile)
copy_rows = emitted(_copier(HEIGHT, 0), _none)
copy_columns = emitted(_copier(WIDTH, 1), _none)
