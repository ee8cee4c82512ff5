"""What numba does over and over while it compiles kernels of ours, done once, or quickly.

What is made is the same. It holds while one of our kernels is compiled, and is then taken back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from llvmlite.binding import ffi
from llvmlite.ir import types as llvm_types
from numba.core import ir, types
from numba.core.cgutils import alloca_once_value, create_struct_proxy
from numba.core.cpu import CPUContext
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.transforms import canonicalize_cfg
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import Context
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.np import arrayobj

from pomona._compiler import part_of
from pomona._when_used import when_used


def _part_decorator(self: Any, own: Callable[..., Any] = _OverloadFunctionTemplate._get_jit_decorator) -> Any:
    """What numba decorates its own functions with: parts, too, unless their sums may be reordered."""
    jit, flags = own(self), ConfigStack.top_or_none()
    if flags is None or flags.fastmath:
        return jit
    return lambda **options: lambda function: part_of(jit, function, options)


_signatures: dict[tuple[Any, ...], Any] = {}
_sizes: dict[str, int] = {}
_loaded: set[type] = set()


def _find_once(
    self: Any, context: Any, arguments: Any, named: Any, own: Callable[..., Any] = BaseFunction.get_call_type
) -> Any:
    """What an operation gives for some types; numba goes through dozens of candidates for every `+`."""
    if named:
        return own(self, context, arguments, named)
    key = self, context, tuple(arguments), ConfigStack.top_or_none()
    if key not in _signatures:
        _signatures[key] = own(self, context, arguments, named)
    return _signatures[key]


def _are_equal(self: Any, other: Any) -> bool:
    """Of two sets of options; numba compares all that there are, not only those that were given."""
    if type(self) is not type(other):
        return False
    ours, theirs, options = self._values, other._values, self.options
    return ours == theirs or all(
        ours.get(name, options[name].default) == theirs.get(name, options[name].default)
        for name in {*ours, *theirs}
    )


def _hash(self: Any) -> int:  # numba's is of the names of all options
    return hash(type(self))


def _size_once(
    self: Any,
    target_data: Any,
    context: Any = None,
    own: Callable[..., int] = llvm_types.Type.get_abi_size,
) -> int:
    """The bytes of a type of LLVM; it has to read a module to tell."""
    if isinstance(self, llvm_types.IdentifiedStructType):  # whose text is only a name
        return own(self, target_data, context)
    name = str(self)
    if name not in _sizes:
        _sizes[name] = own(self, target_data, context)
    return _sizes[name]


def _variables(self: Any, value: Any, own: Callable[..., list[Any]] = ir.Inst._rec_list_vars) -> list[Any]:
    """The variables in an instruction; numba asks ten times for those of each."""
    values = value.values() if type(value) is dict else value
    if type(value) not in (dict, list, tuple):
        return own(self, value)
    found = []
    for one in values:
        if type(one) is ir.Var:
            found.append(one)
        elif type(one) not in _WITHOUT_VARIABLES:
            found.extend(self._rec_list_vars(one))
    return found


_WITHOUT_VARIABLES = {ir.Loc, str, int, bool, type(None)}


def _process(
    self: Any,
    emit_dels: bool = False,
    extend_lifetimes: bool = False,
    own: Callable[..., None] = PostProcessor.run,
) -> None:
    """Between two steps: where variables live is found out only if it is asked for, not each time."""
    function = self.func_ir
    if function.is_generator:
        own(self, emit_dels, extend_lifetimes)
        return
    function.blocks = canonicalize_cfg(function.blocks)
    function.variable_lifetime, function.generator_info = VariableLifetime(function.blocks), None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _make_array(array_type: Any, own: Callable[[Any], Any] = arrayobj.make_array) -> Any:
    """What gives the fields of an array, unless its sums may be reordered."""
    flags = ConfigStack.top_or_none()
    is_ours = type(array_type) is types.Array and flags is not None and not flags.fastmath
    return _array_class(array_type) if is_ours else own(array_type)


@cache
def _array_class(array_type: Any, own: Callable[[Any], Any] = arrayobj.make_array) -> Any:
    """Fields of an array; to read one, numba puts the array into memory."""
    plain = create_struct_proxy(array_type)

    class Array(own(array_type)):  # type: ignore[misc]
        _given = None  # an array that is only read

        def __init__(self, context: Any, builder: Any, value: Any = None, ref: Any = None) -> None:
            if value is None:
                super().__init__(context, builder, value, ref)
                return
            self._context, self._builder, self._given = context, builder, value
            self._datamodel = context.data_model_manager[array_type]

        def _make_refs(self, ref: Any) -> Any:
            return plain._make_refs(self, ref)  # numba looks up first whether an array can be made one

        @property
        def shape(self) -> Any:
            return super().shape if self._given is None else plain.__getattr__(self, "shape")

        def __getitem__(self, index: int) -> Any:
            if self._given is None:
                return super().__getitem__(index)
            return self._builder.extract_value(self._given, index)

        def _getvalue(self) -> Any:
            return super()._getvalue() if self._given is None else self._given

        def __setitem__(self, index: int, value: Any) -> None:
            assert self._given is None
            super().__setitem__(index, value)

        def __getattr__(self, name: str) -> Any:
            if name in ("_value", "_outer_ref"):  # where it is in memory: a copy
                return alloca_once_value(self._builder, self._given)
            return super().__getattr__(name)

    return Array


def _load_once(own: Callable[[Any], None]) -> Callable[[Any], None]:
    """Import what numba knows of Python and NumPy once a kernel; it would a dozen times a function."""

    def load(self: Any) -> None:
        if type(self) not in _loaded:
            with when_used("scipy.linalg.cython_blas"):  # numba asks whether it is there, which takes 0.1 s
                own(self)
            _loaded.add(type(self))
        for registry in tuple(self._registries):
            self.install_registry(registry)

    return load


_QUICKER: list[tuple[Any, str, Any]] = [
    (BaseFunction, "get_call_type", _find_once),
    (TargetConfig, "__eq__", _are_equal),
    (TargetConfig, "__hash__", _hash),
    (_OverloadFunctionTemplate, "_get_jit_decorator", _part_decorator),
    (llvm_types.Type, "get_abi_size", _size_once),
    (ir.Inst, "_rec_list_vars", _variables),
    (PostProcessor, "run", _process),
    (arrayobj, "make_array", _make_array),
    (CPUContext, "load_additional_registries", _load_once(CPUContext.load_additional_registries)),
    (Context, "load_additional_registries", _load_once(Context.load_additional_registries)),
    (ffi.lib._lock, "_cblist", []),  # who wants to know of each call of LLVM
]


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """Compile within. Numba's lock is held, so nobody else compiles meanwhile; what is made is the same."""
    own = [(owner, name, getattr(owner, name)) for owner, name, _ in _QUICKER]
    _loaded.clear()
    for owner, name, ours in _QUICKER:
        setattr(owner, name, ours)
    try:
        yield
    finally:
        for owner, name, theirs in own:
            setattr(owner, name, theirs)
