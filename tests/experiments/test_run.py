import dataclasses
import io
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pomona as pm
from pomona.data.folds import Fold
from pomona.experiments.run import (
    Run,
    Task,
    execute,
    machine,
    made,
    peak_memory,
    runs_of,
    start_peak_memory,
    versions,
)
from pomona.experiments.source import digest, examine
from pomona.experiments.spec import DataSpec, Files, SearchSpec
from pomona.rankers.base import load_model


def tasks_of(spec, data=None):
    sources, facts = examine(spec, data or spec.datasets[0], {})
    runs = runs_of(spec, {spec.datasets[0].name: facts.digests})
    return [Task(run, source, spec.judged()) for run in runs for source in sources if source.fold == run.fold]


def test_the_runs_of_a_spec(make_spec):
    spec = make_spec("mart, lambdamart(n_trees=3)", seeds=[0, 1])
    runs = runs_of(spec, {"toy": {1: "a", 2: "b"}})
    keys = [(run.fold, run.seed, run.ranker) for run in runs]
    labels = ["MART", "LambdaMART(n_trees=3)"]
    assert keys == [(fold, seed, label) for fold in (1, 2) for seed in (0, 1) for label in labels]
    assert len({run.id for run in runs}) == 8
    assert runs[1].parameters["n_trees"] == 3
    assert "seed" not in runs[1].parameters


def test_rankers_train_towards_the_main_measure_unless_told_otherwise(make_spec):
    spec = make_spec("mart, lambdamart(measure=err@20)", measures=["ap"], conventions=["yahoo"])
    runs = runs_of(spec, {"toy": {1: "a"}})
    assert [run.parameters["measure"] for run in runs] == ["yahoo:ap", "err@20"]


def test_an_id_is_made_of_what_can_change_a_number():
    run = Run("toy", 1, "MART", "mart", {"n_trees": 3}, 0, "digest")
    assert dataclasses.replace(run, dataset="other", ranker="other", fold=7).id == run.id
    for change in ({"kind": "x"}, {"parameters": {}}, {"seed": 1}, {"data": "x"}):
        assert dataclasses.replace(run, **change).id != run.id
    searched = dataclasses.replace(run, search=SearchSpec(3), searched=("l2",))
    assert dataclasses.replace(searched, space={"l2": (0.1, 1.0, "log")}).id != searched.id != run.id
    assert dataclasses.replace(run, space={}).id == run.id  # nothing is searched
    without_chance = dataclasses.replace(run, uses_seed=False)
    assert dataclasses.replace(without_chance, seed=1).id == without_chance.id


def test_ids_stay_what_they_are():
    """A store of today must be understood tomorrow."""
    assert Run("toy", 1, "MART", "mart", {"n_trees": 3}, 0, "digest").id == "222e95e32b4a3123f1c99fc2"


def test_a_run_is_what_fitting_by_hand_gives(make_spec):
    spec = make_spec("lambdamart(n_trees=8)", measures=["ndcg@5", "ap"], seeds=[7])
    task = tasks_of(spec)[0]
    begun = []
    outcome = execute(task, lambda: begun.append(True))
    assert (outcome.state, outcome.reason, begun) == ("done", None, [True])
    train, valid, test = task.source.load()
    by_hand = pm.LambdaMART(n_trees=8, measure="ndcg@5", seed=7).fit(train, valid=valid)
    scores = by_hand.predict(test)
    assert (
        pl.read_parquet(io.BytesIO(outcome.files["scores"]))["score"].to_numpy().tolist() == scores.tolist()
    )
    values = pl.read_parquet(io.BytesIO(outcome.files["values"]))
    expected = pm.evaluate(test, scores, ["ndcg@5", "ap"], per_query=True)
    of_test = values.filter(part="test")
    assert of_test["qid"].to_list() == [str(query) for query in test.qids]
    for column, per_query in expected.items():
        np.testing.assert_array_equal(of_test[column].to_numpy(), per_query)
    assert values["part"].value_counts().sort("part")["count"].to_list() == [12, 10, 2]
    assert set(values.columns) == {"part", "qid", *spec.judged()}
    record = outcome.record
    assert record["means"]["test"]["ap"] == pytest.approx(expected["ap"].mean())
    assert record["best_iteration"] == by_hand.best_iteration_
    assert record["curves"] == by_hand.evals_
    assert record["parameters"]["seed"] == 7
    assert record["model_bytes"] == len(outcome.files["model"])
    assert (record["n_test_docs"], record["n_test_queries"]) == (test.n_docs, test.n_queries)
    assert record["train_seconds"] > 0
    assert record["score_seconds"] > 0
    assert record["peak_memory"] >= 0
    assert record["versions"]["pomona"] == pm.__version__
    assert not record["valid_is_cut"]


