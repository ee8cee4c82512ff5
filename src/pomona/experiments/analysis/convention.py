"""The same rankings judged by each tool's rules, and who changes places (Busa-Fekete et al. 2012)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, permutations

import polars as pl

from pomona.experiments.analysis.pooled import Pooled
from pomona.measures.parse import measure as parse_measure

_SCHEMA = {
    **dict.fromkeys(("dataset", "ranker", "trained_with", "judged_with", "measure"), pl.String),
    "mean": pl.Float64,
    "rank": pl.Int64,
}
_CHANGES = {
    **dict.fromkeys(("dataset", "measure", "convention_1", "convention_2", "better", "worse"), pl.String),
    **dict.fromkeys(("difference_1", "difference_2"), pl.Float64),
}


def plain(measure: str) -> str:
    """A measure's string without its convention.

    >>> plain("letor4:ndcg@10")
    'ndcg@10'
    """
    return measure.rpartition(":")[2]


def convention_table(
    datasets: Sequence[Pooled], runs: pl.DataFrame, measures: Sequence[str], conventions: Sequence[str]
) -> pl.DataFrame:
    """Means and ranks (1 is best, equals share the better one) under every convention.

    `trained_with` is the convention of the measure that the ranker was trained for; null if for none. A
    ranker that was judged on fewer queries has no rank.
    """
    trained = {
        ranker: _convention_of(text) for ranker, text in runs.select("ranker", "trained_for").iter_rows()
    }
    rows = []
    for data in datasets:
        for text in measures:
            judged = {one.convention: str(one) for one in (parse_measure(text, name) for name in conventions)}
            name = plain(next(iter(judged.values())))
            for judge, column in judged.items():
                # Twelve decimals: what differs by rounding only is equal.
                means = {ranker: round(data.mean(ranker, column), 12) for ranker in data.real}
                rows += [
                    (data.dataset, ranker, trained[ranker], judge, name, mean, _rank(ranker, means, data))
                    for ranker, mean in means.items()
                ]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row")


def _rank(ranker: str, means: Mapping[str, float], data: Pooled) -> int | None:
    if ranker not in data.comparable:
        return None
    return 1 + sum(means[other] > means[ranker] for other in data.comparable)


def _convention_of(measure: str | None) -> str | None:
    return None if measure is None else parse_measure(measure).convention


def order_changes(table: pl.DataFrame) -> pl.DataFrame:
    """Pairs of rankers of which one convention prefers the first, another the second."""
    rows = []
    ranked = table.filter(pl.col("rank").is_not_null())
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
    return pl.DataFrame(rows, schema=_CHANGES, orient="row")
