"""Asking for memory ahead: a cache line is on its way while the documents before it are worked on."""

from __future__ import annotations

from typing import Any

from pomona._jit import intrinsic, ir, types

_I8, _I32 = ir.IntType(8), ir.IntType(32)
_TO_READ, _SOON, _DATA = _I32(0), _I32(3), _I32(1)  # what is wanted later, some processors do not fetch


@intrinsic
def prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """`prefetch(array, index)`: `array[index]` will be read soon; index : uint64, nothing happens beyond."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array, index = arguments
        data = context.make_array(signature.args[0])(context, builder, array).data
        place = builder.bitcast(builder.gep(data, [index]), _I8.as_pointer())
        kind = ir.FunctionType(ir.VoidType(), (_I8.as_pointer(), _I32, _I32, _I32))
        ask = builder.module.declare_intrinsic("llvm.prefetch", (_I8.as_pointer(),), kind)
        builder.call(ask, (place, _TO_READ, _SOON, _DATA))
        return context.get_dummy_value()

    return types.void(array, types.uint64), write
