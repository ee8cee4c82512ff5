"""An ensemble of one ranker with several seeds, perhaps on bags of queries (Breiman 1996), as one model.

    score = (1/n) Σ_i F_i(x),   F_i with a seed of its own, and perhaps on queries drawn with replacement

What chance there is in one training (the draw of queries and features, the first weights of a network, the
order of tied documents) is averaged out; most where it is large, in networks and on small data.
"""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona import _registry
from pomona._parameters import assignments, checked_parameters, read_parameters
from pomona._sklearn import clone
from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.parse import measure as parse_measure
from pomona.rankers.base import Ranker
from pomona.rankers.combine.members.member_file import restored_members, written_members
from pomona.rankers.combine.members.query_scale import on_query_scale
from pomona.rankers.combine.members.weighted import weighted, weighted_or_none
from pomona.rankers.evaluator import RankingEvaluator
from pomona.rankers.inputs import unjudged_in
from pomona.rankers.model_file import parameters_from_json, parameters_to_json
from pomona.rankers.parameter import NonNegativeInt, PositiveInt
from pomona.rankers.watched import Unjudged, Watched
from pomona.trees.forest import Forest
from pomona.trees.formats.weighted_sum import WeightedSum

_WAYS = ("mean", "rank")
_CHANGED = ("seed", "measure")
"""The parameters of the member that its models may have others of."""


