"""The passes over all documents as steps of the team that grows the tree.

Waking sixteen threads takes up to a millisecond, five times a tree; what they do then takes a tenth of that.
The members of a team are awake for as long as a tree takes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pomona._jit import address_of, call, kernel, n_threads, type_of, types
from pomona._team import await_reports, await_step, enroll, publish, report, take
from pomona.trees.divide import N_ADDRESSES, Table, part_of_range, with_member
from pomona.trees.passes import Passes, Sums, extremes, round_and_pack, sum_leaves, sums

MANY_THREADS = 5
"""Fewer are woken as fast: then no kernels are compiled for this."""

TERMS = np.dtype(
    [
        ("gradient_scale", np.float64),
        ("hessian_scale", np.float64),
        ("seed", np.uint64),
        ("count_bits", np.int64),
        ("gradient_shift", np.int64),
        ("n_items", np.int64),
        ("n_leaves", np.int64),
    ],
    align=True,
)
"""What the pass at hand is about."""

_DOCS = 1 << 13  # the least that a task is worth taking, some 5 µs

_EXTREMES, _SUMS, _PACK, _LEAVES = range(4)


class Pass(NamedTuple):
    """All that the passes work on."""

    board: NDArray[np.int64]
    rows: NDArray[np.int32]
    gradient: NDArray[np.float32]
    hessian: NDArray[np.float32]
    searched: NDArray[np.float32]
    numbers: NDArray[np.int64]
    packed: NDArray[np.int64]
    leaves: NDArray[np.void]
    leaf_of_row: NDArray[np.int32]
    facts: NDArray[np.float64]
    """(n_threads, 4) extremes of each part"""
    sums: NDArray[np.int64]
    """(n_threads, 3)"""
    leaf_sums: NDArray[np.int64]
    """(n_threads, n_leaves, 2)"""
    terms: NDArray[np.void]
    """(1,) TERMS"""
    order: NDArray[np.void]
    """(1,) ORDER, the team's"""
    addresses: NDArray[np.int64]
    """Where the kernels of the steps are."""


@kernel
def _range(task, passed, terms):
    """The part of the items that a task is about."""
    n_tasks = passed.order[0]["n_tasks"]
    first = part_of_range(np.int64(0), terms["n_items"], n_tasks, task)
    return first, part_of_range(np.int64(0), terms["n_items"], n_tasks, task + 1)


@kernel(by_address=True)
def _find_extremes(task, passed, terms):
    first, last = _range(task, passed, terms)
    out = passed.facts[task]
    out[0], out[1], out[2], out[3] = extremes(first, last, passed.gradient, passed.searched)


@kernel(by_address=True)
def _add_up(task, passed, terms):
    first, last = _range(task, passed, terms)
    out, scales = passed.sums[task], (terms["gradient_scale"], terms["hessian_scale"])
    out[0], out[1], out[2] = sums(first, last, passed.gradient, passed.searched, scales)


@kernel(by_address=True)
def _pack(task, passed, terms):
    first, last = _range(task, passed, terms)
    out, scales = passed.sums[task], (terms["gradient_scale"], terms["hessian_scale"])
    bits, derivatives = (terms["count_bits"], terms["gradient_shift"]), (passed.gradient, passed.searched)
    out[0], out[1], out[2] = round_and_pack(
        first,
        last,
        derivatives[0],
        derivatives[1],
        terms["seed"],
        passed.numbers,
        scales,
        bits,
        passed.packed,
    )


@kernel(by_address=True)
def _add_up_leaves(task, passed, terms):
    first, last = _range(task, passed, terms)
    leaves, scales = passed.leaves[: terms["n_leaves"]], (terms["gradient_scale"], terms["hessian_scale"])
    sum_leaves(
        first, last, leaves, passed.rows, passed.gradient, passed.hessian, scales, passed.leaf_of_row,
        passed.leaf_sums[task],
    )  # fmt: skip


_STEPS = (_find_extremes, _add_up, _pack, _add_up_leaves)


@kernel
def serve_both(table, passed):
    """What a member of the team does until it is dismissed: steps of dividing, and passes."""
    board, order, terms = table.board, table.order[0], passed.terms[0]
    member = enroll(board)
    while await_step(board):
        task = take(board)
        if task >= 0:
            step = order["step"]
            if step < N_ADDRESSES:
                call(table.addresses[step], with_member(task, member, order), table, order)
            else:
                call(passed.addresses[step - N_ADDRESSES], task, passed, terms)
            report(board)


@kernel
def _run(step, n_tasks, passed):
    """One pass, by the whole team."""
    board, address, terms = passed.board, passed.addresses[step], passed.terms[0]
    passed.order[0]["step"], passed.order[0]["n_tasks"] = step + N_ADDRESSES, n_tasks
    publish(board, n_tasks)
    task = take(board)
    while task >= 0:
        call(address, task, passed, terms)
        report(board)
        task = take(board)
    await_reports(board, n_tasks)


class TeamPasses(Passes):
    """Passes over all documents of a single machine, by the team that works on a table."""

    def __init__(
        self,
        table: Table,
        rows: NDArray[np.int32],
        gradient: NDArray[np.float32],
        hessian: NDArray[np.float32],
        *,
        searched: NDArray[np.float32],
    ) -> None:
        super().__init__(rows, gradient, hessian, table.packed, searched=searched, is_bag=False)
        count = n_threads()
        self.passed = Pass(
            board=table.board,
            rows=rows,
            gradient=self.gradient,
            hessian=self.hessian,
            searched=self.searched,
            numbers=self.numbers,
            packed=self.out,
            leaves=table.leaves,
            leaf_of_row=self.leaf_of_row,
            facts=np.empty((count, 4)),
            sums=np.empty((count, 3), np.int64),
            leaf_sums=np.empty((count, len(table.leaves), 2), np.int64),
            terms=np.zeros(1, TERMS),
            order=table.order,
            addresses=np.zeros(len(_STEPS), np.int64),
        )
        kinds = types.int64, type_of(self.passed), type_of(self.passed.terms[0])
        self.passed.addresses[:] = [address_of(step, *kinds) for step in _STEPS]

    def extremes(self) -> NDArray[np.float64]:
        """As `Passes`."""
        return self.passed.facts[: self._run(_EXTREMES, len(self.out))]

    def sums(self, scales: tuple[float, float]) -> Sums:
        """As `Passes`."""
        return self.passed.sums[: self._run(_SUMS, len(self.out), scales)]

    def pack(self, seed: int, scales: tuple[float, float], bits: tuple[int, int]) -> Sums:
        """As `Passes`."""
        terms = self.passed.terms[0]
        terms["seed"], terms["count_bits"], terms["gradient_shift"] = seed, *bits
        return self.passed.sums[: self._run(_PACK, len(self.out), scales)]

    def sum_leaves(self, leaves: NDArray[np.void], scales: tuple[float, float]) -> NDArray[np.int64]:
        """As `Passes`."""
        self.passed.terms["n_leaves"] = len(leaves)
        n_parts = self._run(_LEAVES, len(self.rows), scales)
        totals: NDArray[np.int64] = self.passed.leaf_sums[:n_parts, : len(leaves)].sum(axis=0)
        return totals

    def _run(self, step: int, n_items: int, scales: tuple[float, float] = (0.0, 0.0)) -> int:
        """One pass; returns in how many parts."""
        terms, n_tasks = self.passed.terms[0], max(1, min(n_threads(), n_items // _DOCS))
        terms["n_items"], terms["gradient_scale"], terms["hessian_scale"] = n_items, *scales
        _run(step, n_tasks, self.passed)
        return n_tasks
