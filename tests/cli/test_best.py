import json
import time

import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from experiments.best.here_pool import HerePool, use
from pomona.cli.best import best
from pomona.errors import InputError

app = typer.Typer()
app.command()(best)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    use(monkeypatch)
    monkeypatch.chdir(tmp_path)
    pm.write_letor(pm.simulate(20, docs_per_query=8, n_features=4, seed=1), tmp_path / "train.txt")
    pm.write_letor(pm.simulate(12, docs_per_query=8, n_features=4, seed=2), tmp_path / "vali.txt")
    return tmp_path


def test_a_model_a_report_and_an_estimate(folder):
    found = run("train.txt", "--time", "10m", "-m", "ndcg@5")
    assert found.exit_code == 0
    assert "to be expected, by 20 queries that chose nothing" in found.output
    assert "4 recipes tried" in found.output
    data = pm.read(folder / "vali.txt")
    assert pm.load_model(folder / "train-best" / "model.pomona").score(data) > 0.4
    page = (folder / "train-best" / "report.html").read_text()
    assert "What was tried" in page
    assert (folder / "train-best" / "tables" / "trials.csv").is_file()
    n_calls = HerePool.n_calls
    again = run("train.txt", "--time", "10m", "-m", "ndcg@5")
    assert HerePool.n_calls == n_calls  # everything was there
    assert again.exit_code == 0


def test_for_machines(folder):
    found = json.loads(run("train.txt", "--valid", "vali.txt", "-m", "ndcg@5", "--json", "-o", "o").stdout)
    assert found["summary"][0]["queries"] == 12
    assert {row["recipe"] for row in found["members"]} <= {row["recipe"] for row in found["trials"]}
    assert found["report"] == "o/report.html"


def test_interrupted(folder, monkeypatch):
    from pomona.experiments.best.search import wait

    calls = iter(range(100))

    def interrupted(*arguments, **options):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return wait(*arguments, **options)

    monkeypatch.setattr("pomona.experiments.best.search.wait", interrupted)
    with pytest.warns(UserWarning, match="keeping the best so far"):
        assert run("train.txt", "-m", "ndcg@5", "-o", "o").exit_code == 130
    assert (folder / "o" / "model.pomona").is_file()
    assert (folder / "o" / "report.html").is_file()


def test_refused(folder):
    for arguments, message in (
        (("--time", "soon"), "found time 'soon'"),
        (("--valid", "train.txt"), "has the same documents in train.txt"),
        (("--latency", "fast"), "found latency 'fast'"),
        (("--out", "vali.txt"), "expected a directory"),
    ):
        with pytest.raises(InputError, match=message):
            run("train.txt", *arguments)


def test_a_bare_time_is_seconds_and_folds_are_of_a_search_without_validation(folder):
    found = run("train.txt", "--time", "600", "-o", "o", "-m", "ndcg@5")
    assert found.stderr.startswith("note: --time 600 is 10 min (as in 90s, 10m, 1h30m)")
    twice = run("train.txt", "--valid", "vali.txt", "--n-folds", "3")
    assert twice.exit_code == 2
    assert "--n-folds cuts DATA where there is no --valid" in twice.stderr


def test_the_time_is_that_of_the_whole_command(folder, monkeypatch):
    monkeypatch.setattr("pomona.cli.started", time.monotonic() - 700)
    with pytest.raises(InputError, match="took longer than --time 10m: give more"):
        run("train.txt", "--time", "10m")
