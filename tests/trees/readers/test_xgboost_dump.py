import json

import numpy as np
import pytest
import xgboost

from pomona.errors import InputError
from pomona.trees.readers.xgboost_dump import XGBoostJsonDump, XGBoostTextDump
from pomona.trees.readers.xgboost_json import XGBoostJson


@pytest.fixture(scope="module")
def trained():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 5)).astype(np.float32)
    X[::6, 2] = np.nan
    data = xgboost.DMatrix(X, X[:, 0] + (X[:, 1] > 0), feature_names=None)
    return xgboost.train({"max_depth": 4, "base_score": 0.0}, data, 5), X


def texts(booster, names=None):
    if names:
        booster = booster.copy()
        booster.feature_names = names
    for stats in (False, True):
        lines = booster.get_dump(with_stats=stats)
        yield XGBoostTextDump(), "".join(f"booster[{k}]:\n{text}" for k, text in enumerate(lines))
        trees = booster.get_dump(with_stats=stats, dump_format="json")
        yield XGBoostJsonDump(), [json.loads(tree) for tree in trees]


def test_nine_digits_are_a_float32(trained):
    booster, X = trained
    model = XGBoostJson().read(json.loads(bytes(booster.save_raw("json")))).model
    for reader, content in texts(booster):
        assert reader.recognizes(content)
        read = reader.read(content)
        assert read.is_open
        assert "base score" in read.note
        rows = X[:, : read.model.n_features]
        assert np.array_equal(read.model.score(rows), model.score(X))


def test_names(trained):
    booster, X = trained
    names = ["bm25", "a b", "c", "d.e", "f"]
    model = XGBoostJson().read(json.loads(bytes(booster.save_raw("json")))).model
    for reader, content in texts(booster, names):
        read = reader.read(content)
        assert set(read.feature_names) <= set(names)
        columns = [names.index(name) for name in read.feature_names]
        assert np.array_equal(read.model.score(X[:, columns]), model.score(X))


def test_what_a_search_engine_keeps():
    leaf = [{"nodeid": 0, "leaf": 0.25}]
    read = XGBoostJsonDump().read({"objective": "rank:ndcg", "splits": leaf})
    assert read.model.score([[1.0]]).tolist() == [0.25]
    assert read.note == ""
    body = {"model": {"name": "m", "model": {"type": "model/xgboost+json", "definition": leaf}}}
    assert XGBoostJsonDump().recognizes(body)
    assert XGBoostJsonDump().read(body).model.score([[1.0]]).tolist() == [0.25]


@pytest.mark.parametrize(
    "text",
    [
        "0:[f0<1] yes=1,no=2,missing=1\n1:leaf=1",
        "0:[f0<1] yes=0,no=1,missing=1\n1:leaf=1",
        "1:leaf=1",
        "0:leaf=1\n0:leaf=2",
        "0:[f0] yes=1,no=2\n1:leaf=1\n2:leaf=2",
        "0:leaf=x",
        "0:[f0:{1,2}] yes=1,no=2,missing=1",
        "0:[f99999999<1] yes=1,no=2,missing=1\n1:leaf=1\n2:leaf=2",
    ],
)
def test_refusals(text):
    with pytest.raises((InputError, KeyError, ValueError)):
        XGBoostTextDump().read(f"booster[0]:\n{text}\n")
