"""Who wins: the best two rankers of every dataset, and the Winning Numbers over all datasets and measures."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from pomona.stats.winning import winning_numbers

_HEADLINE = {
    **dict.fromkeys(("winner", "runner_up", "measure", "dataset"), pl.String),
    **dict.fromkeys(("difference", "low", "high", "p"), pl.Float64),
    "is_significant": pl.Boolean,
    **{
        f"{who}_{cost}": pl.Float64
        for who in ("winner", "runner_up")
        for cost in ("train_seconds", "score_microseconds")
    },
}


def headline_table(
    table: pl.DataFrame, pairs: pl.DataFrame, costs: pl.DataFrame, main: str, alpha: float
) -> pl.DataFrame:
    """For each dataset the best ranker by the main measure and the second, with what tells them apart.

    Significant is a difference that t, Wilcoxon and sign test agree on and whose randomization test,
    corrected by Holm for all pairs (`p`), rejects too.
    """
    spent = {(row["dataset"], row["ranker"]): row for row in costs.iter_rows(named=True)}
    rows = []
    real = table.filter((pl.col("measure") == main) & ~pl.col("is_bound"))
    for (dataset,), part in real.group_by("dataset", maintain_order=True):
        best = part.sort("mean", descending=True, maintain_order=True)["ranker"].head(2).to_list()
        winner, runner_up = best[0], best[1] if len(best) > 1 else None
        row: dict[str, Any] = {"winner": winner, "runner_up": runner_up, "measure": main, "dataset": dataset}
        for who, ranker in (("winner", winner), ("runner_up", runner_up)):
            for cost in ("train_seconds", "score_microseconds"):
                row[f"{who}_{cost}"] = spent.get((dataset, ranker), {}).get(cost)
        rows.append({**dict.fromkeys(_HEADLINE), **row, **_between(pairs, row, alpha)})
    return pl.DataFrame(rows, schema=_HEADLINE)


def _between(pairs: pl.DataFrame, row: dict[str, Any], alpha: float) -> dict[str, Any]:
    """What the pair of winner and runner-up says, seen from the winner."""
    both = [row["winner"], row["runner_up"]]
    found = pairs.filter(
        pl.col("a").is_in(both), pl.col("b").is_in(both), dataset=row["dataset"], measure=row["measure"]
    )
    if found.is_empty():
        return {}
    pair = found.row(0, named=True)
    said = {"p": pair["holm_p"], "is_significant": pair["agree"] and pair["holm_p"] <= alpha}
    if pair["a"] == row["winner"]:
        return {**said, **{name: pair[name] for name in ("difference", "low", "high")}}
    turned = {"difference": "difference", "low": "high", "high": "low"}
    return {**said, **{name: None if pair[of] is None else -pair[of] for name, of in turned.items()}}


def winning_table(table: pl.DataFrame) -> pl.DataFrame:
    """Winning Numbers of the rankers over datasets × measures; null where nothing was compared."""
    real = table.filter(~pl.col("is_bound"))
    rankers = real["ranker"].unique(maintain_order=True).to_list()
    results = real.select("dataset", "measure").unique(maintain_order=True).rows()
    means = np.full((len(rankers), len(results)), np.nan)
    for dataset, ranker, measure, mean in real.select("dataset", "ranker", "measure", "mean").iter_rows():
        means[rankers.index(ranker), results.index((dataset, measure))] = mean
    # Twelve decimals: what differs by rounding only is a tie.
    won = winning_numbers(means.round(12))
    return pl.DataFrame(
        {
            "ranker": pl.Series(rankers, dtype=pl.String),
            "winning": won.winning,
            "ideal": won.ideal,
            "normalized": won.normalized,
            "is_pareto": won.is_pareto,
            "is_rank2": won.is_rank2,
        }
    ).fill_nan(None)
