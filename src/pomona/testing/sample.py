"""What rankers are checked on: data, tables of them, copies of the ranker, and its model file."""

from __future__ import annotations

import tempfile
import types
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone

from pomona import _registry
from pomona.data.dataset import Dataset
from pomona.data.simulate import simulate
from pomona.rankers.base import Ranker
from pomona.rankers.loading import load_model

N_FEATURES = 12


@cache
def train_data() -> Dataset:
    """Easy data to learn from."""
    return simulate(60, docs_per_query=15, n_features=N_FEATURES, seed=1)


@cache
def fresh_data() -> Dataset:
    """Data of the same kind, of other queries."""
    return simulate(40, docs_per_query=15, n_features=N_FEATURES, seed=2)


def degenerate_data() -> dict[str, Dataset]:
    """Data that leave little or nothing to learn, by what is wrong with them."""
    random = np.random.default_rng(0)
    X, y, qid = random.random((80, 3)), random.integers(0, 3, 80), np.repeat(np.arange(10), 8)
    return {
        "one feature": Dataset(X[:, :1], y, qid),
        "a constant feature": Dataset(np.ones((80, 1)), y, qid),
        "features that repeat each other": Dataset(np.repeat(X[:, :1], 3, axis=1), y, qid),
        "undefined features": Dataset(np.full((80, 2), np.nan), y, qid),
        "a single query": Dataset(X[:8], y[:8], qid[:8]),
        "documents alike": Dataset([[1.0], [1.0]], [1, 0], [1, 1]),
        "no usable pair": Dataset(X, np.ones(80), qid),
        "queries of one document": Dataset(X[:5], [0, 1, 2, 0, 1], np.arange(5)),
        "separable labels": Dataset(np.column_stack([y, X]), y, qid),
        "real labels": Dataset(X, random.random(80), qid),
        "negative labels": Dataset.quiet(X, y - 1, qid),
        "huge values": Dataset(X * [1e30, 1.0, 1e-30], y, qid),
        "the largest values": Dataset(np.where(X > 0.5, 3e38, -3e38), y, qid),
    }


def tables_of(data: Dataset) -> dict[str, Any]:
    """The rows of a dataset in every kind of table that is at hand."""
    import polars

    names = list(data.feature_names)
    tables = {"an array": data.X, "a polars frame": polars.DataFrame(data.X, schema=names)}
    if find_spec("pandas"):
        pandas = import_module("pandas")
        tables["a pandas frame"] = pandas.DataFrame(data.X, columns=names)
    return tables


def new_ranker(ranker: Ranker, **parameters: Any) -> Ranker:
    """A ranker of the same parameters, not fitted, with those of `parameters` that it has."""
    known = ranker.get_params()
    twin: Ranker = clone(ranker)
    twin.set_params(**{name: value for name, value in parameters.items() if name in known})
    return twin


def subclass_of(cls: type[Ranker], **methods: Any) -> type[Ranker]:
    """A class with other methods and the name of the first, which stays as it is."""
    same = {name: getattr(cls, name) for name in ("__init__", "__doc__", "__module__", "__qualname__")}
    return types.new_class(cls.__name__, (cls,), exec_body=lambda body: body.update({**same, **methods}))


def keeping_the_best(ranker: Ranker) -> Ranker:
    """A ranker of the same parameters that keeps its best step: a forest else keeps a mean of rounds."""
    return new_ranker(ranker, averaged=False) if "n_trees" in ranker.get_params() else ranker


def saved_and_loaded(fitted: Ranker) -> Ranker:
    """What a model file makes of a fitted ranker."""
    known = _registry.entries("rankers").get(fitted.name)
    is_ours = known is not None and known.load() is type(fitted)
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder) / "m.pomona")
        return load_model(Path(folder) / "m.pomona", None if is_ours else type(fitted))
