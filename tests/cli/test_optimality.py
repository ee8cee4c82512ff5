import json

import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.optimality import optimality
from pomona.errors import InputError

app = typer.Typer()
app.command()(optimality)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("optimality")
    data = pm.simulate(12, docs_per_query=10, n_features=4, seed=1)
    pm.write_letor(data, folder / "train.txt")
    train = pm.read(folder / "train.txt")
    pm.LinearRegression().fit(train).save(folder / "linear.pomona")
    pm.LambdaMART(n_trees=3).fit(train).save(folder / "forest.pomona")
    pm.BestFeature().fit(train).save(folder / "best.pomona")
    return folder


def test_what_is_printed(folder):
    output = run(folder / "linear.pomona", folder / "train.txt", "-m", "p@3,ap", "--directions", 5).output
    assert "LinearRegression: 4 weights, ‖w‖ = " in output
    assert "scaled to 1 first" in output
    assert "p@3" in output
    assert " 50 " in output
    forest = run(folder / "forest.pomona", folder / "train.txt", "--directions", 2, "--relative").output
    assert "leaf values" in forest
    assert "steps are shares of ‖w‖" in forest
    assert "ndcg@10" in forest


def test_tables_and_report(folder, tmp_path):
    arguments = ("--directions", 3, "--steps", "0.5,2", "--json", "--out", tmp_path / "report")
    found = json.loads(run(folder / "linear.pomona", folder / "train.txt", *arguments).output)
    assert found["optimality"][0]["points"] == 6
    assert [row["step"] for row in found["steps"]] == [0.5, 2.0]
    assert "locally optimal" in (tmp_path / "report" / "report.html").read_text()


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        ("best.pomona", (), "BestFeature has no weights that could be moved"),
        ("linear.pomona", ("--steps", "a"), "expected numbers with commas between"),
        ("linear.pomona", ("--directions", 0), "found 0 directions"),
    ],
)
def test_refused(folder, model, options, message):
    with pytest.raises(InputError, match=message):
        run(folder / model, folder / "train.txt", *options)


def test_ctrl_c_counts_what_was_done(folder, monkeypatch):
    from pomona.experiments.analysis.optimality import RankingEvaluator

    seen = []
    mean = RankingEvaluator.mean

    def interrupted_mean(self, scores):
        seen.append(scores)
        if len(seen) > 25:
            raise KeyboardInterrupt
        return mean(self, scores)

    monkeypatch.setattr(RankingEvaluator, "mean", interrupted_mean)
    result = run(folder / "linear.pomona", folder / "train.txt")
    assert result.exit_code == 130
    assert " 20 " in result.output
