import json

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.list_ import Kind
from pomona.cli.list_ import list as list_verb
from pomona.errors import UnknownNameError


def run(*words):
    app = typer.Typer()
    app.command()(list_verb)
    return CliRunner().invoke(app, [*words])


@pytest.mark.parametrize(
    ("kind", "name"),
    [("measures", "ndcg"), ("conventions", "letor4"), ("datasets", "mq2008"), ("formats", "letor")],
)
def test_one_line_each(kind, name):
    lines = run(kind).stdout.splitlines()
    assert any(line.startswith(name) for line in lines)
    assert all(len(line.split(None, 1)) == 2 for line in lines)
    assert name in json.loads(run(kind, "--json").stdout)


def test_rankers_tell_family_and_paper():
    assert "(list-wise, direct, " in json.loads(run("rankers", "--json").stdout)["lambdamart"]


def test_every_kind_can_be_listed():
    for kind in Kind:
        assert run(kind.value).exit_code == 0


def test_all_about_one_ranker():
    told = run("rankers", "AdaRank").stdout
    assert "departures from it" in told
    assert "  n_rounds = 300" in told
    assert json.loads(run("rankers", "adarank", "--json").stdout)["optimizes"] == "bound"
    assert isinstance(run("rankers", "adarnk").exception, UnknownNameError)


def test_one_line_of_another_kind():
    assert run("conventions", "letor4").stdout.startswith("letor4  ")
    assert len(run("conventions", "letor4").stdout.splitlines()) == 1
    assert isinstance(run("measures", "ndgc").exception, UnknownNameError)


def test_the_page_of_rankers():
    assert run("rankers", "--markdown").stdout.startswith("# The rankers\n")
    assert run("measures", "--markdown").exit_code == 2
