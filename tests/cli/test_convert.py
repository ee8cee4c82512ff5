import json

import lightgbm
import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import pomona as pm
from pomona.cli.convert import convert
from pomona.errors import InputError, PomonaError
from reference.engine import as_rows, plugin_score

DATA = pm.simulate(20, docs_per_query=10, n_features=5, seed=1)


def run(*words):
    app = typer.Typer()
    app.command()(convert)
    result = CliRunner().invoke(app, [*map(str, words)])
    if isinstance(result.exception, PomonaError):
        raise result.exception
    return result


@pytest.fixture
def model(tmp_path):
    train = lightgbm.Dataset(DATA.X, DATA.y, group=np.diff(DATA.query_ptr))
    booster = lightgbm.train({"objective": "lambdarank", "verbose": -1, "min_data_in_leaf": 5}, train, 4)
    booster.save_model(tmp_path / "m.txt")
    return booster


def test_from_lightgbm_to_opensearch(model, tmp_path):
    (tmp_path / "names.csv").write_text("a\nb\nc\nd\ne\n")
    asked = ["-f", "opensearch", "--engine-version", "3.8", "--feature-map", tmp_path / "names.csv"]
    told = run(tmp_path / "m.txt", *asked, "-o", tmp_path / "m.json")
    assert told.stdout == f"4 trees over 5 features: {tmp_path / 'm.json'}\n"
    assert "float32 there" in told.stderr
    found = plugin_score((tmp_path / "m.json").read_text(), as_rows(DATA.X, "abcde"), "abcde")
    np.testing.assert_allclose(found, model.predict(DATA.X), rtol=0, atol=1e-6)


def test_to_pomonas_own(model, tmp_path):
    told = json.loads(run(tmp_path / "m.txt", "-f", "pomona", "-o", tmp_path / "m.pomona", "--json").stdout)
    assert told == {"format": "pomona", "file": str(tmp_path / "m.pomona"), "features": 5}
    assert np.array_equal(pm.load_model(tmp_path / "m.pomona").predict(DATA), model.predict(DATA.X))
    assert run(tmp_path / "m.pomona", "-f", "lightgbm").stdout.startswith("tree\nversion=v4")


def test_refusals(model, tmp_path):
    with pytest.raises(InputError, match="binary: add -o FILE"):
        run(tmp_path / "m.txt", "-f", "pomona")
    with pytest.raises(InputError, match="binary: add -o FILE"):
        run(tmp_path / "m.txt", "-f", "onnx")
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(InputError, match="begins with 'hello'"):
        run(tmp_path / "x.txt", "-f", "c")


def test_from_a_log_to_training_data(tmp_path):
    def hit(document, value):
        entries = [{"name": "title", "value": 1.5}, {"name": "body", **value}]
        return {"_id": document, "fields": {"_ltrlog": [{"main": entries}]}}

    hits = [hit("a", {"value": 2.0}), hit("b", {}), hit("c", {})]
    (tmp_path / "hits.json").write_text(json.dumps({"star wars": {"hits": {"hits": hits}}}))
    (tmp_path / "judgments.csv").write_text("query,docid,rating\nstar wars,a,3\nstar wars,b,0\n")
    files = tmp_path / "hits.json", tmp_path / "judgments.csv", "-o", tmp_path / "train.letor"
    told = run(*files)
    assert told.stdout == f"1 queries, 2 documents, 2 features: {tmp_path / 'train.letor'}\n"
    assert told.stderr == "note: 1 logged documents, of 1 queries, have no judgment and are left out\n"
    assert (tmp_path / "train.letor").read_text() == (
        "3 qid:1 1:1.5 2:2 #docid = a query = star wars\n0 qid:1 1:1.5 2:nan #docid = b query = star wars\n"
    )
    data = pm.read(tmp_path / "train.letor", undefined=float("nan"))
    assert data.feature_names == ("title", "body")
    assert list(data.doc_ids) == ["a", "b"]
    run(*files, "--undefined", "0", "--unjudged", "0")
    assert pm.read(tmp_path / "train.letor").X.tolist() == [[1.5, 2], [1.5, 0], [1.5, 0]]
    assert json.loads(run(*files, "--json").stdout)["feature_names"] == ["title", "body"]
    with pytest.raises(InputError, match="add -o FILE"):
        run(*files[:2])


def test_data_by_the_name_of_the_output(tmp_path):
    pm.write_letor(DATA, tmp_path / "data.txt")
    told = json.loads(run(tmp_path / "data.txt", "-o", tmp_path / "data.parquet", "--json").stdout)
    assert (told["format"], told["queries"]) == ("parquet", 20)
    back = run(tmp_path / "data.parquet", "--doc-id", "doc_id", "-o", tmp_path / "again.txt")
    assert back.stdout.startswith("20 queries, ")
    one, other = pm.read(tmp_path / "data.txt"), pm.read(tmp_path / "again.txt")
    assert np.array_equal(one.X, other.X)
    told = json.loads(run(tmp_path / "data.txt", "-f", "xgboost", "-o", tmp_path / "x", "--json").stdout)
    assert [file[-6:] for file in told["files"]][1] == ".group"


def test_a_model_needs_a_format(model, tmp_path):
    with pytest.raises(InputError, match="a model needs --format"):
        run(tmp_path / "m.txt", "-o", tmp_path / "m.json")


def test_a_split_is_a_fold(tmp_path):
    pm.write_letor(DATA, tmp_path / "all.txt")
    told = run(tmp_path / "all.txt", "--split", "0.6,0.2,0.2", "-o", tmp_path / "fold")
    assert told.stdout.startswith(f"20 queries, {DATA.n_docs} documents, 5 features: ")
    parts = pm.load(tmp_path / "fold")
    assert [part.n_queries for part in parts] == [12, 4, 4]
    for part, expected in zip(parts, DATA.split([0.6, 0.2, 0.2]), strict=True):
        assert part.qids.tolist() == expected.qids.tolist()
        assert part.y.tolist() == expected.y.tolist()
    words = ["--split", "0.8,0.2", "--seed", 3, "-f", "csv", "-o", tmp_path / "two", "--json"]
    files = json.loads(run(tmp_path / "all.txt", *words).stdout)["files"]
    assert [path.rpartition("/")[2] for path in files] == ["train.csv", "test.csv"]
    test = pm.read(tmp_path / "two" / "test.csv")
    assert test.qids.tolist() == DATA.split([0.8, 0.2], 3)[1].qids.tolist()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "0.8,0.3", "-o", "out"], "add up to 1, as 0.6,0.2,0.2"),
        (["--split", "1", "-o", "out"], "expected the shares"),
        (["--split", "half,half", "-o", "out"], "expected the shares"),
        (["--seed", "1", "-o", "out"], "--seed has no effect without --split"),
    ],
)
def test_splits_that_are_none(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pm.write_letor(DATA, tmp_path / "all.txt")
    assert message in " ".join(run("all.txt", *words).output.replace("│", " ").split())
    assert not (tmp_path / "out").exists()


def test_a_split_needs_a_directory_and_enough_queries(tmp_path):
    pm.write_letor(DATA.take([0, 1]), tmp_path / "all.txt")
    with pytest.raises(InputError, match="add -o DIRECTORY"):
        run(tmp_path / "all.txt", "--split", "0.5,0.5")
    with pytest.raises(InputError, match="2 queries are too few"):
        run(tmp_path / "all.txt", "--split", "0.6,0.2,0.2", "-o", tmp_path / "out")
