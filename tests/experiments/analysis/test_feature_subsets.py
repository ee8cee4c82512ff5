from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import pomona as pm
from pomona.data.folds import Fold
from pomona.experiments.analysis.feature_subsets import forward_selection, selection_means

FAIR = replace(pm.measure("ndcg@10"), ties="expected")


@pytest.fixture(scope="module")
def fold():
    data = pm.simulate(60, docs_per_query=15, n_features=7, seed=2)
    X = np.column_stack([data.X, np.full(data.n_docs, 2.0)]).astype(np.float32)
    X[::9, 2] = np.nan
    return Fold(*data.replace(X=X).split([0.6, 0.2, 0.2]))


def linear_value(fold, names, part):
    places = [fold.train.feature_names.index(name) for name in names]
    kept = [one.replace(X=np.ascontiguousarray(one.X[:, places])) for one in (fold.train, part)]
    ranker = pm.LinearRegression().fit(kept[0])
    return pm.evaluate(kept[1], ranker.predict(kept[1]), FAIR)[str(FAIR)]


def test_every_step_is_the_best_linear_regression(fold):
    table = forward_selection(fold, pm.measure("ndcg@10"), n_steps=3)
    chosen = []
    for row in table.to_dicts():
        left = [name for name in fold.train.feature_names[:7] if name not in chosen]
        values = {name: linear_value(fold, [*chosen, name], fold.valid) for name in left}
        assert row["valid"] == pytest.approx(max(values.values()), abs=1e-9)
        assert values[row["feature"]] == pytest.approx(row["valid"], abs=1e-9)
        chosen.append(row["feature"])
        assert row["test"] == pytest.approx(linear_value(fold, chosen, fold.test), abs=1e-9)
    assert table["n_features"].to_list() == [1, 2, 3]


def test_a_constant_feature_is_never_chosen_and_none_twice(fold):
    table = forward_selection(fold, pm.measure("ndcg@10"))
    assert sorted(table["feature"]) == sorted(fold.train.feature_names[:7])


def test_means_over_folds():
    steps = pl.DataFrame(
        {
            "fold": [1, 1, 2, 2],
            "n_features": [1, 2, 1, 2],
            "feature": ["a", "b", "a", "c"],
            "valid": [0.5, 0.7, 0.25, 0.5],
            "test": [0.0, 1.0, 0.5, 0.5],
        }
    )
    assert selection_means(steps).rows() == [(1, "a ×2", 0.375, 0.25, 2), (2, "b, c", 0.6, 0.75, 2)]


@pytest.mark.parametrize("is_weighted", [False, True])
def test_documents_without_judgment_or_weight_teach_nothing(fold, is_weighted):
    labels = fold.train.y.copy()
    labels[::4] = np.nan
    weight = np.random.default_rng(0).integers(0, 3, len(labels)) if is_weighted else None
    qid = np.repeat(fold.train.qids, fold.train.query_lengths)
    train = pm.Dataset(fold.train.X, labels, qid, weight=weight)
    some = Fold(train, fold.valid, fold.test)
    (row,) = forward_selection(some, pm.measure("ndcg@10"), n_steps=1).to_dicts()
    values = {name: linear_value(some, [name], some.valid) for name in some.train.feature_names[:7]}
    assert row["valid"] == pytest.approx(max(values.values()), abs=1e-9)
    assert values[row["feature"]] == pytest.approx(row["valid"], abs=1e-9)
