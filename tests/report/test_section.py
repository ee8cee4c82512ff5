import itertools
import json
import re
from dataclasses import replace

import polars as pl
import pytest
import vl_convert

from pomona._registry import entries
from pomona.errors import InputError, UnknownNameError
from pomona.report.comparison import comparison_report
from pomona.report.encoding import vega_lite
from pomona.report.names import datasets_of
from pomona.report.section import Figure, Html, Numbers, Section, Side, as_json, compose, sections_of
from pomona.report.table import make_table, text
from report.invented import changed, invented

# Sections of other reports have tests of their own, since their findings are others.
ENTRIES = {
    name: entry for name, entry in entries("report/sections").items() if entry.load().report == "comparison"
}
CHARTS = [
    "intervals",
    "cutoff-curves",
    "convention-curves",
    "convention-ranks",
    "trained-judged",
    "significance",
    "significance-ap",
    "significance-letor4:ndcg@10",
    "significance-letor4:ap",
    "significance-lightgbm:ndcg@10",
    "significance-lightgbm:ap",
    "slices",
    "training-front",
    "scoring-front",
    "learning-curves",
    "importance",
    "variance",
    "query-differences",
]
"""Of every dataset, in the order of the page, among others perhaps."""


@pytest.fixture(scope="module")
def findings():
    return invented(datasets=("a", "b"))


@pytest.fixture(scope="module")
def report(findings):
    return comparison_report(findings)


def figures_of(name, findings):
    """The figures that a section draws, not composed."""
    section = ENTRIES[name].load()()
    parts = itertools.chain(
        section.overall(findings), *(section.of_dataset(findings, data) for data in datasets_of(findings))
    )
    for part in parts:
        for one in part.figures if isinstance(part, Side) else (part,):
            if isinstance(one, Figure):
                yield one


# ---- What every section of the folder keeps to


@pytest.mark.parametrize("name", ENTRIES)
def test_no_chart_names_a_color_or_a_font_and_each_describes_itself(name):
    for figure in figures_of(name, invented()):
        spec = figure.chart.to_dict()  # Altair checks it against Vega-Lite's schema
        shown = json.dumps({key: part for key, part in spec.items() if key != "config"})
        assert not re.search(r"#[0-9a-fA-F]{6}|rgba?\(|\"font\"", shown), figure.name
        assert len(spec["description"]) > 60, figure.name


@pytest.mark.parametrize("name", ENTRIES)
def test_no_name_becomes_code(name):
    """Whatever is a name is data in the compiled chart too, never a part of an expression."""
    strange = "yahoo strange"
    for figure in figures_of(name, invented(names={"LambdaMART yahoo": strange})):
        expressions = " ".join(expressions_in(vl_convert.vegalite_to_vega(figure.chart.to_dict())))
        # The legend's names are the exception, and JSON.
        assert strange not in expressions.replace(f'"{strange}"', ""), figure.name
        if figure.name not in ("convention-curves", "importance"):
            assert strange not in expressions, figure.name


def expressions_in(part):
    """Every text of a Vega spec that Vega parses as an expression."""
    if isinstance(part, list):
        for item in part:
            yield from expressions_in(item)
    elif isinstance(part, dict):
        for key, item in part.items():
            if key in ("expr", "signal", "test", "update", "init") and isinstance(item, str):
                yield item
            elif key != "values":
                yield from expressions_in(item)


@pytest.mark.parametrize("name", ENTRIES)
def test_a_section_survives_a_dataset_where_all_failed(name, findings):
    partly = changed(
        findings,
        **{
            table: frame.filter(dataset="a")
            for table, frame in findings.tables.items()
            if "dataset" in frame.columns and table != "costs"
        },
    )
    section = ENTRIES[name].load()()
    (composed,) = compose([section], partly, ["a", "b"]) or (None,)
    if composed is not None:
        assert not any(isinstance(part, Figure) for dataset, part in composed.parts if dataset == "b")


def test_sections_stand_in_their_order_and_no_two_in_one_place():
    sections = sections_of("comparison")
    orders = [section.order for section in sections]
    assert orders == sorted(set(orders))
    assert len({section.name for section in sections}) == len(sections) >= 12
    assert sections_of("nothing") == []


# ---- How sections are put together


def parts_of(report, kind):
    """The parts of a kind, with their datasets."""
    return [pair for one in report.sections for pair in one.parts if isinstance(pair[1], kind)]


def test_every_dataset_has_its_charts_once(report):
    placed = [(dataset, part.name) for dataset, part in parts_of(report, Figure)]
    assert len(placed) == len(set(placed))
    assert [name for dataset, name in placed if dataset == "a" and name in CHARTS] == CHARTS


