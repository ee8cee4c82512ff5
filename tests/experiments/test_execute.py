import dataclasses
import io

import numpy as np
import polars as pl
import pytest

import pomona as pm
from pomona.data.folds import Fold
from pomona.experiments.data_spec import DataSpec, Files
from pomona.experiments.execute import Task, execute, rehearse, versions
from pomona.experiments.run import runs_of
from pomona.experiments.source import digest, examine
from pomona.rankers.loading import load_model


def tasks_of(spec, data=None):
    sources, facts = examine(spec, data or spec.datasets[0], {})
    runs = runs_of(spec, {spec.datasets[0].name: facts.digests})
    return [Task(run, source, spec.judged()) for run in runs for source in sources if source.fold == run.fold]


def test_a_run_is_what_fitting_by_hand_gives(make_spec):
    spec = make_spec("lambdamart(n_trees=8)", measures=["ndcg@5", "ap"], seeds=[7])
    task = tasks_of(spec)[0]
    result = execute(task)
    assert (result.state, result.reason) == ("done", None)
    train, valid, test = task.source.load()
    by_hand = pm.LambdaMART(n_trees=8, measure="ndcg@5", seed=7).fit(train, valid=valid)
    scores = by_hand.predict(test)
    assert pl.read_parquet(io.BytesIO(result.files["scores"]))["score"].to_numpy().tolist() == scores.tolist()
    values = pl.read_parquet(io.BytesIO(result.files["values"]))
    expected = pm.evaluate(test, scores, ["ndcg@5", "ap"], per_query=True)
    of_test = values.filter(part="test")
    assert of_test["qid"].to_list() == [str(query) for query in test.qids]
    for column, per_query in expected.items():
        np.testing.assert_array_equal(of_test[column].to_numpy(), per_query)
    assert values["part"].value_counts().sort("part")["count"].to_list() == [12, 10, 2]
    assert set(values.columns) == {"part", "qid", "n_docs", "n_relevant", *spec.judged()}
    assert of_test["n_docs"].to_list() == test.query_lengths.tolist()
    record = result.record
    assert record["means"]["test"]["ap"] == pytest.approx(expected["ap"].mean())
    assert record["best_iteration"] == by_hand.best_iteration_
    assert record["curves"] == by_hand.evals_
    assert record["parameters"]["seed"] == 7
    assert record["model_bytes"] == len(result.files["model"])
    assert (record["n_test_docs"], record["n_test_queries"]) == (test.n_docs, test.n_queries)
    assert record["train_seconds"] > 0
    assert record["score_seconds"] > 0
    assert record["peak_memory"] >= 0
    assert record["versions"]["pomona"] == pm.__version__
    assert not record["valid_is_cut"]


@pytest.mark.parametrize("ranker", ["rankboost", "prank"])
def test_the_step_that_was_kept_is_told_whatever_it_is(ranker, make_spec, tmp_path):
    result = execute(tasks_of(make_spec(ranker))[0])
    (tmp_path / "m.pomona").write_bytes(result.files["model"])
    assert result.record["best_iteration"] == load_model(tmp_path / "m.pomona").best_iteration_ > 0


def test_a_model_is_kept_and_can_be_judged_again_by_other_measures(make_spec, tmp_path):
    task = tasks_of(make_spec("mart(n_trees=4)", measures=["ap"]))[0]
    first = execute(task)
    (tmp_path / "m.pomona").write_bytes(first.files["model"])
    assert load_model(tmp_path / "m.pomona").n_trees == 4
    more = {**task.measures, "err": ("err", "definition")}
    again = execute(dataclasses.replace(task, measures=more, model=first.files["model"]))
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
    results = [execute(task) for task in tasks_of(spec, data)]
    parts = [pl.read_parquet(io.BytesIO(result.files["values"])) for result in results]
    counts = [[frame.filter(part=part).height for part in ("train", "valid", "test")] for frame in parts]
    assert counts == [[16, 4, 20], [20, 0, 20]] * 2
    assert [result.record["valid_is_cut"] for result in results] == [True, False] * 2
    cut = [frame.filter(part="valid")["qid"].to_list() for frame in parts]
    assert cut[0] != cut[2]  # by the seed of the run


