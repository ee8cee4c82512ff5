"""A team of threads inside one kernel call: tasks are handed out by atomic counters, without Python between.

Waking a thread of a pool takes 20 µs and more, and growing a tree takes a hundred short steps. Here a *lead*
publishes a step of n tasks, takes tasks like everybody else, and waits until all are done; *members* wait for
the next step, take tasks, and leave when the team is dismissed.

No step needs a member: a lead whose members are late, or never come, does every task itself, so that nothing
can block however busy the machine is. A member that waits long gives its core away.

    lead                                        member
                                                number = enroll(board)
    publish(board, n)                           while await_step(board):
    while (task := take(board)) >= 0:               task = take(board)
        ...                                         if task >= 0:
        report(board)                                   ...
    await_reports(board, n)                             report(board)
"""

from __future__ import annotations

import platform
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import intrinsic, ir, kernel, types

# Places on the board, each on its own cache line: number of the step, its tasks and the next of them in one
# word, so that one atomic addition takes a task of the very step that it names; reports; the end; members.
_STEP, _REPORTS, _OVER, _MEMBERS = 0, 8, 16, 24
_FIELD = 20
_MASK = (1 << _FIELD) - 1
_PATIENCE = 4096  # looks at the board, some 50 µs, before a core is given away

_I32 = ir.IntType(32)
_YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
_IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


def _place(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    return builder.gep(context.make_array(array_type)(context, builder, array).data, [index])


@intrinsic
def _add_atomically(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """`array[index] += value` as one operation; gives the value before."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), write


@intrinsic
def _load_atomically(typing_context: Any, array: Any, index: Any) -> Any:
    """`array[index]` as it is now."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(array, types.int64), write


@intrinsic
def _store_atomically(typing_context: Any, array: Any, index: Any, value: Any) -> Any:
    """`array[index] = value`, seen by all after everything written before."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store_atomic(arguments[2], place, "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), write


@intrinsic
def _breathe(typing_context: Any) -> Any:
    """Tell the processor that this is a waiting loop."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if _IS_X86:
            kind = ir.FunctionType(ir.VoidType(), ())
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), ())
        return context.get_dummy_value()

    return types.void(), write


@intrinsic
def _give_way(typing_context: Any) -> Any:
    """Let the operating system run another thread on this core."""

    def write(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, known = ir.FunctionType(_I32, ()), builder.module.globals
        builder.call(known.get(_YIELD) or ir.Function(builder.module, kind, _YIELD), ())
        return context.get_dummy_value()

    return types.void(), write


def new_board() -> NDArray[np.int64]:
    """What a team shares."""
    return np.zeros(32, np.int64)


def dismiss(board: NDArray[np.int64]) -> None:
    """Send the members home."""
    board[_OVER] = 1


@kernel
def enroll(board):
    """The number of a member, from 1: the lead has 0."""
    return _add_atomically(board, _MEMBERS, 1) + 1


@kernel
def publish(board, n_tasks):
    """Begin a step of `n_tasks` (fewer than 2^19); what they need must have been written before."""
    step = (board[_STEP] >> (2 * _FIELD)) + 1
    _store_atomically(board, _STEP, ((step & _MASK) << (2 * _FIELD)) | (n_tasks << _FIELD))


@kernel
def _has_task(state):
    return (state & _MASK) < ((state >> _FIELD) & _MASK)


@kernel
def take(board):
    """The number of a task of the step, or -1 when all are taken."""
    if not _has_task(_load_atomically(board, _STEP)):
        return -1
    state = _add_atomically(board, _STEP, 1)
    return state & _MASK if _has_task(state) else -1


@kernel
def report(board):
    """Say that a task is done."""
    _add_atomically(board, _REPORTS, 1)


@kernel
def _wait_a_little(looks):
    """The next look at the board: soon at first, later only after others had the core."""
    if looks < _PATIENCE:
        _breathe()
    else:
        _give_way()
    return looks + 1


@kernel
def await_reports(board, n_tasks):
    """Wait until all tasks of the step are done."""
    looks = np.int64(0)
    while _load_atomically(board, _REPORTS) < n_tasks:
        looks = _wait_a_little(looks)
    _store_atomically(board, _REPORTS, 0)


@kernel
def await_step(board):
    """Wait until there is a task, True, or the team is dismissed, False."""
    looks = np.int64(0)
    while not _has_task(_load_atomically(board, _STEP)):
        if _load_atomically(board, _OVER) != 0:
            return False
        looks = _wait_a_little(looks)
    return True
