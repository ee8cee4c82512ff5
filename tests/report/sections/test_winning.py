import polars as pl
import pytest

from pomona.report.sections.winning import WinningSection, winning_chart, winning_numbers, winning_table
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_winning_numbers_label_the_front_first(findings):
    second = pl.col("ranker") == "LambdaMART yahoo"
    findings = changed(findings, winning=findings.winning.with_columns(is_rank2=second))
    _, (front, points, _, labelled, *_) = spec_of(winning_numbers(findings))
    assert {row["ranker"] for row in front} == set(findings.winning.filter(is_pareto=True)["ranker"])
    assert {row["front"] for row in points} == {"Pareto-optimal", "rank 2", "baseline", "others"}
    assert {row["ranker"] for row in front} <= {row["ranker"] for row in labelled}
    unknown = findings.winning.with_columns(normalized=pl.lit(None, pl.Float64))
    assert winning_numbers(changed(findings, winning=unknown)) is None
    assert list(WinningSection().overall(changed(findings, winning=unknown))) == []


def parts(findings):
    return [type(part).__name__ for part in WinningSection().overall(findings)]


def test_only_where_it_says_something():
    assert parts(invented()) == []  # of one dataset the results say all
    several = invented(datasets=("a", "b"))
    assert parts(several) == ["Html", "Numbers"]  # all took part in as many comparisons
    uneven = several.winning.with_columns(ideal=pl.int_range(pl.len()) + 1)
    assert parts(changed(several, winning=uneven)) == ["Html", "Figure", "Numbers"]


def test_the_table_has_the_best_first(findings):
    second = pl.col("ranker") == "LambdaMART yahoo"
    winning = winning_table(changed(findings, winning=findings.winning.with_columns(is_rank2=second)))
    shares = [row.cells[3].value for row in winning.rows]
    assert shares == sorted(shares, reverse=True)
    assert {row.cells[4].text for row in winning.rows} == {"Pareto-optimal", "rank 2", ""}


def method(ranker, ideal, normalized, *, is_pareto=False, is_rank2=False):
    return {
        "ranker": ranker,
        "winning": round(ideal * normalized),
        "ideal": ideal,
        "normalized": normalized,
        "is_pareto": is_pareto,
        "is_rank2": is_rank2,
    }


def test_labels_are_those_of_the_papers_figure():
    methods = [
        method("first", 90, 0.9, is_pareto=True),
        method("second", 80, 0.8, is_rank2=True),
        method("Linear Regression", 70, 0.4),
        method("BestSingleFeature", 60, 0.2),
        *(method(f"any {i}", 30, 0.3) for i in range(9)),
    ]
    spec, (front, points, _, labelled, *_) = spec_of(winning_chart(methods, "any 1", "methods"))
    assert [row["ranker"] for row in front] == ["first"]
    assert {row["ranker"]: row["front"] for row in points} == {
        "first": "Pareto-optimal",
        "second": "rank 2",
        "Linear Regression": "baseline",
        "BestSingleFeature": "baseline",
        **{f"any {i}": "others" for i in range(9)},
    }
    assert {row["label"]: row["is_small"] for row in labelled} == {
        "first": False,
        "second": True,
        "Linear Regression": False,
        "BestSingleFeature": False,
    }
    legend = spec["layer"][1]["encoding"]["color"]["legend"]
    assert legend["values"] == ["1", "2", "3", "other"]
    assert "rank 2" in legend["labelExpr"]
    assert "of 13 methods. Pareto-optimal: first." in spec["description"]


def test_without_these_two_the_comparisons_baseline_is_labelled():
    methods = [method("a", 9, 0.9, is_pareto=True), method("b", 8, 0.1), method("c", 7, 0.2)]
    _, (_, points, _, labelled, *_) = spec_of(winning_chart(methods, "b"))
    assert next(row["front"] for row in points if row["ranker"] == "b") == "baseline"
    # Of so few methods the others have a label, too, if a small one.
    assert {row["label"]: row["is_small"] for row in labelled} == {"a": False, "b": False, "c": True}
