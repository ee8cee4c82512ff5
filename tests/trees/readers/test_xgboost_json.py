import json

import numpy as np
import pytest
import xgboost
from hypothesis import given, settings
from hypothesis import strategies as st

from pomona.errors import InputError
from pomona.trees.readers.ubjson import read_ubjson
from pomona.trees.readers.xgboost_json import XGBoostJson, below, margin
from reference.foreign import SPECIAL, documents, random_trees, xgboost_model

FINITE = [one for one in SPECIAL if abs(one) > 1e-300 or one == 0]


def loaded(model):
    booster = xgboost.Booster()
    booster.load_model(bytearray(json.dumps(model).encode()))
    return booster


def margins(booster, X):
    return booster.predict(xgboost.DMatrix(X), output_margin=True)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.sampled_from([("rank:ndcg", "5E-1"), ("reg:squarederror", "-3.25E0"), ("binary:logistic", "3E-1")]),
    st.booleans(),
)
def test_the_same_float32_as_xgboost(seed, n_trees, told, is_dart):
    random = np.random.default_rng(seed)
    trees = random_trees(random, n_trees, FINITE)
    weights = random.random(n_trees).astype(np.float32).tolist() if is_dart else None
    model = xgboost_model(random, trees, told[1], told[0], weights)
    X = documents(
        random, np.concatenate([tree["threshold"] for tree in trees]), infinite=False, dtype=np.float32
    )
    booster = loaded(model)
    expected = margins(booster, X)
    for content in (
        model,
        json.loads(bytes(booster.save_raw("json"))),
        read_ubjson(bytes(booster.save_raw("ubj"))),
    ):
        found = XGBoostJson().read(content).model.score(X)
        assert np.array_equal(found.astype(np.float32), expected)
        assert np.array_equal(found, found.astype(np.float32))


@pytest.mark.parametrize(
    "objective",
    [
        "count:poisson",
        "reg:gamma",
        "reg:tweedie",
        "binary:logitraw",
        "survival:cox",
        "binary:hinge",
        "reg:logistic",
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_the_margin_of_the_base_score(objective):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 3)).astype(np.float32), random.integers(0, 2, 60)
    settings = {"objective": objective, "base_score": 0.3, "max_depth": 2}
    booster = xgboost.train(settings, xgboost.DMatrix(X, y if "o" in objective[3:] else y + 1), 3)
    found = XGBoostJson().read(json.loads(bytes(booster.save_raw("json")))).model.score(X)
    assert np.array_equal(found.astype(np.float32), margins(booster, X))


@pytest.mark.filterwarnings("ignore")
def test_linear_models():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3)).astype(np.float32)
    X[::5, 1] = np.nan
    booster = xgboost.train({"booster": "gblinear"}, xgboost.DMatrix(X, random.normal(size=60)), 5)
    read = XGBoostJson().read(json.loads(bytes(booster.save_raw("json"))))
    np.testing.assert_allclose(read.model.score(X), margins(booster, X), rtol=3e-7, atol=1e-7)


def test_nothing_is_below_minus_infinity():
    limits = below(np.array([-np.inf, np.inf, 0.0, 1.0], np.float32))
    assert np.isnan(limits[0])
    assert limits[1] == np.finfo(np.float32).max
    assert -1e-44 < limits[2] < 0
    random = np.random.default_rng(0)
    tree = {"feature": [0], "threshold": [-np.inf], "nan_left": [True], "left": [~0], "right": [~1]}
    model = xgboost_model(random, [tree])
    model["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"][0] = float("-inf")
    low, high = model["learner"]["gradient_booster"]["model"]["trees"][0]["split_conditions"][1:]
    found = XGBoostJson().read(model).model.score([[-np.inf, 0, 0, 0], [3, 0, 0, 0], [np.nan, 0, 0, 0]])
    assert found.tolist() == (np.float32(0.5) + np.float32([high, high, low])).tolist()


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("split_type", [1, 0, 0], "categories"),
        ("left_children", [9, -1, -1], "outside its tree"),
        ("left_children", [0, -1, -1], "child of two"),
        ("left_children", [1, -1], "differ in length"),
        ("split_indices", [2**40, 0, 0], "asks for"),
    ],
)
def test_refused_trees(place, value, message):
    tree = {"feature": [0], "threshold": [0.5], "nan_left": [True], "left": [~0], "right": [~1]}
    model = xgboost_model(np.random.default_rng(0), [tree])
    model["learner"]["gradient_booster"]["model"]["trees"][0][place] = value
    with pytest.raises(InputError, match=message):
        XGBoostJson().read(model)


def test_refused_models():
    model = xgboost_model(np.random.default_rng(0), [])
    model["learner"]["gradient_booster"]["model"]["gbtree_model_param"]["num_trees"] = "2"
    with pytest.raises(InputError, match="tells of 2 trees, and holds 0"):
        XGBoostJson().read(model)
    model["learner"]["learner_model_param"]["num_class"] = "3"
    with pytest.raises(InputError, match="3 scores"):
        XGBoostJson().read(model)
    with pytest.raises(InputError, match="2 scores"):
        margin("[1E0,2E0]", "reg:squarederror")
    with pytest.raises(InputError, match="no margin"):
        margin("2E0", "binary:logistic")
    with pytest.raises(InputError, match="expected a number"):
        margin("nan", "rank:ndcg")
