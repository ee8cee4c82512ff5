"""What rankers are given, checked at the door."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import dok_array
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pomona as pm
from pomona.errors import InputError
from pomona.rankers.inputs import (
    as_dataset,
    means_of_queries,
    query_weights,
    rows_of,
    weighted,
    weights_in_queries,
)

NAMES = ("bm25", "clicks", "age")
X = np.array([[1.5, 3, -1], [0.25, 0, 7], [np.nan, 2, 0.5]], np.float32)


@pytest.fixture(scope="module")
def data():
    return pm.simulate(30, docs_per_query=12, n_features=6, seed=4)


def documents(rows, names):
    return [
        {name: None if np.isnan(value) else float(value) for name, value in zip(names, row, strict=True)}
        for row in rows
    ]


def test_as_dataset():
    data = as_dataset([[1.0]], [1], [7])
    assert as_dataset(data) is data


def test_weights_follow_the_rows_into_the_dataset():
    data = pm.Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], [7, 5, 7])
    weights = weighted(data, [1, 4, 2]).gathered().weight
    assert weights.tolist() == [1, 2, 4]
    assert query_weights(weights, data).tolist() == [(1 + 2) / 2, 4]
    assert query_weights(None, data).tolist() == [1, 1]
    for given in ([1, 2], [1, 2, -1], [1, 2, np.inf], [0, 0, 0]):
        with pytest.raises(InputError, match="weights"):
            weighted(data, given)


def test_what_is_no_weight_is_refused():
    data = pm.Dataset(np.ones((2, 1)), [0, 1], [7, 7])
    for given in ([1.0], [1.0, -1.0], [1.0, np.nan], [1.0, np.inf]):
        for make in (query_weights, weights_in_queries):
            with pytest.raises(InputError, match="weights"):
                make(np.array(given), data)


def test_weights_relative_to_the_mean_of_the_documents_that_count():
    data = pm.Dataset(np.ones((6, 1)), np.arange(6), [1, 1, 1, 2, 2, 3])
    by_query, relative = weights_in_queries(np.array([1.0, 0.0, 3.0, 0.0, 0.0, 5.0]), data)
    assert by_query.tolist() == [(1 + 3) / 2, 0, 5]
    assert relative.tolist() == [1 / 2, 0, 3 / 2, 1, 1, 1]


def test_equal_weights_in_a_query_are_exactly_1():
    data = pm.Dataset(np.ones((7, 1)), np.arange(7), [1, 1, 1, 2, 2, 2, 2])
    assert weights_in_queries(None, data)[1] is None
    assert weights_in_queries(np.array([0.1] * 3 + [0.0] * 4), data)[1] is None
    relative = weights_in_queries(np.array([0.1] * 3 + [0.0, 0.7, 0.7, 0.7]), data)[1]
    assert relative.tolist() == [1, 1, 1, 0, 1, 1, 1]


def test_a_method_of_means_warns_where_weights_differ_inside_a_query():
    data = pm.Dataset(np.ones((3, 1)), np.arange(3), [1, 1, 2])
    assert means_of_queries(np.array([2.0, 2.0, 1.0]), data, "AdaRank", "").tolist() == [2, 1]
    with pytest.warns(UserWarning, match="AdaRank uses the mean weight .* as it weighs whole queries"):
        means_of_queries(np.array([1.0, 3.0, 1.0]), data, "AdaRank", "it weighs whole queries")


def tables():
    frame = pd.DataFrame(X, columns=NAMES)
    return {
        "array": X,
        "float64": X.astype(np.float64),
        "lists": X.tolist(),
        "sparse": dok_array(X),
        "pandas": frame,
        "pandas, reordered": frame[["age", "bm25", "clicks"]],
        "pandas, of several types": frame.astype({"clicks": "int64"}),
        "pandas, nullable": frame.astype({"bm25": "Float64", "clicks": "Int8"}),
        "polars": pl.DataFrame(X, schema=list(NAMES)),
        "polars, null": pl.DataFrame(
            {"bm25": [1.5, 0.25, None], "clicks": [3, 0, 2], "age": [-1.0, 7.0, 0.5]}
        ),
        "polars, lazy": pl.LazyFrame(X, schema=list(NAMES)),
        "dicts": documents(X, NAMES),
        "dicts, in another order": documents(X[:, ::-1], NAMES[::-1]),
        "dicts of NumPy": [dict(zip(NAMES, row, strict=True)) for row in X],
    }


@pytest.mark.parametrize("kind", tables())
def test_every_kind_of_table_gives_the_same_rows(kind):
    rows = rows_of(tables()[kind], NAMES, "MART")
    assert rows.dtype == np.float32
    assert rows.flags.c_contiguous
    np.testing.assert_array_equal(rows, X)


def test_a_dict_is_one_document():
    assert rows_of({"a": 1, "b": True}, ("a", "b"), "MART").tolist() == [[1, 1]]
    assert rows_of({"a": 2}, ("a",), "MART").tolist() == [[2]]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bm25": 1, "clicks": 2}, "document 1 of X has no 'age': give all features, None where undefined"),
        (
            {"bm25": 1, "clicks": 2, "age": 3, "agee": 4},
            "document 1 of X has 'agee', no feature",
        ),
        ([dict.fromkeys(NAMES, 1), {"f1": 1, "f2": 2, "f3": 3}], "document 2 of X has no 'bm25'"),
        ([dict.fromkeys(NAMES, 1), [1, 2, 3]], "document 2 of X is of type list, expected a dict"),
        ({name: [1, 2] for name in NAMES}, "its values numbers: found [1, 2]; give many as a list of dicts"),
        (dict.fromkeys(NAMES, "much"), "found 'much'"),
        (dict.fromkeys(NAMES, 1e39), "finite value beyond float32"),
        (pd.DataFrame(X * 1.0, columns=["bm25", "clicks", "price"]), "missing: age; not expected: price"),
        (
            pd.DataFrame({"bm25": [1e39], "clicks": [0], "age": [0]}),
            "'bm25' holds a finite value beyond float32",
        ),
        (pd.DataFrame({"bm25": ["a"], "clicks": [0], "age": [0]}), "'bm25' holds categories ('a'), expected"),
        (pl.DataFrame({"bm25": ["a"], "clicks": [0], "age": [0]}), "'bm25' holds categories ('a'), expected"),
        (pl.DataFrame(X, schema=["bm25", "clicks", "price"]), "missing: age; not expected: price"),
        (X[:, :2], "X has 2 features, but MART is expecting 3 features as input"),
        (X[0], "X must have two dimensions, found 1"),
        ([[1, 2, "x"]], "X must be a table of numbers"),
        (X * 1j, "Complex data not supported"),
    ],
)
def test_what_is_refused(given, said):
    with pytest.raises(InputError, match=re.escape(said)):
        rows_of(given, NAMES, "MART")


def test_polars_columns_of_dates_are_no_numbers():
    dates = pl.DataFrame({"bm25": [1], "clicks": [2], "age": pl.Series([3], dtype=pl.Date)})
    with pytest.raises(InputError, match=r"'age' .* holds Date, expected numbers"):
        rows_of(dates, NAMES, "MART")


def test_infinite_values_of_a_frame_stay():
    frame = pd.DataFrame({"a": [np.inf, 1.0], "b": [np.nan, -np.inf]})
    np.testing.assert_array_equal(rows_of(frame, ("a", "b"), "MART"), frame.to_numpy(np.float32))


COMBINED = pm.LinearCombination(rankers=[("a", pm.LinearRegression()), ("b", pm.MART(n_trees=5))])
RANKERS = [pm.LambdaMART(n_trees=10), pm.RankSVM(), pm.LinearRegression(), pm.RankBoost(n_rounds=9), COMBINED]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: ranker.name)
def test_a_request_scores_as_its_query_does(ranker, data, tmp_path):
    ranker.fit(data, valid=data)
    ranker.save(tmp_path / "m.pomona")
    query = data.take([3])
    expected = ranker.predict(query)
    for model in (ranker, pm.load_model(tmp_path / "m.pomona")):
        frame = pd.DataFrame(query.X, columns=data.feature_names)
        request = documents(query.X, data.feature_names)
        np.testing.assert_array_equal(model.predict(request), expected)
        for rows in (query.X, frame, pl.from_pandas(frame), request):
            np.testing.assert_array_equal(model.predict(rows, qid="any"), expected)
            if not model.scores_whole_queries:
                np.testing.assert_array_equal(model.predict(rows), expected)
        assert model.predict(query.X[:0]).shape == model.predict([]).shape == (0,)


def test_rows_of_several_queries_are_not_taken_for_one(data):
    ranker = pm.LinearRegression().fit(data)
    longest = int(np.diff(data.query_ptr).max())
    assert ranker.longest_query_ == longest
    message = r"query ids qid of 2 rows are missing: give qid=…, one a row or one for all \(qid=0\)"
    for rows in (data.X[:2], pd.DataFrame(data.X[:2]), data.X[:2].tolist()):
        with pytest.raises(InputError, match=message):
            ranker.predict(rows)
        with pytest.raises(InputError, match=message):
            ranker.explain(rows)
    assert ranker.predict(data.X[:1]).shape == (1,)
    request = documents(data.X[: longest + 1], data.feature_names)
    with pytest.raises(InputError, match=f"more than any query had in training \\({longest}\\)"):
        ranker.predict(request)
    assert ranker.predict(request, qid=0).shape == (longest + 1,)
    one_query = pm.Dataset(data.X, data.y, np.ones(data.n_docs))
    np.testing.assert_array_equal(ranker.predict(data.X, qid=1), ranker.predict(one_query))
    np.testing.assert_array_equal(ranker.predict(data.X, qid=data.qid), ranker.predict(data))


def test_a_pipeline_without_metadata_routing_is_told_the_remedy(data):
    pipeline = make_pipeline(StandardScaler(), pm.LinearRegression())
    pipeline.fit(data.X, data.y, linearregression__qid=data.qid)
    with pytest.raises(InputError, match="enable_metadata_routing=True"):
        pipeline.predict(data.X[:5])
    with config_context(enable_metadata_routing=True):
        pipeline.fit(data.X, data.y, qid=data.qid)
        assert pipeline.predict(data.X, qid=data.qid).shape == (data.n_docs,)


def test_ids_of_rows_named_otherwise_are_refused(data):
    ranker = pm.LinearRegression().fit(data)
    frame = pd.DataFrame(data.X, columns=data.feature_names)
    with pytest.raises(InputError, match="the index of qid is not that of X"):
        ranker.predict(frame, qid=pd.Series(data.qid, index=frame.index[::-1]))
