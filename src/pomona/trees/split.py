"""Splits: the feature, bin and direction of NaN that lower a node's loss most.

    gain = GL²/(HL+λ) + GR²/(HR+λ) − G²/(H+λ),      G, H: sums of gradients and hessians left, right and both

Only bins that hold documents of the node are candidates, found by a running sum that leaves the others out;
the limits on documents and hessian of a side hold for a contiguous range of them. Where documents have NaN,
both sides are tried for them; alone they can only be on the right. Of equal gains the lowest feature, then
NaN to the right, then the lowest bin is taken.

Monotone constraints (LightGBM's basic method): a node has bounds on its value; a split on a constrained
feature must order its children's values, and their mean becomes a bound of both subtrees. With bounded
values w, a side's score G²/(H+λ) becomes −(2Gw + (H+λ)w²).

Everything is reckoned in the integers' own units (histogram.py): powers of two, so nothing is lost.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona.trees.histogram import Packing

FEATURE = np.dtype(
    [
        ("n_bins", np.int32),
        ("has_nan", np.bool_),
        ("monotone", np.int8),
        ("allowed", np.bool_),
        ("is_category", np.bool_),
    ],
    align=True,
)
"""What a split of a feature must know; `allowed`: whether the tree may use it."""

TERMS = np.dtype(
    [
        ("l2", np.float64),
        ("min_docs", np.int64),
        ("min_hessian", np.int64),
        ("count_bits", np.int64),
        ("gradient_shift", np.int64),
        ("gain_unit", np.float64),
        ("value_unit", np.float64),
        ("min_gain", np.float64),
        ("bounded", np.bool_),
    ],
    align=True,
)
"""The rules of growth in units of the packed integers: a score · `gain_unit` is a gain, and so on."""

CANDIDATE = [
    ("gain", np.float64),
    ("left_total", np.int64),
    ("feature", np.int32),
    ("bin", np.int32),
    ("nan_left", np.bool_),
]
"""The fields of a split; gain 0 means that there is none."""

_BEYOND = 1 << 62
_ROUNDING = 1e-12  # a gain below this share of the node's score is rounding error, not a gain


@kernel
def unpack(packed, terms):
    """Gradient, hessian and number of documents of a packed sum, in integers."""
    count_bits = terms["count_bits"]
    below = terms["gradient_shift"] - count_bits
    return (
        packed >> terms["gradient_shift"],
        (packed >> count_bits) & ((1 << below) - 1),
        packed & ((1 << count_bits) - 1),
    )


@kernel
def step(gradient, hessian, l2):
    """The Newton step −G/(H+λ), 0 where there is nothing to divide by."""
    return -gradient / (hessian + l2) if hessian + l2 > 0 else 0.0


@kernel
def bounded_score(gradient, hessian, l2, low, high):
    """What a side gains by the best value within bounds: −(2Gw + (H+λ)w²)."""
    value = min(max(step(gradient, hessian, l2), low), high)
    return -(2 * gradient * value + (hessian + l2) * value * value)


@kernel
def _running_sums(bins, out):
    """Sums up to and with each bin that is not empty; returns how many these are."""
    n, total = np.uint64(0), np.int64(0)  # without sign: numba looks whether a place counts from the end
    for b in range(bins.size):
        total += bins[b]
        out[n] = total
        n += np.uint64(bins[b] != 0)  # a document counts at least 1
    return np.int64(n)


@kernel
def _filled_bin(bins, nth):
    """The nth bin that is not empty, from 0."""
    b, passed = 0, 0
    while passed < nth or bins[b] == 0:
        passed += bins[b] != 0
        b += 1
    return b


@kernel
def large_enough(packed, terms):
    """Whether a side has enough documents and hessian."""
    _, hessian, count = unpack(packed, terms)
    return count >= terms["min_docs"] and hessian >= terms["min_hessian"]


@kernel
def may_be_divided(leaf, max_depth, terms):
    """Whether a leaf is not too deep, and has enough for two sides."""
    _, hessian, count = unpack(leaf["total"], terms)
    enough = count >= 2 * terms["min_docs"] and hessian >= 2 * terms["min_hessian"]
    return enough and leaf["depth"] < max_depth


@kernel
def _free_gains(sums, added, total, terms, out):
    """out[k] = gain if the left side has sums[k] + added.

    With a = HL+λ, b = HR+λ the gain is (GL·b − GR·a)² / (ab(a+b)) + G²/(a+b) − G²/(H+λ), where only the first
    term varies: one division, and no difference of two large numbers. LLVM vectorizes the loop.
    """
    l2, shift, count_bits = terms["l2"], terms["gradient_shift"], terms["count_bits"]
    mask = (1 << (shift - count_bits)) - 1
    gradient, hessian = np.float64(total >> shift), np.float64((total >> count_bits) & mask)
    both = hessian + 2 * l2
    fixed = gradient * gradient / both - gradient * gradient / (hessian + l2)
    for k in range(sums.size):
        left = sums[k] + added
        a = np.float64((left >> count_bits) & mask) + l2
        crossed = np.float64(left >> shift) * both - gradient * a
        out[k] = crossed * crossed / (a * (both - a) * both) + fixed


@kernel
def _bounded_gains(sums, added, total, terms, monotone, low, high, out):
    """As `_free_gains`, with values within bounds and, if `monotone` is ±1, in that order (else 0)."""
    l2 = terms["l2"]
    gradient, hessian, _ = unpack(total, terms)
    node_score = bounded_score(gradient, hessian, l2, low, high)
    for k in range(sums.size):
        gl, hl, _ = unpack(sums[k] + added, terms)
        gr, hr, _ = unpack(total - sums[k] - added, terms)
        rise = min(max(step(gr, hr, l2), low), high) - min(max(step(gl, hl, l2), low), high)
        score = bounded_score(gl, hl, l2, low, high) + bounded_score(gr, hr, l2, low, high)
        out[k] = score - node_score if monotone * rise >= 0 else 0.0


@kernel
def least_gain(total, low, high, terms):
    """What a gain must exceed: the rules' minimum, and rounding error."""
    gradient, hessian, _ = unpack(total, terms)
    node_score = bounded_score(gradient, hessian, terms["l2"], low, high)
    return max(terms["min_gain"] / terms["gain_unit"], _ROUNDING * node_score)


