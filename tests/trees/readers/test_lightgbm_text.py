import lightgbm
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.imported.sources.file import read_content
from pomona.trees.readers.lightgbm_text import LightGBMText, as_ours
from reference.foreign import documents, lightgbm_text, random_trees


def scores(text, X):
    read = LightGBMText().read(text)
    return read.model.score(X) / read.divisor


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.sampled_from(["", "average_output\n"]))
def test_the_same_bits_as_lightgbm(seed, n_trees, head):
    random = np.random.default_rng(seed)
    trees = random_trees(random, n_trees)
    text = lightgbm_text(random, trees, head)
    X = documents(random, np.concatenate([tree["threshold"] for tree in trees]))
    booster = lightgbm.Booster(model_str=text)
    assert np.array_equal(scores(text, X), booster.predict(X)), "float64 features"
    with np.errstate(over="ignore", under="ignore"):
        single = X.astype(np.float32)
    assert np.array_equal(scores(text, single), booster.predict(single)), "float32 features"


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting": "dart"},
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
    ],
    ids=str,
)
def test_trained_models(settings):
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 5)).round(1)
    X[::7, 1], X[::4, 2] = np.nan, 0
    data = lightgbm.Dataset(X, random.integers(0, 3, 600), group=[10] * 60)
    booster = lightgbm.train({"objective": "lambdarank", "verbose": -1, "num_leaves": 9, **settings}, data, 9)
    assert np.array_equal(scores(booster.model_to_string(), X), booster.predict(X))


def test_what_is_zero_for_lightgbm():
    types = np.array([0, 0, 2, 1, 1])
    limit, nan_left, zeros = as_ours(
        np.array([1e-36, -1e-36, 0.5, 2.0, -3.0]), np.array([0, 1, 1, 0, 0], bool), types
    )
    assert limit[0] == np.float32(1e-35)
    assert limit[1] < -np.float32(1e-35)
    assert nan_left.tolist() == [True, False, True, False, False]
    assert zeros.tolist() == [False, False, False, True, False], "a zero that goes there anyway needs no word"


def test_names_are_kept_unless_nobody_gave_any():
    random = np.random.default_rng(0)
    text = lightgbm_text(random, random_trees(random, 2))
    assert LightGBMText().read(text).feature_names is None
    named = text.replace("Column_0 Column_1 Column_2 Column_3", "bm25 clicks age len(x)")
    assert LightGBMText().read(named).feature_names == ("bm25", "clicks", "age", "len(x)")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("decision_type=", "decision_type=1 ", "decision_type has"),
        ("num_class=1", "num_class=3", "3 scores a document"),
        ("shrinkage=1", "is_linear=1", "linear leaves"),
        ("end of trees", "", "cut short"),
        ("leaf_value=", "leaf_value=7 ", "leaf_value has"),
        ("max_feature_idx=3", "max_feature_idx=99999999999", "asks for 100000000000 features"),
        ("max_feature_idx=3", "max_feature_idx=7", "4 feature names for 8"),
        ("threshold=", "threshold=nan ", "threshold has"),
        ("Tree=1", "Twig=1", "tells of 2 trees, and holds 1"),
        ("max_feature_idx=3", "max_feature_idx=1", "tells of 2 features"),
        ("left_child=", "left_child=4294967296 ", "left_child has"),
    ],
)
def test_refusals(old, new, message):
    random = np.random.default_rng(3)
    text = lightgbm_text(random, random_trees(random, 2))
    assert old in text
    with pytest.raises(InputError, match=message):
        read_content(text.replace(old, new).encode())


def test_numbers_beyond_32_bits_are_not_cut():
    """2^32 + 1 would be node 1."""
    random = np.random.default_rng(3)
    stump = random_trees(random, 40)[0]
    text = lightgbm_text(random, [stump])
    (line,) = (one for one in text.splitlines() if one.startswith("left_child="))
    children = line.partition("=")[2].split()
    assert children
    for place, child in enumerate(children):
        wide = [*children[:place], str(int(child) + 2**32), *children[place + 1 :]]
        with pytest.raises(InputError, match="left"):
            read_content(text.replace(line, "left_child=" + " ".join(wide)).encode())


def test_it_is_an_ordinary_ranker(tmp_path):
    data = pm.simulate(30, docs_per_query=10, n_features=6, seed=1)
    trained = pm.LambdaMART(n_trees=6, min_docs=3).fit(data)
    trained.export(tmp_path / "m.txt", "lightgbm")
    assert np.array_equal(pm.load_model(tmp_path / "m.txt").predict(data), trained.predict(data))


