import pytest

from pomona.report.sections.data import DataSection, data_table
from report.invented import changed, invented


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_data_are_told_as_counts_and_numbers(findings):
    table = data_table(findings)
    printed = {
        column.title: cell.text for column, cell in zip(table.columns, table.rows[0].cells, strict=True)
    }
    assert printed["documents"] == "4560"
    assert printed["mean docs"] == "19.4"
    assert printed["max label"] == "2"
    assert "digest" not in printed


def test_what_the_audit_found(findings):
    _, audit = DataSection().overall(findings)
    assert "mq2008, empty query:" in audit.text
    calm = changed(findings.results, warnings=findings.results.warnings.clear())
    _, audit = DataSection().overall(changed(findings, results=calm))
    assert "The audit found nothing odd." in audit.text