@kernel
def _highest(gains):
    """The highest gain, 0 if none is above: positive floats are ordered as their bits are.

    A maximum of integers is vectorized.
    """
    top = np.int64(0)
    for k in range(gains.size):
        top = max(top, np.float64(gains[k]).view(np.int64))
    return np.int64(top).view(np.float64)


@kernel
def _place_of(gain, gains):
    """The first place of a gain that is there."""
    k = 0
    while gains[k] != gain:
        k += 1
    return k


@kernel
def _gains(sums, added, total, monotone, low, high, terms, out):
    """Gains where the left side has sums[k] + added, for the range of k that the limits on both sides allow.

    sums ascending in documents · returns that range; out[0] is the gain of its first k.
    """
    begin, end = 0, sums.size
    while begin < end and not large_enough(sums[begin] + added, terms):
        begin += 1
    while begin < end and not large_enough(total - sums[end - 1] - added, terms):
        end -= 1
    # A slice that starts at 0 is what LLVM vectorizes; a loop from `begin` on it does not.
    lefts, gains = sums[begin:end], out[: end - begin]
    if terms["bounded"]:
        _bounded_gains(lefts, added, total, terms, monotone, low, high, gains)
    else:
        _free_gains(lefts, added, total, terms, gains)
    return begin, end


@kernel
def search(f, feature, bins, total, low, high, terms, sums, gains, out):
    """Put the best split on feature `f`, with histogram `bins`, into the record `out` if it is better.

    out : fields of CANDIDATE, begun by `no_split`; low, high : bounds of the node's value, in its units ·
    sums (257,) int64, gains (257,) float64 : room to work in.
    """
    known = feature["n_bins"] - feature["has_nan"]
    n = _running_sums(bins[:known], sums)
    nan = bins[known] if feature["has_nan"] else np.int64(0)
    for nan_left in range(1 + (nan != 0)):
        added = nan if nan_left else np.int64(0)
        begin, end = _gains(sums[:n], added, total, feature["monotone"], low, high, terms, gains)
        highest = _highest(gains[: end - begin])
        if highest > 0:
            gain = highest * terms["gain_unit"]
            if gain > out["gain"] or (gain == out["gain"] and f < out["feature"]):
                k = _place_of(highest, gains)
                out["gain"], out["left_total"] = gain, sums[begin + k] + added
                out["feature"], out["bin"], out["nan_left"] = f, _filled_bin(bins, begin + k), nan_left == 1


