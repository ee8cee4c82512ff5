"""How numba compiles kernels here: as it does by itself, less what they do not need.

A kernel called by others is a *part* of them: it is written in LLVM's language, but optimized, and made to
machine code, only within those that Python calls. So are the functions that numba has in its own language, as
`max` and `np.empty`. Who owns an array is counted only by kernels that make one or give one back. Variables
are not put into memory for LLVM to take them out again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from llvmlite.binding import newpassmanagers as passes
from numba.core import config as numba_config
from numba.core import ir, types
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower
from numba.core.runtime.nrt import rtsys
from numba.core.typed_passes import NativeLowering, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

config: Any = numba_config

NEWEST_KNOWN = (0, 68)
"""The last numba with which all of this has been tried; 0.61 is the first."""


class _Library(JITCodeLibrary):
    """The code of a kernel that Python calls, or others by its address."""

    def _optimize_functions(self, ll_module: Any) -> None:
        """Numba does all that it knows here, also to those that are only named, and again to the whole."""
        if not hasattr(self._codegen, "_pass_builder"):  # numba before 0.62
            super()._optimize_functions(ll_module)
            return
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                tidying = passes.create_new_function_pass_manager()
                tidying.add_sroa_pass()
                tidying.add_simplify_cfg_pass()
                tidying.add_instruction_combine_pass()
                tidying.run(function, self._codegen._pass_builder())


class _CompactLibrary(_Library):
    """That of a kernel whose loops are not unrolled."""

    def _optimize_final_module(self) -> None:
        builder = partial(_compact_builder, self._codegen._tm)
        self._codegen._pass_builder = builder  # type: ignore[method-assign]  # numba's lock is held
        try:
            super()._optimize_final_module()
        finally:
            del self._codegen._pass_builder


def _compact_builder(
    machine: Any, opt: Any = config.OPT, loop_vectorize: Any = config.LOOP_VECTORIZE, **_: Any
) -> Any:
    """As numba's `_pass_builder`, without unrolling."""
    options = passes.create_pipeline_tuning_options()
    options.speed_level, options.loop_vectorization, options.slp_vectorization = opt, loop_vectorize, False
    options.loop_unrolling = options.loop_interleaving = False
    return passes.create_pass_builder(machine, options)


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


class _Lower(Lower):
    """Numba's writer of instructions, which puts all into memory that more than one block uses."""

    def _find_singly_assigned_variable(self) -> None:
        """Variables for which no memory is needed: all that are assigned once, before any use."""
        blocks, assigned, used = self.func_ir.blocks, defaultdict(list), defaultdict(set)
        for label, block in blocks.items():
            for one in block.find_insts(ir.Assign):
                assigned[one.target.name].append(label)
        for label, names in compute_use_defs(blocks).usemap.items():
            for name in names:
                used[name].add(label)
        before = compute_cfg_from_blocks(blocks).dominators()

        def is_plain(name: str, places: list[int]) -> bool:
            first, others = places[0], used[name]
            is_before = all(first < label and first in before.get(label, ()) for label in others)
            return len(places) == 1 and is_before and not (others and self._counts_owners(name))

        self._singly_assigned_vars = {name for name, places in assigned.items() if is_plain(name, places)}
        self._blk_local_varmap: dict[str, Any] = {}

    def _counts_owners(self, name: str) -> bool:
        models = self.context.data_model_manager
        return bool(self.context.enable_nrt and models[self.typeof(name)].contains_nrt_meminfo())

    def delvar(self, name: str) -> None:
        if self._counts_owners(name):
            super().delvar(name)


class _Lowering(NativeLowering):
    """Numba's last step: the instructions of LLVM."""

    _name: str
    library: type[_Library]
    lowering_class = _Lower

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
class _CompactLowering(_Lowering):
    """Those of a kernel whose loops are not unrolled."""

    _name = "compact_lowering"
    library = _CompactLibrary


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


class CompactCompiler(KernelCompiler):
    """Compiles a kernel without unrolling its loops."""

    lowering = _CompactLowering


class _PartCompiler(KernelCompiler):
    """Compiles a kernel for those that call it by its name: no version for Python, nothing done twice."""

    lowering = _PartLowering


def part_of(jit: Callable[..., Any], function: Callable[..., Any], options: Mapping[str, Any]) -> Any:
    """A function in numba's language as a part of those that call it."""
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    part: Any = jit(pipeline_class=_PartCompiler, **{**options, **wrappers})(function)
    part.add_overload = lambda made: part.overloads.update({tuple(made.signature.args): made})
    return part
