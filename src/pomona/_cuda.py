"""The only file that imports numba.cuda: kernels for a GPU, and whether there is one to run them.

Kernels give the same bits as the CPU's: sums are of integers, and a product that is added to something else
is rounded first (`product`), since a GPU's compiler would otherwise fuse the two. Only what Numba's simulator
(`NUMBA_ENABLE_CUDASIM=1`) knows is used, shared memory and barriers but no warps: the same kernels are tested
where there is no GPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

from pomona._jit import config, type_of
from pomona._kernel_files import kernel_directory
from pomona.errors import InputError

if not hasattr(np, "row_stack"):  # numba-cuda up to 0.30 still asks NumPy 2.5 for it
    np.row_stack = np.vstack

import numba.cuda

F = TypeVar("F", bound=Callable[..., Any])

SIMULATED = bool(config.ENABLE_CUDASIM)

N_THREADS = 4 if SIMULATED else 256
"""Threads of a block; a power of two, at most 256. Simulated ones are slow."""


class _Simulator:
    """`cuda` as a simulated thread sees it, in whatever file its kernel was written."""

    def __getattr__(self, name: str) -> Any:
        from numba.cuda.simulator.kernel import _get_kernel_context

        return getattr(_get_kernel_context() or numba.cuda, name)


cuda: Any = _Simulator() if SIMULATED else numba.cuda
_jit: Any = numba.cuda.jit  # the simulator's takes fewer options


@overload
def kernel(function: F) -> F: ...
@overload
def kernel(*, launched: bool = False, registers: int | None = None) -> Callable[[F], Any]: ...
def kernel(function: F | None = None, *, launched: bool = False, registers: int | None = None) -> Any:
    """Compile `function` for a GPU when it is first used; only one that is `launched` is called from Python.

    registers : of a thread, at most; fewer let more blocks run at a time.
    """
    if function is None:
        return partial(_compiled, launched=launched, registers=registers)
    return _compiled(function, launched)


def _compiled(function: Callable[..., Any], launched: bool, registers: int | None = None) -> Any:
    if not launched:
        return function if SIMULATED else _jit(function, device=True)
    if SIMULATED:
        return _jit(function)
    settings = _settings()
    previous = [each.CACHE_DIR for each in settings]
    for each in settings:
        each.CACHE_DIR = kernel_directory(Path(function.__code__.co_filename))
    try:
        return _jit(function, cache=True, max_registers=registers)
    finally:
        for each, directory in zip(settings, previous, strict=True):
            each.CACHE_DIR = directory


def _settings() -> list[Any]:
    """Where numba, and the package numba-cuda, look for the directory of compiled kernels."""
    settings = [config]
    try:
        from numba.cuda.core import config as own
    except ImportError:
        return settings
    return [config, own]


if SIMULATED:

    @kernel
    def product(x, y):
        """x · y in float64, rounded before anything is added to it."""
        return x * y

    @kernel
    def product32(x, y):
        """x · y in float32, rounded before anything is added to it."""
        return x * y
else:
    from numba.cuda import libdevice

    @kernel
    def product(x, y):
        """x · y in float64, rounded before anything is added to it."""
        return libdevice.dmul_rn(x, y)

    @kernel
    def product32(x, y):
        """x · y in float32, rounded before anything is added to it."""
        return libdevice.fmul_rn(x, y)


@cache
def problem() -> str | None:
    """Why no kernel can run here, in a line, or None."""
    if SIMULATED:
        return None
    try:
        numba.cuda.current_context()
    except Exception as error:  # the driver, the toolkit and numba each have their own
        return " ".join(str(error).split()).partition(". ")[0][:200] or type(error).__name__
    return None


@contextmanager
def on_device() -> Iterator[None]:
    """Have the GPU's errors told in a line."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("numba", "numba_cuda", "cuda"):
            raise
        text = " ".join(str(error).split())[:200]
        if "OUT_OF_MEMORY" in text:
            raise InputError(f"the GPU's memory is full ({text}): use device='cpu', or fewer data") from None
        raise InputError(f"the GPU failed ({text}): use device='cpu'") from None


def blocks_for(compiled: Any, arguments: tuple[Any, ...]) -> int:
    """How many blocks of a launched kernel can wait for each other."""
    if SIMULATED:
        return 1
    compiled.compile(tuple(type_of(argument) for argument in arguments))
    made = next(iter(compiled.overloads.values()))
    count: int = made.max_cooperative_grid_blocks(N_THREADS)
    return count
