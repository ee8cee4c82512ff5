import numpy as np
import pandas as pd
import polars as pl
import pytest

import pomona as pm
from pomona.rankers.forests.training.categorical import categorical_places

N_SITES = 40


def table(n_queries, seed, world=0):
    """Documents whose relevance depends on their site, and on their genre in a way that a number decides."""
    random, effects = np.random.default_rng(seed), np.random.default_rng(world)
    n = n_queries * 10
    of_site, of_genre = effects.normal(size=N_SITES), np.array([-1.0, 0.0, 1.0])
    site, genre, x = random.integers(0, N_SITES, n), random.integers(0, 3, n), random.normal(size=(n, 3))
    scores = 1.5 * of_site[site] + x[:, 0] * of_genre[genre] + 0.5 * random.normal(size=n)
    names = np.array([f"site-{number:03}" for number in effects.permutation(N_SITES)])
    frame = pd.DataFrame(x, columns=["a", "b", "c"])
    frame["site"], frame["genre"] = names[site], np.array(["blog", "news", "shop"])[genre]
    frame.loc[random.random(n) < 0.05, "site"] = None
    return frame, np.digitize(scores, [0.5, 2.0]), np.repeat(np.arange(n_queries), 10)


TRAIN, VALID, TEST = table(150, 1), table(60, 2), table(60, 3)


@pytest.fixture(scope="module")
def ranker():
    return pm.LambdaMART(n_trees=40).fit(*TRAIN[:2], qid=TRAIN[2], valid=VALID)


def test_they_teach_and_trees_grow_leaf_by_leaf(ranker):
    assert ranker.chosen_["growth"] == "leafwise"
    assert ranker.categories_[4] == ("blog", "news", "shop")
    used = ranker.importance("split")
    assert used[3] > 0
    assert used[4] > 0
    numbers = ["a", "b", "c"]
    without = pm.LambdaMART(n_trees=40).fit(TRAIN[0][numbers], TRAIN[1], qid=TRAIN[2])
    assert ranker.score(*TEST) > without.score(TEST[0][numbers], *TEST[1:]) + 0.1
    assert ranker.score(*VALID) == pytest.approx(max(ranker.evals_["valid"]))


def test_lightgbm_learns_no_more_from_them():
    lightgbm = pytest.importorskip("lightgbm")
    columns = {"site": "category", "genre": "category"}
    theirs = lightgbm.LGBMRanker(n_estimators=40, num_leaves=15, verbose=-1)
    theirs.fit(TRAIN[0].astype(columns), TRAIN[1], group=np.bincount(TRAIN[2]))
    ours = pm.LambdaMART(n_trees=40, n_leaves=15, noise=0).fit(*TRAIN[:2], qid=TRAIN[2])
    reached = pm.evaluate(pm.Dataset(*TEST), theirs.predict(TEST[0].astype(columns)), "ndcg@10")["ndcg@10"]
    assert ours.score(*TEST) > reached - 0.01


def test_values_are_matched_by_name(ranker):
    frame = TEST[0]
    scores = ranker.predict(frame)
    other = frame.astype({"site": pd.CategoricalDtype(sorted(set(TRAIN[0]["site"].dropna()), reverse=True))})
    assert np.array_equal(ranker.predict(other), scores)
    assert np.array_equal(ranker.predict(frame[frame.columns[::-1]]), scores)
    assert np.array_equal(ranker.predict(pl.from_pandas(frame)), scores)
    assert np.array_equal(ranker.predict(pm.Dataset(*TEST)), scores)
    assert np.array_equal(ranker.predict(frame.iloc[5:9]), scores[5:9])
    records = frame.where(frame.notna(), None).to_dict("records")
    assert np.array_equal(ranker.predict(records), scores)
    assert ranker.predict(records[3]).tolist() == [scores[3]]


def test_unknown_and_undefined_are_the_same(ranker):
    one, two = TEST[0].copy(), TEST[0].copy()
    one["site"], two["site"] = "never seen", None
    assert np.array_equal(ranker.predict(one), ranker.predict(two))
    assert np.array_equal(
        ranker.predict([{**one.iloc[0].to_dict(), "site": "new"}]), ranker.predict(two.iloc[:1])
    )


def test_saved_and_loaded(ranker, tmp_path):
    ranker.save(tmp_path / "m.pomona")
    loaded = pm.load_model(tmp_path / "m.pomona")
    assert loaded.categories_ == ranker.categories_
    assert loaded.model_ == ranker.model_
    assert np.array_equal(loaded.predict(TEST[0]), ranker.predict(TEST[0]))


