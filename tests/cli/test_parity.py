import json

import numpy as np
import polars
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.parity import parity
from pomona.errors import PomonaError

DATA = pm.simulate(30, docs_per_query=10, n_features=5, seed=1)


def run(*words):
    app = typer.Typer()
    app.command()(parity)
    result = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model whose splits send undefined values left, and data with some."""
    folder = tmp_path_factory.mktemp("parity")
    X = DATA.X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    data = pm.Dataset(X, DATA.y, DATA.qid, feature_names=DATA.feature_names)
    pm.LambdaMART(n_trees=20, min_docs=3).fit(data).save(folder / "m.pomona")
    frame = polars.DataFrame(X, schema=list(DATA.feature_names)).fill_nan(None)
    frame.with_columns(label=DATA.y, qid=DATA.qid).write_parquet(folder / "d.parquet")
    return folder


@pytest.mark.parametrize("engine", ["opensearch-3.8", "elasticsearch", "elastic", "solr-9.10"])
def test_engines_that_rank_alike(engine, files):
    told = run(files / "m.pomona", files / "d.parquet", "--engine", engine, "--json", "--tolerance", 1e-9)
    assert told.exit_code == 0
    found = json.loads(told.stdout)
    assert (found["differing"]["documents"], found["undefined"]) == (0, {})
    assert found["differing"]["after"] == pytest.approx(found["differing"]["before"], abs=1e-9)


def test_an_engine_that_does_not_and_why(files):
    told = run(files / "m.pomona", files / "d.parquet", "--engine", "opensearch-3.1")
    assert told.exit_code == 1
    assert " is 0 there: " in told.stdout
    assert (
        " goes right there: "
        in run(files / "m.pomona", files / "d.parquet", "--engine", "opensearch-3.5").stdout
    )
    assert "rankings differ" in told.stdout
    assert (
        run(files / "m.pomona", files / "d.parquet", "--engine", "opensearch-3.1", "--tolerance", 1).exit_code
        == 0
    )