def test_every_table_of_every_dataset(report):
    placed = [(dataset, part.table.name) for dataset, part in parts_of(report, Numbers)]
    assert len(placed) == len(set(placed))
    assert {dataset for dataset, _ in placed} == {"a", "b", None}
    assert {name for dataset, name in placed if dataset == "a"} >= {
        "results", "cutoffs", "conventions", "order-changes", "pairs", "slices", "slice-means", "costs",
        "importance", "variance",
    }  # fmt: skip


def test_figures_are_numbered_as_they_come(report):
    assert [figure.number for figure in report.figures] == list(range(len(report.figures)))


def test_the_data_of_a_chart_are_rows(report):
    for figure in report.figures:
        for rows in figure.spec["datasets"].values():
            assert isinstance(rows, list), figure.name


def test_the_same_findings_give_the_same_charts(findings, report):
    again = comparison_report(replace(findings))
    assert [figure.spec for figure in again.figures] == [figure.spec for figure in report.figures]


def test_what_has_nothing_to_show_is_left_out():
    report = comparison_report(invented(1, conventions=("definition",), failed=False))
    names = {figure.name for figure in report.figures}
    assert not names & {"convention-curves", "convention-ranks", "trained-judged", "significance"}
    assert {"intervals", "cutoff-curves"} <= names
    assert not {"order-changes", "pairs", "winning"} & {numbers.table.name for numbers in report.tables}
    assert not {"pairs", "winning"} & {one.section.name for one in report.sections}


def test_tables_without_rows_are_left_out():
    single = comparison_report(invented(2, conventions=("definition",), failed=False))
    names = {numbers.table.name for numbers in single.tables}
    assert "order-changes" not in names
    assert {"results", "pairs", "datasets"} <= names


def test_every_figure_and_table_has_files_of_its_own(report):
    stems = [figure.stem for figure in report.figures]
    assert len(stems) == len(set(stems))
    assert {"a-significance-letor4-ndcg-10", "b-intervals", "b-slices"} <= set(stems)
    tables = [numbers.stem for numbers in report.tables]
    assert len(tables) == len(set(tables))
    assert {"a-results", "b-variance", "winning", "datasets"} <= set(tables)


def test_only_the_sections_that_are_asked_for(findings):
    report = comparison_report(findings, ["results", "headline"])
    assert [one.section.name for one in report.sections] == ["headline", "results"]
    with pytest.raises(
        UnknownNameError, match=r"unknown section 'result': did you mean 'results'\?"
    ) as error:
        comparison_report(findings, ["result"])
    assert all(name in str(error.value) for name in ENTRIES)
    with pytest.raises(InputError, match="nothing to say about trials here"):
        comparison_report(findings, ["trials"])


class Own(Section):
    """A section as somebody else would write it."""

    name = "own"
    title = "My own"
    order = 5
    report = "mine"

    def overall(self, findings):
        yield Html("<p>{{ text }}</p>", text="a < b")

    def of_dataset(self, findings, dataset):
        rows = [{"ranker": "x"}] if dataset != "empty" else []
        yield Numbers(make_table("names", dataset, [text("Ranker", "ranker")], rows))


def test_a_section_of_ones_own():
    (composed,) = compose([Own()], None, ["A b", "A/b", "empty"])
    (said,) = composed.overall
    assert said.text == "<p>a &lt; b</p>"
    assert [part.stem for dataset, part in composed.parts if dataset] == ["a-b-names", "a-b-2-names"]
    assert composed.panels["empty"] == []


def test_a_figure_is_vega_lite(report):
    figure = report.figures[0]
    assert figure.spec == vega_lite(figure.chart)
    assert "config" not in figure.spec


def test_json_cannot_end_its_element():
    value = {"a": "</script><!--&\u2028", "b": [1, None]}
    encoded = as_json(value)
    assert not set("<>&\u2028") & set(encoded)
    assert json.loads(encoded) == value


def test_significance_is_said_the_same_way_everywhere(findings, report):
    """No sentence, mark or colour of a report says other than `is_significant`."""
    headlines = {row["dataset"]: row for row in findings.headline.iter_rows(named=True)}
    text = next(one.overall[0].text for one in report.sections if one.section.name == "headline")
    assert text.count("a significant difference") == sum(row["is_significant"] for row in headlines.values())
    pairs = findings.pairs.filter(pl.col("is_significant"), measure=findings.main)
    for dataset in ("a", "b"):
        (matrix,) = (f for f in report.figures if f.stem == f"{dataset}-significance")
        n_pairs = pairs.filter(dataset=dataset).height
        assert f"{n_pairs} of 15 pairs differ significantly" in matrix.spec["description"]
