"""What other libraries call a parameter: whoever writes their name is told ours, or where the thing is set.

A name of another library is never taken for ours: `subsample` draws documents there, `query_fraction` whole
queries here.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from pomona.errors import UnknownParameterError

_ITERATIONS = ("n_trees", "n_rounds", "n_epochs", "max_iterations", "n_models")

# Parameters of ours (of several, the first that a ranker has is meant), and what LightGBM, XGBoost, CatBoost,
# scikit-learn and RankLib call them.
_NAMES: tuple[tuple[tuple[str, ...], str], ...] = (
    (_ITERATIONS, "n_estimators num_boost_round num_iterations num_iteration num_trees num_round num_rounds"),
    (_ITERATIONS, "iterations n_iter max_iter nrounds tree round epoch"),
    (("n_leaves",), "num_leaves num_leaf max_leaves max_leaf max_leaf_nodes leaf"),
    (("max_depth",), "depth"),
    (("learning_rate",), "eta shrinkage shrinkage_rate lr learning_rate_init"),
    (("l2", "lambda2"), "reg_lambda lambda_l2 lambda lambda_ l2_leaf_reg l2_regularization weight_decay"),
    (("l1", "lambda1"), "reg_alpha lambda_l1"),
    (("query_fraction",), "subsample bagging_fraction bagging sub_row srate"),
    (("top_fraction",), "top_rate"),
    (("rest_fraction",), "other_rate"),
    (("feature_fraction",), "colsample_bytree sub_feature rsm max_features frate"),
    (("feature_fraction_bylevel",), "colsample_bylevel"),
    (("feature_fraction_bynode",), "colsample_bynode sub_feature_bynode"),
    (("dropout",), "drop_rate rate_drop"),
    (("dropout_skip",), "skip_drop"),
    (("categorical",), "categorical_feature cat_feature cat_features categorical_features"),
    (("category_smoothing",), "cat_smooth cat_l2"),
    (("interactions",), "interaction_constraints interaction_cst"),
    (("min_docs",), "min_child_samples min_data_in_leaf min_data min_samples_leaf mls"),
    (("min_hessian",), "min_child_weight min_sum_hessian_in_leaf min_sum_hessian"),
    (("max_bins",), "max_bin border_count tc"),
    (("monotone",), "monotone_constraints monotonic_cst mono"),
    (("seed",), "random_state random_seed data_random_seed bagging_seed feature_fraction_seed"),
    (("early_stopping",), "early_stopping_rounds early_stopping_round n_iter_no_change od_wait estop"),
    (("measure",), "metric metrics eval_metric scoring metric2t"),
    (("truncation",), "lambdarank_truncation_level lambdarank_num_pair_per_sample max_position"),
    (("normalize",), "lambdarank_norm lambdarank_normalization"),
    (("verbose",), "verbosity"),
    (("device",), "device_type task_type"),
    (("hidden",), "hidden_layer_sizes hidden_dims node"),
    (("n_restarts",), "r"),
    (("tolerance",), "tol"),
)

_NOTES = {"query_fraction": ", and draws whole queries"}

# What is no parameter of ours: where it is set instead.
_PLACES: tuple[tuple[str, str], ...] = (
    (
        "a ranker is its objective and trains towards its measure: LambdaMART(measure='ndcg@10')",
        "objective loss_function",
    ),
    ("the cut-off is part of the measure: measure='ndcg@10'", "eval_at ndcg_eval_at ndcg_at"),
    ("gains are part of the measure: measure='ndcg(gain=linear)@10'", "label_gain ndcg_exp_gain"),
    (
        "each kind of forest is a ranker: RandomForest for rf, LambdaMART for gbdt, with dropout for dart",
        "boosting boosting_type",
    ),
    ("POMONA_THREADS in the environment says how many, or else all cores", "n_jobs num_threads nthread"),
    ("undefined values are NaN in X", "missing"),
    ("several of a ranker are one of their own: Ensemble(LambdaMART(), n_models=5)", "n_models"),
)

_ELSEWHERE = {other: place for place, others in _PLACES for other in others.split()}
OTHER_NAMES = MappingProxyType({other: ours for ours, others in _NAMES for other in others.split()})
"""For each name of another library, ours: of several the first that a ranker has."""


def unknown_parameter(owner: str, name: str, known: Iterable[str]) -> UnknownParameterError:
    """What to say to whoever gives `owner` a parameter that it does not have.

    >>> print(unknown_parameter("MART", "n_estimators", ["n_trees", "seed"]))
    unknown parameter of MART 'n_estimators': n_estimators is called n_trees here
    >>> print(unknown_parameter("MART", "n_jobs", ["n_trees"]))
    unknown parameter of MART 'n_jobs': POMONA_THREADS in the environment says how many, or else all cores
    >>> print(unknown_parameter("MART", "n_tree", ["n_trees", "seed"]))
    unknown parameter of MART 'n_tree': did you mean 'n_trees'? (known: n_trees, seed)
    """
    names = list(known)
    ours = next((one for one in OTHER_NAMES.get(name, ()) if one in names), None)
    advice = _ELSEWHERE.get(name) if ours is None else f"{name} is called {ours} here{_NOTES.get(ours, '')}"
    return UnknownParameterError(f"parameter of {owner}", name, names, advice)