class Ensemble(Ranker):
    """Ensemble: one ranker, fitted with several seeds, as one model.

    Parameters
    ----------
    member : the ranker, or its name, also with parameters: `lambdamart(n_leaves=7)`.
    n_models : how many times it is fitted, each time with another seed.
    combine : the `mean` of the scores, of the ranks inside each query (`rank`), or `auto`: what the
        validation queries, or else those out of the bags, rank better by; without either the mean.
    bagging : fit each on as many queries as there are, drawn with replacement.
    measure : what `score` reports, and what every member is to optimize; None leaves it as the member has it.
    seed : draws the members' seeds, and the bags.

    Attributes
    ----------
    models_ : the fitted rankers.
    combine_ : `mean` or `rank`, as chosen.
    oob_score_ : with bagging, the measure over queries that some bag left out, by those bags' models alone;
        else NaN.

    Departures
    ----------
    - Bags are of queries, since rows of one query are not independent; without `bagging` only the seed
      differs.
    - Forests make one forest, and linear models one weighted sum, whose leaf values (weights) are divided by
      `n_models`: scoring, saving and exporting know nothing of the ensemble.
    """

    name = "ensemble"
    aliases = ("bagging",)
    family = "ensemble"
    optimizes = "direct"
    paper = "Breiman, Machine Learning 1996 (bagging)"
    learnt_attributes = {"combine_": str, "oob_score_": float}
    reads_categories = True  # or its member refuses them
    search_space = {"n_models": (3, 10, "int")}

    member: str | Ranker = field(default="lambdamart", kw_only=False)
    n_models: PositiveInt = 5
    combine: Literal["auto", "mean", "rank"] = "auto"
    bagging: bool = False
    measure: str | Measure | None = None  # type: ignore[assignment]
    seed: NonNegativeInt = 0

    def learn(self, train: Dataset, valid: Dataset | None, weights: Values | None) -> None:
        member, random = self._member(), np.random.default_rng(self.seed)
        held_out = _HeldOut(train, valid, self.parsed_measure, self._watched)
        log = self.start_training(self.n_models, unit="model", deciding=())
        self.models_: list[Ranker] = []

        def finish() -> None:
            self.combine_ = held_out.better if self.combine == "auto" else self.combine
            self.oob_score_ = held_out.out_of_bag(self.combine_)
            self._join()

        log.finish_by(finish)
        with log.watch():
            for _ in range(self.n_models):
                seed = int(random.integers(2**31))
                drawn = _bag(train, weights, random) if self.bagging else np.ones(train.n_queries, np.int64)
                fitted = _fitted(member, seed, train, drawn, valid, unjudged_in(train, weights))
                self.models_.append(fitted)
                log.record(**held_out.after(self.models_, drawn == 0, self.combine))
                log.tell()
                if getattr(fitted, "interrupted_", False):
                    raise KeyboardInterrupt
        finish()

    def _given(self) -> Ranker:
        return self.member if isinstance(self.member, Ranker) else _named(self.member)

    def _member(self) -> Ranker:
        """The ranker to fit, checked."""
        member = self._given()
        if self.measure is not None:
            member = clone(member).set_params(measure=self.measure)
        if member.is_bound:
            raise InputError(f"{member.name} reads the labels of the documents it scores: no ensemble is")
        if "seed" not in member.get_params(deep=False) and not self.bagging and self.n_models > 1:
            raise InputError(
                f"{type(member).__name__} has no seed, so that {self.n_models} of it would be the same: "
                "give bagging=True, or n_models=1"
            )
        return member

    @property
    def parsed_measure(self) -> Measure:
        return self._given().parsed_measure if self.measure is None else parse_measure(self.measure)

    def _join(self) -> None:
        """Where the mean of the models is itself one model, have it."""
        self.sum_: Forest | WeightedSum | None = None
        if self.combine_ == "mean":
            self.sum_ = weighted_or_none(self.models_, _shares(self.models_))

    @property
    def scores_whole_queries(self) -> bool:
        if not hasattr(self, "models_"):
            return self.combine == "rank" or self._given().scores_whole_queries
        return self.combine_ == "rank" or any(model.scores_whole_queries for model in self.models_)

    def predict_rows(self, X: NDArray[np.float32]) -> Scores:
        assert self.sum_ is not None
        return self.sum_.score(X)

    def predict_queries(self, data: Dataset) -> Scores:
        if self.sum_ is not None:
            return self.predict_rows(data.X)
        scores: Scores = np.mean(
            [_on_scale(m.predict(data), data, self.combine_) for m in self.models_], axis=0
        )
        return scores

    def portable(self) -> Forest | WeightedSum:
        self.check_fitted()
        if self.combine_ == "rank":
            raise InputError(
                "ranks inside each query are added up, which no engine does: train it with combine='mean'"
            )
        return weighted(self.models_, _shares(self.models_))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; `deep`, also those of the member as `member__parameter`."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        if deep and isinstance(self.member, Ranker):
            of_member = self.member.get_params()
            parameters |= {f"member__{name}": value for name, value in of_member.items()}
        return parameters

    def written(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        # A ranker that was given as such is known by what it learnt.
        plain = copy.copy(self)
        plain.member = self.member if isinstance(self.member, str) else ""
        written, arrays = super(Ensemble, plain).written()
        if isinstance(self.member, Ranker):
            changed = {name: getattr(self.member, name) for name in _CHANGED if hasattr(self.member, name)}
            written["learnt"]["member"] = parameters_to_json(changed)
        return written, arrays

    def get_state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        facts, arrays = super().get_state()
        members, of_members = written_members(self.models_)
        return {**facts, "members": members}, {**arrays, **of_members}

    def set_state(self, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        super().set_state(facts, arrays)
        if self.combine_ not in _WAYS:
            raise ValueError(f"combine_ is {self.combine_!r}")
        self.models_ = restored_members(facts["members"], arrays, self.n_features_in_)
        if not self.member:
            self.member = clone(self.models_[0]).set_params(**parameters_from_json(facts["member"]))
        self._join()


def _shares(models: list[Ranker]) -> list[float]:
    return [1 / len(models)] * len(models)


def _named(text: str) -> Ranker:
    """`name` or `name(parameter=value, …)` as a ranker."""
    match = re.fullmatch(r"\s*([^=()\s]+)\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if match is None:
        raise InputError(f"found member {text!r}, expected a ranker's name, or name(parameter=value, …)")
    cls = _registry.find("rankers", match[1], "ranker").load()
    given = read_parameters(cls, assignments(match[2] or "", text))
    ranker: Ranker = cls(**checked_parameters(cls, given))
    return ranker


def _bag(train: Dataset, weights: Values | None, random: np.random.Generator) -> NDArray[np.int64]:
    """How many times each query is drawn; again, where that leaves nothing to learn though there was."""
    starts, counts = train.query_ptr[:-1], np.ones(train.n_docs, bool) if weights is None else weights > 0
    highest = np.maximum.reduceat(np.where(counts, train.y, -np.inf), starts)
    teaches = highest > np.minimum.reduceat(np.where(counts, train.y, np.inf), starts)
    while True:
        drawn = np.bincount(random.integers(0, train.n_queries, train.n_queries), minlength=train.n_queries)
        if drawn[teaches].any() or not teaches.any():
            return drawn


def _fitted(
    member: Ranker,
    seed: int,
    train: Dataset,
    drawn: NDArray[np.int64],
    valid: Dataset | None,
    unjudged: Unjudged,
) -> Ranker:
    """The member, fitted with this seed on queries that were drawn so many times, with the data's weights."""
    ranker: Ranker = clone(member)
    if "seed" in ranker.get_params(deep=False):
        ranker.set_params(seed=seed)
    if (drawn != 1).any():
        train = train.take(drawn > 0)
        times = np.repeat(drawn[drawn > 0], train.query_lengths).astype(np.float64)
        train = train.replace(weight=times if train.weight is None else times * train.weight)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "interrupted: keeping")  # the ensemble says it itself
        return ranker.fit(train, valid=valid, unjudged=unjudged)


def _on_scale(scores: Scores, data: Dataset, way: str) -> Scores:
    """The scores as they are added up: themselves, or their ranks inside each query."""
    return on_query_scale(scores[:, None], data, "rank" if way == "rank" else "none")[:, 0]


class _HeldOut:
    """The measure of the models so far, added up in both ways, on queries of each kind.

    All documents of a query are out of the same bags, so that sums rank them as means do.
    """

    def __init__(self, train: Dataset, valid: Dataset | None, measure: Measure, watched: Watched) -> None:
        self._train, self._measure = train, measure
        self._out = {way: np.zeros(train.n_docs) for way in _WAYS}
        self._n_out = np.zeros(train.n_queries, np.int64)
        sets = watched.beside(valid)
        self._parts = {"train": train, **sets} if sets else {}
        self._judge = watched.judge(sets, measure, train=train if sets else None)
        self._valid_evaluator = RankingEvaluator(sets["valid"], measure) if sets else None
        self._sums = {
            (part, way): np.zeros(data.n_docs) for part, data in self._parts.items() for way in _WAYS
        }

    def after(self, models: list[Ranker], left_out: NDArray[np.bool_], combine: str) -> dict[str, float]:
        """The values of these models, the last of which is new, and was fitted without these queries."""
        if left_out.any():
            data = self._train.take(left_out)
            rows, scores = np.repeat(left_out, np.diff(self._train.query_ptr)), models[-1].predict(data)
            self._n_out += left_out
            for way in _WAYS:
                self._out[way][rows] += _on_scale(scores, data, way)
        joined = weighted_or_none(models, _shares(models)) if self._parts else None
        self._is_joined, self._n_models = joined is not None, len(models)
        for part, data in self._parts.items():
            scores = models[-1].predict(data)
            for way in _WAYS:
                self._sums[part, way] += _on_scale(scores, data, way)
            if joined is not None:  # the very scores of the ensemble: rounding can part equal ones
                self._sums[part, "mean"] = joined.score(data.X)
        way = self.better if combine == "auto" else combine
        if not self._parts:
            return {}
        added = {part: self._scores(part, way) for part in self._parts}
        return self._judge(added)

    def _scores(self, part: str, way: str) -> Scores:
        # Divided as the ensemble does it: rounding can make equal what was not.
        is_joined = way == "mean" and self._is_joined
        return self._sums[part, way] / (1 if is_joined else self._n_models)

    @property
    def better(self) -> str:
        """The way that ranks held-out queries better; the mean where there are none, or no difference."""
        if self._valid_evaluator is not None:
            mean, rank = (self._valid_evaluator.mean(self._scores("valid", way)) for way in _WAYS)
        else:
            mean, rank = map(self.out_of_bag, _WAYS)
        return "rank" if rank > mean else "mean"

    def out_of_bag(self, way: str) -> float:
        """The measure over queries that some bag left out; NaN where none did."""
        left_out = self._n_out > 0
        if not left_out.any():
            return float("nan")
        data, rows = self._train.take(left_out), np.repeat(left_out, np.diff(self._train.query_ptr))
        return RankingEvaluator(data, self._measure).mean(self._out[way][rows])
