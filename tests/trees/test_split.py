import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.trees.histogram import Packing
from pomona.trees.split import (
    CANDIDATE,
    FEATURE,
    gain_of,
    middle_value,
    no_split,
    search,
    search_shared,
    terms_of,
    unpack,
)
from reference.tree import Cell, Data, Rules

# Scales of 1: a packed sum holds the integers themselves.
PACKING = Packing(
    count_bits=12,
    hessian_bits=24,
    gradient_scale=1.0,
    hessian_scale=1.0,
    total=0,
    n_rows=0,
    largest=(0.0, 0.0),
)


def packed(gradient, hessian, count=1):
    return (gradient << PACKING.gradient_shift) + (hessian << PACKING.count_bits) + count


def terms(rules, bounded=False):
    limits = (rules.l2, rules.min_docs, rules.min_hessian, rules.min_gain)
    return terms_of(PACKING, *limits, bounded=bounded or any(rules.monotone))[0]


def histogram(codes, n_bins, gradient, hessian, rows):
    sums = [np.zeros(n, np.int64) for n in n_bins]
    for f, of_feature in enumerate(sums):
        np.add.at(of_feature, codes[rows, f], packed(gradient, hessian)[rows])
    return np.concatenate(sums)


def feature_table(n_bins, has_nan, monotone=None):
    table = np.zeros(len(n_bins), FEATURE)
    table["n_bins"], table["has_nan"], table["allowed"] = n_bins, has_nan, True
    table["monotone"] = 0 if monotone is None else monotone
    return table, np.concatenate(([0], np.cumsum(n_bins))).astype(np.int64)


def best_split(codes, n_bins, has_nan, gradient, hessian, rules, bounds=(-np.inf, np.inf)):
    table, bin_start = feature_table(n_bins, has_nan, rules.monotone or None)
    rows, out = np.arange(len(codes)), np.zeros(1, np.dtype(CANDIDATE, align=True))
    bins = histogram(codes, n_bins, gradient, hessian, rows)
    total = packed(gradient, hessian).sum()
    limits = terms(rules, bounded=np.isfinite(bounds[0]))
    low, high = (bound / limits["value_unit"] for bound in bounds)
    no_split(total, low, high, limits, out[0])
    sums, gains = np.empty(257, np.int64), np.empty(257)
    for f in reversed(range(len(n_bins))):  # in any order: of equal gains, the lowest feature is taken
        own = bins[bin_start[f] : bin_start[f + 1]]
        search(f, table[f], own, total, low, high, limits, sums, gains, out[0])
    if out["feature"][0] < 0:
        out["gain"] = 0
    return out[0]


def simple(codes, gradient, hessian=None, rules=None, has_nan=False):
    codes, gradient = np.array(codes)[:, None], np.array(gradient)
    hessian = np.ones_like(gradient) if hessian is None else np.array(hessian)
    return best_split(codes, [codes.max() + 1], [has_nan], gradient, hessian, rules or Rules())


def test_the_gain_is_the_formula():
    best = simple([0, 0, 1, 2], [1, 2, -4, -6])
    assert (best["feature"], best["bin"]) == (0, 0)
    assert best["gain"] == pytest.approx((1 + 2) ** 2 / 2 + (-4 - 6) ** 2 / 2 - (3 - 10) ** 2 / 4)
    assert unpack(best["left_total"], terms(Rules())) == (3, 2, 2)


def test_l2_is_added_to_every_hessian():
    best = simple([0, 0, 1, 1], [1, 2, -4, -6], rules=Rules(l2=3.0))
    assert best["gain"] == pytest.approx(3**2 / (2 + 3) + 10**2 / (2 + 3) - 7**2 / (4 + 3))


def test_min_docs_is_exact():
    codes, gradient = [0] * 19 + [1] * 21, [5] * 19 + [-5] * 21
    assert simple(codes, gradient, rules=Rules(min_docs=19))["gain"] > 0
    assert simple(codes, gradient, rules=Rules(min_docs=20))["gain"] == 0


def test_min_hessian_and_min_gain():
    codes, gradient, hessian = [0, 1, 1], [2, -2, -2], [3, 4, 4]
    gain = 4 / 3 + 16 / 8 - 4 / 11
    assert simple(codes, gradient, hessian, Rules(min_hessian=3))["gain"] == pytest.approx(gain)
    assert simple(codes, gradient, hessian, Rules(min_hessian=4))["gain"] == 0
    assert simple(codes, gradient, hessian, Rules(min_gain=gain - 0.01))["gain"] == pytest.approx(gain)
    assert simple(codes, gradient, hessian, Rules(min_gain=gain + 0.01))["gain"] == 0


