"""A team of threads that wait for work inside a kernel: atomic counters hand out tasks, without Python.

Waking 15 threads that wait in Python, each of which then needs the interpreter, takes 0.4 ms; most steps of a
round of training take less. So a *lead* publishes a step of n tasks on a board, takes tasks like everybody
else, and waits until all are done; *members* watch the board, and sleep, in Python, only when nothing was
published for a while. That takes processors from others, so it is for trainings that say so (`rounds`).

    lead                                        member
    publish(board, …, n)                        while not tired:
    while (task := take(board)) >= 0:               task = take(board)
        …                                           if task >= 0:
        report(board)                                   …
    await_reports(board, n)                             report(board)

No step needs a member: a lead whose members are late, or never come, does every task itself, so that nothing
can block however busy the machine is. A member that waits long gives its core away.

What is published is a kernel, by its address, and where its other arguments are: on the lead's stack.
"""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from threading import Lock, Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._jit import (
    address_of,
    intrinsic,
    ir,
    kernel,
    n_threads,
    over_chunks,
    type_of,
    types,
    unpack_tuple,
)

# Places on the board, each on its own cache line: number of the step, its tasks and the next of them in one
# word, so that one atomic addition takes a task of the very step that it names; reports; what to call, and
# where its arguments are; whether a task has failed.
_STEP, _REPORTS, _FUNCTION, _ARGUMENTS, _FAILED = 0, 8, 16, 17, 18
_FIELD = 20
_MASK = (1 << _FIELD) - 1
_PATIENCE = 4096  # looks at the board, some 50 µs, before a core is given away
_LONG_PATIENCE = 4 * _PATIENCE  # looks, some ms, before a member goes to sleep
_PARTS = 8  # of a range for each thread, so that uneven items still keep every core busy

_I32, _I64 = ir.IntType(32), ir.IntType(64)
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


def _publishable(
    context: Any, builder: Any, numbers: list[Any], kinds: tuple[Any, ...], values: list[Any], front: Any
) -> Any:
    """Lay out what to call, and with what: (function, arguments), both addresses.

    The function, `(task, member, arguments)`, calls the kernel at `numbers[0]` with the integers that
    `front(builder, task, member, *numbers)` gives, and the `values`; it returns 1 if the kernel
    failed, else 0.
    """
    kept = [*numbers, *values]
    layout = ir.LiteralStructType([one.type for one in kept])
    with builder.goto_entry_block():
        place = builder.alloca(layout)
    for i, one in enumerate(kept):
        builder.store(one, builder.gep(place, [_I32(0), _I32(i)]))
    name = builder.module.get_unique_name("task")
    function = ir.Function(builder.module, ir.FunctionType(_I64, [_I64] * 3), name)
    function.linkage = "internal"
    inside = ir.IRBuilder(function.append_basic_block())
    task, member, arguments = function.args
    there = inside.inttoptr(arguments, layout.as_pointer())
    given = [inside.load(inside.gep(there, [_I32(0), _I32(i)])) for i in range(len(kept))]
    leading = front(inside, task, member, *given[1 : len(numbers)])
    all_kinds, convention = (types.int64,) * len(leading) + kinds, context.call_conv
    kind = convention.get_function_type(types.none, all_kinds).as_pointer()
    all_given = [*leading, *given[len(numbers) :]]
    kernel = inside.inttoptr(given[0], kind)
    status, _ = convention.call_function(inside, kernel, types.none, all_kinds, all_given)
    inside.ret(inside.zext(status.is_error, _I64))
    pair = [builder.ptrtoint(one, _I64) for one in (function, place)]
    return context.make_tuple(builder, types.UniTuple(types.int64, 2), pair)


