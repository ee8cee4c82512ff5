"""Names of other libraries lead to ours, in Python, on the command line and in specs."""

import inspect
import pickle

import lightgbm
import pytest
import xgboost
from sklearn.base import clone

import pomona as pm
from pomona._other_names import OTHER_NAMES, unknown_parameter
from pomona._registry import entries
from pomona.errors import PomonaError


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"n_estimators": 5},
            "of LambdaMART 'n_estimators': n_estimators is called n_trees here",
        ),
        ({"num_leaves": 5}, "num_leaves is called n_leaves here"),
        ({"n_trees": 5, "eta": 0.1}, "eta is called learning_rate here"),
        ({"subsample": 0.5}, "subsample is called query_fraction here, and draws whole queries"),
        ({"random_state": 1}, "random_state is called seed here"),
        ({"objective": "lambdarank"}, "trains towards its measure"),
        ({"eval_at": [10]}, "the cut-off is part of the measure"),
        ({"n_jobs": 2}, "POMONA_THREADS"),
        ({"n_tree": 5}, r"did you mean 'n_trees'\? \(known: "),
    ],
)
def test_a_ranker_tells_its_own_name(given, said):
    for refusal in (TypeError, PomonaError):
        with pytest.raises(refusal, match=said):
            pm.LambdaMART(**given)


def test_the_name_is_that_of_the_ranker():
    for cls, name in ((pm.RankBoost, "n_rounds"), (pm.LARF, "n_epochs"), (pm.RankSVM, "max_iterations")):
        with pytest.raises(TypeError, match=f"n_estimators is called {name} here"):
            cls(n_estimators=3)
    with pytest.raises(TypeError, match=r"unknown parameter of RandomRanker 'n_estimators': \(known: "):
        pm.RandomRanker(n_estimators=3)
    assert pm.RandomForest(objective="lambda").objective == "lambda"


def test_every_name_of_ours_is_one_and_no_other_is():
    ours = {
        name for entry in entries("rankers").values() for name in inspect.signature(entry.load()).parameters
    }
    assert {name for names in OTHER_NAMES.values() for name in names} <= ours
    forest = set(pm.LambdaMART().get_params())
    assert not forest & OTHER_NAMES.keys()


@pytest.mark.parametrize("peer", [lightgbm.LGBMRanker, xgboost.XGBRanker])
def test_parameters_of_peers_that_a_forest_has_are_known(peer):
    """Whatever they have that we have not is listed here, so that a new one of theirs is not overlooked."""
    only_theirs = """
        base_score booster callbacks class_weight colsample_bylevel colsample_bynode
        enable_categorical feature_types feature_weights gamma grow_policy importance_type
        interaction_constraints kwargs max_cat_threshold max_cat_to_onehot max_delta_step
        min_split_gain multi_strategy num_parallel_tree reg_alpha sampling_method scale_pos_weight
        subsample_for_bin subsample_freq tree_method validate_parameters
    """.split()
    known = pm.LambdaMART().get_params()
    names = set(inspect.signature(peer).parameters) | set(peer().get_params())
    for name in sorted(names - known.keys() - set(only_theirs)):
        assert "(known: " not in str(unknown_parameter("LambdaMART", name, known)), name


def test_rankers_stay_estimators():
    ranker = pm.LambdaMART(n_trees=3)
    assert clone(ranker).n_trees == 3 == pickle.loads(pickle.dumps(ranker)).n_trees
    assert list(inspect.signature(pm.LambdaMART).parameters)[:2] == ["measure", "n_trees"]
    with pytest.raises(TypeError, match="positional"):
        pm.LambdaMART(3)


def test_a_class_with_a_constructor_of_its_own_keeps_it():
    class Mine(pm.LinearRegression):
        name = "mine"

        def __init__(self, *, strength=1.0):
            super().__init__(l2=strength)

    assert Mine(strength=2.0).l2 == 2.0
