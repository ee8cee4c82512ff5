import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.compare import compare
from pomona.errors import PomonaError
from pomona.experiments.spec import read_spec

TOY = "toy=simulate(queries=24, docs_per_query=8, features=5, seed=3)"
OPTIONS = ["--n-folds", "2", "-m", "ndcg@5,ap"]


def run(*words):
    app = typer.Typer()
    app.command()(compare)
    result = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


@pytest.mark.usefixtures("in_process")
def test_from_options_to_the_report(tmp_path):
    words = [TOY, "--rankers", "lambdamart(n_trees=5), short=mart(n_trees=2)", *OPTIONS, "--out", tmp_path]
    result = run(*words)
    assert result.exit_code == 0
    assert (tmp_path / "report.html").is_file()
    spec = read_spec(tmp_path / "spec.toml")
    assert spec.to_toml() in result.stderr  # the same as a file
    line = r"\[\d/8\] toy fold 1 short seed 0: done, validation ndcg@5 0\.\d{4}, \d+\.\d s"
    assert re.search(line, result.stderr)
    lines = result.stdout.splitlines()
    assert any(re.fullmatch(r"ranker +ndcg@5 +ap +train s", line) for line in lines)
    labels = {line.split("  ")[0] for line in lines}
    assert {"LambdaMART(n_trees=5)", "short", "IdealRanker", "WorstRanker"} <= labels
    assert "is best on toy" in result.stdout
    assert lines[-1] == f"report: {tmp_path / 'report.html'}"
    # The same again, as a file and for a machine.
    again = run(tmp_path / "spec.toml", "--json")
    assert again.stderr == ""
    answer = json.loads(again.stdout)
    assert answer["runs"] == {"done": 8}
    assert (answer["main"], answer["baseline"]) == ("ndcg@5", "LambdaMART(n_trees=5)")
    assert {row["ranker"] for row in answer["table"]} >= {"short", "IdealRanker"}
    assert answer["spec"] == spec.to_toml()


@pytest.mark.usefixtures("in_process")
def test_run_now_and_report_later(tmp_path, monkeypatch):
    words = [TOY, "--rankers", "mart(n_trees=2)", *OPTIONS, "--out", tmp_path]
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "altair", None)  # what only the report needs may be missing
        patch.setitem(sys.modules, "vl_convert", None)
        result = run(*words, "--no-report")
        told = f"6 runs done in {tmp_path}; the same command without --no-report writes the report"
        assert result.stdout.strip() == told
        assert json.loads(run(*words, "--no-report", "--json").stdout)["runs"] == {"done": 6}
    assert not (tmp_path / "report.html").exists()
    assert "6 of 6 runs were finished before" in run(*words).stderr
    assert (tmp_path / "report.html").is_file()


@pytest.mark.usefixtures("in_process")
def test_when_every_run_fails(tmp_path, monkeypatch):
    def wrong(self, *_):
        raise ZeroDivisionError("no")

    monkeypatch.setattr("pomona.rankers.forests.mart.MART.learn", wrong)
    with pytest.raises(PomonaError, match="every run failed, the first because: ZeroDivisionError: no"):
        run(TOY, "--rankers", "mart", *OPTIONS, "--out", tmp_path)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([TOY], "no ranker is named: add --rankers"),
        ([TOY, "--rankers", "mrat"], "did you mean 'mart'"),
        ([TOY, "--rankers", "mart", "-m", "ndgc@10"], "--measure: unknown measure 'ndgc'"),
        ([TOY, "--rankers", "mart", "--conventions", "yaho"], "--conventions: unknown convention 'yaho'"),
        ([TOY, "--rankers", "mart", "--seeds", "x"], "found --seeds x, expected whole numbers"),
        ([TOY, "--rankers", "mart", "--folds", "9"], "dataset toy has folds 1 to 5, found 9"),
        ([TOY, "--rankers", "mart", "--baseline", "lambdamart"], "--baseline: unknown ranker 'lambdamart'"),
        ([TOY, "--rankers", "mart", "--time-limit", "-1"], "--time-limit: found -1.0, expected more than 0"),
        (["mq2009", "--rankers", "mart"], "did you mean 'mq2008'"),
        (
            ["a/train.txt", "a/vali.txt", "a/test.txt", "--rankers", "mart"],
            "as 3 datasets: give the directory",
        ),
        (["a.txt", "b.txt", "--test", "c.txt", "--rankers", "mart"], "--test goes with one training file"),
        (["none.toml"], "none.toml: cannot be read"),
        (["d.txt", "--rankers", "mart", "--valid", "v.txt"], "--valid goes with a training file and --test"),
        (["no/d.txt", "--rankers", "mart"], "no/d.txt: no such file or directory: no/d.txt"),
        ([TOY, "--rankers", "qid=mart"], "label: 'qid' is a column of the tables of results"),
        ([TOY, "--rankers", "mart,mart"], "two are called 'MART': give each its own label"),
        ([TOY, "--rankers", "IdealRanker=mart"], "two are called 'IdealRanker'"),
        ([TOY, "--rankers", "mart(n_trees=5, n_trees=6)"], "n_trees was given twice, the second time as 6"),
        ([TOY, "--rankers", "mart(n_trees=x)"], "--rankers mart n_trees: found 'x', expected a whole number"),
        ([TOY, "--rankers", "mart", "--label", "y"], "--label: simulated data have no columns to name"),
        ([TOY, "--rankers", "random", "--trials", "3"], "--trials: no ranker here has a parameter to search"),
        ([TOY, "--rankers", f"mart(monotone={'[' * 9999})"], "monotone: found '[[["),
        (["a.txt", "x.toml", "--rankers", "mart"], "x.toml: is a spec, which says all that is compared"),
        (["x.toml", "--seeds", "1"], "the spec says what to compare, so --seeds must go into it"),
    ],
)
def test_refusals(tmp_path, monkeypatch, words, expected):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PomonaError) as caught:
        run(*words, "--out", "out")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not Path("out").exists()