def test_the_order_of_rows_and_of_categories_does_not_matter(ranker):
    rows = np.random.default_rng(0).permutation(len(TRAIN[1]))
    frame = TRAIN[0].iloc[rows].reset_index(drop=True)
    frame = frame.astype({"genre": pd.CategoricalDtype(["shop", "news", "blog"])})
    other = pm.LambdaMART(n_trees=40).fit(frame, TRAIN[1][rows], qid=TRAIN[2][rows], valid=VALID)
    assert other.model_ == ranker.model_


def test_whole_numbers_as_categories():
    train = pm.Dataset(*TRAIN)
    named = pm.LambdaMART(n_trees=10).fit(train)
    numbers = pm.Dataset(train.X, train.y, train.qid)
    ours = pm.LambdaMART(n_trees=10, categorical=[3, "f5"]).fit(numbers)
    assert ours.model_ == named.model_
    assert ours.categories_ == {}
    assert np.array_equal(ours.predict(train.X), named.predict(train))
    assert ours.model_ != pm.LambdaMART(n_trees=10, growth="leafwise").fit(numbers).model_
    assert categorical_places({}, None, ["a"]) == []


@pytest.mark.parametrize("bagging", [False, True])
def test_bags_ensembles_and_bases(bagging):
    train, test = pm.Dataset(*TRAIN), pm.Dataset(*TEST)
    forest = pm.RandomForest(n_trees=15, n_leaves=30).fit(train)
    assert forest.score(test) > 0.5
    few = pm.MART(
        n_trees=20,
        query_fraction=0.5,
        dropout=0.1,
        feature_fraction_bynode=0.6,
        interactions=[[0, 3], [3, 4]],
    )
    assert few.fit(train).score(test) > 0.5
    ensemble = pm.Ensemble(pm.MART(n_trees=8), n_models=2, combine="mean", bagging=bagging).fit(train)
    assert np.array_equal(ensemble.predict(TEST[0]), ensemble.predict(test))
    added = pm.MART(n_trees=5).fit(train, base_model=few)
    assert np.array_equal(added.predict(TEST[0]), added.predict(test))
    assert added.portable().score(test.X) == pytest.approx(added.predict(test))


def test_explanations(ranker):
    test = pm.Dataset(*TEST).take(np.arange(10))
    found = ranker.explain(test, method="path")
    assert found.values.sum(axis=1) + found.expected == pytest.approx(ranker.predict(test))


def test_ids_are_no_categories():
    frame = TRAIN[0].assign(url=[f"http://{i}" for i in range(len(TRAIN[0]))])
    with pytest.raises(pm.PomonaError, match=r"'url' holds \d+ categories in \d+ documents, which hardly"):
        pm.LambdaMART().fit(frame, TRAIN[1], TRAIN[2])


def test_refusals(ranker):
    train = pm.Dataset(*TRAIN)
    with pytest.raises(
        pm.PomonaError, match="oblivious trees cannot split on categories so far: use growth='leafwise'"
    ):
        pm.LambdaMART(growth="oblivious").fit(train)
    with pytest.raises(
        pm.PomonaError, match="'genre' is a category, which has no order: leave its monotone 0"
    ):
        pm.LambdaMART(monotone=(0, 0, 0, 0, 1)).fit(train)
    with pytest.raises(
        pm.PomonaError, match=r"'a' is categorical and holds .*, expected whole numbers from 0"
    ):
        pm.LambdaMART(categorical=["a"]).fit(train)
    with pytest.raises(pm.PomonaError, match=r"'site' holds numbers, expected categories \('site-000'"):
        ranker.predict(train.X)
    with pytest.raises(
        pm.PomonaError, match=r"feature 'site' is a category, found the number 3\.0: give its name"
    ):
        ranker.predict({"a": 1, "b": 1, "c": 1, "site": 3.0, "genre": "news"})
    few = pm.Dataset(TRAIN[0].iloc[:40], TRAIN[1][:40], TRAIN[2][:40])
    begun = pm.MART(n_trees=2).fit(train).set_params(warm_start=True, n_trees=3)
    with pytest.raises(pm.PomonaError, match="knows other categories than the data"):
        begun.fit(few)
    with pytest.raises(pm.PomonaError, match="some splits ask for categories, which onnx cannot hold"):
        ranker.exported("onnx")
    with pytest.raises(pm.PomonaError, match="unknown feature 'sit': did you mean 'site'"):
        pm.MART(categorical=["sit"]).fit(train)
