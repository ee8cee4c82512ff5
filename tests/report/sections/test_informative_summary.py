import numpy as np
import pytest

from pomona.experiments.analysis.informative import informativeness
from pomona.measures.lists import RankedLists
from pomona.report.section import report_of
from pomona.report.sections.informative_summary import summary_table


@pytest.fixture(scope="module")
def found():
    random = np.random.default_rng(0)
    lists = [[0, 0], *(random.random((10, 12)) < 0.3).astype(float)]
    return informativeness({"toy": {"a": RankedLists.of_labels(lists)}}, ["ap", "ndcg"])


def test_table_1(found):
    table = summary_table(found)
    assert [row.cells[0].text for row in table.rows] == ["AP", "NDCG"]
    assert table.rows[0].cells[2].value == found.summary["rms"][0]
    assert table.rows[0].cells[-3].value == found.summary["rms_to_pc"][0]


def test_lists_that_are_left_out_are_told(found):
    report = report_of("informative", found, title="t", question="q", summary="s", datasets=found.datasets)
    names = [one.section.name for one in report.sections]
    assert names == ["informative-summary", "informative-example", "informative-systems"]
    text = report.sections[0].overall[0].text
    assert f"{found.summary['n_left_out'][0]} lists have no curve" in text
    assert "miss relevant documents" not in text
