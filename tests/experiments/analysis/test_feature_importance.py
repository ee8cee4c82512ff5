import numpy as np
import pytest
from sklearn.inspection import permutation_importance as of_sklearn

import pomona as pm
from pomona.errors import InputError, PomonaError
from pomona.experiments.analysis.feature_importance import examine_importance
from pomona.stats.bootstrap import interval

TRAIN, TEST = pm.simulate(120, docs_per_query=12, n_features=6, seed=1).split([0.6, 0.4], seed=0)
NAMES = list(TEST.feature_names)
RANKERS = {
    "a forest": pm.LambdaMART(n_trees=15, n_leaves=6, min_docs=3),
    "weights inside queries": pm.RankSVM(),
    "several forests": pm.McRank(n_trees=5, n_leaves=4, min_docs=3),
}


def by_hand(ranker, data, columns, shuffle, n_shuffles, across):
    """(n_queries,) mean loss, of a plain loop."""
    before = pm.evaluate(data, ranker.predict(data), "ndcg@10", per_query=True)["ndcg@10"]
    losses = []
    for number in range(n_shuffles):
        order, X = shuffle(number, across), data.X.copy()
        X[:, columns] = data.X[order][:, columns]
        after = ranker.predict(X, qid=data.qid)
        losses.append(before - pm.evaluate(data, after, "ndcg@10", per_query=True)["ndcg@10"])
    return np.mean(losses, axis=0)


@pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS)
def test_is_what_a_plain_loop_finds(ranker):
    from pomona.experiments.analysis.feature_forest import shuffled_orders

    fitted, data = ranker.fit(TRAIN), TEST.gathered()
    orders = shuffled_orders(data, 3, 0)
    table = pm.permutation_importance(fitted, data, groups={"two": NAMES[:2]}, n_shuffles=3)
    rows = {row["feature"]: row for row in table.to_dicts()}
    units = {name: [j] for j, name in enumerate(NAMES)} | {"two": [0, 1]}
    for name, columns in units.items():
        within = by_hand(fitted, data, columns, lambda i, _: orders[i], 3, False)
        across = by_hand(fitted, data, columns, lambda i, _: orders[3 + i], 3, True)
        row = rows[name]
        # Ties count as their mean here, and by the order of the rows above: a few documents share a leaf.
        assert row["within"] == pytest.approx(within.mean(), abs=0.02)
        assert row["across"] == pytest.approx(across.mean(), abs=0.02)
        if name == "two" and ranker is RANKERS["weights inside queries"]:
            assert (row["low"], row["high"]) == pytest.approx(interval(within), abs=1e-3)
    assert rows["two"]["separate"] == pytest.approx(sum(rows[name]["within"] for name in NAMES[:2]))
    assert rows["two"]["n_features"] == 2
    assert table["within"].to_list() == sorted(table["within"], reverse=True)


def test_across_is_scikit_learns():
    ranker = pm.LinearRegression().fit(TRAIN)
    theirs = of_sklearn(
        ranker, TEST.X, TEST.y, scoring=pm.scorer("ndcg@10", qid=TEST.qid), n_repeats=30, random_state=0
    )
    ours = pm.permutation_importance(ranker, TEST, n_shuffles=30)
    found = dict(ours.select("feature", "across").iter_rows())
    assert [found[name] for name in NAMES] == pytest.approx(theirs.importances_mean, abs=0.03)


def test_a_feature_that_the_model_does_not_use_loses_nothing():
    flat = TRAIN.replace(X=TRAIN.X * np.array([1, 1, 1, 1, 1, 0], np.float32))
    table = pm.permutation_importance(pm.MART(n_trees=5, n_leaves=4).fit(flat), TEST)
    (row,) = table.filter(feature=NAMES[5]).to_dicts()
    assert [row[name] for name in ("within", "low", "high", "across")] == pytest.approx([0] * 4, abs=1e-12)


def test_rows_and_columns_in_any_order():
    ranker, rows = pm.LinearRegression().fit(TRAIN), np.random.default_rng(0).permutation(TEST.n_docs)
    shuffled = pm.Dataset(TEST.X[rows][:, ::-1], TEST.y[rows], TEST.qid[rows], feature_names=NAMES[::-1])
    expected = pm.permutation_importance(ranker, TEST, n_shuffles=40)
    found = pm.permutation_importance(ranker, shuffled, n_shuffles=40)
    means = dict(found.select("feature", "within").iter_rows())
    assert [means[name] for name in expected["feature"]] == pytest.approx(
        expected["within"].to_list(), abs=0.02
    )
    assert set(found["feature"]) == set(NAMES)


def test_one_query_has_no_interval():
    table = pm.permutation_importance(pm.LinearRegression().fit(TRAIN), TEST.take([0]))
    assert table["low"].null_count() == table["across_high"].null_count() == 6


def test_interruption_leaves_what_was_done():
    def stop(share):
        if share > 0.3:
            raise KeyboardInterrupt

    found = examine_importance(pm.LinearRegression().fit(TRAIN), TEST, "ap", watch=stop)
    assert found.interrupted
    assert (len(found.table), found.measure.partition("(")[0]) == (2, "ap")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"groups": {"text": ["nosuch"]}}, "unknown feature of group text 'nosuch'"),
        ({"groups": {NAMES[0]: NAMES[:2]}}, "is called as a feature is"),
        ({"groups": {"none": []}}, "has no feature"),
        ({"n_shuffles": 0}, "0 shuffles"),
    ],
)
def test_refusals(given, said):
    with pytest.raises(PomonaError, match=said):
        pm.permutation_importance(pm.LinearRegression().fit(TRAIN), TEST, **given)
    with pytest.raises(InputError, match="no document"):
        pm.permutation_importance(pm.LinearRegression().fit(TRAIN), TEST.take([]))
