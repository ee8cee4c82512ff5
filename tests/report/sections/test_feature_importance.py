import json

import polars as pl

from pomona.experiments.analysis.feature_importance import FeatureImportance
from pomona.report.section import report_of
from pomona.report.sections.feature_importance import FeatureImportanceSection, importance_table, loss_bars

TABLE = pl.DataFrame(
    {
        "feature": ["text", "bm25", "clicks"],
        "n_features": [2, 1, 1],
        "within": [0.2, 0.05, -0.01],
        "low": [0.1, None, -0.02],
        "high": [0.3, None, 0.0],
        "across": [0.25, 0.06, 0.0],
        "across_low": [0.2, 0.05, -0.01],
        "across_high": [0.3, 0.07, 0.01],
        "separate": [0.06, None, None],
    }
)
FOUND = FeatureImportance("ndcg@10", 40, 0.61, TABLE)


def test_bars_and_whiskers():
    chart = loss_bars(FOUND).to_dict()
    rows = json.loads(*chart["datasets"].values())
    assert [(row["feature"], row["low"], row["high"]) for row in rows] == [
        ("text", 0.1, 0.3),
        ("bm25", 0.05, 0.05),
        ("clicks", -0.02, 0.0),
    ]
    assert loss_bars(FeatureImportance("ndcg@10", 40, 0.61, TABLE.clear())) is None


def test_the_table_and_the_words():
    table = importance_table(FOUND)
    assert [column.title for column in table.columns][:3] == ["Feature", "Features", "Within queries"]
    assert [cell.text for cell in table.rows[0].cells][:3] == ["text", "2", "+0.2000"]
    words, figure, numbers = FeatureImportanceSection().of_dataset({"test.txt": FOUND}, "test.txt")
    assert "40 queries" in words.text
    assert "0.6100" in words.text
    assert figure.chart is not None
    assert numbers.table.name == "importance"


def test_the_report_has_it():
    report = report_of(
        "importance", {"test.txt": FOUND}, title="t", question="q", summary="s", datasets=["test.txt"]
    )
    assert report is not None
