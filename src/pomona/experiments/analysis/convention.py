"""The same rankings judged by each tool's rules, and who changes places (Busa-Fekete et al. 2012)."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona.errors import InputError
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.measures.base import Measure


def plain(measure: str) -> str:
    """A measure's string without its convention.

    >>> plain("letor4:ndcg@10")
    'ndcg@10'
    """
    return measure.rpartition(":")[2]


def convention_of(measure: str) -> str:
    """The convention in a measure's string.

    >>> convention_of("letor4:ndcg@10"), convention_of("ap")
    ('letor4', 'definition')
    """
    return measure.rpartition(":")[0] or "definition"


def differences_from_definition(
    judge: Measure, max_label: float, *, has_empty: bool, has_short: bool
) -> list[str]:
    """In which queries of such data a measure differs from its definition: all, empty ones, short ones.

    It is tried on lists of whole labels up to `max_label`. How ties are broken is left aside. A measure of a
    user's own has no other convention.

    >>> from pomona.measures.parse import measure
    >>> differences_from_definition(measure("ranklib:ndcg@10"), 2, has_empty=True, has_short=True)
    []
    >>> differences_from_definition(measure("letor4:ndcg@10"), 2, has_empty=True, has_short=True)
    ['gain or discount', 'short queries']
    """
    by_definition = judge.under("definition")
    depth, top = judge.k or 10, int(max_label)
    labels = np.arange(4 * max(depth, top + 1)) % (top + 1)
    lists = {"gain or discount": [np.random.default_rng(seed).permutation(labels) for seed in range(5)]}
    if has_empty:
        lists["empty queries"] = [np.zeros_like(labels)]
    if has_short and depth > 1:
        lists["short queries"] = [np.sort(labels[: depth - 1])[::-1]]  # ranked perfectly: gains do not matter
    return [what for what, tried in lists.items() if any(_differ(judge, by_definition, one) for one in tried)]


def _differ(judge: Measure, other: Measure, labels: NDArray[np.integer]) -> bool:
    try:
        return abs(judge.of_query(labels) - other.of_query(labels)) > 1e-6
    except InputError:  # that the tool refuses is a difference, too
        return True


class Conventions(Analysis):
    """Means and ranks (1 is best, equals share the better one) under every convention.

    `trained_with` is the convention of the measure that the ranker was trained for; null if for none. A
    ranker whose mean cannot be ranked has no rank.
    """

    name = "conventions"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker", "trained_with", "judged_with", "measure"),
        "mean": pl.Float64,
        "rank": pl.Int64,
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        spec, aims = findings.results.spec, findings.results.runs.select("ranker", "trained_for")
        trained = {ranker: None if aim is None else convention_of(aim) for ranker, aim in aims.iter_rows()}
        rows = []
        for data in findings.pooled:
            for text in spec.measures:
                columns = (findings.results.columns[text, name] for name in spec.conventions)
                judges = {convention_of(column): column for column in columns}
                name = plain(next(iter(judges.values())))
                for judge, column in judges.items():
                    # Twelve decimals: what differs by rounding only is equal.
                    means = {ranker: round(data.mean(ranker, column), 12) for ranker in data.real}
                    ranked = [means[ranker] for ranker in data.comparable]
                    for ranker, mean in means.items():
                        rank = 1 + sum(other > mean for other in ranked)
                        rows.append(
                            {
                                "dataset": data.dataset,
                                "ranker": ranker,
                                "trained_with": trained[ranker],
                                "judged_with": judge,
                                "measure": name,
                                "mean": mean,
                                "rank": rank if ranker in data.comparable else None,
                            }
                        )
        return cls.table(rows)


class OrderChanges(Analysis):
    """Pairs of rankers of which one convention prefers the first, another the second."""

    name = "order_changes"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "measure", "convention_1", "convention_2", "better", "worse"),
        **columns(pl.Float64, "difference_1", "difference_2"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        rows = []
        ranked = findings.conventions.filter(pl.col("rank").is_not_null())
        for (dataset, measure), part in ranked.group_by("dataset", "measure", maintain_order=True):
            means = {
                (judge, ranker): mean
                for judge, ranker, mean in part.select("judged_with", "ranker", "mean").iter_rows()
            }
            judges = part["judged_with"].unique(maintain_order=True).to_list()
            rankers = part["ranker"].unique(maintain_order=True).to_list()
            for one, two in combinations(judges, 2):
                for better, worse in permutations(rankers, 2):
                    before, after = (means[judge, better] - means[judge, worse] for judge in (one, two))
                    if before > 0 > after:
                        rows.append((dataset, measure, one, two, better, worse, before, after))
        return cls.table(rows)
