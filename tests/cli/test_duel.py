import json

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.duel import duel
from pomona.errors import InputError, UnknownNameError

app = typer.Typer()
app.command()(duel)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("duel")
    data = pm.simulate(30, docs_per_query=8, n_features=3, seed=1)
    pm.write_letor(data, folder / "test.txt")
    read = pm.read(folder / "test.txt")
    y = read.y
    random = np.random.default_rng(0)
    for name, spread in (("old", 4), ("new", 0.5)):
        np.savetxt(folder / f"{name}.txt", y + spread * random.standard_normal(len(y)))
    qid = read.qid
    market = np.where(qid % 2, "de", "fr")
    pl.DataFrame({"grade": y, "query": qid, "market": market}).write_csv(folder / "test.csv")
    pl.DataFrame({"qid": read.qids, "kind": ["a", "b", "c"] * 10}).write_csv(folder / "queries.csv")
    return folder


def test_what_is_printed(folder):
    result = run(folder / "test.txt", folder / "old.txt", folder / "new.txt", "-m", "ndcg@5,ap")
    assert result.exit_code == 0
    assert "30 queries" in result.output
    assert "above old (95% interval +" in result.output
    assert "a significant difference (p < 0.001)" in result.output
    assert "best queries of new (ndcg@5)" in result.output
    assert "new − old by slice" in result.output


def test_tables_and_report(folder, tmp_path):
    arguments = ("--json", "--out", tmp_path / "report", "-m", "ap")
    found = json.loads(run(folder / "test.txt", folder / "old.txt", folder / "new.txt", *arguments).output)
    assert found["pairs"][0]["a"] == "new"
    assert len(found["queries"]) == 30
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Is the gain real?" in page
    assert "Query by query" in page
    assert (tmp_path / "report" / "tables" / "tests.csv").exists() or list(
        (tmp_path / "report").rglob("tests.csv")
    )


def test_slices_by_a_column_of_the_table_and_of_a_table_of_queries(folder):
    scores = folder / "old.txt", folder / "new.txt"
    columns = ("--label", "grade", "--qid", "query")
    found = json.loads(run(folder / "test.csv", *scores, *columns, "--by", "market", "--json").output)
    own = [row for row in found["slices"] if row["slice"] == "market"]
    assert [(row["group"], row["n_queries"]) for row in own] == [("de", 15), ("fr", 15)]
    arguments = ("--queries", folder / "queries.csv", "--by", "kind", "--json")
    found = json.loads(run(folder / "test.txt", *scores, *arguments).output)
    assert [row["n_queries"] for row in found["slices"] if row["slice"] == "kind"] == [10, 10, 10]


def test_judged_as_a_tool_does(folder):
    scores = folder / "old.txt", folder / "new.txt"
    data = pm.read(folder / "test.txt")
    for tool, measure in (("letor4", "letor4:ndcg@10"), ("yahoo-half", "yahoo:ndcg(empty=0.5)@10")):
        found = json.loads(run(folder / "test.txt", *scores, "--as", tool, "--json").output)
        expected = pm.evaluate(data, np.loadtxt(scores[0]), measure)[measure]
        assert found["means"][0]["mean"] == pytest.approx(expected, abs=1e-12)


def test_trec_runs(tmp_path):
    (tmp_path / "qrels").write_text("".join(f"{q} 0 a 1\n{q} 0 b 0\n" for q in range(12)))
    (tmp_path / "old.run").write_text("".join(f"{q} Q0 b 1 2 t\n{q} Q0 a 2 1 t\n" for q in range(12)))
    (tmp_path / "new.run").write_text("".join(f"{q} Q0 a 1 2 t\n" for q in range(11)))
    arguments = ("--qrels", tmp_path / "qrels", tmp_path / "old.run", tmp_path / "new.run", "-m", "rr")
    assert (
        "11 queries (0 without a relevant document, 1 that some run lacks left out)" in run(*arguments).output
    )
    found = json.loads(run(*arguments, "-c", "--json").output)
    assert [row["mean"] for row in found["means"]] == pytest.approx([0.5, 11 / 12])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("test.txt", "old.txt"), "found 1 system"),
        (("test.txt", "old.txt", "old.txt"), "the same file was given twice"),
        (("test.txt", "old.txt", "new.txt", "--by", "f9"), "no feature 'f9'"),
        (("test.txt", "old.txt", "new.txt", "--queries", "queries.csv", "--by", "x"), "no column 'x'"),
        (("test.txt", "old.txt", "test.txt"), "expected data and scores"),
    ],
)
def test_refused(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match=message):
        run(*arguments)


def test_an_unknown_tool(folder):
    with pytest.raises(UnknownNameError, match="did you mean 'letor4'"):
        run(folder / "test.txt", folder / "old.txt", folder / "new.txt", "--as", "leter4")