def test_a_refusal_and_an_error_are_results(make_spec, monkeypatch):
    task = tasks_of(make_spec("mart(n_trees=0)"))[0]
    result = execute(task)
    assert (result.state, result.error) == ("failed", "InputError")
    assert result.reason == "n_trees must be an integer of at least 1, found 0"

    def wrong(self, *_):
        raise ZeroDivisionError("one line\nand another")

    monkeypatch.setattr("pomona.rankers.forests.mart.MART.learn", wrong)
    result = execute(tasks_of(make_spec("mart"))[0])
    assert (result.state, result.reason) == ("failed", "ZeroDivisionError: one line and another")
    assert "in wrong" in result.record["traceback"]


def test_out_of_memory_is_an_result(make_spec, monkeypatch):
    def hungry(self, *_):
        raise MemoryError

    monkeypatch.setattr("pomona.rankers.forests.mart.MART.learn", hungry)
    result = execute(tasks_of(make_spec("mart"))[0])
    assert (result.state, result.reason) == ("failed", "out of memory")


def test_other_data_than_those_that_were_checked_are_refused(make_spec):
    task = tasks_of(make_spec("mart"))[0]
    strange = dataclasses.replace(task, run=dataclasses.replace(task.run, data="0" * 32))
    assert "here the data are not those that were checked" in execute(strange).reason


def test_a_rehearsal_only_tries(make_spec):
    result = rehearse(tasks_of(make_spec("lambdamart(growth=oblivios)"))[0])
    assert (result.state, result.error) == ("failed", "UnknownNameError")
    assert "did you mean 'oblivious'" in result.reason
    fine = rehearse(tasks_of(make_spec("mart(n_trees=2)"))[0])
    assert (fine.state, fine.files) == ("done", {})


def test_test_documents_are_scored_for_the_clock_and_not_again(make_spec, monkeypatch):
    scored = []
    predict = pm.MART.predict
    monkeypatch.setattr(pm.MART, "predict", lambda self, X: scored.append(X.n_docs) or predict(self, X))
    monkeypatch.setattr("pomona.experiments.execute._MOST_TIMINGS", 1)
    task = tasks_of(make_spec("mart(n_trees=2)"))[0]
    assert execute(task).state == "done"
    assert sorted(scored) == sorted(part.n_docs for part in task.source.load())


def test_what_a_ranker_warns_of_is_kept(make_spec):
    result = execute(tasks_of(make_spec("mart(n_trees=2, min_docs=100000)"))[0])
    assert result.state == "done"
    assert any("no tree found a split" in note for note in result.record["notes"])


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
    assert first == 4  # as the data choose
    assert all(3 <= depth <= 8 for depth in others)


def test_a_search_does_not_look_at_the_test_queries(make_spec, monkeypatch):
    """Other test queries, same search."""
    task = tasks_of(make_spec("mart(n_trees=3)", n_trials=3))[0]
    fold = task.source.load()
    elsewhere = Fold(fold.train, fold.valid, pm.simulate(9, docs_per_query=5, n_features=5, seed=99))
    first = execute(task)
    moved = dataclasses.replace(task, run=dataclasses.replace(task.run, data=digest(elsewhere)))
    loaded = elsewhere, digest(elsewhere)
    monkeypatch.setattr("pomona.experiments.source.FoldSource.load_with_digest", lambda source: loaded)
    second = execute(moved)
    values = [[trial["value"] for trial in one.record["trials"]] for one in (first, second)]
    assert values[0] == values[1]
    assert first.files["scores"] != second.files["scores"]


