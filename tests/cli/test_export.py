import json

import lightgbm
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.export import export
from pomona.errors import InputError, PomonaError, UnknownNameError

DATA = pm.simulate(20, docs_per_query=10, n_features=6, seed=1)


def run(*words):
    app = typer.Typer()
    app.command()(export)
    result = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


@pytest.fixture
def model(tmp_path):
    pm.LambdaMART(n_trees=3).fit(DATA).save(tmp_path / "m.pomona")
    return tmp_path / "m.pomona"


def test_the_file_is_read_by_the_other_engine(model, tmp_path):
    told = run(model, "--format", "LightGBM", "-o", tmp_path / "m.txt").stdout
    assert told == f"3 trees over 6 features: {tmp_path / 'm.txt'}\n"
    scores = lightgbm.Booster(model_file=tmp_path / "m.txt").predict(DATA.X)
    assert np.array_equal(scores, pm.load_model(model).predict(DATA))
    assert run(model, "-f", "lightgbm").stdout == (tmp_path / "m.txt").read_text()
    pm.load_model(model).export(tmp_path / "again.txt", "lightgbm")
    assert (tmp_path / "again.txt").read_text() == (tmp_path / "m.txt").read_text()


def test_for_machines(model, tmp_path):
    told = json.loads(run(model, "-f", "c", "-o", tmp_path / "m.c", "--json").stdout)
    assert told == {"format": "c", "file": str(tmp_path / "m.c"), "trees": 3, "features": 6}
    with pytest.raises(InputError, match="add -o FILE"):
        run(model, "-f", "c", "--json")


def test_what_an_engine_cannot_do_is_said(model, tmp_path):
    assert "knows no undefined values" in run(model, "-f", "ranklib", "-o", tmp_path / "m.txt").stderr
    told = json.loads(run(model, "-f", "solr", "-o", tmp_path / "m.json", "--json").stdout)
    assert "float32 there" in told["notes"][0]


def test_refusals(model, tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'ranklib'"):
        run(model, "-f", "ranklip")
    with pytest.raises(InputError, match="cannot be written: No such"):
        run(model, "-f", "c", "-o", tmp_path / "nowhere" / "m.c")
    pm.LinearRegression().fit(DATA).save(tmp_path / "l.pomona")
    with pytest.raises(InputError, match="train it with normalize='global-minmax'"):
        run(tmp_path / "l.pomona", "-f", "c")
    pm.McRank(n_trees=2).fit(DATA).save(tmp_path / "c.pomona")
    with pytest.raises(InputError, match="McRank makes its score of 4 forests"):
        run(tmp_path / "c.pomona", "-f", "c")
    assert not (tmp_path / "m.c").exists()
