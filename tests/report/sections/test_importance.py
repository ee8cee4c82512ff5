import pytest

from pomona.report.sections.importance import ImportanceSection, importance_chart, importance_table, leading
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_features_stand_in_the_order_of_their_shares(findings):
    assert leading(findings, DATA) == ["BM25.body", "PageRank", "LMIR.JM.title"]
    spec, (lines, points) = spec_of(importance_chart(findings, DATA, leading(findings, DATA)))
    assert len(points) == len(lines) == 9
    assert spec["description"].endswith("Largest: BM25.body in LambdaMART, 70%.")
    legend = spec["layer"][1]["encoding"]["color"]["legend"]["values"]
    assert len(legend) == 3  # of six rankers three tell


def test_the_table_has_a_column_a_ranker(findings):
    table = importance_table(findings, DATA, leading(findings, DATA))
    assert [column.title for column in table.columns] == ["Feature", "LambdaMART", "LambdaMART yahoo", "MART"]
    assert [cell.text for cell in table.rows[0].cells] == ["BM25.body", "70.0 %", "60.0 %", "50.0 %"]


def test_without_shares_there_is_no_section(findings):
    empty = changed(findings, importance=findings.importance.clear())
    section = ImportanceSection()
    assert list(section.overall(empty)) == []
    assert importance_chart(empty, DATA, []) is None
    assert importance_table(empty, DATA, []).rows == ()
