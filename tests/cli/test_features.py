import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.features import features
from pomona.errors import PomonaError
from pomona.experiments.analysis import features as analysis
from pomona.experiments.analysis.feature_importance import examine_importance

app = typer.Typer()
app.command()(features)
QUICK = ("--trees", 3, "--shuffles", 1)


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "some.txt"
    pm.write_letor(pm.simulate(20, docs_per_query=8, n_features=5, seed=4), path)
    return path


def test_the_tables_are_printed(file):
    output = run(file, *QUICK, "--top", 3).output
    assert "20 queries" in output
    assert "ndcg@10 of a random order: 0." in output
    assert "forward selection" in output
    lines = output.splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("feature "))
    assert lines[head + 5] == ""


def test_the_tables_for_machines(file):
    found = json.loads(run(file, *QUICK, "-m", "ap", "--json").output)
    assert set(found) == {"facts", "features", "interactions", "selection", "correlation"}
    assert found["facts"][0]["measure"] == "ap"
    assert len(found["features"]) == 5
    assert len(found["correlation"]) == 25
    assert {row["data"] for row in found["features"]} == {str(file)}


def test_a_report_of_two_sources(file, tmp_path):
    other = tmp_path / "other.txt"
    pm.write_letor(pm.simulate(2, docs_per_query=8, n_features=3, seed=5), other)
    result = run(file, other, *QUICK, "--out", tmp_path / "report")
    assert "2 queries are too few" in result.output
    page = (tmp_path / "report" / "report.html").read_text()
    assert "How much each feature tells" in page
    names = {path.name for path in (tmp_path / "report").rglob("*.csv")}
    assert any("features" in name for name in names)


def test_what_a_line_leaves_out_is_0_unless_told(tmp_path):
    path = tmp_path / "sparse.txt"
    path.write_text("1 qid:1 1:2 2:1\n0 qid:1 2:1\n1 qid:2 1:3\n0 qid:2 1:1 2:1\n")
    apart = json.loads(run(path, *QUICK, "--undefined", "nan", "--json").output)["features"]
    assert {row["feature"]: row["undefined"] for row in apart} == {"f1": 0.25, "f2": 0.25}
    zero = json.loads(run(path, *QUICK, "--json").output)["features"]  # as train and score have it
    assert {row["undefined"] for row in zero} == {0.0}
    given = json.loads(run(path, *QUICK, "--undefined", 0, "--json").output)["features"]
    assert given == zero


def test_what_a_model_is_given_for_what_a_line_leaves_out(tmp_path):
    data = pm.simulate(12, docs_per_query=8, n_features=3, seed=1)
    X = np.where(np.median(data.X, axis=0) < data.X, data.X, 0)
    pm.LinearRegression().fit(data.replace(X=X)).save(tmp_path / "m.pomona")
    lines = [
        f"{y:g} qid:{q} " + " ".join(f"{j}:{v}" for j, v in enumerate(row[:2], 1) if v)
        for row, y, q in zip(X.tolist(), data.y, data.qid, strict=True)
    ]
    (tmp_path / "sparse.txt").write_text("\n".join(lines) + "\n")

    def value(*options):
        asked = [tmp_path / "sparse.txt", "--model", tmp_path / "m.pomona", "--shuffles", 1, *options]
        return run(*asked).stdout.split("queries: ")[1].split()[0]

    model = pm.load_model(tmp_path / "m.pomona")
    for options, undefined in (((), 0.0), (("--undefined", 7.5), 7.5)):
        rows = pm.read(tmp_path / "sparse.txt", undefined=undefined).widened(3, undefined)
        expected = examine_importance(model, rows, None, groups={}, n_shuffles=1).value
        assert value(*options) == f"{expected:.4f}"
    assert value() != value("--undefined", 7.5)
    (tmp_path / "a.csv").write_text("label,qid,f1,f2,f3\n1,1,1,2,3\n")
    refused = run(tmp_path / "a.csv", "--model", tmp_path / "m.pomona", "--undefined", 0)
    assert (refused.exit_code, "no effect on a table" in " ".join(refused.output.split())) == (2, True)


def test_ctrl_c_prints_and_writes_what_is_known(file, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(analysis, "forward_selection", interrupt)
    result = run(file, *QUICK, "--out", tmp_path / "report")
    assert result.exit_code == 130
    assert "gain share" in result.output
    assert "stopped before the end" in result.output
    assert (tmp_path / "report" / "report.html").exists()


@pytest.mark.parametrize("wrong", [("--bins", 1), ("--trees", -1), ("-m", "nothing@3")])
def test_refused(file, wrong):
    with pytest.raises(PomonaError):
        run(file, *wrong)


def test_a_model_is_asked_what_its_features_do(tmp_path):
    train, test = pm.simulate(40, docs_per_query=10, n_features=5, seed=1).split([0.5, 0.5])
    pm.write_letor(test, tmp_path / "test.txt")
    names = [f"f{j}" for j in range(1, 6)]
    pm.LinearRegression().fit(train.replace(feature_names=tuple(names))).save(tmp_path / "m.pomona")
    given = [str(tmp_path / "test.txt"), "--model", str(tmp_path / "m.pomona"), "--shuffles", "2"]
    result = run(*given, "--group", "text=f1,f2", "--out", str(tmp_path / "report"))
    assert result.exit_code == 0, result.output
    assert "ndcg@10" in result.stdout
    assert "text" in result.stdout
    assert (tmp_path / "report" / "report.html").is_file()
    found = json.loads(run(*given, "--json", "-m", "ap").stdout)
    assert {row["feature"] for row in found["importance"]} == set(names)
    assert found["facts"][0]["measure"].startswith("ap")
    for more, said in (
        (["--group", "f1"], "expected name=f1,f2"),
        (["--group", "text=nosuch"], "unknown feature of group text"),
    ):
        with pytest.raises(PomonaError, match=said):
            run(*given, *more)
    with pytest.raises(PomonaError, match="is no file"):
        run("mq2008", *given[1:])
    with pytest.raises(PomonaError, match="--group goes with --model"):
        run(given[0], "--group", "a=f1")
