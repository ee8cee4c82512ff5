"""What is made of the rankers that were tried: one alone, or a weighted sum, chosen on held-out queries.

All that is looked at are scores of queries that no model had seen. Weights are found by Coordinate Ascent on
the measure itself. With few queries they would follow chance, so they are found three times, each time
without a third of the queries; they are taken only if, on the thirds that they did not see, they beat equal
weights and the best ranker alone, and then are the mean of the three. What gets next to no weight is left
out. The best of many rankers owes something to chance, a sum of several less: one is taken alone only if it
is ahead of the best sum of equal weights by more than a standard error.

The estimate is nested: a fifth of the queries at a time is left out of this whole choice (which rankers,
which scale, which weights) and judged by what was chosen without it.

Both look at the clock: past the deadline no more weights are learnt, which is what takes long.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pomona import _registry
from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import PomonaError
from pomona.measures.base import Measure
from pomona.measures.judge import judge, scored_queries
from pomona.rankers.combine.members.query_scale import on_query_scale
from pomona.stats.bootstrap import interval

N_PARTS = 5
"""Of the queries, for the estimate."""
_N_THIRDS = 3
_MOST_MEMBERS = 8
_LEAST_WEIGHT = 0.04
_MOST_DOCS = 60_000
"""To learn weights on: more hardly change them, and take long."""


@dataclass(frozen=True)
class Choice:
    """The rankers that are taken, by their number, and how they are added.

    members, weights : of those that have a weight; weights sum to 1.
    scale : of the scores inside each query, see `on_query_scale`; `none` adds them as they are, divided by
        the `spreads`.
    way : `alone`, `equal` or `learnt`.
    value : the measure of the queries that chose, with learnt weights of those that did not see them.
    """

    members: tuple[int, ...]
    weights: tuple[float, ...]
    scale: str
    spreads: tuple[float, ...]
    way: str
    value: float

    def scores(self, outputs: Values, data: Dataset) -> Scores:
        """The scores of documents, by those of all rankers (n_docs, n_rankers)."""
        chosen = _scaled(outputs[:, list(self.members)], data, self.scale, np.array(self.spreads))
        return np.asarray(chosen @ np.array(self.weights), np.float64)


@dataclass(frozen=True)
class Estimate:
    """The measure over queries that chose nothing, with its interval."""

    mean: float
    low: float
    high: float
    level: float
    n_queries: int


@dataclass(frozen=True, eq=False)
class Tried:
    """Rankers with their scores of the same held-out queries.

    outputs : (n_docs, n_rankers).
    kinds : the name of each one's method.
    costs : of each, to score a document.
    values : (n_rankers, n_queries).
    """

    data: Dataset
    outputs: Values
    kinds: Sequence[str]
    costs: Sequence[float]
    measure: Measure
    values: Values

    @classmethod
    def of(
        cls, data: Dataset, outputs: Values, kinds: Sequence[str], costs: Sequence[float], measure: Measure
    ) -> Tried:
        """Judge all rankers."""
        values = [values_of(data, scores, measure) for scores in outputs.T]
        return cls(data, outputs, kinds, costs, measure, np.stack(values))

    def take(self, queries: NDArray[np.bool_]) -> Tried:
        """Only these queries."""
        rows = np.repeat(queries, np.diff(self.data.query_ptr))
        data, outputs, values = self.data.take(queries), self.outputs[rows], self.values[:, queries]
        return Tried(data, outputs, self.kinds, self.costs, self.measure, values)


def values_of(data: Dataset, scores: Scores, measure: Measure) -> Values:
    """The measure of every query."""
    values: Values = judge(scored_queries(data, scores), [measure])[0].values
    return values


@dataclass(frozen=True)
class Rules:
    """What may be chosen.

    scales : of the scores of several rankers, see `Choice`; without any, rankers stand alone.
    most : that the costs of all may come to.
    """

    scales: Sequence[str] = ("standard", "none")
    most: float = np.inf


def choose(tried: Tried, rules: Rules, deadline: float = math.inf) -> Choice:
    """The best of: one ranker alone, some with equal weights, and, if there is time, with learnt weights."""
    means = tried.values.mean(axis=1)
    order = np.argsort(-means, kind="stable").tolist()
    best = Choice((order[0],), (1.0,), "none", (1.0,), "alone", float(means[order[0]]))
    members = _diverse(order, tried, rules.most)
    if len(members) < 2 or not rules.scales or tried.data.n_queries < 2 * _N_THIRDS:
        return best
    options = [best]
    for scale in rules.scales:
        spreads = _spreads(tried, members, scale)
        columns = _scaled(tried.outputs[:, members], tried.data, scale, spreads)
        for n in range(2, len(members) + 1):
            value = float(values_of(tried.data, columns[:, :n].mean(axis=1), tried.measure).mean())
            taken = tuple(members[:n]), (1 / n,) * n, scale, tuple(spreads[:n].tolist())
            options.append(Choice(*taken, "equal", value))
        if time.monotonic() < deadline:
            options.append(_learnt(tried, members, columns, scale, spreads))
    # The first of equals: what is simpler comes first.
    chosen = max(options, key=lambda option: option.value)
    return chosen if chosen is not best else _unless_by_chance(best, options[1:], tried)


def _unless_by_chance(alone: Choice, others: Sequence[Choice], tried: Tried) -> Choice:
    """One ranker alone, if it is ahead of the best with equal weights by more than a standard error."""
    rival = max((one for one in others if one.way == "equal"), key=lambda option: option.value)
    values = values_of(tried.data, rival.scores(tried.outputs, tried.data), tried.measure)
    lead = tried.values[alone.members[0]] - values
    return alone if lead.mean() >= np.std(lead, ddof=1) / np.sqrt(len(lead)) else rival


def rehearse(measure: Measure) -> float:
    """Choose among rankers of invented queries, and so load all kernels; the seconds a document then took.

    The second time: the first one is the loading.
    """
    random, n_queries, n_docs = np.random.default_rng(0), 150, 20
    shape = (n_queries * n_docs, 4)
    labels, qid = random.integers(0, 3, shape[0]), np.repeat(np.arange(n_queries), n_docs)
    data = Dataset(np.zeros((shape[0], 1)), labels, qid)
    tried = Tried.of(data, random.standard_normal(shape), "abcd", [1.0] * 4, measure)
    for _ in range(2):
        started = time.perf_counter()
        choose(tried, Rules())
    return (time.perf_counter() - started) / data.n_docs


def estimate(
    tried: Tried, rules: Rules, *, level: float = 0.95, seed: int = 0, deadline: float = math.inf
) -> Estimate:
    """The measure of each fifth of the queries by what `choose` makes of the others."""
    n_queries = tried.data.n_queries
    part = np.random.default_rng(seed).permutation(n_queries) % min(N_PARTS, n_queries)
    values = np.empty(n_queries)
    for number in range(part.max() + 1):
        queries = part == number
        # Of a single query there is but one choice.
        choosing = tried if queries.all() else tried.take(~queries)
        choice, judged = choose(choosing, rules, deadline), tried.take(queries)
        values[queries] = values_of(judged.data, choice.scores(judged.outputs, judged.data), tried.measure)
    low, high = interval(values, level=level, seed=seed) if n_queries > 1 else (np.nan, np.nan)
    return Estimate(float(values.mean()), low, high, level, n_queries)


def _diverse(order: Sequence[int], tried: Tried, most: float) -> list[int]:
    """The best few, and the best of every other method, as long as their costs allow; the best first."""
    chosen: list[int] = []
    for number in order:
        is_new = tried.kinds[number] not in {tried.kinds[one] for one in chosen}
        costs = sum(tried.costs[one] for one in (*chosen, number))
        if (len(chosen) < _MOST_MEMBERS // 2 or is_new) and costs <= most and len(chosen) < _MOST_MEMBERS:
            chosen.append(number)
    return chosen


def _learnt(tried: Tried, members: list[int], columns: Values, scale: str, spreads: Values) -> Choice:
    """Weights by Coordinate Ascent: for each third by the others, and the mean of all."""
    n_queries = tried.data.n_queries
    third = np.random.default_rng(0).permutation(n_queries) % _N_THIRDS
    values, found = np.empty(n_queries), []
    for left_out in range(_N_THIRDS):
        held_out = third == left_out
        weights = _ascended(tried.data, columns, ~held_out, tried.measure)
        found.append(weights)
        rows = np.repeat(held_out, np.diff(tried.data.query_ptr))
        values[held_out] = values_of(tried.data.take(held_out), columns[rows] @ weights, tried.measure)
    mean = np.mean(found, axis=0)
    kept = mean >= min(_LEAST_WEIGHT, mean.max())
    chosen = tuple(number for number, is_kept in zip(members, kept, strict=True) if is_kept)
    weights = mean[kept] / mean[kept].sum()
    taken = chosen, tuple(weights.tolist()), scale, tuple(spreads[kept].tolist())
    return Choice(*taken, "learnt", float(values.mean()))


def _ascended(data: Dataset, columns: Values, queries: NDArray[np.bool_], measure: Measure) -> Values:
    """Weights that sum to 1, none below 0; equal ones where the queries cannot tell."""
    lengths = np.diff(data.query_ptr)
    chosen = queries & (np.cumsum(np.where(queries, lengths, 0)) <= max(_MOST_DOCS, lengths[queries][0]))
    rows = np.repeat(chosen, lengths)
    names = [f"ranker {number}" for number in range(columns.shape[1])]
    stacked = data.take(chosen).replace(X=columns[rows].astype(np.float32), feature_names=names)
    ascent = _registry.find("rankers", "coordinateascent", "ranker").load()
    ranker = ascent(measure=measure, normalize=None, n_restarts=1, max_iterations=5)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            weights = np.maximum(ranker.fit(stacked).coef_, 0.0)
    except PomonaError:  # no order of these documents would change the measure
        weights = np.zeros(len(names))
    return weights / weights.sum() if weights.any() else np.full(len(names), 1 / len(names))


def _spreads(tried: Tried, members: list[int], scale: str) -> Values:
    """What scores are divided by before they are added: their mean deviation inside a query, or 1."""
    if scale != "none":
        return np.ones(len(members))
    starts, lengths = tried.data.query_ptr[:-1], np.diff(tried.data.query_ptr)
    outputs = tried.outputs[:, members]
    means = np.repeat(np.add.reduceat(outputs, starts) / lengths[:, None], lengths, axis=0)
    spreads: Values = np.sqrt(((outputs - means) ** 2).mean(axis=0))
    return np.where(spreads > 0, spreads, 1.0)


def _scaled(outputs: Values, data: Dataset, scale: str, spreads: Values) -> Values:
    return on_query_scale(outputs, data, scale) / spreads
