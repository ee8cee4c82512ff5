import sys

import pytest

import pomona as pm
from pomona.errors import MissingExtraError, PomonaError
from pomona.experiments.search import require_optuna, search, timed_fit

TRAIN = pm.simulate(20, docs_per_query=8, n_features=5, seed=1)
VALID = pm.simulate(10, docs_per_query=8, n_features=5, seed=2)
SPACE = {
    "learning_rate": (0.02, 0.3, "log"),
    "n_leaves": (3, 15, "log int"),
    "max_bins": (8, 64, "int"),
    "feature_fraction": (0.3, 1.0, "linear"),
    "growth": ["leafwise", "oblivious"],
}


def make(**chosen):
    few = {"n_trees": 4, "growth": "leafwise", "n_leaves": 7, "max_bins": 32, "min_docs": 2}
    return pm.MART(**{**few, **chosen})


def run(n_trials=6, seed=(0, 0), space=SPACE, make=make):
    return search(make, space, TRAIN, VALID, n_trials=n_trials, seed=seed)


def test_the_best_on_the_validation_queries_is_kept():
    ranker, record = run()
    trials = record["trials"]
    values = [trial["value"] for trial in trials]
    best = trials[values.index(max(values))]
    assert ranker.get_params().items() >= best["parameters"].items()
    assert ranker.score(VALID) == max(values)
    for trial in trials:
        again = make(**trial["parameters"]).fit(TRAIN, valid=VALID)
        assert again.score(VALID) == trial["value"]
    assert record["train_seconds"] == best["train_seconds"]
    assert record["n_trials"] == 6


def test_the_first_trial_is_the_ranker_as_asked_for():
    _, record = run(n_trials=2)
    assert record["trials"][0]["parameters"] == {
        "learning_rate": 0.1,
        "n_leaves": 7,
        "max_bins": 32,
        "feature_fraction": 1.0,
        "growth": "leafwise",
    }


def test_a_default_outside_the_space_is_left_out():
    _, record = run(n_trials=1, space={"learning_rate": (0.2, 0.3, "linear")})
    assert 0.2 <= record["trials"][0]["parameters"]["learning_rate"] <= 0.3


def test_a_ranker_that_chooses_by_itself_is_tried_as_it_is():
    space = {"C": (1e-9, 1e-8, "log")}
    ranker, record = search(pm.RankSVM, space, TRAIN, VALID, n_trials=2, seed=(0,))
    assert record["trials"][0]["parameters"] == {"C": "validate"}
    assert record["trials"][1]["parameters"]["C"] <= 1e-8
    assert ranker.score(VALID) >= pm.RankSVM().fit(TRAIN, valid=VALID).score(VALID)
    failing = {"C": (1e-9, 1e-8, "log"), "normalize": ["no such"]}
    with pytest.raises(PomonaError, match="every trial of the search failed"):
        search(pm.RankSVM, failing, TRAIN, VALID, n_trials=2, seed=(0,))


def test_values_stay_in_their_ranges():
    _, record = run(n_trials=8, seed=(3,))
    for trial in record["trials"]:
        chosen = trial["parameters"]
        assert 0.02 <= chosen["learning_rate"] <= 0.3
        assert chosen["n_leaves"] in range(3, 16)
        assert chosen["max_bins"] in range(8, 65)
        assert chosen["growth"] in ("leafwise", "oblivious")


def test_same_seed_same_search():
    first, second, other = (run(seed=seed)[1]["trials"] for seed in ((0, 1), (0, 1), (1, 0)))
    parameters = [[trial["parameters"] for trial in one] for one in (first, second, other)]
    assert parameters[0] == parameters[1] != parameters[2]


def test_parameters_that_do_not_go_together_are_a_failed_trial():
    space = {"n_trees": [0, 3]}
    ranker, record = run(n_trials=8, space=space)
    assert ranker.n_trees == 3
    failed = [trial for trial in record["trials"] if trial["value"] is None]
    assert failed
    assert all("n_trees must be an integer of at least 1" in trial["reason"] for trial in failed)
    with pytest.raises(PomonaError, match="every trial of the search failed: n_trees must be"):
        run(n_trials=2, space={"n_trees": [0]})


def test_without_optuna(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'pomona\[search\]'"):
        require_optuna()


def test_fitting_is_timed():
    ranker = make()
    facts = timed_fit(ranker, TRAIN, None)
    assert ranker.best_iteration_ == 4
    assert facts["train_seconds"] > 0
    assert facts["train_cpu_seconds"] > 0
