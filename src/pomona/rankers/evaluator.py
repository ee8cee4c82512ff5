"""Judging rankings while a ranker learns: round after round, or many at once, with ties that cannot tell.

`RankingEvaluator` judges the same documents at ever new scores. What does not depend on the scores (codes of
labels, ideal rankings) is prepared once. A sum over the first k ranks needs those ranks only, and the last
round's are nearly the next one's: documents below the worst of them are passed over with one comparison. The
values are those of `evaluate`, to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._splitmix import mix
from pomona._team import by_team
from pomona._types import Labels, Scores, Values
from pomona.data.content_order import content_keys
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.closed_form import POSITION, ClosedForm
from pomona.measures.conventions import convention_named
from pomona.measures.judge import judge, mean_in_order, sum_in_order
from pomona.measures.lists import ScoredQueries, longest_query
from pomona.objectives._rank_kernel import rank_head
from pomona.rankers.inputs import query_weights

_DEEPEST_HEAD = 64  # beyond, sorting everything takes no longer


@kernel
def _sum_heads(first, last, scores, query_ptr, codes, value, numerator, divisor, heads, out):
    """As `position.sum_over_ranks`, of documents that are yet to be ranked.

    heads (n_queries, depth) : the best documents of the last call, become those of this one.
    """
    longest = longest_query(first, last, query_ptr)
    in_order, spare = np.arange(longest), np.empty(longest + 1, np.int64)
    keys = np.empty(numerator.size)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        depth = min(end - begin, numerator.size)
        total = 0.0
        if depth > 0:
            head, query_codes = heads[q, :depth], codes[begin:end]
            rank_head(scores[begin:end], in_order[: end - begin], head, keys[:depth], spare)
            for r in range(depth):
                total += value[query_codes[head[r]]] * numerator[r] / divisor[r]
        out[q] = total


@kernel
def _expected_heads(first, last, scores, query_ptr, codes, value, numerator, divisor, heads, out):
    """As `_sum_heads`, for the mean over all orders of tied documents, also of those that miss the head."""
    longest = longest_query(first, last, query_ptr)
    in_order, spare = np.arange(longest), np.empty(longest + 1, np.int64)
    keys = np.empty(numerator.size)
    for q in range(first, last):
        begin, end = query_ptr[q], query_ptr[q + 1]
        depth = min(end - begin, numerator.size)
        query_scores, query_codes, head = scores[begin:end], codes[begin:end], heads[q, :depth]
        if depth > 0:
            rank_head(query_scores, in_order[: end - begin], head, keys[:depth], spare)
        total, at = 0.0, 0
        while at < depth:
            stop, key, code = at + 1, keys[at], query_codes[head[at]]
            while stop < depth and keys[stop] == key:
                stop += 1
            values, weights, count, same = 0.0, 0.0, 0, True
            if stop == depth and depth < end - begin:  # documents that miss the head may tie with its last
                for i in range(end - begin):
                    if query_scores[i] == key:
                        same = same and query_codes[i] == code
                        values += value[query_codes[i]]
                        count += 1
            elif stop > at + 1:
                for r in range(at, stop):
                    same = same and query_codes[head[r]] == code
                    values += value[query_codes[head[r]]]
                    count += 1
            if same:  # the order inside says nothing
                for r in range(at, stop):
                    total += value[code] * numerator[r] / divisor[r]
            else:
                for r in range(at, stop):
                    weights += numerator[r] / divisor[r]
                total += values / count * weights
            at = stop
        out[q] = total


def mean_of_queries(values: Values, by_query: Values | None) -> float:
    """The mean of one value a query, as `score` gives it: by these weights, or of all alike.

    >>> mean_of_queries(np.array([0.5, 1.0]), np.array([3.0, 1.0]))
    0.625
    """
    if by_query is None:
        return mean_in_order(values)
    total = sum_in_order(by_query)
    return sum_in_order(values * by_query) / total if total > 0 else float("nan")


def labels_to_judge(data: Dataset) -> Labels:
    """The labels by which the rankings of data that a ranker learns from are judged: NaN is not judged."""
    return data.y if data.given_y is None else data.given_y


class RankingEvaluator:
    """The mean of a measure over the same queries, at ever new scores; by their weights, if data have some.

    Where a measure must try orders of tied documents to average over them (a user's own), that would cost
    too much after every iteration: the documents stand in one order, drawn from their content, so that the
    order of the rows has no part in it. Where the measure is a tool's that breaks ties by the order of the
    rows, it is that in which they came.

    >>> from pomona import Dataset, measure
    >>> data = Dataset([[0.0], [0.0], [0.0]], [0, 2, 1], [1, 1, 1])
    >>> evaluator = RankingEvaluator(data, measure("p@2"))
    >>> evaluator.mean(np.array([3.0, 2.0, 1.0])), evaluator.mean(np.array([1.0, 2.0, 3.0]))
    (0.5, 1.0)
    """

    def __init__(self, data: Dataset, measure: Measure) -> None:
        self._order = None
        labels = labels_to_judge(data)
        if measure.is_averaged_by_trying:
            self._order, measure = order_of_chance(data), replace(measure, ties="stable")
        elif measure.tie_rule == "stable" and data.came is not None:
            self._order = np.lexsort((data.came, np.repeat(np.arange(data.n_queries), data.query_lengths)))
        if self._order is not None:
            labels = labels[self._order]
        self._measure = measure
        self.by_query = None if data.weight is None else query_weights(data.weight, data)
        self._queries = ScoredQueries(labels, np.zeros(data.n_docs), data.query_ptr, data.doc_ids)
        form = measure.closed_form(self._queries.ranked()) if measure.tie_rule in _SUMS else None
        if convention_named(measure.convention).score_type is not np.float64:
            form = None
        self._form = form if form is not None and _is_sum_over_head(form) else None
        if self._form is not None:
            self._heads = np.tile(np.arange(len(self._form.numerator)), (data.n_queries, 1))

    def mean(self, scores: Scores) -> float:
        """The mean of the measure over all queries."""
        return mean_of_queries(self.values(scores), self.by_query)

    def values(self, scores: Scores) -> Values:
        """(n_queries,) The measure of every query."""
        scores = scores if self._order is None else scores[self._order]
        if self._form is None:
            return judge(self._queries.rescored(scores), [self._measure])[0].values
        return self._form.divided(self._sums(self._form, scores))

    def _sums(self, form: ClosedForm, scores: Scores) -> Values:
        """The sum over the first ranks of every query."""
        sums = np.empty(len(self._heads))
        rules = (form.lists.query_ptr, form.lists.codes, form.level_values, form.numerator, form.divisor)
        add = _SUMS[self._measure.tie_rule]
        by_team(add, len(sums), scores, *rules, self._heads, sums, smallest=512)
        return sums


_SUMS: dict[str, Callable[..., None]] = {"stable": _sum_heads, "expected": _expected_heads}
"""What adds up the first ranks, by the tie rule; under the others everything is sorted."""


def _is_sum_over_head(form: ClosedForm) -> bool:
    """Whether a sum over the first few ranks is all that the measure looks at."""
    return form.kind == POSITION and form.ceiling == np.inf and len(form.numerator) <= _DEEPEST_HEAD


def judged_rankings(data: Dataset, scores: Scores, measure: Measure) -> Values:
    """(n_rankings, n_queries) values of (n_rankings, n_docs) scores, as so many more queries."""
    n, labels = len(scores), labels_to_judge(data)
    if measure.is_averaged_by_trying:
        order, measure = order_of_chance(data), replace(measure, ties="stable")
        labels, scores = labels[order], scores[:, order]
    starts = np.arange(n)[:, None] * data.n_docs + data.query_ptr[:-1]
    query_ptr = np.append(starts.ravel(), n * data.n_docs)
    doc_ids = list(data.doc_ids) * n if data.doc_ids is not None and measure.tie_rule == "docid" else None
    queries = ScoredQueries(np.tile(labels, n), scores.ravel(), query_ptr, doc_ids)
    return judge(queries, [measure])[0].values.reshape(n, data.n_queries)


def with_fair_ties(measure: Measure) -> Measure:
    """The measure, with a tie rule that input order has no part in unless it names one."""
    return measure if measure.ties is not None else replace(measure, ties="expected")


def order_of_chance(data: Dataset) -> NDArray[np.intp]:
    """The rows of every query in an order drawn from their content, whatever order they came in."""
    keys = content_keys(data)
    query = np.repeat(np.arange(data.n_queries), data.query_lengths)
    drawn = mix(keys ^ mix(np.add.reduceat(mix(keys), data.query_ptr[:-1]))[query])
    return np.lexsort((keys, drawn, query))


def best_and_worst(data: Dataset, measure: Measure) -> Values:
    """(2, n_queries) values of the queries ranked by their labels, and the other way round."""
    labels = labels_to_judge(data).astype(np.float64)
    labels = np.where(np.isnan(labels), np.nanmin(labels) - 1, labels)
    return judged_rankings(data, np.stack((labels, -labels)), with_fair_ties(measure))


def queries_that_count(extremes: Values, measure: Measure, by_query: Values) -> NDArray[np.bool_]:
    """Which queries have a weight, and a best ranking that is better than their worst; an error if none."""
    best, worst = extremes
    counting: NDArray[np.bool_] = (best != worst) & (by_query > 0)
    if not counting.any():
        raise InputError(
            f"there is nothing to learn: no order of the documents of a query would change {measure} "
            "(all labels of each query are equal, or count alike)"
        )
    return counting
