import itertools
import json

import catboost
import lightgbm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import HistGradientBoostingRegressor

import pomona as pm
from pomona.errors import InputError
from pomona.trees.readers.lightgbm_json import LightGBMJson
from pomona.trees.readers.lightgbm_text import LightGBMText
from pomona.trees.readers.reader import Nodes, checked_width, forest_of, unless_default
from reference import forest as plain


def nested(tree, node=0):
    if node < 0 or len(tree["feature"]) == 0:
        return float(~node if node < 0 else 0)
    question = int(tree["feature"][node]), float(tree["threshold"][node]), bool(tree["nan_left"][node]), 1.0
    return *question, nested(tree, int(tree["left"][node])), nested(tree, int(tree["right"][node]))


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_nested_trees_keep_their_leaves(seed, n_leaves):
    random = np.random.default_rng(seed)
    tree = plain.random_tree(random, n_leaves, 3, np.arange(9.0))
    nodes = Nodes()
    nodes.add_tree(nested(tree), lambda node: node)
    X = random.choice(np.append(np.arange(10.0), np.nan), (30, 3))
    columns = [tree[name] for name in ("feature", "threshold", "nan_left", "left", "right")]
    assert nodes.forest(3).score(X).tolist() == [plain.leaf_of(x, columns) for x in X]


def test_a_tree_may_be_deeper_than_python_can_call():
    chain = 0.0
    for depth in range(3000):
        chain = (0, float(depth), False, 0.0, float(depth), chain)
    nodes = Nodes()
    nodes.add_tree(chain, lambda node: node)
    assert nodes.forest(1).score([[2999.0], [0.0]]).tolist() == [2999.0, 2999.0]


def test_unreachable_nodes_are_left_out():
    forest = forest_of(
        [3], [-1] * 3, [-1] * 3, [0] * 3, [0.0] * 3, [0] * 3, [0.0] * 3, [7.0, 8.0, 9.0], n_features=1
    )
    assert forest.score([[0.0]]).tolist() == [7.0]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([1, 0, -1], [2, 2, -1]),
        ([1, -1, -1], [1, -1, -1]),
        ([5, -1, -1], [2, -1, -1]),
        ([1, -1, -1], [-1] * 3),
    ],
)
def test_what_is_no_tree_is_refused(left, right):
    with pytest.raises(InputError):
        forest_of([3], left, right, [0] * 3, [0.0] * 3, [0] * 3, [0.0] * 3, [0.0] * 3, n_features=1)


def test_widths_and_names():
    assert (checked_width([2, 7]), checked_width([2, 7], 8), checked_width([2], 8)) == (8, 8, 8)
    with pytest.raises(InputError, match="feature no"):
        checked_width([2, 7], 3)
    assert unless_default(["Column_0", "Column_1"], "Column_") is None
    with pytest.raises(InputError, match="at most"):
        checked_width([10**9])
    with pytest.raises(InputError, match="twice"):
        unless_default(["a", "a"])


@pytest.mark.parametrize("kind", ["text", "JSON", "CatBoost", "CatBoost, any trees", "scikit-learn"])
def test_what_trainers_tell_of_leaves_is_kept(kind):
    random = np.random.default_rng(5)
    X = random.random((300, 4))
    y = X[:, 0] > X[:, 1]
    if "CatBoost" in kind:
        policy = {"grow_policy": "Lossguide"} if "any" in kind else {}
        settings = {"iterations": 6, "depth": 3, "verbose": 0, "allow_writing_files": False, **policy}
        forest = pm.from_model(catboost.CatBoostRegressor(**settings).fit(X, y)).model_
        found = forest.leaf_weight
    elif kind == "scikit-learn":
        forest = pm.from_sklearn(HistGradientBoostingRegressor(max_iter=6).fit(X, y)).model_
        found = forest.leaf_count
    else:
        booster = lightgbm.train({"verbose": -1, "min_data_in_leaf": 5}, lightgbm.Dataset(X, y), 6)
        text = booster.model_to_string() if kind == "text" else json.dumps(booster.dump_model())
        forest = (
            LightGBMText().read(text) if kind == "text" else LightGBMJson().read(json.loads(text))
        ).model
        found = forest.leaf_count
    leaves = forest.leaf_of(X.astype(np.float32) if "CatBoost" in kind else X)
    for tree, (begin, end) in enumerate(itertools.pairwise(forest.leaf_ptr)):
        counts = np.bincount(leaves[:, tree], minlength=end - begin)
        assert found[begin:end].tolist() == counts.tolist()