@pytest.mark.parametrize("ranker", ["rankboost", "prank"])
def test_the_step_that_was_kept_is_told_whatever_it_is(ranker, make_spec, tmp_path):
    outcome = execute(tasks_of(make_spec(ranker))[0])
    (tmp_path / "m.pomona").write_bytes(outcome.files["model"])
    assert outcome.record["best_iteration"] == load_model(tmp_path / "m.pomona").best_iteration_ > 0


def test_a_model_is_kept_and_can_be_judged_again_by_other_measures(make_spec, tmp_path):
    task = tasks_of(make_spec("mart(n_trees=4)", measures=["ap"]))[0]
    first = execute(task)
    (tmp_path / "m.pomona").write_bytes(first.files["model"])
    assert load_model(tmp_path / "m.pomona").n_trees == 4
    more = {**task.judged, "err": ("err", "definition")}
    again = execute(dataclasses.replace(task, judged=more, model=first.files["model"]))
    assert again.state == "done"
    assert "model" not in again.files
    assert again.files["scores"] == first.files["scores"]
    values = [pl.read_parquet(io.BytesIO(one.files["values"])) for one in (first, again)]
    assert values[1].drop("err").equals(values[0])
    assert "train_seconds" not in again.record


def test_without_a_validation_part_one_is_cut_where_it_is_needed(make_spec, tmp_path):
    for seed, name in enumerate(("train", "test")):
        pm.write_letor(pm.simulate(20, docs_per_query=6, n_features=3, seed=seed), tmp_path / f"{name}.txt")
    data = DataSpec("toy", Files(str(tmp_path / "train.txt"), str(tmp_path / "test.txt")))
    spec = make_spec("mart(n_trees=3), mart(n_trees=3, early_stopping=none)", seeds=[0, 1])
    outcomes = [execute(task) for task in tasks_of(spec, data)]
    parts = [pl.read_parquet(io.BytesIO(outcome.files["values"])) for outcome in outcomes]
    counts = [[frame.filter(part=part).height for part in ("train", "valid", "test")] for frame in parts]
    assert counts == [[16, 4, 20], [20, 0, 20]] * 2
    assert [outcome.record["valid_is_cut"] for outcome in outcomes] == [True, False] * 2
    cut = [frame.filter(part="valid")["qid"].to_list() for frame in parts]
    assert cut[0] != cut[2]  # by the seed of the run


def test_a_refusal_and_an_error_are_outcomes(make_spec, monkeypatch):
    task = tasks_of(make_spec("mart(n_trees=0)"))[0]
    outcome = execute(task)
    assert (outcome.state, outcome.error) == ("failed", "InputError")
    assert outcome.reason == "n_trees must be at least 1, found 0"

    def wrong(self, *_):
        raise ZeroDivisionError("one line\nand another")

    monkeypatch.setattr("pomona.rankers.forests.mart.MART.learn", wrong)
    outcome = execute(tasks_of(make_spec("mart"))[0])
    assert (outcome.state, outcome.reason) == ("failed", "ZeroDivisionError: one line and another")
    assert "in wrong" in outcome.record["traceback"]


def test_out_of_memory_is_an_outcome(make_spec, monkeypatch):
    def hungry(self, *_):
        raise MemoryError

    monkeypatch.setattr("pomona.rankers.forests.mart.MART.learn", hungry)
    outcome = execute(tasks_of(make_spec("mart"))[0])
    assert (outcome.state, outcome.reason) == ("failed", "out of memory")


def test_other_data_than_those_that_were_checked_are_refused(make_spec):
    task = tasks_of(make_spec("mart"))[0]
    strange = dataclasses.replace(task, run=dataclasses.replace(task.run, data="0" * 32))
    assert "here the data are not those that were checked" in execute(strange).reason


def test_a_rehearsal_only_tries(make_spec):
    task = dataclasses.replace(tasks_of(make_spec("lambdamart(growth=oblivios)"))[0], is_rehearsal=True)
    outcome = execute(task)
    assert (outcome.state, outcome.error) == ("failed", "UnknownNameError")
    assert "did you mean 'oblivious'" in outcome.reason
    fine = dataclasses.replace(tasks_of(make_spec("mart(n_trees=2)"))[0], is_rehearsal=True)
    assert (execute(fine).state, execute(fine).files) == ("done", {})


def test_what_a_ranker_warns_of_is_kept(make_spec):
    outcome = execute(tasks_of(make_spec("mart(n_trees=2, min_docs=100000)"))[0])
    assert outcome.state == "done"
    assert any("no tree found a split" in note for note in outcome.record["notes"])


