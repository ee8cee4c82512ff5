import subprocess
import sys
from pathlib import Path

import pytest

import pomona as pm
from pomona._registry import entries
from pomona.errors import UnknownNameError
from pomona.rankers.sheet import OPTIMIZES, json_of, markdown_of, sheet_of, text_of

PAGE = Path(__file__).parents[2] / "docs" / "rankers.md"


@pytest.mark.parametrize("name", entries("rankers"))
def test_every_ranker_tells_what_it_optimizes_and_where_it_departs(name):
    entry = entries("rankers")[name]
    assert entry.optimizes in OPTIMIZES
    assert entry.departures
    cls = entry.load()
    assert cls.optimizes == entry.optimizes
    assert entry.departures.splitlines()[0] in cls.__doc__
    assert ("reconstructed" in entry.paper) == ("econstructed" in entry.departures)


def test_the_page_is_as_the_classes_say():
    """`pomona list rankers --markdown > docs/rankers.md` writes it again."""
    assert PAGE.read_text() == markdown_of(map(sheet_of, entries("rankers")))


def test_parameters_with_defaults_and_ranges():
    sheet = sheet_of("RankSVM")
    by_name = {one.name: one for one in (*sheet.own, *sheet.inherited)}
    assert set(by_name) == set(pm.RankSVM().get_params())
    assert sheet.own[0].name == "loss"
    assert by_name["C"] in sheet.own
    assert by_name["C"].range == "a number above 0, or 'validate'; searched 1e-07 … 1 (log)"
    assert by_name["degree"].default == 3
    assert by_name["normalize"] in sheet.inherited
    assert all(one.text for one in by_name.values())


def test_for_the_terminal_and_for_machines():
    text = text_of(sheet_of("adarank"))
    assert "optimizes  a bound of the measure (bound)" in text
    assert "all_queries = False\n      true or false\n      whether queries" in text
    assert max(map(len, text.splitlines())) <= 110
    found = json_of(sheet_of("ada-rank"))
    assert found["paper"] == "Xu & Li, SIGIR 2007"
    assert found["parameters"]["n_rounds"]["default"] == 300
    with pytest.raises(UnknownNameError, match="did you mean 'adarank'"):
        sheet_of("adarnk")


def test_every_heading_of_the_page_is_told_once():
    heads = [line for line in PAGE.read_text().splitlines() if line.startswith("## ")]
    assert len(heads) == len(set(heads))
    assert len(heads) >= len(entries("rankers"))


def test_no_torch_is_needed_to_tell():
    code = "import sys, pomona.rankers.sheet as s; s.sheet_of('ranknet'); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
