"""Tiles of matrix products that stay in registers while the sums are made.

Loops over rows and columns do not get there: what they add to is stored and loaded again in every
round. So the vectors are written down for the compiler, LLVM, as they shall be.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

WIDTH = 8
"""Columns of a tile."""
SINGLE_WIDTH = 16
"""Columns of a tile in single precision."""

_FUSED = ("contract",)


def _adding_tile(height, number=types.float64, width=WIDTH):
    """A function for kernels that adds to a tile of so many rows."""
    vector = ir.VectorType(ir.DoubleType() if number == types.float64 else ir.FloatType(), width)
    align = number.bitwidth // 8

    @intrinsic
    def add_tile(typing_context, A, B, C, i, j):
        """C[i : i + height, j : j + width] += AᵀB there, of arrays in C order."""
        for array in (A, B, C):
            if getattr(array, "layout", "") != "C" or array.dtype != number:
                raise TypingError(f"tiles are of {number} arrays in C order, not of {array}")

        def generate(context, builder, signature, arguments):
            a, b, c = (
                context.make_array(kind)(context, builder, value)
                for kind, value in zip(signature.args[:3], arguments[:3], strict=True)
            )
            row, column = arguments[3:]
            rows, a_width = cgutils.unpack_tuple(builder, a.shape, 2)
            _, b_width = cgutils.unpack_tuple(builder, b.shape, 2)
            sums = [
                cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * width))
                for _ in range(height)
            ]
            with cgutils.for_range(builder, rows) as loop:
                place = builder.add(builder.mul(loop.index, b_width), column)
                of_b = _load(builder, builder.gep(b.data, [place]), vector, align)
                place = builder.add(builder.mul(loop.index, a_width), row)
                for k, total in enumerate(sums):
                    at = builder.gep(a.data, [builder.add(place, place.type(k))])
                    product = builder.fmul(
                        _spread(builder, builder.load(at), vector), of_b, flags=_FUSED
                    )
                    builder.store(builder.fadd(product, builder.load(total), flags=_FUSED), total)
            for k, total in enumerate(sums):
                down = builder.mul(builder.add(row, row.type(k)), b_width)
                at = builder.gep(c.data, [builder.add(down, column)])
                new = builder.fadd(_load(builder, at, vector, align), builder.load(total))
                builder.store(new, builder.bitcast(at, vector.as_pointer()), align=align)
            return context.get_dummy_value()

        return types.void(A, B, C, types.uint64, types.uint64), generate

    return add_tile


def _load(builder, at, vector, align):
    """The vector that begins there."""
    return builder.load(builder.bitcast(at, vector.as_pointer()), align=align)


def _spread(builder, number, vector):
    """A vector of one number."""
    nothing = ir.Constant(vector, ir.Undefined)
    first = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    one = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(one, nothing, first)


add_tile_of_1, add_tile_of_2, add_tile_of_3, add_tile_of_4 = map(_adding_tile, (1, 2, 3, 4))
add_single_tile_of_1, add_single_tile_of_4 = (
    _adding_tile(height, types.float32, SINGLE_WIDTH) for height in (1, 4)
)
