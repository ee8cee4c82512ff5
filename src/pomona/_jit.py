"""The file of kernels and threads: with `_compiler` and `_quickly`, the only one that imports numba.

A *kernel* is a plain function over arrays and scalars, compiled once, that lets other threads run.
Work is spread over threads by `over_chunks`: a kernel whose first two arguments are a range
`[first, last)` of queries (or lines, or features) is called on many small ranges by a thread pool.
Compared with numba's own `parallel=True` this compiles about five times faster, is safe after a fork
and under other threads, and changes no global setting (docs/decisions/0002).
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast, overload

import numba
import numba.extending
from llvmlite import ir as ir
from llvmlite.binding import ffi
from numba import types as types
from numba.core import config as numba_config
from numba.core.cgutils import if_unlikely
from numba.core.cgutils import unpack_tuple as unpack_tuple
from numba.core.compiler_lock import global_compiler_lock

from pomona._crew import Call, Crew
from pomona._kernel_files import kernel_directory
from pomona._threads import n_threads as n_threads
from pomona._threads import threads as threads

try:
    from pomona import _compiler, _quickly

    has_known_numba = numba.version_info.short <= _compiler.NEWEST_KNOWN
except (ImportError, AttributeError):
    has_known_numba = False
"""Whether this numba has been tried with both; one that has not compiles as it does by itself."""

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

config: Any = numba_config  # its settings are set at run time, so no type checker knows them
_njit: Any = numba.njit  # nor all its options

F = TypeVar("F", bound=Callable[..., Any])


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(
    *, fastmath: bool = False, by_address: bool = False, compact: bool = False
) -> Callable[[F], F]: ...
def kernel(
    function: F | None = None, *, fastmath: bool = False, by_address: bool = False, compact: bool = False
) -> F | Callable[[F], F]:
    """Compile `function` (cached on disk), releasing the interpreter while it runs.

    fastmath : let sums be reordered and products fused, so that a loop that adds up is vectorized. NaN and
        infinity keep their meaning, and the same code on the same numbers still gives the same bits.
    by_address : other kernels call it by `call(address_of(…), …)`, and Python does not. A kernel that is
        called by its name is compiled into each of those that Python calls once more.
    compact : unroll no loop. A kernel of many loops that spends its time elsewhere is then compiled sooner.
    """
    if function is None:
        return partial(_compiled, fastmath=fastmath, by_address=by_address, compact=compact)
    return _compiled(function, fastmath, by_address, compact)


def _compiled(function: F, fastmath: bool, by_address: bool, compact: bool) -> F:
    previous, directory = config.CACHE_DIR, kernel_directory(Path(function.__code__.co_filename))
    # Numba reads this setting while it decorates; other users of numba in the process keep theirs.
    config.CACHE_DIR = directory
    try:
        options: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
        options["fastmath"] = {"reassoc", "contract", "arcp", "nsz"} if fastmath else False
        # Of a kernel whose sums may be reordered, the bits hang on how it is compiled: as they always were.
        compiler: dict[str, Any] = {}
        if has_known_numba and not fastmath:
            kind = _compiler.CompactCompiler if compact else _compiler.KernelCompiler
            compiler["pipeline_class"] = kind
        compiled: Any = _njit(cache=True, no_cpython_wrapper=by_address, **compiler, **options)(function)
    finally:
        config.CACHE_DIR = previous
    if hasattr(compiled, "overloads"):  # not where compiling is switched off
        _compile_alone(compiled, Path(directory))
        if compiler:  # sums that may be reordered would be in one way here and in another there
            part = _compiler.part_of(_njit, function, options)
            compiled.get_call_template, compiled.get_overload = part.get_call_template, part.get_overload
    return cast(F, compiled)


def _compile_alone(compiled: Any, directory: Path) -> None:
    """Let one process at a time compile a kernel: others compile what is announced, or wait, and load it.

    Of two that compiled different versions of a kernel at once, numba would give both files the same name:
    one version would then be loaded where the other is meant. Where files cannot be locked, nothing is kept;
    a disk that has become full costs only the cache. Garbage is not collected meanwhile, and what was made is
    not looked through at once: a fifth of the time.
    """
    lock, compile_, kept = directory / f"{compiled.__name__}.lock", compiled.compile, compiled._cache
    save, is_alone = kept.save_overload, False

    def compile_alone(signature: Any) -> Any:
        nonlocal is_alone
        with global_compiler_lock, contextlib.ExitStack() as stack:
            is_alone, was_collected, began = False, gc.isenabled(), time.perf_counter()
            with contextlib.suppress(OSError):
                file = stack.enter_context(lock.open("w"))
                while announced and not _locked(file, wait=False):
                    with contextlib.suppress(Exception):  # whoever needs it will see
                        compile_if_idle(*announced.popleft())
                is_alone = _locked(file, wait=True)
            gc.disable()
            try:
                with _quickly.quickly() if has_known_numba else contextlib.nullcontext():
                    return compile_(signature)
            finally:
                if was_collected:
                    # A kernel that was only loaded leaves little; and to count what is frozen takes a while.
                    if time.perf_counter() - began > 0.1 and not gc.get_freeze_count():
                        gc.freeze()
                        gc.unfreeze()  # now all objects count as old
                    gc.enable()

    def save_alone(*arguments: Any) -> None:
        with contextlib.suppress(OSError):
            if is_alone:
                save(*arguments)

    compiled.compile, compiled.lock, kept.save_overload = compile_alone, lock, save_alone


announced: deque[tuple[Any, tuple[Any, ...]]] = deque()  # kernels that will be needed, and their types


def compile_if_idle(compiled: Any, argument_types: tuple[Any, ...]) -> None:
    """Compile a kernel, unless another process does."""
    with compiled.lock.open("w") as file:
        is_idle = _locked(file, wait=False)
    if is_idle:
        compiled.compile(argument_types)


def _locked(file: Any, *, wait: bool) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def intrinsic(function: Callable[..., Any]) -> Callable[..., Any]:
    """An operation for kernels that is written as LLVM instructions (`ir`), where Python has no word for it.

    `function(context, *argument_types)` gives the signature (in `types`) and the writer of instructions.
    """
    made: Callable[..., Any] = numba.extending.intrinsic(function)
    return made


type_of: Callable[[Any], Any] = numba.typeof
"""The type that kernels see a value as."""


def address_of(compiled: Callable[..., Any], *argument_types: Any) -> int:
    """Where a kernel for arguments of these types begins in memory; it is compiled, or loaded, if need be."""
    kernel: Any = compiled
    if argument_types not in kernel.overloads:
        kernel.compile(argument_types)
    made = kernel.overloads[argument_types]
    address: int = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    return address


@intrinsic
def call(typing_context: Any, address: Any, *arguments: Any) -> Any:
    """`kernel(*arguments)` of the kernel at an address, which gives nothing back."""

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        convention = context.call_conv
        function = convention.get_function_type(types.none, arguments)
        place = builder.inttoptr(given[0], function.as_pointer())
        values = unpack_tuple(builder, given[1])
        status, _ = convention.call_function(builder, place, types.none, arguments, values)
        with if_unlikely(builder, status.is_error):  # no memory is left: so it is for the caller
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(types.int64, types.StarArgTuple.from_types(arguments)), write


def _let_nobody_compile() -> None:
    global_compiler_lock.acquire()
    ffi.lib._lock._lock.acquire()


def _let_anybody_compile() -> None:
    ffi.lib._lock._lock.release()
    global_compiler_lock.release()


if hasattr(os, "register_at_fork"):
    # A child that is forked while another thread compiles would wait for ever for a lock that nobody holds.
    os.register_at_fork(
        before=_let_nobody_compile, after_in_parent=_let_anybody_compile, after_in_child=_let_anybody_compile
    )


_crew: Crew | None = None
_making = Lock()


def _forget() -> None:
    """In a forked child, which inherits the crew but not its threads; nor whoever was just making one."""
    global _crew, _making
    _crew, _making = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _ask(call: Call, times: int) -> None:
    """Have other threads join in, so many: none where no thread can be started any more."""
    global _crew
    with _making:  # of threads that ask at once one makes it, or some would never be ended
        if _crew is None:
            _crew = Crew(0)
        with contextlib.suppress(RuntimeError):
            _crew.enlarge(times)
        crew = _crew
    crew.ask(call, min(times, crew.count))


def over_chunks(run: Callable[..., Any], n_items: int, *arguments: Any, smallest: int = 1) -> list[Any]:
    """Call `run(first, last, *arguments)` on ranges that cover `[0, n_items)`, in threads.

    Ranges hold at least `smallest` items; results come back in order. More ranges than threads are
    made, so that uneven queries still keep every core busy; not too many, as one at a time can begin.
    """
    count = n_threads()
    if n_items <= 0:
        return []
    step = max(smallest, -(-n_items // (count * (8 if count <= 4 else 3))))
    if count == 1 or step >= n_items:
        return [run(0, n_items, *arguments)]
    chunks = deque(enumerate(range(0, n_items, step)))
    results: list[Any] = [None] * len(chunks)

    def work() -> None:
        while True:
            try:
                index, first = chunks.popleft()
            except IndexError:
                return
            try:
                results[index] = run(first, min(first + step, n_items), *arguments)
            except BaseException:
                chunks.clear()  # what has not begun need not
                raise

    call = Call(work)
    try:
        _ask(call, min(count, len(chunks)) - 1)
        work()  # this thread works too: waking another takes longer than many a call
    finally:
        chunks.clear()  # after Ctrl-C, too
        call.close()
    if call.error is not None:
        raise call.error
    return results