def test_nan_goes_where_it_gains():
    # The last code, 2, is NaN.
    right = simple([0, 0, 1, 1, 2, 2], [4, 4, -4, -4, -4, -4], has_nan=True)
    assert (right["bin"], right["nan_left"]) == (0, False)
    left = simple([0, 0, 1, 1, 2, 2], [4, 4, -4, -4, 4, 4], has_nan=True)
    assert (left["bin"], left["nan_left"]) == (0, True)
    apart = simple([0, 0, 1, 1, 2, 2], [4, 4, 4, 4, -4, -4], has_nan=True)
    assert (apart["bin"], apart["nan_left"]) == (1, False)


def test_equal_gains_go_to_the_lowest_feature_and_bin():
    codes = np.array([[0, 0], [0, 0], [1, 1], [2, 2]])
    best = best_split(codes, [3, 3], [False, False], np.array([1, 1, 0, 1]), np.ones(4, int), Rules())
    assert best["feature"] == 0
    symmetric = simple([0, 1, 2], [1, 0, 1])
    assert symmetric["bin"] == 0


def test_equal_gradients_gain_nothing():
    assert simple([0, 1, 2, 3], [7, 7, 7, 7])["gain"] == 0


def test_hessians_rounded_to_zero_are_no_division_by_zero():
    assert simple([0, 1, 1], [3, -1, -2], [0, 1, 1], Rules(min_hessian=0.0))["gain"] == 0
    assert simple([0, 1, 1], [3, -1, -2], [0, 1, 1], Rules(l2=1.0))["gain"] == pytest.approx(9 / 1 + 9 / 3)


nodes = st.tuples(
    st.integers(2, 60), st.integers(0, 10**6), st.sampled_from([0.0, 2.5]), st.integers(1, 6), st.booleans()
)


@given(nodes, st.sampled_from([(), (1, -1, 0)]))
def test_the_best_split_is_the_best_of_all(node, monotone):
    n, seed, l2, min_docs, bounded = node
    random = np.random.default_rng(seed)
    n_bins, has_nan = [6, 3, 9], [True, False, True]
    codes = np.stack([random.integers(0, m, n) for m in n_bins], axis=1)
    gradient, hessian = random.integers(-1000, 1000, n), random.integers(1, 50, n)
    rules = Rules(l2=l2, min_docs=min_docs, monotone=monotone)
    bounds = (-5.0, 8.0) if bounded else (-np.inf, np.inf)
    ours = best_split(codes, n_bins, has_nan, gradient, hessian, rules, bounds)
    gain, split = Data(codes, n_bins, has_nan, gradient, hessian, rules).best_of_one(
        Cell(np.arange(n), *bounds)
    )
    assert ours["gain"] == pytest.approx(gain, abs=1e-6)
    if split is not None:
        assert (ours["feature"], ours["bin"], ours["nan_left"]) == split


@given(st.integers(0, 10**6), st.integers(1, 5))
def test_the_shared_split_is_the_best_sum(seed, n_cells):
    random = np.random.default_rng(seed)
    n, n_bins, has_nan = 60, [5, 7], [True, False]
    codes = np.stack([random.integers(0, m, n) for m in n_bins], axis=1)
    gradient, hessian = random.integers(-1000, 1000, n), random.integers(1, 50, n)
    rules, cell_of = Rules(min_docs=3, l2=1.0), random.integers(0, n_cells, n)
    parts = [np.flatnonzero(cell_of == c) for c in range(n_cells)]
    table, bin_start = feature_table(n_bins, has_nan)
    histograms = np.stack([histogram(codes, n_bins, gradient, hessian, rows) for rows in parts])
    totals = np.array([packed(gradient, hessian)[rows].sum() for rows in parts])
    free = np.full(n_cells, np.inf)
    slots = np.arange(n_cells)
    cells = (slots, totals, -free, free)
    gain, split = search_shared(0, 2, table, np.ones(2, bool), bin_start, histograms, *cells, terms(rules))
    data = Data(codes, n_bins, has_nan, gradient, hessian, rules)
    sums = {split: sum(data.gain(Cell(rows), *split) or 0.0 for rows in parts) for split in data.candidates()}
    assert gain == pytest.approx(max(0.0, *sums.values()), rel=1e-9)
    if gain > 0:
        assert sums[split] == pytest.approx(gain, rel=1e-9)


def test_gain_of_one_split_and_its_middle():
    rules = terms(Rules(min_docs=2))
    left, total = packed(6, 3, 2), packed(2, 5, 4)
    assert gain_of(left, total, 0, -np.inf, np.inf, rules) == pytest.approx(36 / 3 + 16 / 2 - 4 / 5)
    assert gain_of(packed(6, 3, 1), total, 0, -np.inf, np.inf, rules) == 0
    assert middle_value(left, total, -np.inf, np.inf, rules) == (-6 / 3 + 4 / 2) / 2
    assert middle_value(left, total, -1.0, np.inf, rules) == (-1.0 + 4 / 2) / 2
