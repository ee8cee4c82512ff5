import numpy as np

import pomona as pm
from pomona.rankers.forests.training.grown import forest_of, leaves_in
from pomona.trees.binning import Bins
from pomona.trees.forest import Forest
from pomona.trees.grow_leafwise import LeafwiseGrower
from pomona.trees.grower import GrowthRules


def test_leaves_are_those_of_the_forest():
    data = pm.simulate(20, docs_per_query=12, n_features=4, seed=1)
    X = data.X.copy()
    X[:, 0] = np.arange(len(X)) % 7
    data = data.replace(X=X)
    gradient, hessian = (
        (np.round(50 * np.sin(X[:, 0] * 2)) - data.y).astype(np.float32),
        np.ones(len(X), np.float32),
    )
    for categorical in ((), (0,)):
        bins = Bins.of(X, categorical=categorical)
        grower = LeafwiseGrower(bins, bins.codes(X), GrowthRules(n_leaves=9, min_docs=2))
        trees = [grower.grow(gradient, hessian, None, np.random.default_rng(seed)) for seed in range(2)]
        assert any(map(len, trees[0].members or ())) == bool(categorical)
        forest = forest_of([(tree, tree.value) for tree in trees], Forest.empty(4, 0.5))
        assert np.array_equal(forest.leaf_of(X)[:, 0], leaves_in(data, trees[0]))
        assert np.array_equal(leaves_in(data, trees[0]), trees[0].leaf_of_row)
        assert np.array_equal(forest.score(X), 0.5 + sum(tree.value[tree.leaf_of_row] for tree in trees))
