import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.report.names import close_of, datasets_of, file_names, measure_title, rankers_of
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
        findings.quality.filter(measure="ndcg@10", is_bound=False).select("ranker", "mean").iter_rows()
    )
    assert rankers_of(findings, "mq2008") == sorted(means, key=means.get, reverse=True)
    assert "Ideal" not in rankers_of(findings)


def test_a_ranker_that_missed_queries_stands_last():
    findings = invented()
    best = rankers_of(findings, "mq2008")[0]
    other = pl.col("is_comparable") & (pl.col("ranker") != best)
    findings = changed(findings, quality=findings.quality.with_columns(is_comparable=other))
    assert rankers_of(findings, "mq2008")[-1] == best
    assert best not in findings.ranked["ranker"]
    assert findings.ranked["ranker"].n_unique() == 5


def test_a_dataset_where_all_failed_is_still_named():
    findings = invented(datasets=("a", "b"))
    findings = changed(findings, quality=findings.quality.filter(dataset="a"))
    assert datasets_of(findings) == ["a", "b"]
    assert rankers_of(findings, "b") == []
    assert len(rankers_of(findings)) == 6


def with_means(means, half=0.01):
    """Rankers of these means, the best first, with intervals of this half width."""
    findings = invented(len(means))
    order = rankers_of(findings, "mq2008")
    given = pl.col("ranker").replace_strict(order, means, default=pl.col("mean"), return_dtype=pl.Float64)
    table = findings.quality.with_columns(mean=given, low=given - half, high=given + half)
    return changed(findings, quality=table), order


def test_a_ranker_far_below_is_left_out_of_plots_and_named():
    # 0.46 − 0.34 = 0.12 > 2 · (0.50 − 0.46) = 0.08, and 0.35 < 0.45
    findings, order = with_means([0.50, 0.48, 0.46, 0.34])
    assert close_of(findings, "mq2008") == (order[:3], f"not shown, far below: {order[3]} (0.340)")


def test_all_below_the_gap_are_far():
    findings, order = with_means([0.50, 0.49, 0.48, 0.30, 0.29])
    close, note = close_of(findings, "mq2008")
    assert close == order[:3]
    assert note == f"not shown, far below: {order[3]} (0.300), {order[4]} (0.290)"


@pytest.mark.parametrize(
    ("means", "half"),
    [
        ([0.50, 0.48, 0.46, 0.39], 0.01),  # merely worse: 0.07 < 0.08
        ([0.50, 0.48, 0.46, 0.34], 0.07),  # intervals meet: 0.41 > 0.39
        ([0.50, 0.10, 0.09], 0.01),  # two of three would go
        ([0.50, 0.49, 0.48, 0.13, 0.12, 0.11, 0.1], 0.01),  # most would go
    ],
)
def test_others_stay(means, half):
    findings, order = with_means(means, half)
    assert close_of(findings, "mq2008") == (order, "")


def test_without_intervals_nobody_is_left_out():
    findings, order = with_means([0.50, 0.48, 0.46, 0.34])
    unknown = findings.quality.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    assert close_of(changed(findings, quality=unknown), "mq2008") == (order, "")


@given(st.lists(st.text(max_size=12), unique=True, max_size=12))
def test_file_names_are_safe_and_different(titles):
    names = file_names(titles)
    assert list(names) == titles
    assert len(set(names.values())) == len(titles)
    assert all(set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") and name for name in names.values())
