"""Two vector operations, for use in kernels: 64 documents walk trees, and 16 cut points meet a value.

A *lane* is a document's place in a block of 64. The operations are written for vectors of that length,
which LLVM cuts into what the CPU has: one comparison with AVX-512, two with AVX2, four with SSE2 or NEON.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona._jit import intrinsic, ir, types

N_LANES = 64
N_CUTS = 16
N_TREES = 4
"""Trees walked at a time: each waits but for its own last step. Eight would not fit AVX2's registers."""

NODE = np.dtype(
    [("plane", np.uint32), ("code", np.uint8), ("leaf", np.uint8), ("right", np.uint8)], align=True
)
"""An inner node: where the 64 codes of its plane start in a block, the rank of its threshold (codes above go
right), and, counted from the left, the first leaf below it and the first of those on its right."""

_FIELDS: Any = NODE.fields
_I8, _I32, _I64 = (ir.IntType(width) for width in (8, 32, 64))
_LANES = ir.VectorType(_I8, N_LANES)


def _in_all_lanes(builder: Any, value: Any, n_lanes: int = N_LANES) -> Any:
    undefined = ir.Constant(ir.VectorType(value.type, n_lanes), ir.Undefined)
    first = builder.insert_element(undefined, value, _I32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_I32, n_lanes), [0] * n_lanes))


def _data(context: Any, builder: Any, array_type: Any, array: Any) -> Any:
    return context.make_array(array_type)(context, builder, array).data


@intrinsic
def n_below(typing_context: Any, cuts: Any, start: Any, x: Any) -> Any:
    """`n_below(cuts, start, x)`: how many of `cuts[start : start + 16]` are less than x; of NaN, none.

    cuts : float32 or float64, x alike; start : uint64.
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, start, x = arguments
        place = builder.gep(_data(context, builder, signature.args[0], array), [start])
        sixteen = builder.bitcast(place, ir.VectorType(x.type, N_CUTS).as_pointer())
        is_below = builder.fcmp_ordered(
            "<", builder.load(sixteen, align=4), _in_all_lanes(builder, x, N_CUTS)
        )
        return builder.ctpop(builder.zext(builder.bitcast(is_below, ir.IntType(N_CUTS)), _I64))

    return types.uint64(cuts, types.uint64, cuts.dtype), write


@intrinsic
def walk_trees(
    typing_context: Any, codes: Any, block: Any, nodes: Any, first: Any, last: Any, n_steps: Any, out: Any
) -> Any:
    """`walk_trees(codes, block, nodes, first, last, n_steps, out)`: the leaves of a block in four trees.

    Lanes begin at leaf 0. A lane that stands at the first leaf below a node has come to that node and, if
    its code is above, goes on to the first leaf on the right. So parents have to come before children; and
    a node that is asked again changes nothing, as the last one of a tree is while others go on.

    codes : uint8 (n_blocks, n_planes, 64); block : uint64; nodes : NODE; first, last : uint64 (4,) nodes of
    each tree of 2 to 256 leaves; n_steps : uint64, the nodes of the largest; out : uint8 (4 · 64,).
    """

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        block, n_steps = arguments[1], arguments[5]
        nodes, first, last, out = (
            _data(context, builder, signature.args[i], arguments[i]) for i in (2, 3, 4, 6)
        )
        all_codes = context.make_array(signature.args[0])(context, builder, arguments[0])
        stride = builder.extract_value(all_codes.strides, 0)
        codes = builder.gep(all_codes.data, [builder.mul(block, stride)])

        def item(array: Any, at: Any) -> Any:
            return builder.load(builder.gep(array, [at]))

        def field(node: Any, name: str, kind: Any) -> Any:
            place = builder.gep(builder.bitcast(node, _I8.as_pointer()), [_I64(_FIELDS[name][1])])
            return builder.load(builder.bitcast(place, kind.as_pointer()))

        def after(leaves: Any, node: Any) -> Any:
            """Where lanes stand once a node was asked."""
            start = builder.gep(codes, [builder.zext(field(node, "plane", _I32), _I64)])
            of_plane = builder.load(builder.bitcast(start, _LANES.as_pointer()), align=1)
            code, leaf, right = (
                _in_all_lanes(builder, field(node, name, _I8)) for name in ("code", "leaf", "right")
            )
            is_here, is_above = (
                builder.icmp_unsigned("==", leaves, leaf),
                builder.icmp_unsigned(">", of_plane, code),
            )
            return builder.select(builder.and_(is_here, is_above), right, leaves)

        trees = range(N_TREES)
        ends = [(item(first, _I64(t)), item(last, _I64(t))) for t in trees]
        entry, loop, done = builder.block, *(builder.append_basic_block(name) for name in ("loop", "done"))
        builder.branch(loop)
        builder.position_at_end(loop)
        step, leaves = builder.phi(_I64), [builder.phi(_LANES) for _ in trees]
        reached = []
        for (begin, end), stand in zip(ends, leaves, strict=True):
            at = builder.add(begin, step)
            at = builder.select(builder.icmp_unsigned("<", at, end), at, end)
            reached.append(after(stand, builder.gep(nodes, [at])))
        next_step = builder.add(step, _I64(1))
        builder.cbranch(builder.icmp_unsigned("<", next_step, n_steps), loop, done)
        step.add_incoming(_I64(0), entry)
        step.add_incoming(next_step, loop)
        for stand, then in zip(leaves, reached, strict=True):
            stand.add_incoming(ir.Constant(_LANES, [0] * N_LANES), entry)
            stand.add_incoming(then, loop)
        builder.position_at_end(done)
        for t, then in zip(trees, reached, strict=True):
            row = builder.gep(out, [_I64(t * N_LANES)])
            builder.store(then, builder.bitcast(row, _LANES.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(codes, types.uint64, nodes, first, last, types.uint64, out), write
