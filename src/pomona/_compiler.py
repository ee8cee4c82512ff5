"""How numba compiles kernels here: as it does by itself, less what they do not need.

A kernel called by others is a *part* of them: it is written in LLVM's language, but optimized, and made to
machine code, only within those that Python calls. So are the functions that numba has in its own language, as
`max` and `np.empty`. Who owns an array is counted only by kernels that make one or give one back. And what
numba does over and over while it compiles is done once, or quickly.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from llvmlite.binding import ffi
from llvmlite.ir import types as llvm_types
from numba.core import ir, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.cpu import CPUContext
from numba.core.runtime.nrt import rtsys
from numba.core.targetconfig import ConfigStack, TargetConfig
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.types.functions import BaseFunction
from numba.core.typing.context import Context
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.core.untyped_passes import InlineClosureLikes

NEWEST_KNOWN = (0, 68)
"""The last numba with which all of this has been tried; 0.61 is the first."""


class _Library(JITCodeLibrary):
    """The code of a kernel that Python calls, or others by its address."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Numba sets out to optimize also those that are only named here."""
        if not hasattr(self._codegen, "_pass_builder"):  # numba before 0.62
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)


class _PartLibrary(_Library):
    """The code of a kernel inside those that call it, with which it is optimized and emitted."""

    def add_linking_library(self, library: Any) -> None:
        if library is not rtsys.library:  # which those that call it have
            super().add_linking_library(library)

    def _optimize_final_module(self) -> None:
        """Later."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Closures(InlineClosureLikes):
    """Numba's step for functions inside functions, and lists, where there are any."""

    _name = "closures"

    def run_pass(self, state: Any) -> bool:
        operations = {made.op for block in state.func_ir.blocks.values() for made in block.find_exprs()}
        return bool({"make_function", "build_list"} & operations and super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Rewrites(NopythonRewrites):
    """Numba's step for whole arrays in a formula and for fields of records, where there are any."""

    _name = "rewrites"

    def run_pass(self, state: Any) -> bool:
        has_names = any(isinstance(type_, types.StringLiteral) for type_ in state.typemap.values())
        return bool((has_names or _owns_arrays(state)) and super().run_pass(state))


def _owns_arrays(state: Any) -> bool:
    """Whether a kernel makes arrays, or gives one back; else all that it sees belong to those who call it."""

    def is_made(value: Any) -> bool:
        if isinstance(value, ir.Expr) and value.op == "getitem":  # by an array of places, a copy
            return bool(models[state.typemap[value.index.name]].contains_nrt_meminfo())
        return not isinstance(value, (ir.Arg, ir.Var)) and getattr(value, "op", "") not in _VIEWS

    def parts(type_: Any) -> list[Any]:
        is_tuple = isinstance(type_, types.BaseTuple)
        return [one for member in type_ for one in parts(member)] if is_tuple else [type_]

    models = state.targetctx.data_model_manager
    given = [one for argument in state.args for one in parts(argument)]
    owned = {state.return_type, *(one for one in given if not isinstance(one, types.Array))}
    for block in state.func_ir.blocks.values():
        made = [one.target.name for one in block.find_insts(ir.Assign) if is_made(one.value)]
        owned.update(state.typemap[name] for name in made)
    return any(models[type_].contains_nrt_meminfo() for type_ in owned)


_VIEWS = {
    "static_getitem",
    "getattr",
    "getiter",
    "iternext",
    "pair_first",
    "exhaust_iter",
    "build_tuple",
    "cast",
}
"""Operations that give arrays which somebody else owns."""


class _Lowering(NativeLowering):
    """Numba's last step: the instructions of LLVM."""

    _name: str
    library: type[_Library]

    def run_pass(self, state: Any) -> bool:
        state.library = self.library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        if not _owns_arrays(state):
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
            vars(state.targetctx).pop("nrt", None)  # made by one who counts
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(_Lowering):
    """Those of a kernel that Python calls."""

    _name = "kernel_lowering"
    library = _Library


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(_Lowering):
    """Those of a kernel inside others: without machine code, it has no place in memory."""

    _name = "part_lowering"
    library = _PartLibrary

    def run_pass(self, state: Any) -> bool:
        state.flags.no_compile = True
        super().run_pass(state)
        name, lowered = object(), state["cr"]
        state.targetctx.insert_user_function(name, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=name)
        return True


class KernelCompiler(CompilerBase):
    """Compiles a kernel for Python, or for those that call it by its address."""

    lowering: type[_Lowering] = _KernelLowering

    def define_pipelines(self) -> list[Any]:
        steps = DefaultPassBuilder.define_nopython_pipeline(self.state, "kernel")
        ours = {InlineClosureLikes: _Closures, NopythonRewrites: _Rewrites, NativeLowering: self.lowering}
        steps.passes = [(ours.get(step, step), name) for step, name in steps.passes]
        steps.finalize()
        return [steps]


class _PartCompiler(KernelCompiler):
    """Compiles a kernel for those that call it by its name: no version for Python, nothing done twice."""

    lowering = _PartLowering


def part_of(jit: Callable[..., Any], function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """A function in numba's language as a part of those that call it."""
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    part: Any = jit(pipeline_class=_PartCompiler, **{**options, **wrappers})(function)
    part.add_overload = lambda made: part.overloads.update({tuple(made.signature.args): made})
    return part


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


def _load_once(own: Callable[[Any], None]) -> Callable[[Any], None]:
    """Import what numba knows of Python and NumPy once a kernel; it would a dozen times a function."""

    def load(self: Any) -> None:
        if type(self) not in _loaded:
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