@intrinsic
def tasks(typing_context: Any, address: Any, stride: Any, *arguments: Any) -> Any:
    """What to publish for tasks `kernel(task + stride · member, *arguments)` of the kernel at an address."""

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        def front(inside: Any, task: Any, member: Any, stride: Any) -> list[Any]:
            return [inside.add(task, inside.mul(stride, member))]

        values = unpack_tuple(builder, given[2])
        return _publishable(context, builder, list(given[:2]), arguments, values, front)

    kinds = types.int64, types.int64, types.StarArgTuple.from_types(arguments)
    return types.UniTuple(types.int64, 2)(*kinds), write


@intrinsic
def ranges(typing_context: Any, address: Any, n_items: Any, step: Any, *arguments: Any) -> Any:
    """The same for tasks `kernel(first, last, *arguments)` on ranges of `step` items."""

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        def front(inside: Any, task: Any, member: Any, n_items: Any, step: Any) -> list[Any]:
            first = inside.mul(task, step)
            end = inside.add(first, step)
            return [first, inside.select(inside.icmp_signed("<", end, n_items), end, n_items)]

        values = unpack_tuple(builder, given[3])
        return _publishable(context, builder, list(given[:3]), arguments, values, front)

    kinds = *(types.int64,) * 3, types.StarArgTuple.from_types(arguments)
    return types.UniTuple(types.int64, 2)(*kinds), write


