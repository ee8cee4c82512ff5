import itertools
from dataclasses import replace

import lightgbm
import numpy as np
import pandas as pd
import pytest

import pomona as pm
from pomona.trees.formats.lightgbm import LightGBM
from pomona.trees.readers.lightgbm_text import LightGBMText
from pomona.trees.walk import ZERO
from reference.foreign import documents, lightgbm_text, random_trees


def read(text, X):
    return lightgbm.Booster(model_str=text).predict(X.astype(np.float64), raw_score=True)


def test_lightgbm_gives_the_same_scores(forest, names, rows):
    assert np.array_equal(read(LightGBM().write(forest, names), rows), forest.score(rows))


def test_treelite_gives_the_same_scores(forest, names, rows, tmp_path):
    treelite = pytest.importorskip("treelite")
    (tmp_path / "m.txt").write_text(LightGBM().write(forest, names))
    model = treelite.frontend.load_lightgbm_model(tmp_path / "m.txt")
    found = treelite.gtil.predict(model, rows.astype(np.float64), nthread=1, pred_margin=True)
    np.testing.assert_allclose(found.ravel(), forest.score(rows), rtol=0, atol=1e-12)


def test_infinite_values_go_where_they_went(forest, names, infinite_rows, tmp_path):
    text = LightGBM().write(forest, names)
    assert np.array_equal(read(text, infinite_rows), forest.score(infinite_rows))
    treelite = pytest.importorskip("treelite")
    (tmp_path / "m.txt").write_text(text)
    model = treelite.frontend.load_lightgbm_model(tmp_path / "m.txt")
    found = treelite.gtil.predict(model, infinite_rows.astype(np.float64), nthread=1, pred_margin=True)
    np.testing.assert_allclose(found.ravel(), forest.score(infinite_rows), rtol=0, atol=1e-12)


def test_thresholds_that_lightgbms_zero_covers_are_told(forests):
    """Its zero is |x| <= z = float32(1e-35): it cannot tell 1e-36 from 0, nor -z from 0."""
    below = np.nextafter(np.float32(ZERO), np.float32(0))
    for limit, expected in (
        *(
            (0.0, True),
            (-0.0, True),
            (1e-36, True),
            (1e-45, True),
            (-1e-36, True),
            (-ZERO, True),
            (below, True),
        ),
        *((ZERO, False), (np.nextafter(np.float32(-ZERO), np.float32(-1)), False), (1e-34, False)),
    ):
        forest = replace(forests["limit 0.1"], threshold=[limit])
        assert any("1e-35" in note for note in LightGBM().notes(forest)) == expected
        near = np.array([0, ZERO, -ZERO, 1e-36, -1e-36, 1e-45, 1e-34, -1e-34, 1], np.float32)
        X = np.repeat(near[:, None], 6, axis=1)
        differs = read(LightGBM().write(forest, list("abcdef")), X) != forest.score(X)
        assert differs.any() == expected


def test_names_of_features_are_kept_if_lightgbm_can_read_them(forests, names, rows):
    forest = forests["lambdamart"]
    assert lightgbm.Booster(model_str=LightGBM().write(forest, names)).feature_name() == names
    text = LightGBM().write(forest, ["a b", "a b", "[c]", "d=1", "é", ""])
    assert np.array_equal(read(text, rows), forest.score(rows))


def test_importance_is_ours(forests, names):
    booster = lightgbm.Booster(model_str=LightGBM().write(forests["lambdamart"], names))
    assert np.array_equal(booster.feature_importance("split"), forests["lambdamart"].importance("split"))
    np.testing.assert_allclose(booster.feature_importance("gain"), forests["lambdamart"].importance("gain"))


def test_thresholds_and_zeros_of_lightgbms_own_models_come_back():
    random = np.random.default_rng(4)
    trees = random_trees(random, 6)
    model = LightGBMText().read(lightgbm_text(random, trees)).model
    assert model.zero_missing is not None
    X = documents(random, model.double_threshold, 200, infinite=False)
    found = lightgbm.Booster(model_str=LightGBM().content(model, list("abcd"))).predict(X, raw_score=True)
    assert np.array_equal(found, model.score(X))


def test_shap_values_on_an_export_are_those_of_the_model():
    random = np.random.default_rng(3)
    X = random.random((400, 5))
    X[::7, 2] = np.nan
    settings = {"objective": "regression", "verbose": -1, "num_leaves": 9, "min_data_in_leaf": 3}
    booster = lightgbm.train(settings, lightgbm.Dataset(X, X[:, 0] + np.nan_to_num(X[:, 2]) ** 2), 10)
    trained = LightGBMText().read(booster.model_to_string()).model
    again = lightgbm.Booster(model_str=LightGBM().write(trained, [f"Column_{j}" for j in range(5)]))
    np.testing.assert_allclose(
        again.predict(X, pred_contrib=True), booster.predict(X, pred_contrib=True), rtol=1e-12
    )
    ours, theirs = again.trees_to_dataframe(), booster.trees_to_dataframe()
    assert ours["count"].tolist() == theirs["count"].tolist()
    np.testing.assert_allclose(ours["weight"], theirs["weight"], rtol=1e-5)  # LightGBM writes six digits


def test_shap_values_of_our_own_forests():
    data = pm.simulate(30, docs_per_query=20, n_features=6, seed=3)
    for ranker in (pm.LambdaMART(n_trees=8, n_leaves=7), pm.MART(n_trees=8, growth="oblivious", max_depth=4)):
        forest = ranker.fit(data).model_
        leaves = forest.leaf_of(data.X)
        for tree, (begin, end) in enumerate(itertools.pairwise(forest.leaf_ptr)):
            counts = np.bincount(leaves[:, tree], minlength=end - begin)
            assert forest.leaf_count[begin:end].tolist() == counts.tolist()
        booster = lightgbm.Booster(model_str=ranker.exported("lightgbm"))
        shares = booster.predict(data.X, pred_contrib=True)
        np.testing.assert_allclose(shares.sum(axis=1), ranker.predict(data), atol=1e-12)
        expected = sum(
            np.average(forest.value[a:b], weights=np.maximum(forest.leaf_count[a:b], 1))
            for a, b in itertools.pairwise(forest.leaf_ptr)
        )
        np.testing.assert_allclose(shares[:, -1], forest.base + expected)


def test_categories_by_name_are_matched_by_lightgbm():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"x": random.normal(size=600), "site": [f"s{v}" for v in random.integers(0, 50, 600)]}
    )
    y = np.digitize(np.sin(frame["site"].str[1:].astype(int)) + frame["x"], [0, 1])
    ranker = pm.LambdaMART(n_trees=15, min_docs=3).fit(frame, y, qid=np.repeat(np.arange(60), 10))
    assert len(ranker.model_.member) > 20
    booster = lightgbm.Booster(model_str=ranker.exported("lightgbm"))
    theirs = frame.astype({"site": "category"})
    assert np.array_equal(booster.predict(theirs), ranker.predict(frame))
    few = theirs.iloc[7:12].astype({"site": str}).astype({"site": "category"})  # of other categories
    assert np.array_equal(booster.predict(few), ranker.predict(few))
    assert pm.from_model(booster).categories_ == ranker.categories_
    assert pm.from_model(booster).model_.member.tolist() == ranker.model_.member.tolist()
