import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import pomona as pm
from pomona.errors import InputError


@pytest.fixture
def documents():
    """40 queries of documents of six categories, the higher the better; a second feature is noise."""
    random = np.random.default_rng(0)
    n = 400
    category = random.integers(0, 6, n).astype(float)
    y = (category + random.normal(size=n) > 3).astype(float)
    return np.column_stack([category * 10, random.normal(size=n)]), y, random.integers(0, 40, n)


def test_means_of_what_was_learnt(documents):
    X, y, qid = documents
    encoder = pm.CategoryMean(columns=[0]).fit(X, y, qid=qid)
    out = encoder.transform(X)
    for category in np.unique(X[:, 0]):
        np.testing.assert_allclose(out[X[:, 0] == category, 0], y[X[:, 0] == category].mean())
    np.testing.assert_array_equal(out[:, 1], X[:, 1])
    assert encoder.transform([[99.0, 1.0]])[0, 0] == pytest.approx(y.mean())


def test_nothing_of_a_querys_labels_is_in_its_features(documents):
    X, y, qid = documents
    before = pm.CategoryMean().fit_transform(X, y, qid=qid)
    for query in (0, 7, 39):
        other = np.where(qid == query, 1 - y, y)
        after = pm.CategoryMean().fit_transform(X, other, qid=qid)
        np.testing.assert_array_equal(after[qid == query], before[qid == query])
    assert (after != before).any()


def test_a_category_of_its_own_for_each_document_tells_nothing():
    """With means that its own label is part of, the feature would be the label."""
    random = np.random.default_rng(1)
    X, y, qid = np.arange(300.0)[:, None], random.integers(0, 2, 300), random.integers(0, 30, 300)
    leaking = pm.CategoryMean().fit(X, y, qid=qid).transform(X).ravel()
    assert np.array_equal(leaking, y)
    held_out = pm.CategoryMean().fit_transform(X, y, qid=qid).ravel()
    assert len(np.unique(held_out)) <= 5
    assert abs(np.corrcoef(held_out, y)[0, 1]) < 0.3


def test_the_order_of_rows_does_not_matter(documents):
    X, y, qid = documents
    order = np.random.default_rng(2).permutation(len(y))
    one = pm.CategoryMean().fit_transform(X, y, qid=qid)
    other = pm.CategoryMean().fit_transform(X[order], y[order], qid=qid[order])
    np.testing.assert_allclose(other, one[order])


def test_smoothing_and_undefined_values():
    X, y, qid = [[1.0], [1.0], [np.nan], [np.nan]], [4, 2, 1, 1], ["a", "b", "a", "b"]
    encoder = pm.CategoryMean(smoothing=2).fit(X, y, qid=qid)
    assert encoder.transform([[1.0], [np.nan], [5.0]]).ravel().tolist() == [2.5, 1.5, 2.0]
    assert pm.CategoryMean().fit(X, y, qid=qid).transform([[np.nan]])[0, 0] == 1.0


def test_a_pipeline_learns_from_held_out_means(documents, routed):
    X, y, qid = documents
    pipeline = make_pipeline(pm.CategoryMean(columns=[0]), pm.LinearRegression())
    pipeline.fit(X, y, qid=qid)
    assert pipeline.score(X, y, qid=qid) > 0.8
    seen = pm.CategoryMean(columns=[0]).fit_transform(X, y, qid=qid)
    alone = pm.LinearRegression().fit(seen, y, qid=qid)
    np.testing.assert_allclose(pipeline[-1].coef_, alone.coef_)


def test_parameters_are_scikit_learns():
    assert clone(pm.CategoryMean([1], n_folds=3)).get_params() == {
        "columns": [1], "n_folds": 3, "smoothing": 0.0, "seed": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("encoder", "arguments", "message"),
    [
        (pm.CategoryMean(), ([[1.0]], [1], None), "needs the query ids"),
        (pm.CategoryMean(), ([[1.0]], None, [1]), "needs the labels"),
        (pm.CategoryMean(), ([[1.0]], [1], [1]), "found one query"),
        (pm.CategoryMean(), ([[1.0], [2.0]], [1, 0], [1]), "found 1 query ids for 2 documents"),
        (pm.CategoryMean([3]), ([[1.0], [2.0]], [1, 0], [1, 2]), "expected places from 0 to 0"),
        (pm.CategoryMean(n_folds=1), ([[1.0], [2.0]], [1, 0], [1, 2]), "found n_folds=1"),
        (pm.CategoryMean(smoothing=-1), ([[1.0], [2.0]], [1, 0], [1, 2]), "smoothing=-1"),
    ],
)
def test_refused(encoder, arguments, message):
    X, y, qid = arguments
    with pytest.raises(InputError, match=message):
        encoder.fit_transform(X, y, qid=qid)


def test_documents_that_are_not_judged_are_in_no_mean():
    X, qid = [[1.0], [1.0], [2.0], [2.0]], ["a", "b", "a", "b"]
    encoder = pm.CategoryMean(n_folds=2).fit(X, [1, np.nan, 0, 2], qid=qid)
    # The mean of category 1 is that of its one label, 1; of category 2 (0 + 2) / 2; of all (1 + 0 + 2) / 3.
    assert encoder.transform([[1.0], [2.0], [3.0]]).ravel().tolist() == [1.0, 1.0, 1.0]
    assert encoder.mean_ == 1.0
    with pytest.raises(InputError, match="no document is judged"):
        pm.CategoryMean().fit(X, [np.nan] * 4, qid=qid)
    with pytest.raises(InputError, match="outside a fold have no judged document"):
        pm.CategoryMean(n_folds=2).fit_transform(X, [1, np.nan, 0, np.nan], qid=qid)


@pytest.mark.parametrize(
    "parameters", [{"smoothing": np.inf}, {"smoothing": np.nan}, {"n_folds": 2.5}, {"columns": [True]}]
)
def test_parameters_that_would_make_features_undefined_are_refused(parameters):
    with pytest.raises(InputError, match=r"found (smoothing|n_folds|columns)"):
        pm.CategoryMean(**parameters).fit([[1.0], [2.0]], [0, 1], qid=[1, 2])
