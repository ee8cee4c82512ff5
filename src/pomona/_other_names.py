"""What other libraries call a parameter: the answer to an unknown name is ours, or where the thing is set.

A name of another library is never taken for ours. It is called ours only where it means the same. Where ours
is near but means something else, the error says what it means.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pomona.errors import UnknownParameterError


@dataclass(frozen=True)
class _Name:
    """Names of LightGBM, XGBoost, CatBoost, scikit-learn and RankLib, and the parameter of ours that is near.

    Parameters
    ----------
    ours : our parameter.
    theirs : their names.
    says : what differs; of a name with the same meaning, in detail.
    beside : the entry is for rankers that also have one of these parameters; empty for all that have `ours`.
    without : it is not for rankers that have one of these.
    """

    ours: str
    theirs: str
    says: str = ""
    beside: str = ""
    without: str = ""

    def is_for(self, known: set[str]) -> bool:
        """Whether a ranker with these parameters is meant."""
        beside, without = set(self.beside.split()), set(self.without.split())
        return self.ours in known and not known & without and (not beside or bool(known & beside))


_FOREST = "n_trees"
_NETWORK = "hidden"
_BOOSTS = "rising weak center"
"""Parameters of AdaRank, RankBoost and RankCosine, which add one weak ranker a round."""
_LAMBDAS = "truncation"

_TREES = (
    "n_estimators num_boost_round num_iterations num_iteration num_trees num_round num_rounds nrounds "
    "iterations max_iter n_iter tree round"
)
_PASSES = "iterations max_iter n_iter"
_L2 = "reg_lambda lambda_l2 lambda lambda_ l2_leaf_reg l2_regularization"
_L1 = "reg_alpha lambda_l1"

_SAME = (
    _Name("n_trees", _TREES),
    _Name("n_rounds", _TREES, beside=_BOOSTS),
    _Name("n_models", "n_estimators", beside="member"),
    _Name("n_epochs", f"{_PASSES} epoch epochs max_epochs"),
    _Name("max_iterations", _PASSES),
    _Name("n_leaves", "num_leaves num_leaf max_leaves max_leaf max_leaf_nodes leaf"),
    _Name("max_depth", "depth"),
    _Name(
        "learning_rate", "eta shrinkage shrinkage_rate lr learning_rate_init", beside=f"{_FOREST} {_NETWORK}"
    ),
    _Name("l2", _L2, beside=_FOREST),
    _Name("l2", "weight_decay", beside=_NETWORK),
    _Name("l2", "alpha", ", as in scikit-learn's Ridge", beside="target", without="kind n_trees"),
    _Name(
        "l2",
        f"{_L2} weight_decay",
        ", beside a sum over documents, not their mean",
        "target",
        without=_FOREST,
    ),
    _Name(
        "query_fraction",
        "subsample bagging_fraction bagging sub_row srate max_samples",
        says=", and draws whole queries",
    ),
    _Name("top_fraction", "top_rate"),
    _Name("rest_fraction", "other_rate"),
    _Name("feature_fraction", "colsample_bytree sub_feature"),
    _Name("feature_fraction_bylevel", "colsample_bylevel"),
    _Name("feature_fraction_bynode", "colsample_bynode sub_feature_bynode"),
    _Name(
        "feature_fraction_bynode",
        "max_features rsm frate",
        says=", and is a share, not a number, of features",
    ),
    _Name("dropout", "drop_rate rate_drop", beside=_FOREST),
    _Name("dropout_skip", "skip_drop"),
    _Name("categorical", "categorical_feature cat_feature cat_features categorical_features"),
    _Name("category_smoothing", "cat_smooth cat_l2", says=", and counts documents"),
    _Name(
        "interactions",
        "interaction_constraints interaction_cst",
        says=", and a feature of no group stands alone",
    ),
    _Name("min_docs", "min_child_samples min_data_in_leaf min_data min_samples_leaf mls"),
    _Name("min_hessian", "min_child_weight min_sum_hessian_in_leaf min_sum_hessian"),
    _Name("max_bins", "max_bin"),
    _Name("max_bins", "border_count tc", says=", and is one more than the thresholds"),
    _Name("n_thresholds", "tc", says=", and None, not -1, tries all"),
    _Name("monotone", "monotone_constraints monotonic_cst mono"),
    _Name("seed", "random_state random_seed data_random_seed bagging_seed feature_fraction_seed"),
    _Name("early_stopping", "early_stopping_rounds early_stopping_round n_iter_no_change od_wait estop"),
    _Name(
        "measure",
        "metric metrics eval_metric scoring metric2t",
        says=", and training aims at it where the ranker can",
    ),
    _Name("truncation", "lambdarank_truncation_level max_position"),
    _Name(
        "truncation",
        "lambdarank_num_pair_per_sample",
        says=", and means what it does with lambdarank_pair_method='topk'",
    ),
    _Name("normalize", "lambdarank_norm lambdarank_normalization", beside=_LAMBDAS),
    _Name("sigma", "sigmoid", beside=_LAMBDAS),
    _Name("verbose", "verbosity"),
    _Name("device", "device_type task_type"),
    _Name("hidden", "hidden_layer_sizes hidden_dims node"),
    _Name("n_restarts", "r"),
    _Name("tolerance", "tol", without="rising"),
)
"""Of several entries for a name, the first counts whose parameters a ranker has."""

_TREES_SAY = "has no trees or boosting rounds to count"

_NEAR = (
    _Name(
        "n_rounds",
        _TREES,
        f"this ranker {_TREES_SAY}; n_rounds is how often its working sets grow",
        "n_random",
    ),
    _Name(
        "n_rounds", _TREES, f"this ranker {_TREES_SAY}; n_rounds is of the automaton of each query", "n_shown"
    ),
    _Name("n_epochs", _TREES, f"this ranker {_TREES_SAY}; n_epochs is how often it passes over the data"),
    _Name(
        "max_iterations",
        _TREES,
        f"this ranker {_TREES_SAY}; max_iterations only limits the search, which stops where tolerance says",
    ),
    _Name(
        "learning_rate",
        "eta shrinkage shrinkage_rate lr learning_rate_init",
        "learning_rate is here the share of probability that an automaton moves at a reward",
    ),
    _Name(
        "lambda2",
        _L2 + " weight_decay",
        "there is no l2 penalty; lambda2 does the opposite (it rewards weight on important features), and "
        "lambda1 makes similar features compete for weight",
    ),
    _Name(
        "lambda1",
        _L1 + " alpha",
        "there is no l1 penalty; lambda1 makes similar features compete for weight, and a larger one selects "
        "fewer",
    ),
    _Name("lambda1", "C", "there is no C; lambda1 and lambda2 weigh the terms beside a mean loss of 1"),
    _Name(
        "l1",
        f"{_L1} {_L2} weight_decay alpha C",
        "l1 is the bound on the sum of the sizes of the weights, not a penalty: a larger l1 regularizes less",
    ),
    _Name(
        "C",
        f"{_L2} {_L1} weight_decay l2 l1 alpha",
        "C weighs the loss, not the penalty: a larger C regularizes less (C is about 1 / lambda)",
    ),
    _Name(
        "l2",
        "C",
        "l2 weighs the penalty, not the loss: l2 = 1 / C, and a larger l2 regularizes more",
        "equal_queries",
    ),
    _Name(
        "l2",
        f"{_L2} weight_decay alpha",
        "l2 pulls the weights towards those of a least-squares line, not towards 0; a larger l2 pulls harder",
        "sigma_min",
    ),
    _Name(
        "l2",
        f"{_L2} weight_decay alpha",
        "l2 shrinks the line that is fitted to what the automata found, beside its mean squared error",
        "n_shown",
    ),
    _Name(
        "l2",
        f"{_L2} alpha",
        "l2 is weight decay, applied in every step beside the gradient of the loss; a larger l2 shrinks more",
        _NETWORK,
    ),
    _Name("l2", "C", "l2 weighs the penalty, not the loss: a larger l2 regularizes more, a larger C less"),
    _Name("l2", f"{_L1} alpha", "there is no l1 penalty, only l2, which shrinks but makes nothing 0"),
    _Name(
        "trees_per_bag",
        "early_stopping early_stopping_rounds early_stopping_round n_iter_no_change estop averaged",
        "the bags of a random forest do not follow each other, so none is best: all are kept, and averaged",
    ),
    _Name(
        "trees_per_bag",
        "dropout dropout_skip drop_rate rate_drop skip_drop",
        "the bags of a random forest do not follow each other: there are no earlier trees to leave out",
    ),
    _Name(
        "trees_per_bag",
        "top_fraction rest_fraction top_rate other_rate",
        "the bags of a random forest are drawn at random, not by gradients: query_fraction says how large",
    ),
    _Name(
        "trees_per_bag", "warm_start", "a random forest cannot go on from an earlier one: fit all its bags"
    ),
    _Name("tolerance", "tol", "tolerance is here what a step may lose before learning ends", "rising"),
    _Name(
        "normalize",
        "lambdarank_norm lambdarank_normalization",
        "lambdas are not computed here; normalize puts features on a common scale",
    ),
    _Name(
        "dropout",
        "drop_rate rate_drop skip_drop",
        "dropout leaves out hidden units here, not trees",
        _NETWORK,
    ),
)
"""Of several entries for a name, the first counts whose parameters a ranker has."""

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

NAMES = (*_SAME, *_NEAR)
"""All names of other libraries that are answered with a parameter of ours."""
_ELSEWHERE = {other: place for place, others in _PLACES for other in others.split()}


def our_name(theirs: str, known: Iterable[str]) -> str | None:
    """What a ranker with the parameters `known` calls a parameter of another library; None if nothing."""
    found = _first(_SAME, theirs, set(known))
    return None if found is None else found.ours


def unknown_parameter(owner: str, name: str, known: Iterable[str]) -> UnknownParameterError:
    """What to say of a parameter that `owner` does not have.

    >>> print(unknown_parameter("MART", "n_estimators", ["n_trees", "seed"]))
    unknown parameter of MART 'n_estimators': n_estimators is called n_trees here
    >>> print(unknown_parameter("MART", "n_jobs", ["n_trees"]))
    unknown parameter of MART 'n_jobs': POMONA_THREADS in the environment says how many, or else all cores
    >>> print(unknown_parameter("MART", "n_tree", ["n_trees", "seed"]))
    unknown parameter of MART 'n_tree': did you mean 'n_trees'? (known: n_trees, seed)
    """
    names = list(known)
    same, near = _first(_SAME, name, set(names)), _first(_NEAR, name, set(names))
    if same is not None:
        advice: str | None = f"{name} is called {same.ours} here{same.says}"
    else:
        advice = near.says if near is not None else _ELSEWHERE.get(name)
    return UnknownParameterError(f"parameter of {owner}", name, names, advice)


def _first(entries: Iterable[_Name], name: str, known: set[str]) -> _Name | None:
    return next((one for one in entries if name in one.theirs.split() and one.is_for(known)), None)
