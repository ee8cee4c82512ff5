"""Sixty-four documents at once: the two vector operations of bit-parallel scoring, for use in kernels.

A *lane* is a document's place in a block of 64. The operations are written for vectors of 64 elements,
which LLVM cuts into what the CPU has: one comparison with AVX-512, two with AVX2, four with SSE2 or NEON.
"""

from __future__ import annotations

from typing import Any

from pomona._jit import intrinsic, ir, types

N_LANES = 64

_BIT, _I8, _I32, _I64 = (ir.IntType(width) for width in (1, 8, 32, 64))


def _vector(element: Any) -> Any:
    return ir.VectorType(element, N_LANES)


def _in_all_lanes(builder: Any, element: Any, value: Any) -> Any:
    undefined = ir.Constant(_vector(element), ir.Undefined)
    first = builder.insert_element(undefined, value, _I32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(_vector(_I32), [0] * N_LANES))


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


@intrinsic
def lanes_above(typing_context: Any, codes: Any, offset: Any, code: Any) -> Any:
    """`lanes_above(codes, offset, code)`: bit d of the word tells whether `codes[offset + d] > code`.

    codes : uint8, at least `offset + 64` of them in memory; offset : uint64; code : uint8.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, offset, code = arguments
        place = builder.gep(_data(context, builder, signature.args[0], array), [offset])
        lanes = builder.load(builder.bitcast(place, _vector(_I8).as_pointer()), align=1)
        above = builder.icmp_unsigned(">", lanes, _in_all_lanes(builder, _I8, code))
        return builder.bitcast(above, _I64)

    return types.uint64(codes, types.uint64, types.uint8), write


@intrinsic
def lane_numbers(typing_context: Any, words: Any, n_bits: Any, out: Any) -> Any:
    """`lane_numbers(words, n_bits, out)`: `out[d]` is the number whose bit b is bit d of `words[b]`.

    words : uint64 (at least n_bits,); n_bits : uint64; out : uint32 (64,).
    """
    lanes_type = _vector(_I32)
    zeros = ir.Constant(lanes_type, [0] * N_LANES)

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        words, n_bits, out = arguments
        words = _data(context, builder, signature.args[0], words)
        out = _data(context, builder, signature.args[2], out)
        entry = builder.block
        loop, done = builder.append_basic_block("loop"), builder.append_basic_block("done")
        builder.cbranch(builder.icmp_unsigned("==", n_bits, _I64(0)), done, loop)

        builder.position_at_end(loop)
        bit, numbers = builder.phi(_I64), builder.phi(lanes_type)
        set_lanes = builder.bitcast(builder.load(builder.gep(words, [bit])), _vector(_BIT))
        power = _in_all_lanes(builder, _I32, builder.shl(_I32(1), builder.trunc(bit, _I32)))
        with_bit = builder.or_(numbers, builder.select(set_lanes, power, zeros))
        next_bit = builder.add(bit, _I64(1))
        builder.cbranch(builder.icmp_unsigned("<", next_bit, n_bits), loop, done)
        bit.add_incoming(_I64(0), entry)
        bit.add_incoming(next_bit, loop)
        numbers.add_incoming(zeros, entry)
        numbers.add_incoming(with_bit, loop)

        builder.position_at_end(done)
        result = builder.phi(lanes_type)
        result.add_incoming(zeros, entry)
        result.add_incoming(with_bit, loop)
        builder.store(result, builder.bitcast(out, lanes_type.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(words, types.uint64, out), write
