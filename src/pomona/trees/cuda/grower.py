"""Growers whose trees are grown on a GPU: the same trees as the CPU's, bit for bit.

Features are coded, and rows, histograms and leaves stay, on the GPU; of a tree only its nodes and the sums of
its leaves come back.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._cuda import N_THREADS, blocks_for, cuda, kernel, on_device
from pomona._types import Features, Values
from pomona.errors import InputError
from pomona.trees.binning import Bins
from pomona.trees.cuda import table
from pomona.trees.cuda.encode import encoded
from pomona.trees.cuda.leafwise import grow_leafwise
from pomona.trees.cuda.oblivious import grow_oblivious
from pomona.trees.cuda.sums import FloatSums, limits_of, packing_of
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grower import Grower, GrownTree, GrowthRules
from pomona.trees.histogram import Packing, pack, power_of_two
from pomona.trees.split import terms_of


@kernel(launched=True)
def _add_values(leaf_of_row, value, out):
    step = cuda.gridDim.x * cuda.blockDim.x
    for i in range(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x, out.size, step):
        out[i] += value[leaf_of_row[i]]


class CudaWorkspace:
    """The tables of one grower on the GPU, kept from tree to tree."""

    def __init__(self, bins: Bins, X: Features, rules: GrowthRules, n_leaves: int, launched: Any) -> None:
        if rules.monotone is not None and len(rules.monotone) != bins.n_features:
            raise InputError(
                f"found {len(rules.monotone)} monotone constraints for {bins.n_features} features"
            )
        if not rules.newton_splits:
            raise InputError(
                "a GPU cannot choose splits by gradients alone so far: leave splits or device out"
            )
        self.bins, self.rules, self.n_docs, self._n_leaves = bins, rules, len(X), n_leaves
        self.usable = np.flatnonzero(bins.n_bins > 1)
        n_columns = max(1, len(self.usable))
        # Without a feature that is not constant, one of a single bin that no split may use.
        self._columns = np.zeros((n_columns, 4), np.int32)
        self._columns[:, table.N_BINS] = 1
        usable = self._columns[: len(self.usable)]
        usable[:, table.N_BINS], usable[:, table.ALLOWED] = bins.n_bins[self.usable], 1
        usable[:, table.HAS_NAN] = bins.has_nan[self.usable]
        if rules.monotone is not None:
            usable[:, table.MONOTONE] = np.array(rules.monotone)[self.usable]
        self._launched = launched
        self._rules = np.zeros(table.RULES_SIZE)
        self._on_rules = cuda.to_device(self._rules)
        self._on_columns = cuda.to_device(self._columns)
        self._codes = encoded(X, bins, self.usable)
        self._histograms = cuda.device_array((n_leaves + 1, n_columns, table.N_BINS_AT_MOST), np.int64)
        self._leaves = cuda.device_array((n_leaves + 1, table.LEAF_WIDTH), np.int64)
        self._reals = self._leaves.view(np.float64)
        self._grown = cuda.pinned_array((n_leaves + 1, table.LEAF_WIDTH), np.int64)
        self._value = cuda.device_array(n_leaves, np.float64)
        self._best = cuda.device_array((n_columns, 2, 2), np.int64)
        self._best_gains = cuda.device_array((n_columns, 2), np.float64)
        self._order = cuda.device_array(table.ORDER_SIZE, np.int64)
        self._sums = FloatSums(self._order)
        self._gradient = cuda.device_array(self.n_docs, np.float32)
        self._hessian = cuda.device_array(self.n_docs, np.float32)
        self.leaf_of_row = cuda.device_array(self.n_docs, np.int32)
        self._add = _add_values[max(1, min(1024, self.n_docs // N_THREADS)), N_THREADS]
        self._make_room(self.n_docs)
        self._launch: Any = None

    def _make_room(self, n_rows: int) -> None:
        """For so many rows, as a bootstrap sample may have more than there are documents."""
        self._room = n_rows
        self._rows = cuda.device_array((2, n_rows), np.int32)
        self._values = cuda.device_array((2, n_rows), np.int64)

    def start(
        self, gradient: Any, hessian: Any, rows: NDArray[np.int32] | None, rng: np.random.Generator
    ) -> None:
        """Take the gradients, on the host or on the GPU, draw the features, and choose the scales."""
        if gradient.shape != (self.n_docs,) or hessian.shape != (self.n_docs,):
            raise InputError(
                f"found {gradient.shape} gradients and {hessian.shape} hessians for {self.n_docs} documents"
            )
        n = self.n_docs if rows is None else len(rows)
        if n == 0:
            raise InputError("found no documents to learn a tree from")
        self.gradient, self.hessian = gradient, hessian
        if isinstance(gradient, np.ndarray):
            self._gradient.copy_to_device(np.ascontiguousarray(gradient, np.float32))
            self._hessian.copy_to_device(np.ascontiguousarray(hessian, np.float32))
            self.gradient, self.hessian = self._gradient, self._hessian
        if rows is not None:
            if n > self._room:
                self._make_room(n)
            padded = np.zeros((2, self._room), np.int32)
            padded[0, :n] = rows
            self._rows.copy_to_device(padded)
        self.n_rows, self.is_bag, self.seed = n, rows is not None, int(rng.integers(2**63))
        sums = self._sums.of(self.gradient, self.hessian, self._rows, n, is_bag=self.is_bag)
        self.packing = packing_of(n, sums) or self._packing_by_cpu(rows)
        limit = (2**62 - n) / n
        self.leaf_scales = np.array([power_of_two(limit, value) for value in sums[3:]])
        self._draw_features(rng)

    def _packing_by_cpu(self, rows: NDArray[np.int32] | None) -> Packing:
        chosen = np.arange(self.n_docs, dtype=np.int32) if rows is None else np.asarray(rows, np.int32)
        gradient, hessian = self.gradient.copy_to_host(), self.hessian.copy_to_host()
        return pack(chosen, gradient, hessian, self.seed, np.empty(self.n_docs, np.int64))

    def _draw_features(self, rng: np.random.Generator) -> None:
        fraction = self.rules.feature_fraction
        if fraction < 1 and len(self.usable):
            n_drawn = max(1, round(fraction * len(self.usable)))
            drawn = rng.choice(self.usable, n_drawn, replace=False)
            self._columns[:, table.ALLOWED] = np.isin(self.usable, drawn)
            self._on_columns.copy_to_device(self._columns)

    def grow(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Grow a tree; returns the tables of leaves and of reals, as far as they are filled.

        The row behind the last leaf tells how many there are, 0 if a sum left its field.
        """
        packing, rules = self.packing, self.rules
        while True:
            limits = (rules.l2, rules.min_docs, rules.min_hessian, rules.min_gain)
            terms = terms_of(packing, *limits, bounded=any(rules.monotone or ()))[0].tolist()
            depth = 2**31 - 1 if rules.max_depth is None else rules.max_depth
            scales = packing.gradient_scale, packing.hessian_scale, *self.leaf_scales
            self._rules[:] = (
                *terms, depth, self._n_leaves, self.n_rows, self.is_bag, *scales, *limits_of(packing)
            )  # fmt: skip
            self._on_rules.copy_to_device(self._rules)
            arguments = (
                self._codes, self.gradient, self.hessian, np.uint64(self.seed), self._on_rules,
                self._on_columns, self._rows, self._values, self._histograms, self._leaves, self._reals,
                self._best, self._best_gains, self._order, self.leaf_of_row,
            )  # fmt: skip
            if self._launch is None:
                self._launch = self._launched[blocks_for(self._launched, arguments), N_THREADS]
            self._launch(*arguments)
            leaves = self._leaves.copy_to_host(self._grown)[:-1].copy()
            n_leaves = int(self._grown[-1, 0])
            if n_leaves:
                return leaves[:n_leaves], leaves[:n_leaves].view(np.float64)
            self._order.copy_to_device(np.zeros(table.ORDER_SIZE, np.int64))
            halved = packing.gradient_scale / 2, packing.hessian_scale / 2
            packing = replace(packing, gradient_scale=halved[0], hessian_scale=halved[1])

    def add(self, value: Values, out: Any) -> None:
        """Add the value of its leaf to every document's score."""
        padded = np.zeros(self._n_leaves)
        padded[: len(value)] = value
        self._value.copy_to_device(padded)
        self._add(self.leaf_of_row, self._value, out)


