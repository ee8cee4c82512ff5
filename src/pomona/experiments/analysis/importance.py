"""What the models look at: the share of every feature, over folds and seeds."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from pomona.experiments.findings import Analysis, Findings, columns


class Importance(Analysis):
    """The mean share of a feature in the models of a ranker, from its least to its largest.

    How shares come about, `experiments.importance` tells; a feature below its least share counts 0.
    """

    name = "importance"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker", "feature"),
        "n_models": pl.Int64,
        **columns(pl.Float64, "share", "low", "high"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        shares = findings.results.importance
        told = shares.select("dataset", "ranker", "fold", "seed").unique()
        n_models = told.group_by("dataset", "ranker").agg(pl.len().cast(pl.Int64).alias("n_models"))
        by_feature = shares.group_by("dataset", "ranker", "feature", maintain_order=True).agg(
            pl.col("share").sum().alias("sum"),
            pl.col("share").min().alias("least"),
            pl.col("share").max().alias("high"),
            pl.len().alias("n_in"),
        )
        table = by_feature.join(n_models, on=["dataset", "ranker"]).with_columns(
            share=pl.col("sum") / pl.col("n_models"),
            low=pl.when(pl.col("n_in") == pl.col("n_models")).then("least").otherwise(0.0),
        )
        order = pl.col("share").rank("ordinal", descending=True).over("dataset", "ranker")
        return table.sort("dataset", "ranker", order, maintain_order=True).select(*cls.schema)
