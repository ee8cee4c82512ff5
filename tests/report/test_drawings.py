import json

import polars as pl
import pytest

from pomona.report.drawings import chosen_pair, drawings_of, for_file, stems_of
from pomona.report.theme import LIGHT
from report.invented import changed, invented


@pytest.fixture(scope="module")
def findings():
    return invented(datasets=("a", "b"))


@pytest.fixture(scope="module")
def drawings(findings):
    return drawings_of(findings)


def test_every_dataset_has_its_charts_once(drawings):
    found = [(drawing.dataset, drawing.name) for drawing in drawings]
    assert len(found) == len(set(found))
    assert [name for dataset, name in found if dataset == "a"] == [
        "intervals",
        "cutoff-curves",
        "convention-curves",
        "convention-ranks",
        "trained-judged",
        "significance",
        "significance-ap",
        "significance-letor4:ndcg@10",
        "significance-letor4:ap",
        "significance-yahoo:ndcg@10",
        "significance-yahoo:ap",
        "training-front",
        "scoring-front",
        "learning-curves",
        "variance",
        "query-differences",
    ]
    assert [name for dataset, name in found if dataset is None] == ["winning-numbers"]


def test_the_data_of_a_chart_are_rows(drawings):
    for drawing in drawings:
        for rows in drawing.spec["datasets"].values():
            assert isinstance(rows, list), drawing.name


def test_the_same_findings_give_the_same_charts(drawings):
    assert drawings == drawings_of(invented(datasets=("a", "b")))


def test_charts_that_have_nothing_to_show_are_left_out():
    names = {drawing.name for drawing in drawings_of(invented(1, conventions=("definition",), failed=False))}
    assert not names & {"convention-curves", "convention-ranks", "trained-judged", "significance"}
    assert {"intervals", "cutoff-curves"} <= names


def test_a_dataset_where_all_failed_has_no_charts(findings):
    partly = changed(
        findings,
        table=findings.table.filter(dataset="a"),
        headline=findings.headline.filter(dataset="a"),
    )
    assert {drawing.dataset for drawing in drawings_of(partly)} == {"a", None}
    assert chosen_pair(partly, "b") is None


def test_the_first_pair_is_winner_and_runner_up(findings):
    headline = findings.headline.row(0, named=True)
    assert chosen_pair(findings, "a") == (headline["winner"], headline["runner_up"])
    alone = findings.headline.with_columns(runner_up=pl.lit(None, pl.String))
    assert chosen_pair(changed(findings, headline=alone), "a") is None


def test_every_drawing_has_files_of_its_own(drawings):
    stems = stems_of(drawings)
    assert list(stems.values()) == drawings
    assert "a-significance-letor4-ndcg-10" in stems
    assert "winning-numbers" in stems
    same = [drawings[0]._replace(dataset="A b"), drawings[0]._replace(dataset="A/b")]
    assert list(stems_of(same)) == ["a-b-intervals", "a-b-2-intervals"]


def test_a_file_has_the_light_theme_and_a_font_of_its_own(drawings):
    spec = json.loads(for_file(drawings[0].spec))
    assert spec["background"] == LIGHT["paper"]
    assert spec["config"]["font"] == "Liberation Sans"
    assert "var(--" not in json.dumps(spec)
