r"""The innermost part of a matrix product: a tile of the result, kept in vector registers.

``fill_tile`` computes HEIGHT x WIDTH numbers of a result, or adds to them::

    C[r, j] (+)= factor (sum over p of A[r, p] B[p, j]),      p = 0, 1, ..., depth - 1

The sum is made in this order, starting from zero.  So a number depends neither on its place in the
tile nor on the other numbers there.  ``copy_rows`` and ``copy_columns`` pack what it reads.
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
    fused,
    load_vector,
    loop,
    moved,
    spread,
    unpacked,
    vector_place,
)

#: A row is one vector of AVX-512, and two where vectors have four numbers: twelve sums, two vectors
#: and a factor at a time then fit the sixteen registers of AVX2.
HEIGHT, WIDTH = 6, 8
_ZEROS = ir.Constant(ir.VectorType(DOUBLE, WIDTH), [0.0] * WIDTH)


def _emit_fill(
    _: Any, A: Any, B: Any, C: Any, starts: Any, sizes: Any, adds: Any, factor: Any
) -> tuple[Any, Callable[..., Any]]:
    """Put a product into a tile, or add it there.

    A and B are packed, HEIGHT or WIDTH numbers for each step of the sum.  ``starts``: where the
    tile begins in A and B, in numbers, and in C, in bytes.  ``sizes``: how many bytes lie between
    rows of C, and the depth.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, c = (_array(context, builder, signature, arguments, i).data for i in range(3))
        at_a, at_b, at_c = unpacked(builder, arguments[3])
        row, depth = unpacked(builder, arguments[4])
        sums = _emit_sums(builder, builder.gep(a, [at_a]), builder.gep(b, [at_b]), depth)
        scale = spread(builder, arguments[6], WIDTH)
        sums = [builder.fmul(scale, total) for total in sums]
        _emit_stores(builder, sums, moved(builder, c, at_c), row, arguments[5])
        return context.get_dummy_value()

    return types.void(A, B, C, starts, sizes, adds, factor), code


def _emit_sums(builder: Any, a: Any, b: Any, depth: Any) -> list[Any]:
    """Emit the loop over the depth, with all sums in registers."""

    def step(sums: list[Any], p: Any) -> list[Any]:
        """Add the products of one column of A with one row of B."""
        at_a = builder.gep(a, [builder.mul(p, INT(HEIGHT))])
        at_b = builder.gep(b, [builder.mul(p, INT(WIDTH))])
        row, grown = load_vector(builder, at_b, INT(0), WIDTH), []
        for r, total in enumerate(sums):
            number = builder.load(builder.gep(at_a, [INT(r)]), align=8)
            grown.append(fused(builder, spread(builder, number, WIDTH), row, total))
        return grown

    return loop(builder, (INT(0), depth, 1), [_ZEROS] * HEIGHT, step)[1]


def _emit_stores(builder: Any, sums: list[Any], c: Any, row: Any, adds: Any) -> None:
    """Emit what becomes of the sums: they are added to the tile, or put there."""
    rows = [moved(builder, c, builder.mul(row, INT(r))) for r in range(HEIGHT)]
    places = [vector_place(builder, at, INT(0), WIDTH) for at in rows]
    with builder.if_else(adds) as (to_add, to_put):
        with to_add:
            for place, total in zip(places, sums, strict=True):
                builder.store(builder.fadd(builder.load(place, align=8), total), place, align=8)
        with to_put:
            for place, total in zip(places, sums, strict=True):
                builder.store(total, place, align=8)


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


fill_tile = emitted(_emit_fill, _none)
copy_rows = emitted(_copier(HEIGHT, 0), _none)
copy_columns = emitted(_copier(WIDTH, 1), _none)
