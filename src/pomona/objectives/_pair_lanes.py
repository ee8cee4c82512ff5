"""Pairs of two rows of a ranking with all documents below, sixteen at a time, added up in a fixed order.

A sum that LLVM makes a vector loop of is added up in an order that depends on the CPU. Here lane l adds the
documents l, l + 16, l + 32 …, and the lanes are then added by halves: 8 to 8, 4 to 4, … So lambdas are the
same bits on every CPU, and on a GPU. The operations are written for vectors of 16 floats, which LLVM cuts
into what the CPU has.
"""

from __future__ import annotations

from typing import Any

from pomona._jit import intrinsic, ir, types

LANES = 16
N_SUMS = 5

_I32, _I64, _F32, _F64 = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()
_SINGLES, _DOUBLES = ir.VectorType(_F32, LANES), ir.VectorType(_F64, LANES)
_ONES = ir.Constant(_SINGLES, [1.0] * LANES)
_ALL_BUT_SIGN = ir.Constant(ir.VectorType(_I32, LANES), [0x7FFFFFFF] * LANES)
_ZEROS = ir.Constant(_SINGLES, [0.0] * LANES)


def _in_all_lanes(builder: Any, kind: Any, value: Any) -> Any:
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, _I32(0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def _sum_of_lanes(builder: Any, lanes: Any) -> Any:
    """Lanes added by halves."""
    width = LANES
    while width > 1:
        width //= 2
        kind = ir.VectorType(_I32, width)
        low, high = (
            builder.shuffle_vector(lanes, lanes, ir.Constant(kind, list(range(first, first + width))))
            for first in (0, width)
        )
        lanes = builder.fadd(low, high)
    return builder.extract_element(lanes, _I32(0))


def _size(builder: Any, lanes: Any) -> Any:
    bits = builder.bitcast(lanes, ir.VectorType(_I32, LANES))
    return builder.bitcast(builder.and_(bits, _ALL_BUT_SIGN), _SINGLES)


class _Row:
    """One of the two rows, its terms in all lanes."""

    def __init__(self, builder: Any, rule: Any, singles: list[Any], upper: Any, share: Any) -> None:
        self._builder, self._rule = builder, rule
        self._score, self._inverse, self._value, *self._weight = (
            _in_all_lanes(builder, _SINGLES, term) for term in singles
        )
        self._upper, self._share = (_in_all_lanes(builder, _DOUBLES, term) for term in (upper, share))
        self._factor = _in_all_lanes(builder, _SINGLES, builder.fptrunc(upper, _F32))

    def pairs(self, score: Any, power: Any, value: Any, weight: Any, lower: Any = None) -> tuple[Any, Any]:
        """λ and hessian of the pairs with sixteen documents: `_pair_gradient` of `_lambda_kernels`."""
        b, (near, slope, excess, room) = self._builder, self._rule
        factor = self._factor
        if lower is not None:
            factor = b.fptrunc(b.fsub(self._upper, b.fmul(self._share, lower)), _SINGLES)
        delta = b.fadd(b.fmul(b.fsub(value, self._value), factor), excess)
        delta = b.fmul(b.select(b.fcmp_ordered("<", delta, room), delta, room), weight)
        for own_weight in self._weight:
            delta = b.fmul(delta, own_weight)
        spread = b.fadd(near, b.fmul(slope, b.fsub(self._score, score)))
        e = b.fmul(power, self._inverse)
        both = b.fadd(_ONES, e)
        part = b.fdiv(delta, b.fmul(b.fmul(both, both), spread))
        rising = b.select(b.fcmp_ordered(">", part, _ZEROS), _ONES, e)
        return b.fmul(b.fmul(part, both), rising), b.fmul(_size(b, part), e)


def _add_vectors(builder: Any, before: Any, after: Any, n_vectors: Any, data: list[Any], rows: Any) -> Any:
    """The loop over vectors of documents; returns what their pairs sum up to, in lanes."""
    loop, vector = builder.block, builder.phi(_I64)
    sums = [builder.phi(_SINGLES) for _ in range(N_SUMS)]
    at = builder.mul(vector, _I64(LANES))
    places = [
        builder.bitcast(builder.gep(pointer, [at]), kind.as_pointer())
        for pointer, kind in zip(data, [_SINGLES] * 6 + [_DOUBLES], strict=False)
    ]
    others = [builder.load(place, align=4) for place in places[2:6]]
    others += [builder.load(place, align=8) for place in places[6:]]
    (a_lambda, a_hessian), (b_lambda, b_hessian) = (row.pairs(*others) for row in rows)
    for place, more in zip(
        places[:2], (builder.fadd(a_lambda, b_lambda), builder.fadd(a_hessian, b_hessian)), strict=True
    ):
        builder.store(builder.fadd(builder.load(place, align=4), more), place, align=4)
    sizes = builder.fadd(_size(builder, a_lambda), _size(builder, b_lambda))
    added = [
        builder.fadd(total, more)
        for total, more in zip(sums, (a_lambda, a_hessian, b_lambda, b_hessian, sizes), strict=True)
    ]
    following = builder.add(vector, _I64(1))
    builder.cbranch(builder.icmp_signed("<", following, n_vectors), loop, after)
    vector.add_incoming(_I64(0), before)
    vector.add_incoming(following, loop)
    for phi, total in zip(sums, added, strict=True):
        phi.add_incoming(_ZEROS, before)
        phi.add_incoming(total, loop)
    return added


@intrinsic
def push_pairs(
    typing_context: Any, n_vectors: Any, has_lower: Any, lambdas: Any, hessians: Any, score: Any, power: Any,
    value: Any, weight: Any, lower: Any, rule: Any, a_singles: Any, a_doubles: Any, b_singles: Any,
    b_doubles: Any, out: Any,
) -> Any:  # fmt: skip
    """Add the pairs of rows a and b with 16 · `n_vectors` documents, which are at least one vector.

    lambdas, hessians (n,) float32 are added to · score, power, value, weight (n,) float32 · lower (n,)
    float64, unless `has_lower` is 0 : all are 0 · rule (near, slope, excess, room) float32 · a_singles,
    b_singles (score, 1 / power, value) float32 · a_doubles, b_doubles (upper, share) float64 · out (5,)
    float32 : sums of λ and hessian of a, of b, and of all |λ|.
    """
    others = lambdas, hessians, score, power, value, weight, lower
    return _pushing(n_singles=3, others=others, terms=(rule, a_singles, a_doubles, b_singles, b_doubles, out))


@intrinsic
def push_clipped_pairs(
    typing_context: Any, n_vectors: Any, has_lower: Any, lambdas: Any, hessians: Any, score: Any, power: Any,
    value: Any, weight: Any, lower: Any, rule: Any, a_singles: Any, a_doubles: Any, b_singles: Any,
    b_doubles: Any, out: Any,
) -> Any:  # fmt: skip
    """As `push_pairs`, with the weights of rows a and b, by which Δ is multiplied, as the fourth singles."""
    others = lambdas, hessians, score, power, value, weight, lower
    return _pushing(n_singles=4, others=others, terms=(rule, a_singles, a_doubles, b_singles, b_doubles, out))


def _pushing(n_singles: int, others: tuple[Any, ...], terms: tuple[Any, ...]) -> Any:
    """The signature of an intrinsic, and what writes it."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = [
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args[2:9], arguments[2:9], strict=True)
        ]
        out = context.make_array(signature.args[14])(context, builder, arguments[14]).data

        def unpacked(which: int, count: int) -> list[Any]:
            return [builder.extract_value(arguments[which], i) for i in range(count)]

        rule = [_in_all_lanes(builder, _SINGLES, term) for term in unpacked(9, 4)]
        rows = [
            _Row(builder, rule, unpacked(singles, n_singles), *unpacked(doubles, 2))
            for singles, doubles in ((10, 11), (12, 13))
        ]
        entry, done = builder.block, builder.append_basic_block("done")
        loops = [builder.append_basic_block(name) for name in ("without", "with")]
        builder.cbranch(builder.icmp_signed("==", arguments[1], _I64(0)), *loops)
        ends = []
        for loop, n_read in zip(
            loops, (6, 7), strict=True
        ):  # without the doubles of `lower` a quarter faster
            builder.position_at_end(loop)
            ends.append(_add_vectors(builder, entry, done, arguments[0], data[:n_read], rows))
        builder.position_at_end(done)
        totals = [builder.phi(_SINGLES) for _ in range(N_SUMS)]
        for loop, of_loop in zip(loops, ends, strict=True):
            for total, end in zip(totals, of_loop, strict=True):
                total.add_incoming(end, loop)
        for i, total in enumerate(totals):
            builder.store(_sum_of_lanes(builder, total), builder.gep(out, [_I64(i)]))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, *others, *terms), write
