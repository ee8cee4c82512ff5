import copy
import dataclasses
from typing import ClassVar

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from experiments.invented_results import RANKERS, Ranker, invent
from pomona._jit import threads
from pomona._registry import entries
from pomona.errors import InputError
from pomona.experiments.findings import Analysis, Findings, columns, find
from pomona.report.comparison import comparison_report
from pomona.report.section import sections_of

ANALYSES = entries("experiments/analysis")


@pytest.fixture(scope="module")
def findings():
    results = invent(datasets=("one", "two"), conventions=("definition", "letor4"), baseline="MART")
    return find(results, n_resamples=2000)


# Tables that only studies and searches fill, and conventions that disagree.
EMPTY = ("order_changes", "study", "enough", "overfitting", "grid", "slopes", "extremes", "trials", "watched")


def test_everything_is_there(findings):
    assert findings.main == "ndcg@10"
    assert findings.baseline == "MART"
    assert findings.measures == ["ndcg@10", "ap", "letor4:ndcg@10", "letor4:ap"]
    assert findings.tables.keys() == ANALYSES.keys()
    for name, table in findings.tables.items():
        assert getattr(findings, name) is table
        if name not in EMPTY:
            assert table.height, name
        if "dataset" in table.columns and table.height:
            assert set(table["dataset"]) == {"one", "two"}, name


def conforms(findings):
    """Every table has the columns that its analysis declares, with their types, and others after them."""
    for name, entry in ANALYSES.items():
        declared = pl.Schema(entry.load().schema)
        table = findings.tables[name]
        assert table.columns[: len(declared)] == list(declared), name
        assert table.select(list(declared)).schema == declared, name
        if name not in ("queries", "documents"):  # these have columns for each ranker
            assert table.schema == declared, name


def test_tables_are_as_declared(findings):
    conforms(findings)


def test_a_real_comparison(finished):
    """What a store gives is read by every analysis and drawn by every section."""
    real = find(finished, n_resamples=200)
    conforms(real)
    assert all(real.tables[name].height for name in ANALYSES if name not in EMPTY)
    report = comparison_report(real)
    missing = (*EMPTY, "winning")  # of one dataset there is nothing to count
    wanted = [one.name for one in sections_of("comparison") if one.name not in missing]
    assert [one.section.name for one in report.sections] == wanted
    assert all(figure.spec["description"] for figure in report.figures)
    invented = invent()
    for frame in ("runs", "values", "curves", "warnings"):
        known, made = getattr(finished, frame).schema, getattr(invented, frame).schema
        shared = {name: kind for name, kind in made.items() if name in known}
        assert shared == {name: known[name] for name in shared}, frame
        assert frame == "values" or shared.keys() == made.keys(), frame


def test_an_unknown_table_is_no_attribute(findings):
    with pytest.raises(AttributeError, match="the findings have no table 'pears'"):
        _ = findings.pears
    assert copy.copy(findings).pairs is findings.pairs


def test_no_number_is_undefined(findings):
    for name, table in findings.tables.items():
        for column in table.select(pl.col(pl.Float64)):
            assert column.drop_nulls().is_finite().all(), (name, column.name)


def test_what_was_put_in_is_found(findings):
    # LambdaMART was made better than MART, and MART than Linear, by 0.05 each.
    for row in findings.headline.to_dicts():
        assert (row["winner"], row["runner_up"], row["is_significant"]) == ("LambdaMART", "MART", True)
        assert row["low"] < 0.05 < row["high"]
        assert row["winner_train_seconds"] > row["runner_up_train_seconds"]
    marks = dict(findings.quality.filter(~pl.col("is_bound")).select("ranker", "mark").iter_rows())
    assert marks == {"LambdaMART": "▲", "MART": "", "Linear": "▼"}
    assert findings.winning["winning"].to_list() == [16, 8, 0]
    assert findings.winning["ideal"].to_list() == [16, 16, 16]


def test_bounds_are_in_the_table_only(findings):
    bounds = {"IdealRanker", "WorstRanker"}
    assert bounds <= set(findings.quality["ranker"])
    for name in ("costs", "cutoffs", "conventions", "fronts", "learning", "variance", "winning"):
        assert not bounds & set(getattr(findings, name)["ranker"]), name
    assert not bounds & {*findings.pairs["a"], *findings.pairs["b"]}
    assert not bounds & set(findings.queries.columns)
    assert not any("Ideal" in column for column in findings.documents.columns)


def test_the_same_seed_gives_the_same_findings_on_any_number_of_threads(findings):
    with threads(1):
        again = find(findings.results, n_resamples=2000)
    assert_frame_equal(again.pairs, findings.pairs, check_exact=True)
    assert_frame_equal(again.quality, findings.quality, check_exact=True)
    other = find(findings.results, n_resamples=2000, seed=1)
    assert not other.quality["low"].equals(findings.quality["low"])


def test_a_ranker_that_misses_queries_wins_nothing():
    # Without fold 2, which is made no easier, MART would be first by its mean on fold 1 alone.
    results = invent([Ranker("MART", 0.3), *RANKERS[2:]], failed=[("one", 2, "MART", 0)])
    findings = find(results, n_resamples=200)
    assert findings.headline["winner"].to_list() == ["Linear"]
    assert findings.headline["runner_up"].to_list() == [None]
    assert findings.winning["ranker"].to_list() == findings.fronts["ranker"].to_list() == ["Linear"]
    assert "MART" in findings.quality["ranker"]
    assert findings.pairs["n_queries"].to_list() == [60, 60]
    assert any("MART was judged on 60 of 120 queries" in text for text in findings.warnings)


def test_documents_that_cannot_be_read_are_a_warning():
    findings = find(invent(datasets=("gone",)), n_resamples=100)
    assert findings.documents.is_empty()
    assert "score:MART" in findings.documents.columns
    assert findings.warnings == ["documents of gone cannot be shown: gone/test.txt: no such file"]


def test_the_first_ranker_is_the_baseline_if_none_is_named():
    assert Findings(invent()).baseline == "LambdaMART"


def test_one_ranker_on_one_query():
    findings = find(invent(RANKERS[:1], n_queries=1, n_folds=1, seeds=(0,)), n_resamples=50)
    assert findings.pairs.is_empty()
    assert findings.headline.row(0, named=True)["runner_up"] is None
    assert findings.winning["normalized"].to_list() == [None]
    assert findings.quality["low"].to_list() == [None, None]


def test_nothing_finished_is_refused():
    results = invent(RANKERS[1:2])
    with pytest.raises(InputError, match="no run is finished"):
        find(dataclasses.replace(results, values=results.values.clear()))


class Sizes(Analysis):
    name = "sizes"
    schema: ClassVar = {**columns(pl.String, "ranker", "dataset"), "size": pl.Float64}

    @classmethod
    def compute(cls, findings):
        return cls.table([])


def test_rows_become_a_table_of_the_schema():
    table = Sizes.table([("a", "one", 1), ("b", "one", float("nan")), ("c", "two", float("inf"))])
    assert table.schema == pl.Schema(Sizes.schema)
    assert table["size"].to_list() == [1.0, None, None]
    named = Sizes.table([{"size": 2, "ranker": "a", "dataset": None}])
    assert named.row(0) == ("a", None, 2.0)
    assert Sizes.compute(None).schema == pl.Schema(Sizes.schema)


@pytest.mark.parametrize("name", list(ANALYSES))
def test_every_analysis_of_the_folder_declares_its_table(name):
    cls = ANALYSES[name].load()
    assert issubclass(cls, Analysis)
    assert cls.name == name
    assert cls.schema
    assert cls.__doc__