@kernel
def no_split(total, low, high, terms, out):
    """Begin a search: what the gain of a split must exceed, and no feature."""
    out["gain"] = least_gain(total, low, high, terms) * terms["gain_unit"]
    out["feature"] = -1


@kernel
def search_shared(first, last, features, allowed, bin_start, histograms, slots, totals, lows, highs, terms):
    """The one split, on features first..last, that gains most when every cell is divided by it.

    allowed (n_features,) · histograms (n_slots, all bins) · slots, totals, lows, highs (n_cells,). A cell in
    which the split would leave a side too small adds nothing to its gain. Returns gain (0: none), feature,
    bin and whether NaN goes left.
    """
    n_cells, unit = totals.size, terms["value_unit"]
    sums, gains, together = np.empty(257, np.int64), np.empty(257), np.empty(257)
    gain, split = 0.0, (-1, -1, False)
    best = 0.0
    for c in range(n_cells):
        best = max(best, least_gain(totals[c], lows[c] / unit, highs[c] / unit, terms))
    for f in range(first, last):
        feature = features[f]
        if not allowed[f]:
            continue
        known, start = feature["n_bins"] - feature["has_nan"], bin_start[f]
        any_nan = False
        for c in range(n_cells):
            any_nan |= feature["has_nan"] and histograms[slots[c], start + known] != 0
        for nan_left in range(1 + any_nan):
            for b in range(known):
                together[b] = 0.0
            for c in range(n_cells):
                bins = histograms[slots[c], start : bin_start[f + 1]]
                running = np.int64(0)
                for b in range(known):
                    running += bins[b]
                    sums[b] = running
                added = bins[known] if nan_left else np.int64(0)
                low, high, monotone = lows[c] / unit, highs[c] / unit, feature["monotone"]
                begin, end = _gains(sums[:known], added, totals[c], monotone, low, high, terms, gains)
                for k in range(end - begin):
                    together[begin + k] += gains[k]
            highest = _highest(together[:known])
            if highest > best:
                best = highest
                gain, split = best * terms["gain_unit"], (f, _place_of(best, together), nan_left == 1)
    return gain, split


@kernel
def gain_of(left_total, total, monotone, low, high, terms):
    """The gain of one split, 0 if it leaves a side too small."""
    sums, gains = np.empty(1, np.int64), np.zeros(1)
    sums[0] = left_total
    low, high = low / terms["value_unit"], high / terms["value_unit"]
    _gains(sums, np.int64(0), total, monotone, low, high, terms, gains)
    return gains[0] * terms["gain_unit"]


@kernel
def middle_value(left_total, total, low, high, terms):
    """The mean of the children's bounded values: what a monotone split passes down as a bound."""
    gl, hl, _ = unpack(left_total, terms)
    gr, hr, _ = unpack(total - left_total, terms)
    left = min(max(step(gl, hl, terms["l2"]) * terms["value_unit"], low), high)
    right = min(max(step(gr, hr, terms["l2"]) * terms["value_unit"], low), high)
    return (left + right) / 2


def terms_of(
    packing: Packing, l2: float, min_docs: int, min_hessian: float, min_gain: float, *, bounded: bool
) -> NDArray[np.void]:
    """One TERMS record: rules given in floats, in units of the packed integers; `bounded`: some are monotone.

    Then all features of a tree are judged by the formula with bounds, or rounding would break ties.
    """
    # Without l2, a side whose hessians all were rounded to 0 would have an infinite score.
    smallest = 0 if l2 > 0 else 1
    ratio = packing.hessian_scale / packing.gradient_scale
    # Sums of hessians stay below 2^62: where they are tiny, no side may have enough, and there is no split.
    least = math.ceil(min(min_hessian * packing.hessian_scale, _BEYOND))
    record = np.zeros(1, TERMS)
    record[0] = (
        l2 * packing.hessian_scale,
        max(1, min(min_docs, _BEYOND)),
        max(smallest, least),
        packing.count_bits,
        packing.gradient_shift,
        ratio / packing.gradient_scale,
        ratio,
        min_gain,
        bounded,
    )
    return record
