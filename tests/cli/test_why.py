import json

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.why import why


def run(*words):
    app = typer.Typer()
    app.command()(why)
    return CliRunner().invoke(app, list(words))


@pytest.fixture
def files(tmp_path):
    (tmp_path / "data.txt").write_text("2 qid:1 1:0\n0 qid:1 1:0\n0 qid:2 1:0\n")
    (tmp_path / "scores.txt").write_text("1\n2\n3\n")
    return str(tmp_path / "data.txt"), str(tmp_path / "scores.txt")


def test_in_words(files):
    shown = run(*files, "-m", "ndcg@2", "--from", "yahoo", "--to", "ranklib").stdout
    assert "-0.5000  empty queries: 1 of 2 queries have no relevant document" in shown


def test_for_machines(files):
    answer = json.loads(run(*files, "-m", "ndcg@2", "--from", "yahoo", "--to", "letor4", "--json").stdout)
    assert answer["difference"] == pytest.approx(sum(part["change"] for part in answer["parts"]))
    assert (answer["from"], answer["to"]) == ("yahoo:ndcg@2", "letor4:ndcg@2")
