import tomllib

import pytest
import typer
from typer.testing import CliRunner

from pomona.cli.study import study
from pomona.errors import PomonaError
from pomona.experiments.results import read_results
from pomona.experiments.spec_reader import spec_of

TOY = "toy=simulate(queries=24, docs_per_query=8, features=5, seed=3)"


def run(*words):
    app = typer.Typer()
    app.command()(study)
    result = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


def spec_printed(*words):
    return spec_of(tomllib.loads(run(*words, "--dry-run").stdout))


def test_the_spec_of_each_study():
    size = spec_printed("size", "mq2008", "ohsumed", "--draws", "2", "--folds", "1,3")
    assert [data.each for data in size.datasets] == [{"train_fraction": (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)}] * 2
    assert (size.datasets[0].draw, size.datasets[0].folds) == ((0, 1), (1, 3))
    assert [row.label for row in size.rankers] == ["LambdaMART", "MART"]
    noise = spec_printed("noise", TOY, "--values", "0,0.5", "--rankers", "adarank", "--seeds", "1,2")
    assert noise.datasets[0].each == {"label_noise": (0.0, 0.5)}
    assert (noise.rankers[0].parameters, noise.seeds) == ({}, (1, 2))
    overfit = spec_printed("overfit", TOY, "--trees", "20", "--values", "5,31", "-m", "err@20,ap")
    assert overfit.datasets[0].curves == ("train", "valid", "test")
    assert [row.label for row in overfit.rankers] == ["LambdaMART 5", "LambdaMART 31"]
    assert overfit.rankers[0].parameters["n_trees"] == 200
    assert overfit.rankers[0].parameters["early_stopping"] is None
    cutoff = spec_printed("cutoff", TOY, "-m", "err@20", "--values", "2,50")
    assert [row.parameters["measure"] for row in cutoff.rankers] == ["err@2", "err@50"]
    assert cutoff.rankers[0].parameters["truncation"] is None
    assert cutoff.norm_performance
    search = spec_printed("search", TOY, "--values", "3,5", "--rates", "0.1,0.2")
    assert {(row.parameters["learning_rate"], row.parameters["n_leaves"]) for row in search.rankers} == {
        (rate, leaves) for rate in (0.1, 0.2) for leaves in (3, 5)
    }


def test_lambdas_are_undamped_where_the_study_is_the_thesis_own():
    for kind in ("size", "noise", "overfit", "cutoff", "search"):
        first = spec_printed(kind, TOY).rankers[0]
        assert (first.ranker, first.parameters["normalize"]) == ("lambdamart", False)
        (named,) = {
            row.parameters.get("normalize")
            for row in spec_printed(kind, TOY, "--rankers", "lambdamart").rankers
        }
        assert named is None


@pytest.mark.usefixtures("in_process")
def test_a_study_is_run_and_reported(tmp_path):
    words = ["size", TOY, "--rankers", "mart", "--trees", "3", "--draws", "1", "--values", "0.5,1"]
    result = run(*words, "--out", tmp_path)
    assert result.exit_code == 0
    assert "each = {train_fraction = [0.5, 1.0]}" in result.stderr
    assert "toy: ndcg@10 by train_fraction" in result.stdout
    assert (tmp_path / "report.html").is_file()
    results = read_results(tmp_path)
    assert results.runs["train_fraction"].unique().sort().to_list() == [0.5, 1.0]
    again = run(*words, "--out", tmp_path)  # nothing is left to do
    assert "10 of 10 runs were finished before" in again.stderr


def test_refused():
    with pytest.raises(PomonaError, match="adarank has no parameter n_leaves, which this study varies"):
        run("overfit", TOY, "--rankers", "adarank", "--dry-run")
    with pytest.raises(PomonaError, match="found --values a, expected numbers"):
        run("size", TOY, "--values", "a", "--dry-run")
    with pytest.raises(PomonaError, match="expected more than 0 and at most 1"):
        run("size", TOY, "--values", "7", "--dry-run")
    with pytest.raises(PomonaError, match="found --trees 0, expected at least 1"):
        run("size", TOY, "--trees", "0", "--dry-run")
    assert run("speed", TOY).exit_code == 2


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["size", "--rates", "0.1"], "--rates is of `study search`"),
        (["overfit", "--draws", "2"], "--draws is of `study size` and `noise`"),
        (["size", "--rankers", "adarank", "--trees", "5"], "--trees is of forests"),
        (["size", "--rankers", "mart(n_trees=3)", "--trees", "5"], "--trees is of forests"),
        (["size", "--dry-run", "--jobs", "2"], "so --out and --jobs have no use"),
        (["size", "--dry-run", "--out", "x"], "so --out and --jobs have no use"),
        (["size", "--jobs", "0"], "greater than or equal to"),
    ],
)
def test_options_without_an_effect_are_refused(words, expected):
    result = run(words[0], TOY, *words[1:])
    assert result.exit_code == 2
    assert expected in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize("kind", ["overfit", "cutoff", "search"])
def test_leaves_and_cut_offs_are_whole_numbers(kind):
    with pytest.raises(PomonaError, match=r"found --values 5\.7, expected whole numbers"):
        run(kind, TOY, "--values", "5.7,9", "--dry-run")
