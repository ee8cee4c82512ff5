"""Every parameter of every ranker makes a difference, or is refused by its name.

A ranker is fitted with a parameter and without it. What it predicts or records must change. `BESIDE` has what
a parameter needs to matter, `VALUES` a value of each that is not its default: a new parameter cannot be
forgotten, as one without a value is a disagreement.
"""

from __future__ import annotations

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import pomona as pm
from fuzz.model import KINDS
from fuzz.target import in_one_line
from pomona._registry import entries
from pomona.errors import PomonaError

N_SMALL = 20

SHOWS_ONLY = {"verbose", "device", "mixed_precision"}
"""What is shown, and where the same is computed."""
ORACLES = {"ideal", "worst"}
"""They learn nothing: their measure is what `score` reports."""
QUICK: dict[str, Any] = {
    "n_trees": 12,
    "n_rounds": 12,
    "n_epochs": 6,
    "n_restarts": 1,
    "n_models": 2,
    "min_docs": 3,
}
QUICK |= {"member": "mart(n_trees=5,min_docs=3,feature_fraction=0.5)", "n_folds": 3}
VALUES: dict[str, Any] = {
    "C": 0.01,
    "activation": "tanh",
    "all_queries": True,
    "allow_reversed": False,
    "average": False,
    "averaged": False,
    "bagging": True,
    "balance_queries": True,
    "batch_size": 3,
    "categorical": [4],
    "category_smoothing": 0.0,
    "center": False,
    "certainty": 0.6,
    "combine": "rank",
    "degree": 2,
    "dropout": 0.5,
    "dropout_skip": 0.0,
    "early_stopping": 1,
    "enhanced": True,
    "equal_queries": True,
    "feature_fraction": 0.4,
    "feature_fraction_bylevel": 0.4,
    "feature_fraction_bynode": 0.4,
    "gamma": 5.0,
    "growth": "leafwise",
    "hidden": 3,
    "importance": "ndcg",
    "interactions": [[0, 1], [2, 3]],
    "k": 3,
    "kernel": "rbf",
    "kind": "multinomial",
    "l1": 0.1,
    "l2": 30.0,
    "lambda1": 0.5,
    "lambda2": 0.5,
    "layer_norm": True,
    "learning_rate": 0.5,
    "log_features": False,
    "loss": "hinge",
    "max_bins": 3,
    "max_depth": 2,
    "max_iterations": 1,
    "measure": "p@1",
    "member": "lambdamart(n_trees=3)",
    "min_docs": 40,
    "min_hessian": 60.0,
    "momentum": 0.1,
    "monotone": [1, -1, 0, 0, 0],
    "multiplied": True,
    "n_blocks": 2,
    "n_components": 3,
    "n_epochs": 2,
    "n_folds": 2,
    "n_heads": 2,
    "n_leaves": 3,
    "n_listed": 2,
    "n_models": 3,
    "n_random": 1,
    "n_restarts": 3,
    "n_rounds": 3,
    "n_samples": 1,
    "n_shown": 2,
    "n_thresholds": 2,
    "n_trees": 3,
    "noise": 1.5,
    "noise_draws": 5,
    "normalize": "rank",
    "objective": "lambda",
    "optimizer": "sgd",
    "penalty": 0.5,
    "prefit": True,
    "quantile_features": True,
    "query_fraction": 0.5,
    "radius": 0.9,
    "rankers": "bestfeature,mart",
    "relevant": 3.0,
    "repeats": True,
    "rest_fraction": 0.6,
    "restart_after": 1,
    "rising": False,
    "schedule": "cosine",
    "seed": 7,
    "sigma": 3.0,
    "sigma_max": 1.0,
    "sigma_min": 0.5,
    "splits": "gradient",
    "target": "gain",
    "threshold": 1.5,
    "tolerance": 0.3,
    "top_fraction": 0.2,
    "trees_per_bag": 3,
    "truncation": 2,
    "valid_measure": "p@1",
    "warm_start": True,
    "weak": "value",
    "weighting": "lambdaloss",
    "weights": "uniform",
}
OTHERWISE: dict[str, Any] = {
    "lambdamart.normalize": False,
    "lambdarank.normalize": False,
    "permurank.n_rounds": 1,
    "randomforest.growth": "oblivious",
    "randomforest.feature_fraction": 0.9,
}
"""Values of a ranker's parameter that means something else there, by `ranker.parameter`."""
_DRAWS = {"query_fraction": 0.6}
BESIDE: dict[str, dict[str, Any]] = {
    "category_smoothing": {"categorical": [4]},
    "dropout_skip": {"dropout": 0.5},
    "noise_draws": {"noise": 0.5},
    "rest_fraction": {"top_fraction": 0.2},
    "momentum": {"optimizer": "sgd"},
    "n_samples": {"k": 3},
    "threshold": {"kind": "binary"},
    "lambdamart.averaged": {"n_trees": 30, "learning_rate": 0.6},
    "contextrank.early_stopping": {"n_epochs": 30},
    "degree": {"kernel": "poly"},
    "adarank.repeats": {"rising": False, "early_stopping": None},
    "adarank.early_stopping": {"n_rounds": 100},
    "fenchelrank.max_iterations": {"normalize": "standard", "l1": 1000.0},
    "gamma": {"kernel": "rbf"},
    "n_components": {"kernel": "rbf"},
    "ranksvm.seed": {"kernel": "rbf", "n_components": 3},
    "rcrank.n_leaves": {"growth": "leafwise"},
    "rcrank.categorical": {"growth": "leafwise"},
    "rcrank.category_smoothing": {"growth": "leafwise", "categorical": [4]},
    **{f"{name}.seed": _DRAWS for name in ("mart", "mcrank", "rcrank")},
    **{
        f"{name}.early_stopping": {"n_epochs": 40}
        for name in ("listmle", "listnet", "softrank", "lambdarank")
    },
}
WEIGHTED = {"mart.splits", "rcrank.splits"}
"""Second derivatives are all alike there without weights."""
WITHOUT_VALID = {"linearcombination.n_folds", "linearcombination.seed"}
"""Validation queries would stand for those that are left out of fits."""
"""By parameter, or `ranker.parameter`, what makes it matter."""


