import os

import numpy as np
import pytest

import pomona as pm
from pomona.errors import InputError


@pytest.fixture(scope="module")
def data():
    return pm.simulate(10, docs_per_query=6, n_features=3, seed=1)


def test_models(data, tmp_path):
    pm.LambdaMART(n_trees=3, n_leaves=4, min_docs=3).fit(data).save(tmp_path / "forest")
    facts = pm.inspect(tmp_path / "forest")
    assert (facts["ranker"], facts["trees"], facts["parameters"]["n_leaves"]) == ("LambdaMART", 3, 4)
    assert facts["chosen"] == {"growth": "leafwise", "noise": 0.5, "learning_rate": 0.1}
    assert facts["features"] == 3
    pm.LinearRegression().fit(data).save(tmp_path / "linear")
    assert pm.inspect(tmp_path / "linear")["weights_not_0"] == 3
    pm.LambdaMART(n_trees=2, min_docs=3).fit(data).export(tmp_path / "lightgbm.txt")
    foreign = pm.inspect(tmp_path / "lightgbm.txt")
    assert foreign["what"] == "a model of another trainer"
    assert foreign["trees"] == 2


def test_data(data, tmp_path):
    pm.write_letor(data, tmp_path / "test.txt.gz")
    facts = pm.inspect(tmp_path / "test.txt.gz")
    assert (facts["what"], facts["queries"], facts["documents"]) == ("LETOR text", 10, data.n_docs)
    assert sum(facts["labels"].values()) == data.n_docs
    (tmp_path / "a.csv").write_text("grade,query,bm25\n2,a,0.5\n0,a,0.25\n")
    assert pm.inspect(tmp_path / "a.csv", label="grade", qid="query")["queries"] == 1
    unnamed = pm.inspect(tmp_path / "a.csv")
    assert unnamed["what"] == "a table"
    assert list(unnamed["columns"]) == ["grade", "query", "bm25"]
    assert "no column 'label'" in unnamed["as_labelled_data"]


def test_scores_and_trec_files(tmp_path):
    np.savetxt(tmp_path / "scores", [1.0, -2e-3, 3.0])
    assert pm.inspect(tmp_path / "scores")["documents"] == 3
    (tmp_path / "qrels").write_text("1 0 a 1\n1 0 b 0\n2 0 c 2\n")
    assert pm.inspect(tmp_path / "qrels")["labels"] == [0, 1, 2]
    (tmp_path / "run").write_text("1 Q0 a 1 3 bm25\n1 Q0 b 2 2 bm25\n")
    facts = pm.inspect(tmp_path / "run")
    assert (facts["what"], facts["queries"], facts["tag"]) == ("TREC run", 1, "bm25")


def test_nothing_in_a_file_is_run(tmp_path):
    (tmp_path / "bad.pkl").write_bytes(b"\x80\x04cos\nsystem\n(S'touch hacked'\ntR.")
    with pytest.raises(InputError, match="a pickle, which could run anything"):
        pm.inspect(tmp_path / "bad.pkl")


def test_refused(tmp_path):
    with pytest.raises(InputError, match="no such file or directory"):
        pm.inspect(tmp_path / "none")
    with pytest.raises(InputError, match="neither a comparison nor a directory with folds"):
        pm.inspect(tmp_path)
    (tmp_path / "x").write_text("a poem\n")
    with pytest.raises(InputError, match="none of what Pomona knows"):
        pm.inspect(tmp_path / "x")
    (tmp_path / "empty").write_text("")
    with pytest.raises(InputError, match="none of what Pomona knows"):
        pm.inspect(tmp_path / "empty")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such files")
def test_a_pipe_is_no_missing_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for look in (pm.inspect, pm.load):
        with pytest.raises(InputError, match="found a pipe or a device"):
            look(tmp_path / "pipe")
