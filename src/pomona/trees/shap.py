"""Shapley values of a forest's score, exact: what each feature adds to what is expected of a document.

A leaf of value v asks something of d features. Be o_j 1 if the document meets all that is asked of feature j,
else 0, and z_j how likely that is when j is not known. Shapley's weights |S|! (d−1−|S|)! / d! are integrals,
∫ t^|S| (1−t)^(d−1−|S|) dt over 0 … 1 (Owen's multilinear extension, 1972), so that the leaf gives feature i

    φ_i = v (o_i − z_i) ∫ Π_{j≠i} (o_j t + z_j (1−t)) dt

**Path-dependent** (Lundberg et al. 2020, Algorithm 2; LightGBM's `pred_contrib`): z_j is the share of the
training documents, or of those given, that meet it among those that reach the node. The integrand is a
polynomial, which ⌈d/2⌉ points of Gauss and Legendre integrate exactly. All terms are products of positive
numbers, so no digits are lost, and the leaves below a node share them: a document costs O(leaves · d) where
Lundberg's algorithm costs O(leaves · d²).

**Interventional** (their Algorithm 3): z_j is 0 or 1, by each document of a background, and φ is the mean.
The integral is (a − 1)! b! / (a + b)! where a features are met by the document only and b by the other only.
Background documents that meet the same features of a leaf are counted, not visited.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Values
from pomona.errors import InputError
from pomona.trees.forest import Forest
from pomona.trees.walk import ZERO

_LANES = 16  # documents that go through a tree together
_MOST_FEATURES = 64  # that a path may ask, for interventional values: the bits of a word
_ONE = np.uint64(1)


class Shap(NamedTuple):
    """values : (n_docs, n_features); expected : the score of which nothing is known."""

    values: Values
    expected: float


@kernel
def _layout(feature, left, right, cover, out_parent, out_same, out_z):
    """One tree: for every slot (nodes, then leaves) its parent, the slot above that asks the same feature
    (or −1), and z of all that is asked of that feature down to here. Gives the most features of a path.

    cover (n_slots,) has the leaves' filled in.
    """
    n = feature.size
    asked = np.zeros(2 * n + 1, np.int64)
    for node in range(n - 1, -1, -1):
        one = left[node] if left[node] >= 0 else n + ~left[node]
        two = right[node] if right[node] >= 0 else n + ~right[node]
        cover[node] = cover[one] + cover[two]
        out_parent[one], out_parent[two] = node, node
    most = 0
    for node in range(n):
        for child in (left[node], right[node]):
            slot = child if child >= 0 else n + ~child
            above = node
            while above > 0 and feature[out_parent[above]] != feature[node]:
                above = out_parent[above]
            z = cover[slot] / cover[node] if cover[node] > 0 else 0.0
            is_new = above == 0
            out_same[slot] = -1 if is_new else above
            out_z[slot] = z if is_new else z * out_z[above]
            asked[slot] = asked[node] + is_new
            most = max(most, asked[slot])
    return most


@kernel
def _weigh(same, z, t, weight, out_factor, out_share):
    """Tables of one tree: by slot, case and point, what a path's product is multiplied by on the way to the
    slot, and what of a product below it goes to the slot's feature.

    Cases: the feature is met down to here; only above, by `same`; not even there. t, weight (n_points,).
    """
    for slot in range(1, same.size):
        above = same[slot]
        for p in range(t.size):
            known, unknown = t[p], 1.0 - t[p]
            met, not_met = known + z[slot] * unknown, z[slot] * unknown
            out_share[slot, 0, p] = weight[p] * (1.0 - z[slot]) / met
            # −z / (z (1 − t)); where z is 0 the product below is 0.
            not_share = -weight[p] / unknown
            if above < 0:
                out_factor[slot, 0, p], out_factor[slot, 1, p], out_factor[slot, 2, p] = met, not_met, 0.0
                out_share[slot, 1, p], out_share[slot, 2, p] = not_share, 0.0
            else:
                met_above = known + z[above] * unknown
                share_above = weight[p] * (1.0 - z[above]) / met_above
                out_factor[slot, 0, p] = met / met_above
                out_factor[slot, 1, p] = not_met / met_above
                out_factor[slot, 2, p] = z[slot] / z[above] if z[above] > 0 else 0.0
                out_share[slot, 0, p] -= share_above
                out_share[slot, 1, p] = not_share - share_above
                out_share[slot, 2, p] = 0.0  # the same on both sides


@kernel(fastmath=True)
def _descend(factor, met, met_above, product, value, out):
    """The products of a child: factor (3, n_points) · met (lanes,) 0 or 1 · out (n_points, lanes)."""
    for p in range(out.shape[0]):
        # Sums instead of choices, which LLVM would not vectorize.
        none = value * factor[2, p]
        above, here = value * (factor[1, p] - factor[2, p]), value * (factor[0, p] - factor[1, p])
        row, to = product[p], out[p]
        for lane in range(_LANES):
            to[lane] = row[lane] * (none + met_above[lane] * above + met[lane] * here)


@kernel(fastmath=True)
def _collect(share, met, met_above, product, out_total, out):
    """Add a child's products to its parent's, and what they give its feature: out (lanes,)."""
    for p in range(product.shape[0]):
        above, here = share[1, p], share[0, p] - share[1, p]
        row, to = product[p], out_total[p]
        for lane in range(_LANES):
            to[lane] += row[lane]
            out[lane] += row[lane] * (met_above[lane] * above + met[lane] * here)


@kernel
def _explain_tree(
    X, begin, end, feature, column, threshold, nan_left, zero_missing, left, right, value, same, factor,
    share, product, met, out,
):  # fmt: skip
    """Add what one tree gives documents [begin, end): out (n_features, n_docs).

    product (n_slots, n_points, lanes) · met (n_slots + 1, lanes), of which the last row is all 1.
    """
    n = feature.size
    always = met[2 * n + 1]
    for p in range(product.shape[1]):
        for lane in range(_LANES):
            product[0, p, lane] = 1.0
    gained = np.empty(_LANES)
    for node in range(n):
        one = left[node] if left[node] >= 0 else n + ~left[node]
        two = right[node] if right[node] >= 0 else n + ~right[node]
        above = met[same[one]] if same[one] >= 0 else always
        for lane in range(end - begin):
            x = X[begin + lane, column[node]]
            is_missing = np.isnan(x) or (zero_missing[node] and abs(x) <= ZERO)
            goes_left = nan_left[node] if is_missing else x <= threshold[node]
            met[one, lane] = above[lane] if goes_left else 0.0
            met[two, lane] = 0.0 if goes_left else above[lane]
        for slot in (one, two):
            times = value[slot - n] if slot >= n else 1.0
            _descend(factor[slot], met[slot], above, product[node], times, product[slot])
    for node in range(n - 1, -1, -1):
        for lane in range(_LANES):
            gained[lane] = 0.0
            for p in range(product.shape[1]):
                product[node, p, lane] = 0.0
        for child in (left[node], right[node]):
            slot = child if child >= 0 else n + ~child
            above = met[same[slot]] if same[slot] >= 0 else always
            _collect(share[slot], met[slot], above, product[slot], product[node], gained)
        for lane in range(end - begin):
            out[feature[node], begin + lane] += gained[lane]


@kernel
def _explain_paths(
    first, last, X, feature, column, threshold, nan_left, zero_missing, left, right, value, node_ptr,
    leaf_ptr, leaf_cover, points, weights, out,
):  # fmt: skip
    """Path-dependent values of documents [first, last); points, weights (n, n) of each number of points."""
    for tree in range(node_ptr.size - 1):
        a, b, c, d = node_ptr[tree], node_ptr[tree + 1], leaf_ptr[tree], leaf_ptr[tree + 1]
        n = b - a
        if n == 0:
            continue
        parent, same = np.zeros(2 * n + 1, np.int64), np.full(2 * n + 1, -1)
        z, cover = np.ones(2 * n + 1), np.zeros(2 * n + 1)
        for leaf in range(n + 1):
            cover[n + leaf] = leaf_cover[c + leaf]
        most = _layout(feature[a:b], left[a:b], right[a:b], cover, parent, same, z)
        k = (most + 1) // 2
        factor, share = np.zeros((2 * n + 1, 3, k)), np.zeros((2 * n + 1, 3, k))
        _weigh(same, z, points[k, :k], weights[k, :k], factor, share)
        product = np.empty((2 * n + 1, k, _LANES))
        met = np.ones((2 * n + 2, _LANES))
        for begin in range(first, last, _LANES):
            _explain_tree(
                X, begin, min(begin + _LANES, last), feature[a:b], column[a:b], threshold[a:b], nan_left[a:b],
                zero_missing[a:b], left[a:b], right[a:b], value[c:d], same, factor, share, product, met, out,
            )  # fmt: skip


@kernel
def _turn(X, first, last, column, threshold, nan_left, zero_missing, out_left):
    """Whether each document goes left at each node of a tree: out_left (n_nodes, n_docs)."""
    for node in range(column.size):
        for i in range(first, last):
            x = X[i, column[node]]
            is_missing = np.isnan(x) or (zero_missing[node] and abs(x) <= ZERO)
            out_left[node, i - first] = nan_left[node] if is_missing else x <= threshold[node]


@kernel
def _meet(leaf, n, parent, is_right, place, goes_left, out_met):
    """For each document a word: which features of the leaf's path it meets. place (n_slots,) their bits."""
    for i in range(out_met.size):
        out_met[i] = ~np.uint64(0)
    slot = n + leaf
    while slot > 0:
        node, bit = parent[slot], ~(_ONE << np.uint64(place[slot]))
        for i in range(out_met.size):
            if goes_left[node, i] == is_right[slot]:
                out_met[i] &= bit
        slot = node


