import numpy as np
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate

from pomona.data.dataset import Dataset
from pomona.data.k_fold import QueryKFold
from pomona.errors import InputError


@given(st.lists(st.integers(0, 8), min_size=3, max_size=30), st.integers(2, 3), st.integers(0, 3))
def test_folds_divide_the_rows_by_whole_queries(ids, n_splits, seed):
    ids = np.array([*ids, 100, 101, 102])
    splits = list(QueryKFold(n_splits, seed=seed).split(np.zeros((len(ids), 1)), groups=ids))
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(ids)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(ids)))
        assert not set(ids[train]) & set(ids[test])
    sizes = [len(set(ids[test])) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1


def test_folds_depend_on_ids_and_seed_not_on_the_order_of_rows():
    ids = np.repeat(np.arange(10), 3)
    turned = ids[::-1]
    splitter = QueryKFold(5, seed=4)
    straight = [set(ids[test]) for _, test in splitter.split(ids, groups=ids)]
    assert straight == [set(turned[test]) for _, test in splitter.split(turned, groups=turned)]
    assert straight != [set(ids[test]) for _, test in QueryKFold(5, seed=5).split(ids, groups=ids)]
    ordered = QueryKFold(5, shuffle=False).split(ids, groups=ids)
    assert [set(ids[test]) for _, test in ordered] == [{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}]


def test_queries_and_rows_are_split_alike():
    data = Dataset(np.zeros((12, 1)), np.zeros(12), np.repeat(["d", "b", "a", "c"], 3))
    splitter = QueryKFold(2, seed=1)
    by_rows = [set(data.qid[test]) for _, test in splitter.split(data)]
    by_queries = [set(data.take(test).qids) for _, test in splitter.split_queries(data)]
    assert by_rows == by_queries


def test_impossible_folds_are_refused():
    with pytest.raises(InputError, match="n_splits must be 2 at least"):
        QueryKFold(1)
    with pytest.raises(InputError, match="2 queries cannot be split into 5 folds"):
        next(QueryKFold().split([[0], [0]], groups=[1, 2]))
    with pytest.raises(InputError, match="needs the query ids"):
        next(QueryKFold().split([[0], [0]]))
    with pytest.raises(InputError, match="found 3 query ids for 2 documents"):
        next(QueryKFold(2).split([[0], [0]], groups=[1, 2, 3]))


def test_scikit_learn_takes_it_as_a_splitter():
    rng = np.random.default_rng(0)
    X, qid = rng.random((40, 2)), rng.integers(0, 8, 40)
    y = X[:, 0]
    found = cross_validate(DummyRegressor(), X, y, cv=QueryKFold(4), groups=qid)
    assert len(found["test_score"]) == 4
    search = GridSearchCV(Ridge(), {"alpha": [1e-6, 1e6]}, cv=QueryKFold(3)).fit(X, y, groups=qid)
    assert search.best_params_ == {"alpha": 1e-6}
    assert search.n_splits_ == 3
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_validate(DummyRegressor(), X, y, cv=QueryKFold(4), params={"groups": qid})
    assert np.array_equal(routed["test_score"], found["test_score"])


def test_it_prints_its_settings():
    assert repr(QueryKFold(3, seed=2)) == "QueryKFold(n_splits=3, shuffle=True, seed=2)"
