"""Judging rankings while a ranker learns: of one list of scores or of many, with ties that cannot tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pomona._types import Scores, Values
from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.judge import judge
from pomona.measures.lists import Judged


def mean_of(data: Dataset, scores: Scores, measure: Measure) -> float:
    """The mean of a measure over all queries."""
    return judge(Judged(data.y, scores, data.query_ptr, data.doc_ids), [measure])[0].mean


def judged_rankings(data: Dataset, scores: Scores, measure: Measure) -> Values:
    """(n_rankings, n_queries) values of (n_rankings, n_docs) scores, as so many more queries."""
    n = len(scores)
    starts = np.arange(n)[:, None] * data.n_docs + data.query_ptr[:-1]
    query_ptr = np.append(starts.ravel(), n * data.n_docs)
    doc_ids = list(data.doc_ids) * n if data.doc_ids is not None and measure.ties == "docid" else None
    judged = Judged(np.tile(data.y, n), scores.ravel(), query_ptr, doc_ids)
    return judge(judged, [measure])[0].values.reshape(n, data.n_queries)


def with_fair_ties(measure: Measure) -> Measure:
    """The measure, with a tie rule that input order has no part in unless it names one."""
    if measure.ties is not None:
        return measure
    has_closed_form = type(measure).of_lists is not Measure.of_lists
    return replace(measure, ties="expected" if has_closed_form else "worst")


def best_and_worst(data: Dataset, measure: Measure) -> Values:
    """(2, n_queries) values of the queries ranked by their labels, and the other way round."""
    labels = data.y.astype(np.float64)
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
