import numpy as np
import pytest

from pomona.trees import divide_rest as home
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grow_oblivious import ObliviousGrower
from pomona.trees.grower import GrowthRules
from pomona.trees.walk import leaves_of


@pytest.mark.parametrize("grower", [LeafwiseGrower, ObliviousGrower])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
def test_documents_left_out_come_where_their_values_lead(grower, share):
    random = np.random.default_rng(0)
    n = 2 * home._ROWS + 37
    X = random.normal(size=(n, 4)).astype(np.float32)
    X[random.random(X.shape) < 0.2] = np.nan
    rows = np.flatnonzero(random.random(n) < share).astype(np.int32)
    gradient = (np.nan_to_num(X[:, 1], nan=2.0) + np.isnan(X[:, 2]) + random.normal(size=n)).astype(
        np.float32
    )
    bins = Bins.of(X)
    tree = grower(bins, bins.codes(X), GrowthRules(min_docs=3)).grow(
        gradient, np.ones(n, np.float32), rows, np.random.default_rng(1)
    )
    assert len(tree.feature) > 3
    expected = leaves_of(X, tree.feature, tree.threshold, tree.nan_left, tree.left, tree.right)
    assert np.array_equal(tree.leaf_of_row, expected)


def test_of_a_tree_without_splits_there_is_one_leaf():
    X = np.zeros((50, 2), np.float32)
    bins = Bins.of(X)
    ours = LeafwiseGrower(bins, bins.codes(X), GrowthRules())
    ones = np.ones(50, np.float32)
    tree = ours.grow(ones, ones, np.arange(9, dtype=np.int32), np.random.default_rng(1))
    assert tree.leaf_of_row.tolist() == [0] * 50
