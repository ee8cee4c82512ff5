import json

import typer
from typer.testing import CliRunner

from pomona import evaluate, read_letor
from pomona.cli.demo import demo


def run(*words):
    app = typer.Typer()
    app.command()(demo)
    return CliRunner().invoke(app, [*words])


def test_the_demo_prints_the_judges_table(tmp_path):
    shown = run("--out", str(tmp_path), "--queries", "40").stdout
    assert "perfect order" in shown
    assert "in all" in shown
    data = read_letor(tmp_path / "data.txt")
    scores = [float(line) for line in (tmp_path / "scores.txt").read_text().split()]
    assert 0 < evaluate(data, scores, "ndcg@10")["ndcg@10"] < 1
    assert (tmp_path / "table.csv").read_text().startswith("scorer,ndcg@10")


def test_same_seed_same_numbers(tmp_path):
    first, second = (
        json.loads(run("--out", str(tmp_path), "--queries", "20", "--json").stdout) for _ in range(2)
    )
    assert first == second
    table = first["table"]
    assert (
        table["random order"]["ndcg@10"] < table[first["best"]]["ndcg@10"] < table["perfect order"]["ndcg@10"]
    )
