import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline

import pomona as pm
from pomona.data.k_fold import QueryKFold
from pomona.errors import InputError


@pytest.fixture
def documents():
    random = np.random.default_rng(0)
    y = (random.random(600) < 0.15) * random.integers(1, 3, 600)
    return random.normal(size=(600, 3)) + y[:, None], y, random.integers(0, 20, 600)


@pytest.mark.parametrize("ratio", [0.5, 1.0, 3.0, 100.0])
def test_every_query_has_its_relevant_documents_and_as_many_others_as_asked(documents, ratio):
    X, y, qid = documents
    rows = pm.BalancedDraw(ratio=ratio).drawn(X, y, qid)
    assert len(set(rows.tolist())) == len(rows)
    for query in np.unique(qid):
        labels, all_labels = y[rows[qid[rows] == query]], y[qid == query]
        assert (labels > 0).sum() == (all_labels > 0).sum()
        wanted = round(ratio * (all_labels > 0).sum())
        assert (labels == 0).sum() == min(wanted, (all_labels == 0).sum())


def test_the_draw_depends_on_the_seed_and_not_on_the_order_of_rows(documents):
    X, y, qid = documents
    order = np.random.default_rng(1).permutation(len(y))
    rows = set(pm.BalancedDraw().drawn(X, y, qid).tolist())
    assert set(order[pm.BalancedDraw().drawn(X[order], y[order], qid[order])].tolist()) == rows
    assert set(pm.BalancedDraw(seed=1).drawn(X, y, qid).tolist()) != rows


def test_categories_stay_categories(documents):
    X, y, qid = documents
    genres = np.random.default_rng(1).choice(["news", "shop", "blog"], len(y))
    frame = pl.DataFrame({"genre": genres, "bm25": X[:, 0]})
    draw = pm.BalancedDraw(pm.LambdaMART(n_trees=3)).fit(frame, y, qid=qid)
    assert draw.ranker_.categories_ == {0: ("blog", "news", "shop")}
    assert len(draw.predict(frame, qid=qid)) == len(y)


def test_the_ranker_is_fitted_to_the_draw_and_scores_everything(documents):
    X, y, qid = documents
    ranker = pm.LinearRegression()
    draw = pm.BalancedDraw(ranker, ratio=2).fit(X, y, qid=qid)
    rows = draw.drawn(X, y, qid)
    own = pm.LinearRegression().fit(X[rows], y[rows], qid=qid[rows])
    np.testing.assert_allclose(draw.predict(X, qid=qid), own.predict(X, qid=qid), atol=1e-9)
    assert draw.score(X, y, qid=qid) == pytest.approx(own.score(X, y, qid=qid))
    assert not hasattr(ranker, "coef_")
    data = pm.Dataset(X, y, qid)
    np.testing.assert_allclose(clone(draw).fit(data).ranker_.coef_, own.coef_, atol=1e-9)


def test_it_is_the_last_step_of_a_pipeline(documents, routed):
    X, y, qid = documents
    pipeline = make_pipeline(pm.QueryDifference(), pm.BalancedDraw(pm.LambdaMART(n_trees=5)))
    found = cross_validate(pipeline, X, y, cv=QueryKFold(3), params={"qid": qid}, error_score="raise")
    assert found["test_score"].min() > 0.5


def test_string_ids_and_queries_without_relevant_documents():
    rows = pm.BalancedDraw().drawn([[1.0], [2.0], [3.0]], [0, 1, 0], ["x", "y", "y"])
    assert rows.tolist() == [1, 2]


def test_refused(documents):
    X, y, qid = documents
    with pytest.raises(InputError, match="no ranker to fit"):
        pm.BalancedDraw().fit(X, y, qid=qid)
    with pytest.raises(InputError, match="needs labels and query ids"):
        pm.BalancedDraw(pm.LinearRegression()).fit(X, y)
    with pytest.raises(InputError, match="found ratio=0"):
        pm.BalancedDraw(ratio=0).drawn(X, y, qid)
    with pytest.raises(InputError, match="nothing to draw"):
        pm.BalancedDraw(pm.LinearRegression()).fit(X, 0 * y, qid=qid)
    with pytest.raises(InputError, match="found 1 query ids for 600 documents"):
        pm.BalancedDraw().drawn(X, y, [1])


def test_weights_go_along_and_documents_that_are_not_judged_are_not_drawn():
    X, qid = np.arange(8.0)[:, None], [1] * 4 + [2] * 4
    y = [2, 0, np.nan, 0, 1, 0, np.nan, 0]
    draw = pm.BalancedDraw(pm.LinearRegression(normalize=None), ratio=9.0)
    assert draw.drawn(X, y, qid).tolist() == [0, 1, 3, 4, 5, 7]
    weights = np.array([1.0, 2.0, 9.0, 1.0, 3.0, 1.0, 9.0, 1.0])
    kept = [0, 1, 3, 4, 5, 7]
    expected = pm.LinearRegression(normalize=None).fit(
        X[kept], np.array(y)[kept], np.array(qid)[kept], sample_weight=weights[kept]
    )
    by_data = draw.fit(pm.Dataset(X, y, qid, weight=weights)).ranker_.coef_
    by_argument = draw.fit(X, y, qid, sample_weight=weights).ranker_.coef_
    assert by_data.tolist() == by_argument.tolist() == expected.coef_.tolist()


@pytest.mark.parametrize("parameters", [{"ratio": True}, {"ratio": "1"}, {"seed": -1}, {"seed": 0.5}])
def test_parameters_are_checked(parameters):
    with pytest.raises(InputError, match=r"found (ratio|seed)="):
        pm.BalancedDraw(pm.LinearRegression(), **parameters).fit([[1.0], [2.0]], [0, 1], [1, 1])