class Target:
    def __init__(self, folder: Path) -> None: ...

    def case(self, random: np.random.Generator) -> str:
        name, parameter = pairs()[int(random.integers(len(pairs())))]
        return difference(name, parameter)


@cache
def pairs() -> tuple[tuple[str, str], ...]:
    """Every ranker with every parameter of it that should matter."""
    each = [(name, entries("rankers")[name].load()().get_params(deep=False)) for name in KINDS]
    return tuple(
        (name, parameter)
        for name, parameters in each
        for parameter in parameters
        if parameter not in SHOWS_ONLY and name not in ORACLES
    )


def difference(name: str, parameter: str) -> str:
    """What a parameter changes, in a word."""
    by = f"{name}.{parameter}"
    known = entries("rankers")[name].load()().get_params(deep=False)
    assert by in OTHERWISE or parameter in VALUES, f"{by} has no value in this file"
    value = OTHERWISE.get(by, VALUES.get(parameter))
    given = {**QUICK, **BESIDE.get(parameter, {}), **BESIDE.get(by, {})}
    given = {one: other for one, other in given.items() if one in known and one != parameter}
    assert repr(known[parameter]) != repr(value), f"{by}: {value!r} is its default"
    before = _outcome(name, given, by)
    try:
        after = _outcome(name, {**given, parameter: value}, by)
    except PomonaError as error:
        refusal = error
    else:
        assert before != after, f"{by}={value!r} beside {given} changes nothing"
        return "matters"
    stems = [word[:5] for word in parameter.split("_")]
    assert any(stem in str(refusal) for stem in stems), f"{by} is refused without its name: {refusal}"
    return in_one_line(refusal)


def _outcome(name: str, parameters: dict[str, Any], by: str) -> str:
    """What a ranker predicts and records."""
    train, valid = _data(1), _data(2)
    weights = train.y + 1.0 if by in WEIGHTED else None
    ranker = entries("rankers")[name].load()(**parameters)
    if by == "linearcombination.prefit":
        fitted = [(f"m{i}", pm.MART(n_trees=4, min_docs=3, seed=i).fit(_data(4 + i))) for i in range(2)]
        ranker.set_params(rankers=fitted)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(1 + bool(parameters.get("warm_start"))):
            ranker.fit(train, valid=None if by in WITHOUT_VALID else valid, sample_weight=weights)
    evals, best = getattr(ranker, "evals_", None), getattr(ranker, "best_iteration_", None)
    scores = ranker.predict(_data(3)).tobytes().hex()
    return f"{scores} {evals} {best} {getattr(ranker, 'oob_score_', None)} {ranker.score(valid)}"


@cache
def _data(seed: int) -> pm.Dataset:
    """Queries of different lengths; a feature of few whole numbers, and undefined values."""
    random = np.random.default_rng(seed)
    data = pm.simulate(30, docs_per_query=12, n_features=5, seed=seed)
    X = data.X * np.array([-1, -1, -1, -1, 1], np.float32)
    X[:, 4] = random.integers(0, 6, data.n_docs)
    X[random.random(X.shape) < 0.02] = np.nan
    X[:, 4] = np.nan_to_num(X[:, 4])
    return data.replace(X=X)
