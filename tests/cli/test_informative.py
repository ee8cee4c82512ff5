import json

import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.informative import informative
from pomona.errors import InputError

app = typer.Typer()
app.command()(informative)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def data(tmp_path):
    simulated = pm.simulate(n_queries=12, n_features=4, seed=1)
    pm.write_letor(simulated, tmp_path / "data.txt")
    return tmp_path / "data.txt"


def test_every_feature_is_a_system(data):
    result = run(data)
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0].split()[:3] == ["measure", "rms", "mae"]
    assert [line.split()[0] for line in lines[2:5]] == ["ap", "ndcg", "p@10"]
    document = json.loads(run(data, "-m", "ap,ndcg@5", "-k", "5", "--json").output)
    assert {row["measure"] for row in document["summary"]} == {"ap", "ndcg@5"}
    assert len({row["system"] for row in document["systems"]}) == 4


def test_files_of_scores(data, tmp_path):
    labels = pm.read(data).y
    (tmp_path / "good.txt").write_text("".join(f"{label}\n" for label in labels))
    (tmp_path / "bad.txt").write_text("".join(f"{-label}\n" for label in labels))
    words = ("--scores", tmp_path / "good.txt", "--scores", tmp_path / "bad.txt")
    document = json.loads(run(data, *words, "-m", "ap", "--json").output)
    values = {row["system"]: row["value"] for row in document["systems"]}
    assert values["good"] == pytest.approx(1)
    assert values["bad"] < 0.9


def test_trec_files_and_a_report(tmp_path):
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n1 0 c 1\n")
    (tmp_path / "one.run").write_text("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n")
    files = ("--qrels", tmp_path / "qrels", "--run", tmp_path / "one.run")
    output = run(*files, "-o", tmp_path / "out").output
    assert "1 lists miss relevant documents: measures count these as not retrieved" in output
    assert (tmp_path / "out" / "report.html").is_file()
    assert (tmp_path / "out" / "figures" / "example-curves.pdf").is_file()


def test_refusals(data):
    assert run().exit_code == 2
    assert run(data, "--qrels", data).exit_code == 2
    with pytest.raises(InputError, match="not from err"):
        run(data, "-m", "err")
    with pytest.raises(InputError, match="at least 1, found 0"):
        run(data, "-k", "0")
