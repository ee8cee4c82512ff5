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
        method("any", 30, 0.3),
    ]
    spec, (front, points, _, labelled, *_) = spec_of(winning_chart(methods, "any", "methods"))
    assert [row["ranker"] for row in front] == ["first"]
    assert {row["ranker"]: row["front"] for row in points} == {
        "first": "Pareto-optimal",
        "second": "rank 2",
        "Linear Regression": "baseline",
        "BestSingleFeature": "baseline",
        "any": "others",
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
    assert "of 5 methods. Pareto-optimal: first." in spec["description"]


def test_without_these_two_the_comparisons_baseline_is_labelled():
    _, (_, _, _, labelled, *_) = spec_of(winning_chart([method("a", 9, 0.9), method("b", 8, 0.1)], "b"))
    assert [row["label"] for row in labelled] == ["b"]
