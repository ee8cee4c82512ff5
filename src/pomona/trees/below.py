"""Sixteen numbers compared with another at once: how many cut points lie below a value."""

from __future__ import annotations

from typing import Any

from pomona._jit import intrinsic, ir, types

N_COUNTED = 16

_I16, _I32, _I64, _FLOAT = ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
_LANES = ir.VectorType(_FLOAT, N_COUNTED)


@intrinsic
def n_below(typing_context: Any, values: Any, offset: Any, limit: Any) -> Any:
    """`n_below(values, offset, limit)`: how many of `values[offset : offset + 16]` are less; none than NaN.

    values : float32, at least `offset + 16` of them in memory; offset : uint64; limit : float32. LLVM cuts
    the comparison into what the processor has: one with AVX-512, two with AVX2, four with SSE2 or NEON.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, offset, limit = arguments
        data = context.make_array(signature.args[0])(context, builder, array).data
        place = builder.bitcast(builder.gep(data, [offset]), _LANES.as_pointer())
        undefined = ir.Constant(_LANES, ir.Undefined)
        first = builder.insert_element(undefined, limit, _I32(0))
        everywhere = ir.Constant(ir.VectorType(_I32, N_COUNTED), [0] * N_COUNTED)
        limits = builder.shuffle_vector(first, undefined, everywhere)
        is_below = builder.fcmp_ordered("<", builder.load(place, align=4), limits)
        return builder.zext(builder.ctpop(builder.bitcast(is_below, _I16)), _I64)

    return types.uint64(values, types.uint64, types.float32), write