@kernel
def _explain_against(
    first, last, X, background, feature, column, threshold, nan_left, zero_missing, left, right, value,
    node_ptr, leaf_ptr, alone, out,
):  # fmt: skip
    """Interventional values of documents [first, last); alone[a, b] = (a − 1)! b! / (a + b)!."""
    n_others = background.shape[0]
    met, others = np.empty(last - first, np.uint64), np.empty(n_others, np.uint64)
    kinds, counts, lacks = np.empty(n_others, np.uint64), np.empty(n_others), np.empty(n_others, np.int64)
    gained = np.empty(_MOST_FEATURES)
    for tree in range(node_ptr.size - 1):
        a, b = node_ptr[tree], node_ptr[tree + 1]
        n = b - a
        if n == 0:
            continue
        parent, same, z = np.zeros(2 * n + 1, np.int64), np.full(2 * n + 1, -1), np.ones(2 * n + 1)
        _layout(feature[a:b], left[a:b], right[a:b], np.ones(2 * n + 1), parent, same, z)
        is_right, place = np.zeros(2 * n + 1, np.bool_), np.zeros(2 * n + 1, np.int64)
        n_asked = np.zeros(2 * n + 1, np.int64)
        for node in range(n):
            for side in range(2):
                child = right[a + node] if side else left[a + node]
                slot = child if child >= 0 else n + ~child
                is_right[slot] = side == 1
                is_new = same[slot] < 0
                place[slot] = n_asked[node] if is_new else place[same[slot]]
                n_asked[slot] = n_asked[node] + is_new
        ours, theirs = np.empty((n, last - first), np.bool_), np.empty((n, n_others), np.bool_)
        nodes = column[a:b], threshold[a:b], nan_left[a:b], zero_missing[a:b]
        _turn(X, first, last, *nodes, ours)
        _turn(background, 0, n_others, *nodes, theirs)
        for leaf in range(n + 1):
            d = n_asked[n + leaf]
            full = ~np.uint64(0) if d == 64 else (_ONE << np.uint64(d)) - _ONE
            _meet(leaf, n, parent, is_right, place, ours, met)
            _meet(leaf, n, parent, is_right, place, theirs, others)
            others.sort()
            n_kinds = 0
            for i in range(n_others):
                if i == 0 or others[i] != others[i - 1]:
                    kinds[n_kinds], counts[n_kinds], lacks[n_kinds] = others[i] & full, 0.0, 0
                    for j in range(d):
                        lacks[n_kinds] += (others[i] >> np.uint64(j)) & _ONE == 0
                    n_kinds += 1
                counts[n_kinds - 1] += 1.0
            v = value[leaf_ptr[tree] + leaf] / n_others
            for i in range(last - first):
                mine = met[i] & full
                n_lacking = 0
                for j in range(d):
                    n_lacking += (mine >> np.uint64(j)) & _ONE == 0
                    gained[j] = 0.0
                lost = 0.0
                for kind in range(n_kinds):
                    if mine | kinds[kind] != full or mine & kinds[kind] == full:
                        continue
                    only_mine = lacks[kind]
                    if only_mine > 0:
                        part = v * counts[kind] * alone[only_mine, n_lacking]
                        for j in range(d):
                            if (kinds[kind] >> np.uint64(j)) & _ONE == 0:
                                gained[j] += part
                    if n_lacking > 0:
                        lost += v * counts[kind] * alone[n_lacking, only_mine]
                slot = n + leaf
                while slot > 0:
                    j = place[slot]
                    if same[slot] < 0:
                        part = gained[j] if (mine >> np.uint64(j)) & _ONE else -lost
                        out[feature[a + parent[slot]], first + i] += part
                    slot = parent[slot]