def test_columns_of_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "\n".join(f"{i % 2},q{i // 3},{i}" for i in range(30))
    Path("t.csv").write_text(f"grade,query,bm25\n{rows}\n")
    with pytest.raises(PomonaError, match=r"t\.csv: .*'qid'"):
        run("t.csv", "--rankers", "mart", "--label", "grade")
    with pytest.raises(PomonaError, match=r"t\.csv: .*'grad'.*'grade'"):
        run("t.csv", "--rankers", "mart", "--label", "grad", "--qid", "query")


def start(directory, *words, **streams):
    code = "from pomona.cli import main; main()"
    rankers = "lambdamart(n_trees=300, early_stopping=none), mart(n_trees=300, early_stopping=none)"
    command = ["compare", TOY, "--rankers", rankers, *OPTIONS, "--seeds", "0,1,2", "--out", directory, *words]
    return subprocess.Popen([sys.executable, "-c", code, *command], start_new_session=True, **streams)


def test_ctrl_c_says_how_to_go_on(tmp_path):
    process = start(tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in process.stderr:
        if line.startswith("[2/"):
            os.killpg(process.pid, signal.SIGINT)
            break
    rest = process.stderr.read()
    process.stderr.close()
    assert process.wait() == 130
    last = rest.strip().splitlines()[-1]
    assert re.fullmatch(
        rf"pomona: stopped; \d+ of \d+ runs are done and kept in {tmp_path}\."
        r" The same command goes on from there\.",
        last,
    )
    assert "Traceback" not in rest


def test_ctrl_c_before_the_first_run_promises_nothing(tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("pomona.experiments.compare.compare", interrupted)
    result = run(TOY, "--rankers", "mart", "--out", tmp_path / "none")
    assert result.exit_code == 130
    assert result.stderr.strip().endswith("pomona: stopped before the first run.")


def test_a_terminal_sees_the_runs_live(tmp_path):
    ours, theirs = pty.openpty()
    process = start(tmp_path, stderr=theirs, stdout=subprocess.DEVNULL, env={**os.environ, "COLUMNS": "120"})
    os.close(theirs)
    shown = b""
    until = time.monotonic() + 300
    while b"best so far" not in shown and time.monotonic() < until:
        shown += os.read(ours, 4096)
    process.kill()
    process.wait()
    os.close(ours)
    text = shown.decode(errors="replace")
    for word in ("reading and checking", "running", "done", "elapsed", "best so far", "ndcg@5 0."):
        assert word in text


@pytest.mark.usefixtures("in_process")
def test_training_validation_and_test_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("train", "vali", "test")):
        pm.write_letor(pm.simulate(12, docs_per_query=6, n_features=3, seed=seed), f"{name}.txt")
    words = ["--valid", "vali.txt", "--test", "test.txt", "--rankers", "mart(n_trees=2)", "--json"]
    answer = json.loads(run("small=train.txt", *words).stdout)
    assert answer["runs"] == {"done": 3}
    assert Path("small-comparison", "report.html").is_file()


def test_what_a_search_chose_and_the_best_on_all_queries(tmp_path, in_process, monkeypatch):
    pytest.importorskip("optuna")
    monkeypatch.chdir(tmp_path)
    pm.write_letor(pm.simulate(30, docs_per_query=8, n_features=3, seed=1), tmp_path / "data.txt")
    app = typer.Typer()
    app.command()(compare)
    words = ["data.txt", "--rankers", "mart(n_trees=5)", "--trials", "2", "--n-folds", "2"]
    result = CliRunner().invoke(app, [*words, "--refit-best", "-o", "best.pomona"], catch_exceptions=False)
    assert "chosen of 4 trials" in result.output
    assert "learning_rate=" in result.output
    assert "trained on all 30 queries: best.pomona" in result.output
    assert pm.load_model("best.pomona").name == "mart"
    again = CliRunner().invoke(app, [*words, "--all-trials"], catch_exceptions=False)
    assert "all 4 trials" in again.output
    assert "index.csv" in [path.name for path in tmp_path.rglob("models/*.csv")]


def test_the_best_needs_validation_queries_before_the_work_is_done(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, seed in (("train.txt", 1), ("test.txt", 2)):
        pm.write_letor(pm.simulate(5, docs_per_query=4, n_features=3, seed=seed), tmp_path / name)
    app = typer.Typer()
    app.command()(compare)
    words = ["train.txt", "--test", "test.txt", "--rankers", "mart(n_trees=2)", "--refit-best"]
    with pytest.raises(PomonaError, match="--refit-best needs validation queries"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert not list(tmp_path.glob("*-comparison"))


def test_mlflow_is_asked_before_the_work_is_done(tmp_path, monkeypatch):
    with pytest.raises(PomonaError, match="--mlflow logs the report"):
        run(TOY, "--rankers", "mart", "--mlflow", "mlruns", "--no-report", "--out", str(tmp_path / "out"))
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(PomonaError, match=r"pip install 'pomona\[mlflow\]'"):
        run(TOY, "--rankers", "mart", "--mlflow", "mlruns", "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
