import dataclasses

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from experiments.invented_results import RANKERS, Ranker, invent
from pomona._jit import threads
from pomona.errors import InputError
from pomona.experiments.findings import Findings, find


@pytest.fixture(scope="module")
def findings():
    results = invent(datasets=("one", "two"), conventions=("definition", "letor4"), baseline="MART")
    return find(results, n_resamples=2000)


def test_everything_is_there(findings):
    assert findings.main == "ndcg@10"
    assert findings.baseline == "MART"
    assert findings.measures == ["ndcg@10", "ap", "letor4:ndcg@10", "letor4:ap"]
    for field in dataclasses.fields(Findings):
        value = getattr(findings, field.name)
        if isinstance(value, pl.DataFrame) and field.name != "order_changes":
            assert value.height, field.name
        if isinstance(value, pl.DataFrame) and "dataset" in value.columns and value.height:
            assert set(value["dataset"]) == {"one", "two"}, field.name


def test_no_number_is_undefined(findings):
    for field in dataclasses.fields(Findings):
        value = getattr(findings, field.name)
        if isinstance(value, pl.DataFrame):
            for column in value.select(pl.col(pl.Float64)):
                assert column.drop_nulls().is_finite().all(), (field.name, column.name)


def test_what_was_put_in_is_found(findings):
    # LambdaMART was made better than MART, and MART than Linear, by 0.05 each.
    for row in findings.headline.to_dicts():
        assert (row["winner"], row["runner_up"], row["is_significant"]) == ("LambdaMART", "MART", True)
        assert row["low"] < 0.05 < row["high"]
        assert row["winner_train_seconds"] > row["runner_up_train_seconds"]
    marks = dict(findings.table.filter(~pl.col("is_bound")).select("ranker", "mark").iter_rows())
    assert marks == {"LambdaMART": "▲", "MART": "", "Linear": "▼"}
    assert findings.winning["winning"].to_list() == [16, 8, 0]
    assert findings.winning["ideal"].to_list() == [16, 16, 16]


def test_bounds_are_in_the_table_only(findings):
    bounds = {"IdealRanker", "WorstRanker"}
    assert bounds <= set(findings.table["ranker"])
    for name in ("costs", "cutoffs", "conventions", "fronts", "learning", "variance", "winning"):
        assert not bounds & set(getattr(findings, name)["ranker"]), name
    assert not bounds & {*findings.pairs["a"], *findings.pairs["b"]}
    assert not bounds & set(findings.queries.columns)
    assert not any("Ideal" in column for column in findings.documents.columns)


def test_the_same_seed_gives_the_same_findings_on_any_number_of_threads(findings):
    with threads(1):
        again = find(findings.results, n_resamples=2000)
    assert_frame_equal(again.pairs, findings.pairs, check_exact=True)
    assert_frame_equal(again.table, findings.table, check_exact=True)
    other = find(findings.results, n_resamples=2000, seed=1)
    assert not other.table["low"].equals(findings.table["low"])


def test_a_ranker_that_misses_queries_wins_nothing():
    # Without fold 2, which is made no easier, MART would be first by its mean on fold 1 alone.
    results = invent([Ranker("MART", 0.3), *RANKERS[2:]], failed=[("one", 2, "MART", 0)])
    found = find(results, n_resamples=200)
    assert found.headline["winner"].to_list() == ["Linear"]
    assert found.headline["runner_up"].to_list() == [None]
    assert found.winning["ranker"].to_list() == found.fronts["ranker"].to_list() == ["Linear"]
    assert "MART" in found.table["ranker"]
    assert found.pairs["n_queries"].to_list() == [60, 60]
    assert any("MART was judged on 60 of 120 queries" in text for text in found.warnings)


def test_documents_that_cannot_be_read_are_a_warning():
    found = find(invent(datasets=("gone",)), n_resamples=100)
    assert found.documents.is_empty()
    assert "score:MART" in found.documents.columns
    assert found.warnings == ["documents of gone cannot be shown: gone/test.txt: no such file"]


def test_one_ranker_on_one_query():
    found = find(invent(RANKERS[:1], n_queries=1, n_folds=1, seeds=(0,)), n_resamples=50)
    assert found.pairs.is_empty()
    assert found.headline.row(0, named=True)["runner_up"] is None
    assert found.winning["normalized"].to_list() == [None]
    assert found.table["low"].to_list() == [None, None]


def test_nothing_finished_is_refused():
    results = invent(RANKERS[1:2])
    with pytest.raises(InputError, match="no run is finished"):
        find(dataclasses.replace(results, values=results.values.clear()))