def leaf_covers(forest: Forest, X: ArrayLike) -> Values:
    """How many of these documents fall into each leaf, in the order of `forest.value`."""
    leaves = forest.leaf_of(X) + forest.leaf_ptr[:-1]
    return np.bincount(leaves.ravel(), minlength=len(forest.value)).astype(np.float64)


def path_dependent(forest: Forest, X: ArrayLike, leaf_cover: Values) -> Shap:
    """Shapley values where what is not known of a document is as the trees' own documents are.

    leaf_cover : how many documents (or how much weight) lie in each leaf, in the order of `forest.value`.
    """
    cover = np.ascontiguousarray(leaf_cover, np.float64)
    if cover.shape != forest.value.shape or not (np.isfinite(cover).all() and (cover >= 0).all()):
        raise InputError(f"expected {len(forest.value)} covers not below 0, one a leaf")
    totals = np.add.reduceat(cover, forest.leaf_ptr[:-1]) if forest.n_trees else np.empty(0)
    if not (totals > 0).all():
        raise InputError("no document lies in a tree: give background data")
    rows, more = forest._documents(X), (cover, *_quadratures(_deepest(forest)))
    parts = [np.empty((0, forest.n_features))]
    for batch in forest.batches(rows):
        out = np.zeros((forest.n_features, len(batch)))
        over_chunks(
            _explain_paths, len(batch), batch, *_trees(forest, batch), *more, out, smallest=4 * _LANES
        )
        parts.append(out.T)
    shares = cover / np.repeat(totals, np.diff(forest.leaf_ptr))
    return Shap(np.concatenate(parts), forest.base + float(forest.value @ shares))


