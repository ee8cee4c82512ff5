import pytest

from pomona.report.sections.data import DataSection, data_table
from report.invented import changed, invented


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_data_are_told_as_counts_and_numbers(findings):
    table = data_table(findings)
    told = {column.title: cell.text for column, cell in zip(table.columns, table.rows[0].cells, strict=True)}
    assert told["documents"] == "4560"
    assert told["mean docs"] == "19.4"
    assert told["max label"] == "2"
    assert "digest" not in told


def test_what_the_audit_found(findings):
    _, audit = DataSection().overall(findings)
    assert "mq2008, empty query:" in audit.text
    calm = changed(findings.results, warnings=findings.results.warnings.clear())
    _, audit = DataSection().overall(changed(findings, results=calm))
    assert "The audit found nothing odd." in audit.text
