import json

import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.inspect import inspect
from pomona.errors import InputError

app = typer.Typer()
app.command()(inspect)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_a_model_in_words_and_for_machines(tmp_path):
    data = pm.simulate(10, docs_per_query=6, n_features=3, seed=1)
    pm.LambdaMART(n_trees=3, min_docs=3).fit(data).save(tmp_path / "m.pomona")
    lines = run(tmp_path / "m.pomona").output.splitlines()
    assert any(line.split() == ["ranker", "LambdaMART"] for line in lines)
    assert any(line.split() == ["n_trees", "3"] for line in lines)
    assert json.loads(run(tmp_path / "m.pomona", "--json").output)["trees"] == 3


def test_a_table_with_other_columns(tmp_path):
    (tmp_path / "a.csv").write_text("grade,query,bm25\n2,a,0.5\n0,a,0.25\n")
    result = run(tmp_path / "a.csv", "--label", "grade", "--qid", "query")
    assert "a table of labelled documents" in result.output


def test_a_comparison(tmp_path, in_process):
    data = pm.simulate(12, docs_per_query=6, n_features=3, seed=1)
    pm.write_letor(data, tmp_path / "data.txt")
    from pomona.cli.compare import compare

    comparing = typer.Typer()
    comparing.command()(compare)
    words = (tmp_path / "data.txt", "--rankers", "linearregression", "--out", tmp_path / "out")
    assert CliRunner().invoke(comparing, [*map(str, words)], catch_exceptions=False).exit_code == 0
    facts = json.loads(run(tmp_path / "out", "--json").output)
    assert facts["what"] == "a comparison"
    assert "LinearRegression" in facts["rankers"]
    assert facts["runs"]["done"] > 0


def test_a_directory_of_something_else_is_not_walked_through(tmp_path, monkeypatch):
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.setattr("pathlib.Path.rglob", lambda *_: pytest.fail("walks through everything below"))
    with pytest.raises(InputError, match="is neither a comparison nor a directory with folds"):
        run(tmp_path)
