import json

import polars as pl
import pytest
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.app import build

DATA = pm.simulate(25, docs_per_query=12, n_features=6, seed=4)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "train.txt"
    pm.write_letor(DATA, path)
    return path


def run(*arguments):
    return CliRunner().invoke(build(), ["trace", *map(str, arguments)])


def test_report_and_numbers(file, tmp_path):
    done = run(
        "lambdamart", file, "--query", 3, "--query", 7, "--iterations", 4, "-s", "n_leaves=4", "-o", tmp_path
    )
    assert done.exit_code == 0, done.exception
    assert "mean of all training queries" in done.output
    table = pl.read_parquet(tmp_path / "trace.parquet")
    assert set(table["qid"]) == {"3", "7"}
    assert sorted(set(table["iteration"])) == [0, 1, 2, 3, 4]
    ranker = pm.LambdaMART(n_trees=4, n_leaves=4, normalize=False, truncation=None, noise=0).fit(DATA)
    last = table.filter(iteration=4)
    assert last["score"].to_list() == pytest.approx(ranker.predict(DATA)[last["row"]].tolist())
    page = (tmp_path / "report.html").read_text()
    assert "25 training queries · n_trees=4, normalize=False, truncation=None, noise=0, n_leaves=4" in page
    for name in (
        "figures/watch-3.svg",
        "figures/watch-7.pdf",
        "tables/journeys.csv",
        "trace-measures.parquet",
    ):
        assert (tmp_path / name).stat().st_size > 100


def test_a_query_is_chosen_and_said(file):
    done = run("mart", file, "--iterations", 2, "--json")
    assert done.exit_code == 0, done.exception
    chosen = json.loads(done.stdout)["gains"][0]["qid"]
    assert f"note: no query was named, chose {chosen} (" in done.stderr


def test_parameters_of_the_ranker_win(file):
    done = run("mart", file, "-s", "n_trees=3", "--json")
    assert json.loads(done.stdout)["gains"][0]["best_iteration"] <= 3
    both = run("mart", file, "-s", "n_trees=3", "--iterations", 4)
    assert str(both.exception) == "found --iterations 4 and n_trees=3: give one of them"


def test_refusals(file, tmp_path):
    (tmp_path / "taken").write_text("")
    assert "did you mean '7'" in str(run("mart", file, "--query", "7x").exception)
    assert "cannot be made" in str(run("mart", file, "-o", tmp_path / "taken").exception)
    assert "randomforest shows no steps" in str(run("randomforest", file).exception)


def test_ctrl_c_writes_what_was_seen(file, tmp_path, monkeypatch):
    see = pm.Trace.see

    def interrupted(self, iteration):
        if iteration == 3:
            raise KeyboardInterrupt
        see(self, iteration)

    monkeypatch.setattr(pm.Trace, "see", interrupted)
    done = run("lambdamart", file, "--query", 3, "-o", tmp_path)
    assert done.exit_code == 130
    assert max(pl.read_parquet(tmp_path / "trace.parquet")["iteration"]) == 2
    assert (tmp_path / "report.html").is_file()
