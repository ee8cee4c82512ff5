import numpy as np
import pytest

from pomona._jit import kernel
from pomona.trees.lanes import N_CUTS, N_LANES, N_TREES, NODE, n_below, walk_trees


@kernel
def _below(cuts, start, x):
    return n_below(cuts, start, x)


@kernel
def _walk(codes, block, nodes, first, last, n_steps, out):
    walk_trees(codes, block, nodes, first, last, n_steps, out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("start", [0, 1, 19])
def test_the_cuts_below_a_value_are_counted(dtype, start):
    cuts = np.sort(np.random.default_rng(0).standard_normal(start + N_CUTS + 5)).astype(dtype)
    cuts[start + 14 : start + N_CUTS] = np.inf
    values = [-np.inf, -9, *cuts[start : start + 4], 9, np.inf]
    found = [int(_below(cuts, np.uint64(start), dtype(x))) for x in values]
    assert found == [0, 0, 0, 1, 2, 3, 14, 14]
    assert _below(cuts, np.uint64(start), dtype(np.nan)) == 0


def test_four_trees_of_different_sizes_are_walked():
    # A stump; (0 | (1 | 2)); ((0 | 1) | 2); and one long branch of 256 leaves, its codes above 0, 1, 2 …
    table = [
        [(0, 99, 0, 1)],
        [(0, 99, 0, 1), (1, 49, 1, 2)],
        [(0, 99, 0, 2), (1, 49, 0, 1)],
        [(2, code, code, code + 1) for code in range(255)],
    ]
    nodes = np.array([(plane * N_LANES, *rest) for tree in table for plane, *rest in tree], NODE)
    sizes = np.array([len(tree) for tree in table], np.uint64)
    last = np.cumsum(sizes) - np.uint64(1)
    codes = np.random.default_rng(1).integers(0, 256, (2, 3, N_LANES)).astype(np.uint8)
    codes[1, 2, :2] = 0, 255
    out = np.empty(N_TREES * N_LANES, np.uint8)
    for block in (0, 1):
        _walk(codes, np.uint64(block), nodes, last + np.uint64(1) - sizes, last, sizes.max(), out)
        a, b, c = codes[block].astype(int)
        expected = [a > 99, np.where(a > 99, 1 + (b > 49), 0), np.where(a > 99, 2, b > 49), c]
        assert np.array_equal(out.reshape(N_TREES, N_LANES), np.stack(expected))
