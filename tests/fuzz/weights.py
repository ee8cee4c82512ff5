"""Weights of documents and missing labels, in every ranker.

Weights of 1 are none; rows may come in any order with their weights; a document without a label is one of
weight 0, or of label 0 where that is asked for; the label of a document of weight 0 is no matter to a loss
that is of no measure; and what is recorded of the iteration that is kept is what `score` gives.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import pomona as pm
from fuzz.model import KINDS
from fuzz.target import in_one_line
from pomona._registry import entries
from pomona.errors import PomonaError
from pomona.experiments.execute import shortened

N_SMALL = 45
_LEARNING = [kind for kind in KINDS if kind not in ("ideal", "worst", "random")]
_OF_LABELS_ALONE = {  # losses that see no label but those of the documents that count
    *("mart", "rcrank", "mcrank", "xendcg", "randomforest", "linearregression", "logisticregression"),
    *("ranksvm", "ranknet", "listnet", "listmle", "fenchelrank", "rankboost", "frank"),
}


class Target:
    def __init__(self, folder: Path) -> None: ...

    def case(self, random: np.random.Generator) -> str:
        kinds = ("ones", "order", "missing", "irrelevant", "labels", "recorded", "recorded")
        kind = str(random.choice(kinds))
        name = str(
            random.choice(sorted(_OF_LABELS_ALONE & set(_LEARNING)) if kind == "labels" else _LEARNING)
        )
        found: str = getattr(self, f"_{kind}")(name, random)
        return found

    def _ones(self, name: str, random: np.random.Generator) -> str:
        """Weights of 1 are none."""
        train, more = _data(random), _options(name, random)
        ones = train.replace(weight=np.ones(train.n_docs))
        return _alike(name, _scores(name, train, more), _scores(name, ones, more), "weights of 1 change it")

    def _order(self, name: str, random: np.random.Generator) -> str:
        """Rows in another order, with their weights."""
        train, more = _data(random, weighted=True), _options(name, random)
        order = random.permutation(train.n_docs)
        other = pm.Dataset(train.X[order], train.y[order], train.qid[order], weight=train.weight[order])
        found = _scores(name, train, more), _scores(name, other, more, at=train)
        return _alike(name, *found, "rows in another order change it")

    def _missing(self, name: str, random: np.random.Generator) -> str:
        """A document without a label has weight 0."""
        train, more, hidden = _data(random, weighted=True), _options(name, random), None
        hidden = random.random(train.n_docs) < 0.3
        unjudged = train.replace(y=np.where(hidden, np.nan, train.y).astype(np.float32))
        known = train.replace(
            y=np.where(hidden, 0, train.y).astype(np.float32), weight=np.where(hidden, 0, train.weight)
        )
        found = _scores(name, unjudged, more), _scores(name, known, more)
        return _alike(name, *found, "no label is not weight 0")

    def _irrelevant(self, name: str, random: np.random.Generator) -> str:
        """A document without a label has label 0, where that is asked for."""
        train, more = _data(random, weighted=True), _options(name, random)
        hidden = random.random(train.n_docs) < 0.3
        unjudged = train.replace(y=np.where(hidden, np.nan, train.y).astype(np.float32))
        known = train.replace(y=np.where(hidden, 0, train.y).astype(np.float32))
        found = _scores(name, unjudged, more, unjudged="irrelevant"), _scores(name, known, more)
        return _alike(name, *found, "unjudged='irrelevant' is not label 0")

    def _labels(self, name: str, random: np.random.Generator) -> str:
        """Labels of documents of weight 0 are no matter."""
        train, more = _data(random, weighted=True), _options(name, random)
        assert train.weight is not None
        other = np.where(train.weight == 0, random.integers(0, 4, train.n_docs), train.y)
        counts = train.gathered().weight
        assert counts is not None
        begins = train.gathered().query_ptr[:-1]
        if (np.maximum.reduceat(counts, begins) == 0).any():
            return "a query without weights"  # stands as it is
        found = _scores(name, train, more), _scores(name, train.replace(y=other.astype(np.float32)), more)
        return _alike(name, *found, "a label of weight 0 changes it")

    def _recorded(self, name: str, random: np.random.Generator) -> str:
        """The last recorded values of the iteration that is kept are scores."""
        train, valid = (_data(random, weighted=random.random() < 0.7) for _ in range(2))
        if random.random() < 0.5:
            train, valid = (
                data.replace(y=np.where(random.random(data.n_docs) < 0.2, np.nan, data.y).astype(np.float32))
                for data in (train, valid)
            )
        more = _options(name, random)
        ranker = _new(name, more)
        if "averaged" in ranker.get_params():
            ranker.set_params(averaged=False)
        try:
            ranker.fit(train, valid=valid)
        except PomonaError as error:
            return in_one_line(error)
        if "valid" not in getattr(ranker, "evals_", {}):
            return "records nothing"
        if isinstance(ranker, pm.RCRank) and ranker.enhanced:
            return "records a part"
        kept = ranker.best_iteration_ - 1
        for part, data in (("train", train), ("valid", valid)):
            recorded, score = ranker.evals_[part][kept], ranker.score(data)
            apart = abs(recorded - score)
            assert apart < 1e-9, f"{name} {more}: recorded {part} {recorded} is not score {score}"
        return "recorded"


def _data(random: np.random.Generator, *, weighted: bool = False) -> pm.Dataset:
    """A few queries; rows of one may lie apart, and be alike."""
    n = int(random.integers(12, 70))
    X = random.integers(-3, 9, (n, 4)).astype(np.float32)
    if random.random() < 0.3:
        X[random.random(X.shape) < 0.05] = np.nan
    y = random.integers(0, int(random.choice([2, 4])), n)
    kinds = random.integers(0, 4, n), random.random(n), random.integers(0, 2, n), np.full(n, 0.3)
    weight = kinds[random.integers(len(kinds))].astype(np.float64)
    return pm.Dataset(X, y, random.integers(0, 6, n), weight=weight if weighted else None)


def _options(name: str, random: np.random.Generator) -> dict[str, Any]:
    """Parameters that make a difference to weights, of those that the ranker has."""
    known = entries("rankers")[name].load()().get_params(deep=False)
    drawn = {
        "measure": random.choice(["ndcg@5", "ap", "err@3", "p@2", "rr"]),
        "growth": random.choice(["auto", "leafwise", "oblivious"]),
        "weighting": random.choice(["swap", "lambdaloss"]),
        "noise": random.choice([None, 0.0]),
        "target": random.choice(["label", "gain"]),
        "kind": random.choice(["ordinal", "multinomial"]),
        "min_docs": int(random.integers(1, 5)),
        "query_fraction": float(random.choice([1.0, 0.7])),
        "top_fraction": float(random.choice([1.0, 1.0, 0.5])),
        "k": int(random.integers(1, 4)),
    }
    kept = {one: value for one, value in drawn.items() if one in known and random.random() < 0.6}
    if kept.get("weighting") == "lambdaloss":
        kept["measure"] = "ndcg@5"
    return {"measure": "ndcg@5", **kept} if "measure" in known else kept


def _new(name: str, more: dict[str, Any]) -> Any:
    ranker = entries("rankers")[name].load()()
    parameters = ranker.get_params(deep=False)
    given = {one: value.item() if isinstance(value, np.generic) else value for one, value in more.items()}
    return ranker.set_params(**{**shortened(parameters), **given})


def _scores(
    name: str, train: pm.Dataset, more: dict[str, Any], *, at: pm.Dataset | None = None, **options: Any
) -> np.ndarray | str:
    try:
        found: np.ndarray = _new(name, more).fit(train, **options).predict(train if at is None else at)
    except PomonaError as error:
        return in_one_line(error)
    return found


def _alike(name: str, one: np.ndarray | str, other: np.ndarray | str, what: str) -> str:
    if isinstance(one, str) or isinstance(other, str):
        assert type(one) is type(other), f"{name}: refused in one form only ({what})"
        return "refused"
    apart = np.abs(one - other).max(initial=0.0)
    assert np.array_equal(one, other), f"{name}: {what}, by {apart:.3g}"
    return "same"
