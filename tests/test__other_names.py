"""Names of other libraries lead to ours, in Python, on the command line and in specs."""

import inspect
import pickle

import lightgbm
import pytest
import xgboost
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge

import pomona as pm
from pomona._other_names import NAMES, our_name, unknown_parameter
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
    for cls, name in ((pm.RankBoost, "n_rounds"), (pm.AdaRank, "n_rounds"), (pm.Ensemble, "n_models")):
        with pytest.raises(TypeError, match=f"n_estimators is called {name} here"):
            cls(n_estimators=3)
    for cls, name in ((pm.RankNet, "n_epochs"), (pm.LARF, "n_epochs"), (pm.RankSVM, "max_iterations")):
        with pytest.raises(TypeError, match=f"max_iter is called {name} here"):
            cls(max_iter=3)
    with pytest.raises(TypeError, match=r"unknown parameter of RandomRanker 'n_estimators': \(known: "):
        pm.RandomRanker(n_estimators=3)
    assert pm.RandomForest(objective="lambda").objective == "lambda"


@pytest.mark.parametrize(
    ("cls", "name", "said"),
    [
        (pm.FSMRank, "reg_lambda", "lambda2 does the opposite"),
        (pm.FSMRank, "reg_alpha", "there is no l1 penalty; lambda1 makes similar features compete"),
        (pm.FenchelRank, "reg_alpha", "a larger l1 regularizes less"),
        (pm.FenchelRank, "alpha", "a larger l1 regularizes less"),
        (pm.RankSVM, "reg_lambda", "a larger C regularizes less"),
        (pm.SVMMap, "l2", "a larger C regularizes less"),
        (pm.PermuRank, "reg_alpha", "a larger C regularizes less"),
        (pm.LogisticRegression, "C", "l2 = 1 / C"),
        (pm.LinearRegression, "C", "a larger C less"),
        (pm.SmoothRank, "reg_lambda", "towards those of a least-squares line"),
        (pm.LambdaMART, "reg_alpha", "there is no l1 penalty"),
        (pm.RankSVM, "n_estimators", "no trees or boosting rounds"),
        (pm.PermuRank, "n_estimators", "working sets"),
        (pm.LARF, "eta", "the share of probability"),
        (pm.LinearRegression, "lambdarank_norm", "puts features on a common scale"),
        (pm.RankNet, "rate_drop", "hidden units"),
        (pm.AdaRank, "tol", "what a step may lose"),
    ],
)
def test_a_parameter_that_means_something_else_is_not_called_the_same(cls, name, said):
    with pytest.raises(TypeError, match=said) as refused:
        cls(**{name: 1})
    assert f"{name} is called" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("cls", "name", "ours"),
    [
        (pm.LambdaMART, "max_features", "feature_fraction_bynode"),  # of scikit-learn: of each split
        (pm.LambdaMART, "colsample_bytree", "feature_fraction"),
        (pm.LambdaMART, "reg_lambda", "l2"),
        (pm.LambdaMART, "lambdarank_norm", "normalize"),
        (pm.LinearRegression, "alpha", "l2"),
        (pm.RankNet, "weight_decay", "l2"),
        (pm.RankBoost, "tc", "n_thresholds"),
        (pm.LambdaMART, "tc", "max_bins"),
        (pm.MART, "alpha", None),
        (pm.FSMRank, "reg_lambda", None),
        (pm.RankCosine, "reg_lambda", None),
    ],
)
def test_our_name(cls, name, ours):
    assert our_name(name, inspect.signature(cls).parameters) == ours


def test_alpha_of_ridge_is_l2():
    """min Σ (w·x + b − y)² + α ‖w‖² is scikit-learn's Ridge."""
    data = pm.simulate(5, docs_per_query=8, n_features=3, seed=0)
    ours = pm.LinearRegression(l2=3.0, normalize=None).fit(data)
    theirs = Ridge(alpha=3.0).fit(data.X.astype(float), data.y)
    assert ours.coef_ == pytest.approx(theirs.coef_, rel=1e-9)


def test_c_is_one_over_l2_of_logistic_regression():
    data = pm.simulate(5, docs_per_query=8, n_features=3, seed=0)
    ours = pm.LogisticRegression(kind="binary", l2=4.0, normalize=None).fit(data)
    theirs = LogisticRegression(C=1 / 4, tol=1e-10).fit(data.X.astype(float), data.y > 0)
    assert ours.coef_ == pytest.approx(theirs.coef_[0], rel=1e-5)


def test_every_name_of_ours_is_one_and_no_other_is():
    ours = {
        name for entry in entries("rankers").values() for name in inspect.signature(entry.load()).parameters
    }
    assert {one.ours for one in NAMES} <= ours
    assert {mark for one in NAMES for mark in f"{one.beside} {one.without}".split()} <= ours
    forest = set(pm.LambdaMART().get_params())
    assert not forest & {name for one in NAMES if one.ours in forest for name in one.theirs.split()}


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
