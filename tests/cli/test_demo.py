import json

import pytest
import typer
from typer.testing import CliRunner

from pomona._jit import n_threads
from pomona._pool import thread_counts
from pomona.cli.demo import demo
from pomona.experiments.results import read_results


@pytest.mark.usefixtures("in_process")
def test_the_demo_is_a_comparison_of_six_rankers(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr("pomona._pool.start_early", lambda *what: started.append(what))
    app = typer.Typer()
    app.command()(demo)
    result = CliRunner().invoke(app, ["--out", str(tmp_path), "--n-queries", "30", "--json"])
    assert result.exit_code == 0, result.exception
    assert started == [(n_threads(), thread_counts(1), "pomona.experiments.execute")]
    answer = json.loads(result.stdout)
    assert answer["runs"] == {"done": 24}  # six rankers and two bounds on three folds
    assert "Watching one learn" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(list((tmp_path / "figures").glob("watch-*.svg"))) == 1
    means = {row["ranker"]: row["mean"] for row in answer["table"] if row["measure"] == "ndcg@10"}
    assert max(means, key=means.get) == "IdealRanker"
    assert min(means, key=means.get) == "WorstRanker"
    results = read_results(tmp_path)
    assert len(results.spec.rankers) == 6
    assert results.values.filter(part="test")["qid"].n_unique() == 30
