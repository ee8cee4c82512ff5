"""Small studies that many tests look at, done once."""

import tempfile
from functools import cache

import pytest

from here_runner import HereRunner
from pomona.experiments.compare import compare
from pomona.experiments.findings import find
from pomona.experiments.spec_reader import spec_of

TOY = {"name": "toy", "simulate": {"queries": 40, "docs_per_query": 10.0, "features": 6, "seed": 3}}


def spec_with(dataset=(), *rankers, **settings):
    return spec_of(
        {
            "name": "study",
            "measures": ["ndcg@5", "ap"],
            "n_folds": 2,
            "bounds": False,
            "dataset": [{**TOY, **dict(dataset)}],
            "ranker": list(rankers) or [{"ranker": "mart", "n_trees": 5}],
            **settings,
        }
    )


def done(spec, directory=None):
    """The results of a spec, run in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pomona.experiments.compare.LocalRunner", HereRunner)
        patch.setattr("pomona.experiments.execute._MOST_TIMINGS", 1)
        return compare(spec, directory or tempfile.mkdtemp())


def found(spec):
    return find(done(spec), n_resamples=200)


@cache
def sizes():
    """Two rankers on a fifth, half and all of the data, in two draws."""
    each = {"each": {"train_fraction": [0.2, 0.5, 1.0]}, "draw": [0, 1]}
    linear = {"ranker": "linearregression", "label": "Linear"}
    return found(spec_with(each, {"ranker": "mart", "label": "MART", "n_trees": 5}, linear))


@cache
def noises():
    each = {"each": {"label_noise": [0.0, 0.1, 0.5]}, "draw": [0, 1]}
    return found(spec_with(each, {"ranker": "mart", "label": "MART", "n_trees": 5}, bounds=True))


@cache
def curves():
    """Forests of three sizes of trees, with test queries judged after every tree."""
    row = {
        "ranker": "lambdamart",
        "label": "L {n_leaves}",
        "n_trees": 12,
        "early_stopping": "none",
        "averaged": False,
    }
    row["each"] = {"n_leaves": [2, 4, 8]}
    return found(spec_with({"curves": ["train", "valid", "test"]}, {**row, "min_docs": 2}))


@cache
def grid():
    row = {"ranker": "lambdamart", "label": "{learning_rate} {n_leaves}", "n_trees": 4, "min_docs": 2}
    each = {"learning_rate": [0.1, 0.3], "n_leaves": [2, 4, 8]}
    return found(spec_with((), {**row, "each": each}, norm_performance=True))


@cache
def searched():
    rows = [{"ranker": "mart", "label": "MART", "n_trees": 3}, {"ranker": "linearregression"}]
    rows.append({"ranker": "adarank", "n_rounds": 5})
    return found(spec_with((), *rows, search={"n_trials": 3}))