class CudaGrower(Grower):
    """Grows one tree after another on a GPU, as another grower does on the CPU."""

    on_gpu = True
    _workspace: CudaWorkspace  # type: ignore[assignment]

    def grow(
        self, gradient: Any, hessian: Any, rows: NDArray[np.int32] | None, rng: np.random.Generator
    ) -> GrownTree:
        """Fit a tree to derivatives in memory, or on the GPU: then the leaves of documents stay there."""
        with on_device():
            workspace = self._workspace
            workspace.start(gradient, hessian, rows, rng)
            leaves, reals = workspace.grow()
            leaf_of_row = np.empty(0, np.int32)
            if isinstance(gradient, np.ndarray):
                leaf_of_row = workspace.leaf_of_row.copy_to_host()
        sums = leaves[:, [table.GRADIENTS, table.HESSIANS]] / workspace.leaf_scales
        counts = leaves[:, table.END] - leaves[:, table.BEGIN]
        value = np.clip(self._values(sums, counts), reals[:, table.LOW], reals[:, table.HIGH])
        nodes, bins = leaves[:-1], workspace.bins
        feature = workspace.usable[nodes[:, table.NODE_COLUMN]] if len(nodes) else np.empty(0, np.int64)
        splits = zip(feature.tolist(), nodes[:, table.NODE_BIN].tolist(), strict=True)
        return GrownTree(
            feature.astype(np.int32),
            np.array([bins.threshold(f, b) for f, b in splits], np.float32),
            nodes[:, table.NODE_NAN_LEFT].astype(np.bool_),
            nodes[:, table.NODE_LEFT].astype(np.int32),
            nodes[:, table.NODE_RIGHT].astype(np.int32),
            reals[:-1, table.NODE_GAIN].astype(np.float32),
            value,
            leaf_of_row,
            leaf_count=counts,
            leaf_weight=sums[:, 1].copy(),
        )

    def add(self, value: Values, out: Any) -> None:
        """Add the values of the last tree's leaves to scores on the GPU."""
        with on_device():
            self._workspace.add(value, out)


class CudaLeafwiseGrower(CudaGrower, LeafwiseGrower):
    """`LeafwiseGrower` on a GPU."""

    def __init__(self, bins: Bins, X: Features, rules: GrowthRules) -> None:
        with on_device():
            self._workspace = CudaWorkspace(bins, X, rules, rules.n_leaves, grow_leafwise)


class CudaObliviousGrower(CudaGrower, ObliviousGrower):
    """`ObliviousGrower` on a GPU."""

    def __init__(self, bins: Bins, X: Features, rules: GrowthRules) -> None:
        self._max_depth = self.depth_of(rules)
        with on_device():
            self._workspace = CudaWorkspace(bins, X, rules, 2**self._max_depth, grow_oblivious)


CUDA_GROWTHS: dict[str, type[CudaLeafwiseGrower] | type[CudaObliviousGrower]] = {
    "leafwise": CudaLeafwiseGrower,
    "oblivious": CudaObliviousGrower,
}
