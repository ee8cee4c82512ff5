import numpy as np
import pytest

import pomona as pm
from pomona.trees.forest import Forest


@pytest.fixture(scope="module")
def data():
    return pm.simulate(12, docs_per_query=20, n_features=8, seed=3)


@pytest.mark.parametrize("growth", ["leafwise", "oblivious"])
def test_permuted_scores_are_those_of_permuted_documents(data, growth):
    forest = pm.LambdaMART(n_trees=20, n_leaves=5, min_docs=3, max_depth=3, growth=growth).fit(data).model_
    X = data.X.copy()
    X[::7, 2] = np.nan
    scorer, random = forest.permuted_scorer(X), np.random.default_rng(0)
    before = scorer.scores.copy()
    np.testing.assert_allclose(before, forest.score(X), rtol=0, atol=1e-12)
    for feature in range(data.n_features):
        orders = [random.permutation(data.n_docs) for _ in range(3)]
        for order, scores in zip(orders, scorer.permuted(feature, orders), strict=True):
            traded = X.copy()
            traded[:, feature] = X[order, feature]
            np.testing.assert_allclose(scores, forest.score(traded), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(scorer.scores, before)


def test_documents_of_the_same_leaves_tie_whatever_they_had_before(data):
    forest = pm.LambdaMART(n_trees=50, n_leaves=9, min_docs=3).fit(data).model_
    constant = np.broadcast_to(np.median(data.X, axis=0), data.X.shape).copy()
    for feature in range(data.n_features):
        X = constant.copy()
        X[:, feature] = data.X[:, feature]
        everywhere_first = np.zeros(data.n_docs, np.int64)
        (scores,) = forest.permuted_scorer(X).permuted(feature, [everywhere_first])
        assert len(set(scores.tolist())) == 1


def test_a_forest_without_trees():
    scorer = Forest.empty(2, base=0.25).permuted_scorer([[1.0, 5.0], [2.0, 6.0]])
    assert [scores.tolist() for scores in scorer.permuted(1, [np.array([1, 0])])] == [[0.25, 0.25]]


def test_a_feature_that_no_tree_splits_on_changes_nothing():
    stump = Forest(
        feature=[0], threshold=[1.5], nan_left=[True], left=[~0], right=[~1], gain=[1.0],
        node_ptr=[0, 1], value=[-1.0, 2.0], leaf_ptr=[0, 2], n_features=2, base=0.5,
    )  # fmt: skip
    scorer = stump.permuted_scorer([[1.0, 5.0], [2.0, 6.0]])
    assert [scores.tolist() for scores in scorer.permuted(1, [np.array([1, 0])])] == [[-0.5, 2.5]]
    assert [scores.tolist() for scores in scorer.permuted(0, [np.array([1, 0])])] == [[2.5, -0.5]]