def test_a_ranker_of_the_users_own_is_fitted_kept_and_judged_again(own_ranker, make_spec):
    task = tasks_of(make_spec(f"{own_ranker}(n_trees=3)", measures=["ap"]))[0]
    first = execute(task)
    assert (first.state, first.reason) == ("done", None)
    again = execute(
        dataclasses.replace(task, measures={"err": ("err", "definition")}, model=first.files["model"])
    )
    assert again.files["scores"] == first.files["scores"]


def test_a_row_may_say_what_is_searched(make_spec):
    spec = make_spec("mart(n_trees=3, min_docs=1)", n_trials=3)
    row = dataclasses.replace(spec.rankers[0], search={"n_leaves": [2, 3]})
    (fixed,) = runs_of(
        dataclasses.replace(spec, rankers=(dataclasses.replace(row, search={}),)), {"toy": {1: "a"}}
    )
    assert (fixed.search, fixed.searched) == (None, ())
    result = execute(tasks_of(dataclasses.replace(spec, rankers=(row,)))[0])
    trials = result.record["trials"]
    assert len(trials) == 3
    assert {trial["parameters"]["n_leaves"] for trial in trials} <= {2, 3}
    assert {name for trial in trials for name in trial["parameters"]} == {"n_leaves"}


def test_with_what_it_was_computed():
    assert versions().keys() >= {"pomona", "python", "numpy", "numba"}


MEDDLERS = {
    "fit features": ("learn", "train.X -= train.X.mean(axis=0)"),
    "fit labels": ("learn", "train.y[:] = 0"),
    "fit offsets": ("learn", "train.query_ptr[1] = 1"),
    "fit ids": ("learn", "train.qids[:] = train.qids[::-1].copy()"),
    "validation": ("learn", "valid.X[0, 0] = 7"),
    "fit in place": ("learn", "np.clip(train.X, 0, 1, out=train.X)"),
    "sort": ("learn", "train.X.sort(axis=0)"),
    "predict": ("predict_queries", "train.X *= 2"),
    "unlock": ("learn", "valid.X = valid.X.base; valid.X.flags.writeable = True; valid.X += 1"),
}


@pytest.mark.parametrize("where", MEDDLERS)
def test_a_ranker_that_changes_its_data_fails_and_harms_nobody(where, make_spec, tmp_path):
    hook, deed = MEDDLERS[where]
    rest = "train, valid, weights" if hook == "learn" else "train"
    (tmp_path / "meddler.py").write_text(
        "import numpy as np\nfrom pomona.rankers.linear.linear_regression import LinearRegression\n"
        "class Meddler(LinearRegression):\n    name = 'meddler'\n"
        f"    def {hook}(self, {rest}):\n        {deed}\n        return super().{hook}({rest})\n"
    )
    spec = make_spec(f"a=linearregression, m={tmp_path / 'meddler.py'}:Meddler", folds=[1])
    honest, meddler = tasks_of(spec)
    before = execute(honest)
    result = execute(meddler)
    assert (result.state, result.error) == ("failed", "InputError")
    assert result.reason.startswith(
        "m changes the data that it is given, which others share: copy them first"
    )
    after = execute(honest)  # a model has the time in it
    assert all(after.files[kind] == before.files[kind] for kind in ("values", "scores"))
    assert rehearse(meddler).state == "failed"


def test_a_ranker_that_copies_its_data_may_change_them(make_spec, tmp_path):
    (tmp_path / "copier.py").write_text(
        "from pomona.rankers.forests.mart import MART\n"
        "class Copier(MART):\n    name = 'copier'\n    def learn(self, train, valid, weights):\n"
        "        X = train.X.copy()\n        X *= 2\n"
        "        super().learn(train.replace(X=X), valid, weights)\n"
    )
    (task,) = tasks_of(make_spec(f"c={tmp_path / 'copier.py'}:Copier(n_trees=2)", folds=[1]))
    assert execute(task).state == "done"
