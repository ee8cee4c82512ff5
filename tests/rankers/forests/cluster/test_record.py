import numpy as np
import pytest

from pomona.rankers.forests.cluster.record import RecordedGrower, TreeRecord
from pomona.trees.binning import Bins
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grower import GrowthRules
from pomona.trees.peers import ALONE


class Untouched(LeafwiseGrower):
    def grow(self, *arguments):
        raise AssertionError("grown again")


def test_recorded_trees_are_given_out_with_the_random_numbers_after_them():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 3)).astype(np.float32)
    gradient, hessian = X[:, 0].copy(), np.ones(80, np.float32)
    bins, rules = Bins.of(X), GrowthRules(n_leaves=5, min_docs=2, feature_fraction=0.7)
    codes = bins.codes(X)
    record, rng = TreeRecord(), np.random.default_rng(1)
    grown = RecordedGrower(LeafwiseGrower(bins, codes, rules), X, record, ALONE).grow(
        gradient, hessian, None, rng
    )
    after = rng.random()
    again, rng = TreeRecord(record.trees), np.random.default_rng(1)
    grower = RecordedGrower(Untouched(bins, codes, rules), X, again, ALONE)
    given = grower.grow(gradient, hessian, None, rng)
    assert given.leaf_of_row.tolist() == grown.leaf_of_row.tolist()
    assert given.value.tolist() == grown.value.tolist()
    assert rng.random() == after
    assert len(record.trees[0][0].leaf_of_row) == 0
    with pytest.raises(AssertionError, match="grown again"):
        grower.grow(gradient, hessian, None, rng)


def test_a_record_that_is_interrupted_ends_the_training():
    X = np.arange(4, dtype=np.float32)[:, None]
    bins = Bins.of(X)
    inner = LeafwiseGrower(bins, bins.codes(X), GrowthRules())
    grower = RecordedGrower(inner, X, TreeRecord(interrupted=True), ALONE)
    with pytest.raises(KeyboardInterrupt):
        grower.grow(X[:, 0], X[:, 0], None, np.random.default_rng(0))