def test_the_smallest_model_of_lleaves():
    """Its `tiniest_single_tree`: three splits, whose undefined values act as 0."""
    block = """tree
version=v3
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=2
objective=regression
feature_names=a b c
feature_infos=[0:1] [0:1] [0:1]

Tree=0
num_leaves=4
num_cat=0
split_feature=1 2 2
threshold=0.73144941452196321 0.90708366268745222 0.85551601478390116
decision_type=2 2 2
left_child=1 -1 -2
right_child=2 -3 -4
leaf_value=0.49510661266514339 0.50645382200299838 0.50688948369558862 0.49040602357823876


end of trees
"""
    leaves = [0.49510661266514339, 0.50645382200299838, 0.50688948369558862, 0.49040602357823876]
    X = np.array([[0, 0.5, 0.5], [0, 0.5, 0.95], [0, 0.9, 0.5], [0, 0.9, 0.9], [np.nan, np.nan, np.nan]])
    found = LightGBMText().read(block).model.score(X)
    assert found.tolist() == [leaves[number] for number in (0, 2, 1, 3, 0)]


def with_categories(n=1500, seed=0):
    """Two columns of categories, of many and few, with undefined values, and one of numbers."""
    random = np.random.default_rng(seed)
    site, genre = random.integers(0, 70, n), random.integers(0, 4, n)
    y = np.digitize(np.sin(site) + 0.5 * genre + random.normal(size=n), [0.5, 1.5])
    frame = pd.DataFrame({"x": random.normal(size=n), "site": site, "genre": genre})
    frame["x"] += y
    return frame, y, np.full(n // 10, 10)


def test_categories_as_numbers_score_as_in_lightgbm():
    frame, y, group = with_categories()
    X = frame.to_numpy(np.float64)
    X[::9, 1] = np.nan
    model = lightgbm.LGBMRanker(
        n_estimators=20, min_child_samples=5, min_data_per_group=5, cat_smooth=2, verbose=-1
    )
    model.fit(X, y, group=group, categorical_feature=[1, 2])
    ours = pm.from_model(model)
    assert len(ours.model_.member) > 100
    strange = X[:60].copy()
    strange[:, 1] = np.resize([-1, -0.5, 0.7, 69, 70, 500, 1e9, np.nan, 3.99, -1e9], 60)
    for rows in (X, strange):
        assert np.array_equal(ours.predict(rows), model.predict(rows))
    again = lightgbm.Booster(model_str=ours.exported("lightgbm"))
    assert np.array_equal(again.predict(strange), model.predict(strange))


def test_categories_by_name_score_as_in_lightgbm(tmp_path):
    frame, y, group = with_categories()
    frame["site"] = pd.Categorical([f"s{value}" if value % 11 else None for value in frame["site"]])
    frame["genre"] = pd.Categorical(np.array(["b", "a", "d", "c"])[frame["genre"]], ["d", "a", "c", "b"])
    model = lightgbm.LGBMRanker(n_estimators=20, min_child_samples=5, min_data_per_group=5, verbose=-1)
    model.fit(frame, y, group=group)
    model.booster_.save_model(tmp_path / "m.txt")
    other = frame.iloc[::-1].astype({"genre": str, "site": "string"})
    for ours in (pm.from_model(model), pm.load_model(tmp_path / "m.txt")):
        assert ours.categories_[2] == ("d", "a", "c", "b")
        assert np.array_equal(ours.predict(frame), model.predict(frame))
        assert np.array_equal(ours.predict(other[other.columns[::-1]]), model.predict(frame)[::-1])
    ours.save(tmp_path / "m.pomona")
    assert np.array_equal(pm.load_model(tmp_path / "m.pomona").predict(frame), model.predict(frame))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("cat_boundaries=0 ", "cat_boundaries=7 ", "has none"),
        ("cat_threshold=", "cat_threshold=99999999999 ", "no bits"),
        ("cat_threshold=", "cat_thresh=", "has none"),
    ],
)
def test_damaged_categories(old, new, message):
    frame, y, group = with_categories()
    settings = {"min_child_samples": 5, "min_data_per_group": 5, "cat_smooth": 2, "verbose": -1}
    model = lightgbm.LGBMRanker(n_estimators=2, **settings)
    model.fit(frame.to_numpy(), y, group=group, categorical_feature=[1])
    text = model.booster_.model_to_string()
    assert old in text
    with pytest.raises(InputError, match=message):
        read_content(text.replace(old, new).encode())