@intrinsic
def _do(typing_context: Any, function: Any, task: Any, member: Any, arguments: Any) -> Any:
    """A task of what was published; 1 if it failed, as where no memory is left, else 0."""

    def write(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(_I64, [_I64] * 3).as_pointer()
        return builder.call(builder.inttoptr(given[0], kind), given[1:])

    return types.int64(*(types.int64,) * 4), write


def new_board() -> NDArray[np.int64]:
    """What a team shares."""
    return np.zeros(24, np.int64)


@kernel
def _publish(board, function, arguments, n_tasks):
    """Begin a step of `n_tasks` (fewer than 2^19)."""
    board[_FUNCTION], board[_ARGUMENTS] = function, arguments
    step = (board[_STEP] >> (2 * _FIELD)) + 1
    _store_atomically(board, _STEP, ((step & _MASK) << (2 * _FIELD)) | (n_tasks << _FIELD))


@kernel
def _has_task(state):
    return (state & _MASK) < ((state >> _FIELD) & _MASK)


@kernel
def _take(board):
    """The number of a task of the step, or -1 when all are taken."""
    if not _has_task(_load_atomically(board, _STEP)):
        return -1
    state = _add_atomically(board, _STEP, 1)
    return state & _MASK if _has_task(state) else -1


@kernel
def _report(board):
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
def _do_and_report(board, function, task, member, arguments):
    """A task, and to say that it is done, or has failed."""
    if _do(function, task, member, arguments):
        _store_atomically(board, _FAILED, 1)
    _report(board)


@kernel
def _await_reports(board, n_tasks):
    """Wait until all tasks of the step are done; a kernel fails only where no memory is left."""
    looks = np.int64(0)
    while _load_atomically(board, _REPORTS) < n_tasks:
        looks = _wait_a_little(looks)
    _store_atomically(board, _REPORTS, 0)
    if _load_atomically(board, _FAILED):
        _store_atomically(board, _FAILED, 0)
        raise MemoryError("no memory is left for a kernel that another thread ran")


@kernel
def lead(board, function, arguments, n_tasks):
    """A step of `n_tasks`, by the whole team: what to call and with what are of `tasks` or `ranges`."""
    _publish(board, function, arguments, n_tasks)
    task = _take(board)
    while task >= 0:
        _do_and_report(board, function, task, np.int64(0), arguments)
        task = _take(board)
    _await_reports(board, n_tasks)


@kernel
def _serve(board, member):
    """What a member does as long as there is work; it has a number from 1, the lead has 0."""
    looks = np.int64(0)
    while looks < _LONG_PATIENCE:
        task = _take(board)
        if task >= 0:
            _do_and_report(board, board[_FUNCTION], task, member, board[_ARGUMENTS])
            looks = np.int64(0)
        else:
            looks = _wait_a_little(looks)


@kernel
def _lead_ranges(board, address, n_items, step, arguments):
    function, place = ranges(address, n_items, step, *arguments)
    lead(board, function, place, (n_items + step - 1) // step)


class Team:
    """A lead, whoever that is at a time, and `count` − 1 members; they end with the process, or by `end`."""

    def __init__(self, count: int) -> None:
        self.count, self.board, self.has_lead = count, new_board(), Lock()
        self._doors, self._is_asleep = [Lock() for _ in range(count)], [False] * count
        self._is_over, self._waking = False, Lock()
        for member in range(1, count):
            self._doors[member].acquire()
            with contextlib.suppress(RuntimeError):  # no thread can be started any more
                Thread(target=self._live, args=(member,), name=f"pomona_team_{member}", daemon=True).start()

    def _live(self, member: int) -> None:
        while not self._is_over:
            _serve(self.board, member)
            self._is_asleep[member] = True
            if not self._is_over:  # asked again: who ends a team wakes only those that are said to sleep
                self._doors[member].acquire()

    def wake(self) -> None:
        """Have those watch the board who have gone to sleep."""
        with self._waking:  # who ends the team wakes them, too, perhaps at the same time
            for member, is_asleep in enumerate(self._is_asleep):
                if is_asleep:
                    self._is_asleep[member] = False
                    self._doors[member].release()

    def end(self) -> None:
        """Send the members home."""
        self._is_over = True
        self.wake()


_team: Team | None = None
_making = Lock()


def _forget() -> None:
    """In a forked child, which inherits the team but not its threads; nor whoever was just making one."""
    global _team, _making
    _team, _making = None, Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _team_of(count: int) -> Team:
    global _team
    with _making:  # of threads that ask at once one makes it, or some would never be ended
        if _team is None or _team.count != count:
            if _team is not None:
                _team.end()
            _team = Team(count)
        return _team


@contextlib.contextmanager
def team_board(count: int) -> Iterator[NDArray[np.int64]]:
    """A board that `count` − 1 other threads watch; one that nobody does where somebody else leads them."""
    team = _team_of(count) if count > 1 else None
    if team is None or not team.has_lead.acquire(blocking=False):
        yield new_board()
        return
    try:
        team.wake()
        yield team.board
    finally:
        team.has_lead.release()


_is_in_rounds: ContextVar[bool] = ContextVar("is_in_rounds", default=False)


@contextlib.contextmanager
def rounds() -> Iterator[None]:
    """The body runs many short kernels, one soon after the other: `by_team` has a team wait for them."""
    before = _is_in_rounds.set(True)
    try:
        yield
    finally:
        _is_in_rounds.reset(before)


def by_team(run: Callable[..., Any], n_items: int, *arguments: Any, smallest: int = 1) -> None:
    """As `over_chunks`, for a kernel that gives nothing back; by a team where there are many, in `rounds`."""
    count = n_threads()
    step = max(1, smallest, -(-n_items // (count * _PARTS)))
    if not _is_in_rounds.get():
        over_chunks(run, n_items, *arguments, smallest=smallest)
    elif count == 1 or step >= n_items:
        run(0, n_items, *arguments)
    else:
        with team_board(count) as board:
            _lead_ranges(board, _address(run, arguments), n_items, step, arguments)


_addresses: dict[Any, int] = {}


def _address(run: Any, arguments: tuple[Any, ...]) -> int:
    """Where the kernel for such arguments is: numba takes 20 µs to find the type of an array."""
    key = run, *map(_kind, arguments)
    if key not in _addresses:
        _addresses[key] = address_of(run, types.int64, types.int64, *map(type_of, arguments))
    return _addresses[key]


def _kind(argument: Any) -> Any:
    is_array = isinstance(argument, np.ndarray)
    return (argument.dtype, argument.ndim, argument.flags.num) if is_array else type_of(argument)
