import numpy as np
import polars as pl
import pytest

from experiments.invented_results import RANKERS, Ranker, but, invent
from pomona.experiments.analysis.pooled import pooled


def test_seeds_are_averaged_and_folds_pooled():
    results = invent(n_queries=7)
    (data,) = pooled(results)
    assert data.rankers == ["LambdaMART", "MART", "Linear", "IdealRanker", "WorstRanker"]
    assert data.real == data.comparable == ["LambdaMART", "MART", "Linear"]
    assert data.values.shape == (5, 14, len(data.measures))
    assert data.present.all()
    part = results.values.filter(part="test", ranker="LambdaMART", fold=2, qid="2003")
    assert len(part) == 2
    place = data.queries.with_row_index("place").filter(fold=2, qid="2003")["place"][0]
    assert data.of_measure("ap")[0, place] == pytest.approx(part["ap"].mean())


def test_the_order_of_the_rows_does_not_matter():
    results = invent(seeds=(0, 1, 2))
    shuffled = but(results, values=results.values.sample(fraction=1.0, shuffle=True, seed=1))
    (one,), (other,) = pooled(results), pooled(shuffled)
    np.testing.assert_array_equal(one.values, other.values)
    for ranker in one.rankers:
        np.testing.assert_array_equal(one.trainings[ranker][1], other.trainings[ranker][1])


def test_an_id_in_two_folds_is_two_queries():
    results = invent(n_queries=5)
    again = but(results, values=results.values.with_columns(qid=pl.col("qid").str.tail(3)))
    (data,) = pooled(again)
    assert len(data.queries) == 10
    np.testing.assert_array_equal(data.values, pooled(results)[0].values)


def test_a_failed_run_leaves_a_gap():
    (data,) = pooled(invent(n_queries=5, failed=[("one", 2, "MART", 0), ("one", 1, "LambdaMART", 1)]))
    assert data.present[:, 0].all()
    assert data.present[1].tolist() == [True] * 5 + [False] * 5
    assert data.comparable == ["LambdaMART", "Linear"]
    assert data.mean("MART", "ap") == pytest.approx(data.of_measure("ap")[1, :5].mean())
    # LambdaMART has one training in fold 1 and two in fold 2: one of each is compared.
    assert [fold.shape[:2] for fold in data.trainings["LambdaMART"]] == [(5, 1), (5, 1)]


def test_datasets_and_rankers_without_values_are_left_out():
    failed = [("one", fold, "MART", 0) for fold in (1, 2)]
    failed += [("two", f, r.label, s) for f in (1, 2) for r in RANKERS for s in (0, 1)]
    (data,) = pooled(invent(datasets=("one", "two"), failed=failed))
    assert data.dataset == "one"
    assert data.real == ["LambdaMART", "Linear"]


def test_bounds_alone():
    (data,) = pooled(invent([Ranker("IdealRanker", 1.0, is_bound=True)]))
    assert data.real == data.comparable == []
    assert not data.is_comparable.any()
