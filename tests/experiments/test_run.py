import dataclasses
from pathlib import Path

from pomona.experiments.run import RunSpec, runs_of
from pomona.experiments.spec import SearchSpec


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
    spec = make_spec("mart, lambdamart(measure=err@20)", measures=["ap"], conventions=["lightgbm"])
    runs = runs_of(spec, {"toy": {1: "a"}})
    assert [run.parameters["measure"] for run in runs] == ["lightgbm:ap", "err@20"]


def test_an_id_is_made_of_what_can_change_a_number():
    run = RunSpec("toy", 1, "MART", "mart", {"n_trees": 3}, 0, "digest")
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
    assert RunSpec("toy", 1, "MART", "mart", {"n_trees": 3}, 0, "digest").id == "fdfcae14c114833231f38325"


def test_a_ranker_of_a_run(make_spec):
    run = runs_of(make_spec("mart(monotone=[1, 0, 0, 0, -1])", seeds=[5]), {"toy": {1: "a"}})[0]
    ranker = run.make_ranker(n_trees=2)
    assert (ranker.monotone, ranker.seed, ranker.n_trees) == ((1, 0, 0, 0, -1), 5, 2)


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