def interventional(forest: Forest, X: ArrayLike, background: ArrayLike) -> Shap:
    """Shapley values where what is not known of a document is that of a background document, on average."""
    rows, others = forest._documents(X), forest._documents(np.asarray(background, np.asarray(X).dtype))
    if not len(others):
        raise InputError("found no background document, expected one or more")
    if _deepest(forest) > _MOST_FEATURES:
        raise InputError(
            f"a tree asks {_deepest(forest)} questions one after the other, more than {_MOST_FEATURES}: "
            "use path-dependent values"
        )
    background = np.concatenate(list(forest.batches(others)))
    background.flags.writeable = False
    parts = [np.empty((0, forest.n_features))]
    for batch in forest.batches(rows):
        out = np.zeros((forest.n_features, len(batch)))
        tables = (background, *_trees(forest, batch), _alone(), out)
        over_chunks(_explain_against, len(batch), batch, *tables, smallest=64)
        parts.append(out.T)
    return Shap(np.concatenate(parts), float(forest.score(others).mean()))


def _trees(forest: Forest, rows: NDArray[np.floating]) -> tuple[NDArray[np.generic], ...]:
    """The arrays of all trees, as the kernels want them."""
    plain = forest.by_thresholds
    threshold = plain.threshold if rows.dtype == np.float32 else plain._array("double_threshold")
    splits = forest.feature, plain.feature, threshold, plain.nan_left, plain._array("zero_missing")
    return *splits, forest.left, forest.right, forest.value, forest.node_ptr, forest.leaf_ptr


def _deepest(forest: Forest) -> int:
    """The most inner nodes on a path of any tree."""
    depth = np.zeros(len(forest.feature), np.int64)
    first = np.repeat(forest.node_ptr[:-1], np.diff(forest.node_ptr))
    for node in range(len(depth)):
        for child in (forest.left[node], forest.right[node]):
            if child >= 0:
                depth[first[node] + child] = depth[node] + 1
    return int(depth.max(initial=-1)) + 1


def _quadratures(n_features: int) -> tuple[Values, Values]:
    """Gauss's and Legendre's points and weights on 0 … 1: row k has k of them."""
    most = max(1, (n_features + 1) // 2)
    points, weights = np.zeros((most + 1, most)), np.zeros((most + 1, most))
    for k in range(1, most + 1):
        t, w = np.polynomial.legendre.leggauss(k)
        points[k, :k], weights[k, :k] = (t + 1) / 2, w / 2
    return points, weights


def _alone() -> Values:
    """(a − 1)! b! / (a + b)! for a > 0."""
    table = np.zeros((_MOST_FEATURES + 1, _MOST_FEATURES + 1))
    for a in range(1, _MOST_FEATURES + 1):
        for b in range(_MOST_FEATURES + 1):
            table[a, b] = 1 / (a * math.comb(a + b, a))
    return table
