import numpy as np
import pytest

from pomona._jit import threads
from pomona.trees.binning import Bins
from pomona.trees.divide import divide, open_root, sort_range
from pomona.trees.grower import GrowthRules, Workspace


def test_rows_are_sorted_in_order():
    codes = np.array([3, 0, 2, 9, 1, 5, 0, 9], np.uint8)
    rows = np.array([7, 6, 5, 4, 3, 2, 1, 0], np.int32)
    spare = np.zeros((2, 8), np.int32)
    assert sort_range(1, 5, codes, 2, 9, rows, spare[0], spare[1]) == 3
    assert spare[0, 1:4].tolist() == [6, 4, 3]
    assert spare[1, 1] == 5
    assert sort_range(5, 8, codes, 2, 9, rows, rows, spare[1]) == 2
    assert rows[5:7].tolist() == [2, 1]
    assert spare[1, 5] == 0


def opened(n=5000, n_features=70, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, n_features)).astype(np.float32)
    X[:, :9] = np.round(X[:, :9])
    bins = Bins.of(X)
    workspace = Workspace(bins, bins.codes(X), GrowthRules(), 4)
    gradient = (X[:, 3] + 0.3 * random.normal(size=n)).astype(np.float32)
    workspace.start(gradient, np.ones(n, np.float32), None, np.random.default_rng(0))
    return workspace


def by_hand(workspace, leaf):
    """The histogram of a leaf's documents, feature after feature."""
    table = workspace.table
    rows = table.rows[table.leaves["begin"][leaf] : table.leaves["end"][leaf]]
    sums = np.zeros(table.bin_start[-1], np.int64)
    for f, column in enumerate(table.columns):
        np.add.at(sums, table.bin_start[f] + column[rows].astype(np.int64), table.packed[rows])
    return sums


@pytest.mark.parametrize(("n_threads", "n"), [(1, 5000), (3, 5000), (40, 30_000), (3, 90_000)])
def test_children_have_their_documents_and_histograms(n_threads, n):
    with threads(n_threads):  # but this one thread does all tasks: words apart, some rows of them, and all
        workspace = opened(n)
        table = workspace.table
        open_root(table)
        assert np.array_equal(table.histograms[0], by_hand(workspace, 0))
        split = table.leaves[0].copy()
        assert split["feature"] == 3
        divide(table, 0, 1, False)
    left, right = (
        table.rows[table.leaves["begin"][leaf] : table.leaves["end"][leaf]].tolist() for leaf in (0, 1)
    )
    codes = table.columns[split["feature"]]
    assert left == [row for row in range(n) if codes[row] <= split["bin"]]
    assert right == [row for row in range(n) if codes[row] > split["bin"]]
    for leaf in (0, 1):
        assert np.array_equal(table.histograms[table.leaves["slot"][leaf]], by_hand(workspace, leaf))
    assert table.leaves["total"][0] == split["left_total"]
