"""Where trees are grown: on the CPU, or on a GPU. The trees are the same, bit for bit."""

from __future__ import annotations

import warnings

from pomona.errors import InputError


def is_on_gpu(device: str) -> bool:
    """Whether `device` (`cpu`, `cuda`, `auto`) is a GPU; `auto` says so where there is none."""
    if device == "cpu":
        return False
    reason = _problem()
    if reason is None:
        return True
    if device == "cuda":
        raise InputError(f"there is no GPU to grow trees on ({reason}): use device='cpu'")
    warnings.warn(f"there is no GPU to grow trees on ({reason}): they grow on the CPU", stacklevel=2)
    return False


def _problem() -> str | None:
    """Why nothing can run on a GPU, in a line, or None."""
    try:
        from pomona._cuda import problem
    except ImportError:
        return "numba-cuda is not installed: pip install 'pomona[gpu]'"
    return problem()
