import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.explain import explain
from pomona.errors import InputError

app = typer.Typer()
app.command()(explain)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    data = pm.simulate(15, docs_per_query=8, n_features=4, seed=1)
    pm.write_letor(data, folder / "test.txt")
    train = pm.read(folder / "test.txt")
    pm.LinearRegression().fit(train).save(folder / "linear.pomona")
    pm.LambdaMART(n_trees=3, n_leaves=31, noise=0, min_docs=3).fit(train).save(folder / "forest.pomona")
    return folder, train.take([int(np.argmax(np.diff(train.query_ptr)))])


@pytest.mark.parametrize(("model", "method"), [("linear", "linear"), ("forest", "path")])
def test_what_is_printed(folder, model, method):
    folder, longest = folder
    result = run(folder / f"{model}.pomona", folder / "test.txt", "--query", longest.qids[0])
    assert result.exit_code == 0
    assert "is above" in result.output
    assert f", {method}; expected of any" in result.output
    assert f"the first of {longest.n_docs} documents" in result.output


def test_tables_and_report(folder, tmp_path):
    folder, longest = folder
    arguments = (
        "--query",
        longest.qids[0],
        "--docs",
        f"{longest.doc_ids[2]}, {longest.doc_ids[0]}" if longest.doc_ids else "3, 1",
        "--method",
        "interventional",
        "--background",
        folder / "test.txt",
    )
    out = ("--json", "--out", tmp_path / "report")
    found = json.loads(run(folder / "forest.pomona", folder / "test.txt", *arguments, *out).output)
    assert len(found["documents"]) == longest.n_docs
    assert {"value_a", "adds_to_b", "difference"} <= found["difference"][0].keys()
    assert "Why is A above B?" in (tmp_path / "report" / "report.html").read_text()


def test_an_unknown_query(folder):
    folder, _ = folder
    with pytest.raises(InputError, match="no query 'none' in the data"):
        run(folder / "forest.pomona", folder / "test.txt", "--query", "none")
