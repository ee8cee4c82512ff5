"""Winning Numbers: how many other rankers each one beats, over all datasets and measures."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import polars as pl

from pomona.experiments.findings import Analysis, Findings, columns
from pomona.stats.winning import winning_numbers


class Winning(Analysis):
    """Winning Numbers of the rankers over datasets × measures; null where nothing was compared."""

    name = "winning"
    schema: ClassVar = {
        "ranker": pl.String,
        **columns(pl.Int64, "winning", "ideal"),
        "normalized": pl.Float64,
        **columns(pl.Boolean, "is_pareto", "is_rank2"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        ranked = findings.ranked
        rankers = ranked["ranker"].unique(maintain_order=True).to_list()
        contests = ranked.select("dataset", "measure").unique(maintain_order=True).rows()
        means = np.full((len(rankers), len(contests)), np.nan)
        for dataset, ranker, measure, mean in ranked.select(
            "dataset", "ranker", "measure", "mean"
        ).iter_rows():
            means[rankers.index(ranker), contests.index((dataset, measure))] = mean
        # Twelve decimals: what differs by rounding only is a tie.
        won = winning_numbers(means.round(12))
        numbers = (won.winning, won.ideal, won.normalized, won.is_pareto, won.is_rank2)
        return cls.table(zip(rankers, *(column.tolist() for column in numbers), strict=True))
