from dataclasses import replace

import numpy as np
import pytest

import pomona as pm
from pomona.data.folds import Fold
from pomona.experiments.analysis.feature_forest import ForestShares, _interactions, shuffled_orders
from pomona.trees.forest import Forest


@pytest.fixture(scope="module")
def fold():
    data = pm.simulate(40, docs_per_query=15, n_features=6, seed=2)
    X = np.column_stack([data.X, np.full(data.n_docs, 2.0)])
    return Fold(*data.replace(X=X).split([0.6, 0.2, 0.2]))


def shares_of(fold, **options):
    shares = ForestShares(fold.train.feature_names)
    shares.add_fold(fold, pm.measure("ndcg@10"), **{"n_trees": 20, "n_shuffles": 3, **options})
    return shares


def test_shares_are_those_of_the_ranker(fold):
    shares = shares_of(fold)
    ranker = pm.LambdaMART(measure="ndcg@10", n_trees=20, early_stopping=None).fit(fold.train)
    ranker.measure = replace(pm.measure("ndcg@10"), ties="expected")
    table = shares.table
    assert table["gain_share"].to_list() == ranker.feature_importances_.tolist()
    assert table["gain_share"].sum() == pytest.approx(1.0)
    assert table["splits"].to_list() == ranker.importance("split").tolist()
    assert shares.value == pytest.approx(ranker.score(fold.test))
    assert table.row(6)[1:] == (0.0, 0, 0.0, 0.0)


def test_drops_are_those_of_shuffled_data(fold):
    test, table = fold.test, shares_of(fold).table
    ranker = pm.LambdaMART(measure="ndcg@10", n_trees=20, early_stopping=None).fit(fold.train)
    ranker.measure = replace(pm.measure("ndcg@10"), ties="expected")
    orders = shuffled_orders(test, 3, 0)
    for feature in range(test.n_features):
        for column, some in (("drop_within", orders[:3]), ("drop_across", orders[3:])):
            after = []
            for order in some:
                X = test.X.copy()
                X[:, feature] = X[order, feature]
                after.append(ranker.score(test.replace(X=X)))
            assert table[column][feature] == pytest.approx(ranker.score(test) - np.mean(after), abs=1e-9)


def test_orders_stay_inside_queries_or_do_not(fold):
    query = np.repeat(np.arange(fold.test.n_queries), np.diff(fold.test.query_ptr))
    orders = shuffled_orders(fold.test, 2, 0)
    for order in orders:
        assert sorted(order.tolist()) == list(range(fold.test.n_docs))
    assert [bool((query[order] == query).all()) for order in orders] == [True, True, False, False]
    assert (orders[0] != orders[1]).any()


def test_folds_count_by_their_queries(fold):
    shares = shares_of(fold)
    alone = shares.table["drop_within"].to_numpy().copy()
    half = Fold(fold.train, fold.valid, fold.test.take(np.arange(fold.test.n_queries // 2)))
    only_half = shares_of(half).table["drop_within"].to_numpy()
    shares.add_fold(half, pm.measure("ndcg@10"), n_trees=20, n_shuffles=3)
    together = shares.table["drop_within"].to_numpy()
    np.testing.assert_allclose(together, (2 * alone + only_half) / 3, atol=1e-12)


def test_interactions_by_hand():
    """f0 above (f1 above f0, f2): a split counts once for each feature above it, and never for its own."""
    tree = Forest(
        feature=[0, 1, 2, 0], threshold=[0, 0, 0, 1], nan_left=[True] * 4,
        left=[1, 3, ~0, ~1], right=[2, ~2, ~3, ~4], gain=[10.0, 5.0, 3.0, 1.0],
        node_ptr=[0, 4], value=[0.0] * 5, leaf_ptr=[0, 5], n_features=3,
    )  # fmt: skip
    assert _interactions(tree).tolist() == [[0.0, 5.0, 3.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    twice = Forest.join([tree, tree], 3)
    assert _interactions(twice)[0].tolist() == [0.0, 10.0, 6.0]


def test_the_largest_interactions_come_first(fold):
    table = shares_of(fold).interaction_table
    assert table["gain"].is_sorted(descending=True)
    assert (table["above"] != table["below"]).all()
    assert 0 < len(table) <= 20


def test_an_interruption_is_passed_on(fold, monkeypatch):
    monkeypatch.setattr(pm.LambdaMART, "fit", lambda self, train: setattr(self, "interrupted_", True))
    with pytest.raises(KeyboardInterrupt):
        shares_of(fold)
