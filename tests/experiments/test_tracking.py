import json
import sys

import pytest

import pomona as pm
from experiments.small_study import done, spec_with
from pomona.errors import MissingExtraError, PomonaError
from pomona.experiments.findings import find
from pomona.experiments.tracking import _parameters, connect, mlflow_name


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    rankers = [
        {"ranker": "mart", "n_trees": 3, "label": "MART (a=1)"},
        {"ranker": "linearregression", "without": ["url_bm25"], "label": "less"},
    ]
    found = done(spec_with({}, *rankers, measures=["ndcg@5", "rbp(p=0.5)"]), tmp_path_factory.mktemp("run"))
    (found.directory / "report.html").write_text("<p>the report</p>")
    return found


@pytest.fixture
def store(tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # which newer versions ask for
    return mlflow.MlflowClient((tmp_path / "mlruns").as_uri()), tmp_path / "mlruns"


def test_a_comparison_with_all_that_belongs_to_it(results, store):
    client, folder = store
    parent = pm.log_to_mlflow(results, folder)
    run = client.get_run(parent)
    assert (run.info.status, run.info.run_name) == ("FINISHED", "study")
    assert run.data.params["measures"] == "ndcg@5, rbp(p=0.5)"
    assert {"report.html", "spec.toml"} <= {one.path for one in client.list_artifacts(parent)}
    experiment = client.get_experiment_by_name("study").experiment_id
    below = client.search_runs([experiment], f"tags.mlflow.parentRunId = '{parent}'")
    by_name = {one.data.tags["ranker"]: one for one in below}
    assert set(by_name) == {"MART (a=1)", "less"}
    quality = {
        (row["ranker"], row["measure"]): row
        for row in find(results).quality.to_dicts()
        if not row["is_bound"]
    }
    for label, one in by_name.items():
        for measure, name in (("ndcg@5", "ndcg_at_5"), ("rbp(p=0.5)", "rbp_p_0.5")):
            row = quality[label, measure]
            found = [one.data.metrics[f"{name}{end}"] for end in ("", ".low", ".high")]
            assert found == pytest.approx([row["mean"], row["low"], row["high"]])
        folds = client.get_metric_history(one.info.run_id, "fold.ndcg_at_5")
        assert [step.step for step in folds] == [1, 2]
        assert one.data.metrics["train_seconds"] > 0
        models = [file.path for file in client.list_artifacts(one.info.run_id, "models")]
        local = client.download_artifacts(one.info.run_id, models[0], dst_path=str(folder))
        assert pm.load_model(local).n_features_in_ == (5 if label == "less" else 6)
    assert by_name["MART (a=1)"].data.params["n_trees"] == "3"
    assert by_name["less"].data.params["without"] == "url_bm25"


def test_a_directory_will_do_and_experiments_have_names(results, store):
    client, folder = store
    run = pm.log_to_mlflow(results.directory, folder, experiment="other")
    assert client.get_run(run).info.experiment_id == client.get_experiment_by_name("other").experiment_id


def test_what_cannot_be_reached_is_said_in_one_line(tmp_path, monkeypatch):
    pytest.importorskip("mlflow")
    (tmp_path / "file").touch()
    with pytest.raises(PomonaError, match="is a file: MLflow needs a folder"):
        connect(tmp_path / "file")
    monkeypatch.delenv("MLFLOW_ALLOW_FILE_STORE", raising=False)
    with pytest.raises(PomonaError, match="MLflow: ") as caught:
        connect("nosuch://nowhere")
    assert "\n" not in str(caught.value)


def test_without_mlflow_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pomona\[mlflow\]'"):
        connect("mlruns")


@pytest.mark.parametrize("text", ["ndcg@10", "LambdaMART(measure=ap, n_trees=3)", "Ω@", "a b/c.d-e", "@(=)"])
def test_names_that_mlflow_takes(text):
    name = mlflow_name(text)
    assert name
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./ ")


def test_parameters_that_a_search_chose_for_each_run(results):
    runs = results.runs.filter(ranker="MART (a=1)")
    assert _parameters(runs)["n_trees"] == 3
    texts = [json.dumps({"n_trees": n, "l2": 0.0}) for n in range(len(runs))]
    import polars as pl

    chosen = _parameters(runs.with_columns(pl.Series("parameters", texts)))
    assert chosen == {"n_trees": "chosen for each run", "l2": 0.0}
