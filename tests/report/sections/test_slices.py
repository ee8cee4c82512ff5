import pytest

from pomona.report.section import Html
from pomona.report.sections.slices import SlicesSection, mean_table, slice_table, slice_tiles
from report.drawn import spec_of
from report.invented import changed, invented

DATA = "mq2008"


@pytest.fixture(scope="module")
def findings():
    return invented()


def test_a_tile_for_every_ranker_in_every_group(findings):
    spec, (cells, *_) = spec_of(slice_tiles(findings, DATA))
    assert len(cells) == findings.slices.filter(dataset=DATA).height
    assert findings.baseline not in {cell["column"] for cell in cells}
    first = findings.slices.row(0, named=True)
    name = f"{first['slice']}: {first['group']} ({first['n_queries']})"
    assert name in {cell["row"] for cell in cells}
    assert "5 rankers in 8 groups" in spec["description"]


def test_what_is_significant_is_so_everywhere(findings):
    _, (cells, *_) = spec_of(slice_tiles(findings, DATA))
    table = slice_table(findings, DATA)
    at = [column.title for column in table.columns].index("Significant")
    n_yes = sum(row.cells[at].text == "yes" for row in table.rows)
    assert (
        n_yes == sum(cell["is_significant"] for cell in cells) == findings.slices["is_significant"].sum() > 0
    )


def test_means_of_all_rankers_and_the_baseline(findings):
    table = mean_table(findings, DATA)
    assert findings.baseline in {column.title for column in table.columns}
    assert len(table.rows) == 8
    assert sum(row.cells[2].value for row in table.rows) == 2 * 240  # two slices of all queries


def test_what_depends_on_a_slice_is_said(findings):
    section = SlicesSection()
    depends = findings.slice_dependence.with_columns(is_significant=True, holm_p=0.0004)
    said = changed(findings, slice_dependence=depends)
    texts = [part.text for part in section.of_dataset(said, DATA) if isinstance(part, Html)]
    assert "Yes: LambdaMART by documents (p &lt;\N{NO-BREAK SPACE}0.001), " in texts[0]
    nothing = changed(findings, slice_dependence=depends.with_columns(is_significant=False))
    texts = [part.text for part in section.of_dataset(nothing, DATA) if isinstance(part, Html)]
    assert "None does by more than chance" in texts[0]


def test_without_slices_there_is_no_section(findings):
    empty = changed(findings, slices=findings.slices.clear())
    assert list(SlicesSection().overall(empty)) == list(SlicesSection().of_dataset(empty, DATA)) == []
