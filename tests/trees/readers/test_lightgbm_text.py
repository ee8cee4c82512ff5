import lightgbm
import numpy as np
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
        ("num_cat=0", "num_cat=1", "splits on categories"),
        ("num_class=1", "num_class=3", "3 scores a document"),
        ("shrinkage=1", "is_linear=1", "linear leaves"),
        ("end of trees", "", "cut short"),
        ("leaf_value=", "leaf_value=7 ", "leaf_value has"),
        ("max_feature_idx=3", "max_feature_idx=99999999999", "asks for 100000000000 features"),
        ("max_feature_idx=3", "max_feature_idx=7", "4 feature names for 8"),
        ("threshold=", "threshold=nan ", "threshold has"),
    ],
)
def test_refusals(old, new, message):
    random = np.random.default_rng(3)
    text = lightgbm_text(random, random_trees(random, 2))
    assert old in text
    with pytest.raises(InputError, match=message):
        read_content(text.replace(old, new).encode())


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
