import os

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

from pomona._jit import threads
from pomona.data.dataset import Dataset
from pomona.data.k_fold import QueryKFold
from pomona.data.normalize import QueryMinMaxScaler, QueryRankScaler, QueryStandardScaler, normalize
from pomona.errors import InputError, UnknownNameError

nan = np.nan
SCALERS = {"minmax": QueryMinMaxScaler, "standard": QueryStandardScaler, "rank": QueryRankScaler}


def by_hand(x, method):
    """One feature of one query, in plain numpy."""
    out = np.full(len(x), nan)
    known = ~np.isnan(x)
    v = x[known]
    if v.size == 0:
        return out
    if v.min() == v.max():
        out[known] = 0
    elif method == "minmax":
        out[known] = (v - v.min()) / (v.max() - v.min())
    elif method == "standard":
        out[known] = (v - v.mean()) / v.std()
    else:
        out[known] = (rankdata(v) - 1) / (len(v) - 1)
    return out


values = st.one_of(st.just(nan), st.integers(-3, 3).map(float), st.floats(-1e3, 1e3, width=16))
rows = st.lists(st.tuples(st.integers(0, 2), values, values), min_size=1, max_size=15)


@pytest.mark.parametrize("method", SCALERS)
@settings(deadline=None)  # the first call compiles
@given(rows=rows)
def test_scalers_equal_the_definition_for_rows_in_any_order(method, rows):
    qid, X = np.array([row[0] for row in rows]), np.array([row[1:] for row in rows], float)
    out = SCALERS[method]().fit_transform(X, qid=qid)
    for q in set(qid):
        for j in range(2):
            np.testing.assert_allclose(out[qid == q, j], by_hand(X[qid == q, j], method), atol=1e-9)


def test_minmax_by_hand():
    data = Dataset([[2, 5, nan], [4, 5, 1], [3, nan, 9], [8, 8, nan]], [0, 0, 0, 0], [1, 1, 1, 2])
    expected = [[0, 0, nan], [1, 0, 0], [(3 - 2) / (4 - 2), nan, 1], [0, 0, nan]]
    assert np.array_equal(normalize(data).X, expected, equal_nan=True)


def test_ties_share_their_mean_rank():
    data = Dataset([[5], [1], [5], [9]], [0, 0, 0, 0], [1, 1, 1, 1])
    assert normalize(data, "rank").X.ravel().tolist() == [0.5, 0, (1 + 2) / 2 / 3, 1]


def test_a_large_common_offset_does_not_spoil_the_deviation():
    out = QueryStandardScaler().fit_transform(np.array([[1e9 - 1], [1e9], [1e9 + 1]]), qid=[1, 1, 1])
    np.testing.assert_allclose(out.ravel(), [-np.sqrt(3 / 2), 0, np.sqrt(3 / 2)])


@pytest.mark.parametrize("method", SCALERS)
def test_the_order_of_documents_does_not_show_in_the_last_bit(method):
    random = np.random.default_rng(0)
    X = random.lognormal(sigma=5.0, size=(3000, 20))
    order, qid = random.permutation(3000), np.zeros(3000)
    scaler = SCALERS[method]()
    assert (scaler.fit_transform(X, qid=qid)[order] == scaler.fit_transform(X[order], qid=qid)).all()


@pytest.mark.parametrize("method", SCALERS)
def test_threads_do_not_matter(method):
    rng = np.random.default_rng(0)
    data = Dataset(rng.normal(size=(400, 3)), np.zeros(400), np.sort(rng.integers(0, 60, 400)))
    with threads(1):
        one = normalize(data, method).X
    with threads(3):
        assert np.array_equal(one, normalize(data, method).X)
    scaled = SCALERS[method]().fit(data.X).transform(data.X, qid=data.qid)
    assert np.array_equal(one, scaled)
    assert scaled.dtype == np.float32


@pytest.fixture
def routed():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def test_a_pipeline_routes_the_query_ids(routed):
    rng = np.random.default_rng(1)
    qid = rng.integers(0, 9, 90)
    relevance = rng.random(90)
    # The scale of each query hides the feature's use until it is normalized away.
    X, y = (relevance * 10.0 ** rng.integers(-3, 4, 9)[qid])[:, None], relevance
    pipeline = make_pipeline(QueryRankScaler(), Ridge())
    pipeline.fit(X, y, qid=qid)
    assert np.corrcoef(pipeline.predict(X, qid=qid), y)[0, 1] > 0.8
    # One `qid` serves the splitter, the scaler in fit and the scaler in score.
    found = cross_validate(pipeline, X, y, cv=QueryKFold(3), params={"qid": qid}, error_score="raise")
    assert found["test_score"].min() > 0.7


def test_scalers_are_estimators():
    frame = pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 2.0]})
    scaler = clone(QueryMinMaxScaler()).set_output(transform="pandas")
    out = scaler.fit(frame).transform(frame, qid=["q", "q"])
    assert list(out.columns) == ["a", "b"]
    assert out["a"].tolist() == [0, 1]
    assert scaler.get_feature_names_out().tolist() == ["a", "b"]


def test_wrong_use_is_refused():
    scaler = QueryMinMaxScaler().fit([[1.0], [2.0]])
    with pytest.raises(InputError, match="needs the query ids"):
        scaler.transform([[1.0]])
    with pytest.raises(InputError, match="found 1 query ids for 2 documents"):
        scaler.transform([[1.0], [2.0]], qid=[1])
    with pytest.raises(ValueError, match="infinity"):
        scaler.transform([[np.inf]], qid=[1])
    data = Dataset([[np.inf]], [0], [1])
    with pytest.raises(InputError, match="infinite"):
        normalize(data)
    with pytest.raises(UnknownNameError, match="did you mean 'minmax'"):
        normalize(data, "min-max")


@pytest.mark.skipif("POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA")
def test_ohsumed_is_normalized_as_published():
    from pomona.data.catalog import COLLECTIONS, load

    if any(COLLECTIONS[name].directory() is None for name in ("ohsumed", "ohsumed-min")):
        pytest.skip("OHSUMED is not here")
    published, raw = load("ohsumed", fold=1).test, load("ohsumed-min", fold=1).test
    assert published.qids.tolist() == raw.qids.tolist()
    np.testing.assert_allclose(normalize(raw).X, published.X, atol=2e-6)
