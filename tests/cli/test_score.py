import json

import numpy as np
import polars as pl
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.score import score
from pomona.errors import InputError, PomonaError
from pomona.rankers.forests.mart import MART


def run(*words):
    app = typer.Typer()
    app.command()(score)
    result = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


@pytest.fixture
def files(tmp_path):
    data = pm.simulate(20, docs_per_query=10, n_features=6, seed=1)
    pm.write_letor(data, tmp_path / "data.txt")
    MART(n_trees=3).fit(data).save(tmp_path / "m.pomona")
    return tmp_path


def test_one_score_a_line_in_input_order(files):
    lines = (files / "data.txt").read_text().splitlines()
    order = np.random.default_rng(0).permutation(len(lines))
    (files / "mixed.txt").write_text("\n".join(lines[i] for i in order))
    sorted_scores = run(files / "m.pomona", files / "data.txt").stdout.split()
    assert run(files / "m.pomona", files / "mixed.txt").stdout.split() == [sorted_scores[i] for i in order]
    run(files / "m.pomona", files / "data.txt", "-o", files / "scores.txt")
    assert (files / "scores.txt").read_text().split() == sorted_scores
    assert json.loads(run(files / "m.pomona", files / "data.txt", "--json").stdout) == [
        float(s) for s in sorted_scores
    ]


def test_last_features_of_a_sparse_file(files):
    (files / "sparse.txt").write_text("0 qid:1 1:1\n")
    result = run(files / "m.pomona", files / "sparse.txt")
    assert "the last 5 features of the model do not occur" in result.stderr
    assert len(result.stdout.split()) == 1


def test_refusals(files):
    (files / "wide.txt").write_text("0 qid:1 9:1\n")
    with pytest.raises(PomonaError, match="found 9 features, and the model has 6"):
        run(files / "m.pomona", files / "wide.txt")
    with pytest.raises(PomonaError, match="no such model file"):
        run(files / "none", files / "data.txt")
    with pytest.raises(PomonaError, match=r"data\.txt"):
        run(files / "data.txt", files / "data.txt")


def test_a_table_without_labels_and_queries(tmp_path):
    data = pm.simulate(10, docs_per_query=6, n_features=3, seed=1).replace(feature_names=["a", "b", "c"])
    forest, linear = pm.LambdaMART(n_trees=3, min_docs=3).fit(data), pm.LinearRegression().fit(data)
    forest.save(tmp_path / "forest.pomona")
    linear.save(tmp_path / "linear.pomona")
    X = data.X
    columns = {name: X[:, j] for j, name in reversed(list(enumerate("abc")))}
    columns |= {"url": ["u"] * len(X), "label": [None] * len(X)}
    pl.DataFrame(columns).write_parquet(tmp_path / "new.parquet")
    expected = forest.predict(data).tolist()
    assert json.loads(run(tmp_path / "forest.pomona", tmp_path / "new.parquet", "--json").output) == expected
    with pytest.raises(InputError, match="no column 'qid'"):
        run(tmp_path / "linear.pomona", tmp_path / "new.parquet")
    pl.DataFrame({**columns, "query": data.qid}).write_parquet(tmp_path / "new.parquet")
    arguments = ("--qid", "query", "--doc-id", "url", "--json")
    found = json.loads(run(tmp_path / "linear.pomona", tmp_path / "new.parquet", *arguments).output)
    assert found == linear.predict(data).tolist()
