import csv
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import pomona as pm
from pomona.errors import InputError, PomonaError
from pomona.experiments.compare import compare
from pomona.experiments.refit import index_models, refit_best
from pomona.experiments.spec import read_spec
from pomona.experiments.spec_options import spec_from_options


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    from here_runner import HereRunner

    folder = tmp_path_factory.mktemp("refit")
    pm.write_letor(pm.simulate(40, docs_per_query=10, n_features=4, seed=1), folder / "data.txt")
    spec = spec_from_options([str(folder / "data.txt")], "randomranker,mart(n_trees=10)", n_folds=3)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pomona.experiments.compare.LocalRunner", HereRunner)
        return compare(spec, folder / "out")


def test_the_best_on_the_validation_queries_is_trained_on_all(results):
    found = refit_best(results)
    assert found.label == "MART(n_trees=10)"
    assert found.n_queries == 40
    steps = results.runs.filter(ranker="MART(n_trees=10)")["best_iteration"].to_numpy()
    # The mean of the rounds from the best to the tenth is in the middle of them.
    assert found.ranker.model_.n_trees == round(float(np.median((steps + 10) // 2)))
    assert "trained on all 40 queries" in found.sentence
    valid = results.values.filter(ranker="MART(n_trees=10)", part="valid")
    assert found.valid == pytest.approx(valid.group_by("fold").agg(m=pl.col("ndcg@10").mean())["m"].mean())


def test_a_ranker_that_failed_in_a_fold_is_not_chosen(results):
    # Its mean would be of fewer, perhaps easier queries.
    name, first = "MART(n_trees=10)", results.runs["fold"].min()
    failed = (pl.col("ranker") == name) & (pl.col("fold") == first)
    state = pl.when(failed).then(pl.lit("failed")).otherwise("state").alias("state")
    partly = replace(results, runs=results.runs.with_columns(state), values=results.values.filter(~failed))
    assert refit_best(partly).label != name


def test_every_model_has_a_name(results):
    path = index_models(results)
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert len(rows) == 6
    named = {row["name"]: row for row in rows}
    one = next(name for name in named if "MART-n_trees=10-fold1-seed0" in name)
    assert (path.parent / named[one]["file"]).is_file()
    if (path.parent / one).is_symlink():
        assert pm.load_model(path.parent / one).name == "mart"
    assert index_models(results) == path  # again, over the links


def test_no_validation_queries(results):

    without = replace(results, values=results.values.filter(pl.col("part") != "valid"))
    with pytest.raises(InputError, match="no validation queries"):
        refit_best(without)


def test_rankers_that_are_given_some_features(tmp_path, monkeypatch):
    from here_runner import HereRunner

    monkeypatch.setattr("pomona.experiments.compare.LocalRunner", HereRunner)
    pm.write_letor(pm.simulate(40, docs_per_query=10, n_features=4, seed=1), tmp_path / "data.txt")
    rankers = "mart(n_trees=4), some=mart(n_trees=4, features=[f1, f3]), most=mart(n_trees=4, without=[f2])"
    spec = spec_from_options([str(tmp_path / "data.txt")], rankers, n_folds=2)
    assert read_text(spec, tmp_path).rankers == spec.rankers
    results = compare(spec, tmp_path / "out")
    names = {}
    for run, label in results.runs.filter(is_bound=False).select("run", "ranker").iter_rows():
        names[label] = pm.load_model(tmp_path / "out" / "models" / f"{run}.pomona").feature_names_
    assert names == {
        "MART(n_trees=4)": ("f1", "f2", "f3", "f4"),
        "some": ("f1", "f3"),
        "most": ("f1", "f3", "f4"),
    }
    assert refit_best(results).ranker.feature_names_ in names.values()
    with pytest.raises(PomonaError, match="ranker x: unknown feature of the data 'f9'"):
        compare(spec_from_options([str(tmp_path / "data.txt")], "x=mart(without=f9)"), tmp_path / "other")


def read_text(spec, folder):
    path = folder / "spec.toml"
    path.write_text(spec.to_toml())
    return read_spec(path)