def test_a_search_ends_with_its_parameters_in_the_record(make_spec):
    spec = make_spec("mart(n_trees=3, n_leaves=5)", n_trials=3)
    task = tasks_of(spec)[0]
    assert task.run.searched == ("learning_rate", "min_docs", "feature_fraction")
    record = execute(task).record
    assert record["n_trials"] == len(record["trials"]) == 3
    best = max(record["trials"], key=lambda trial: trial["value"])
    assert record["parameters"]["learning_rate"] == best["parameters"]["learning_rate"]
    assert record["parameters"]["n_leaves"] == 5
    assert record["search_seconds"] >= record["train_seconds"]


@pytest.mark.parametrize("ranker", ["lambdamart", "randomforest"])
def test_the_depth_of_oblivious_trees_is_searched(make_spec, ranker):
    task = tasks_of(make_spec(f"{ranker}(n_trees=2, growth=oblivious)", n_trials=3))[0]
    assert "max_depth" in task.run.searched
    assert "n_leaves" not in task.run.searched
    first, *others = (trial["parameters"]["max_depth"] for trial in execute(task).record["trials"])
    assert first is None
    assert all(3 <= depth <= 8 for depth in others)


def test_a_search_does_not_look_at_the_test_queries(make_spec, monkeypatch):
    """Other test queries, same search."""
    task = tasks_of(make_spec("mart(n_trees=3)", n_trials=3))[0]
    fold = task.source.load()
    elsewhere = Fold(fold.train, fold.valid, pm.simulate(9, docs_per_query=5, n_features=5, seed=99))
    first = execute(task)
    monkeypatch.setattr("pomona.experiments.source.FoldSource.load", lambda source: elsewhere)
    moved = dataclasses.replace(task, run=dataclasses.replace(task.run, data=digest(elsewhere)))
    second = execute(moved)
    values = [[trial["value"] for trial in one.record["trials"]] for one in (first, second)]
    assert values[0] == values[1]
    assert first.files["scores"] != second.files["scores"]


def test_a_ranker_of_a_run(make_spec):
    run = runs_of(make_spec("mart(monotone=1/0/0/0/-1)", seeds=[5]), {"toy": {1: "a"}})[0]
    ranker = made(run, n_trees=2)
    assert (ranker.monotone, ranker.seed, ranker.n_trees) == ((1, 0, 0, 0, -1), 5, 2)


def test_the_peak_of_memory_starts_anew():
    assert start_peak_memory()
    before = peak_memory()
    much = np.ones(20_000_000)
    assert peak_memory() - before > 0.9 * much.nbytes
    del much
    assert peak_memory() - before > 0.9 * 160e6
    start_peak_memory()
    assert peak_memory() - before < 80e6


def test_where_it_was_computed():
    assert versions().keys() >= {"pomona", "python", "numpy", "numba"}
    assert "cores" in machine()


def test_a_ranker_of_the_users_own_is_known_by_its_code_not_its_place(own_ranker, make_spec, tmp_path):
    def id_of(ranker):
        (run,) = runs_of(make_spec(f"{ranker}(n_trees=3)"), {"toy": {1: "a"}})
        return run.id

    path, _, name = own_ranker.rpartition(":")
    copy = tmp_path / "elsewhere.py"
    copy.write_bytes(Path(path).read_bytes())
    changed = tmp_path / "changed.py"
    changed.write_text(f"{copy.read_text()}# another method\n")
    assert id_of(own_ranker) == id_of(f"{copy}:{name}") != id_of(f"{changed}:{name}")


def test_a_ranker_of_the_users_own_is_fitted_kept_and_judged_again(own_ranker, make_spec):
    task = tasks_of(make_spec(f"{own_ranker}(n_trees=3)", measures=["ap"]))[0]
    first = execute(task)
    assert (first.state, first.reason) == ("done", None)
    again = execute(
        dataclasses.replace(task, judged={"err": ("err", "definition")}, model=first.files["model"])
    )
    assert again.files["scores"] == first.files["scores"]


def test_a_row_may_say_what_is_searched(make_spec):
    spec = make_spec("mart(n_trees=3, min_docs=1)", n_trials=3)
    row = dataclasses.replace(spec.rankers[0], search={"n_leaves": [2, 3]})
    (fixed,) = runs_of(
        dataclasses.replace(spec, rankers=(dataclasses.replace(row, search={}),)), {"toy": {1: "a"}}
    )
    assert (fixed.search, fixed.searched) == (None, ())
    outcome = execute(tasks_of(dataclasses.replace(spec, rankers=(row,)))[0])
    trials = outcome.record["trials"]
    assert len(trials) == 3
    assert {trial["parameters"]["n_leaves"] for trial in trials} <= {2, 3}
    assert {name for trial in trials for name in trial["parameters"]} == {"n_leaves"}
