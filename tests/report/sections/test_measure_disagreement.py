import pomona as pm
from pomona.report.section import report_of
from pomona.report.sections.measure_disagreement import disagreement_table, example_table

LISTS = [[0, 1, 1, 0], [1, 0, 0, 1]]


def test_examples_read_as_sentences():
    compared = pm.compare_measures(LISTS, ["wta", "p@3"])
    (row,) = example_table(compared).rows
    assert [cell.text for cell in row.cells] == [
        *("WTA", "1 0 0 1", "0 1 1 0", "1.0000 > 0.0000", "P@3", "0.6667 > 0.3333")
    ]
    (row,) = disagreement_table(compared).rows
    assert [cell.text for cell in row.cells] == ["WTA", "P@3", "1", "1", "1.0000"]


def test_agreement_is_told_too():
    for measures, word in ((["wta", "ap"], "No two"), (["wta", "p@3"], "Pairs of lists of which")):
        compared = pm.compare_measures(LISTS, measures)
        report = report_of("measures", compared, title="t", question="q", summary="s")
        last = report.sections[-1]
        assert last.section.name == "measure-disagreement"
        assert word in last.overall[0].text
