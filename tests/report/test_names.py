import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.report.names import comparable_of, datasets_of, file_names, measure_title, rankers_of
from report.invented import changed, invented


@pytest.mark.parametrize(
    ("measure", "title"),
    [
        ("ndcg@10", "NDCG@10"),
        ("yahoo:err", "ERR (yahoo)"),
        ("p@5", "P@5"),
        ("pfound", "pfound"),
        ("odd</b>", "odd</b>"),
    ],
)
def test_measures_as_papers_print_them(measure, title):
    assert measure_title(measure) == title


def test_rankers_stand_in_the_order_of_the_main_measure():
    findings = invented()
    means = dict(
        findings.table.filter(measure="ndcg@10", is_bound=False).select("ranker", "mean").iter_rows()
    )
    assert rankers_of(findings, "mq2008") == sorted(means, key=means.get, reverse=True)
    assert "Ideal" not in rankers_of(findings)


def test_a_ranker_that_missed_queries_stands_last():
    findings = invented()
    best = rankers_of(findings, "mq2008")[0]
    fewer = pl.when(pl.col("ranker") == best).then(10).otherwise(pl.col("n_queries")).alias("n_queries")
    findings = changed(findings, table=findings.table.with_columns(fewer))
    assert rankers_of(findings, "mq2008")[-1] == best
    assert best not in comparable_of(findings, "mq2008")
    assert len(comparable_of(findings, "mq2008")) == 5


def test_a_dataset_where_all_failed_is_still_named():
    findings = invented(datasets=("a", "b"))
    findings = changed(findings, table=findings.table.filter(dataset="a"))
    assert datasets_of(findings) == ["a", "b"]
    assert rankers_of(findings, "b") == []
    assert comparable_of(findings, "b") == []
    assert len(rankers_of(findings)) == 6


@given(st.lists(st.text(max_size=12), unique=True, max_size=12))
def test_file_names_are_safe_and_different(titles):
    names = file_names(titles)
    assert list(names) == titles
    assert len(set(names.values())) == len(titles)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and name for name in names.values())
