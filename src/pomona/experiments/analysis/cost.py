"""What rankers cost, and which of them nobody beats in both quality and cost."""

from __future__ import annotations

import polars as pl

from pomona.stats.winning import pareto


def cost_table(runs: pl.DataFrame) -> pl.DataFrame:
    """Means over the finished runs of a dataset and ranker; one that failed everywhere has its reason only.

    Seconds are of a training run, microseconds of scoring a document; memory is the largest peak.
    """
    done = pl.col("state") == "done"
    means = {
        name: pl.col(name).filter(done).mean() for name in ("train_seconds", "model_bytes", "best_iteration")
    }
    seconds, documents = (pl.col(name).filter(done).sum() for name in ("score_seconds", "n_test_docs"))
    return (
        runs.filter(~pl.col("is_bound"))
        .group_by("dataset", "ranker", maintain_order=True)
        .agg(
            means["train_seconds"],
            pl.when(documents > 0).then(1e6 * seconds / documents).alias("score_microseconds"),
            pl.col("peak_memory").filter(done).max(),
            means["model_bytes"].round().cast(pl.Int64),
            means["best_iteration"],
            done.sum().cast(pl.Int64).alias("n_done"),
            (pl.col("state") == "failed").sum().cast(pl.Int64).alias("n_failed"),
            pl.col("reason").drop_nulls().first(),
        )
    )


def front_table(table: pl.DataFrame, costs: pl.DataFrame, main: str) -> pl.DataFrame:
    """The mean of the main measure beside the costs, and who is on the Pareto front of the two."""
    joined = (
        table.filter((pl.col("measure") == main) & ~pl.col("is_bound"))
        .join(costs, on=["dataset", "ranker"], maintain_order="left")
        .select("dataset", "ranker", "mean", "train_seconds", "score_microseconds")
    )
    frames = [
        part.with_columns(
            pl.Series(front, pareto(part["mean"], -part[cost].fill_null(float("nan"))), pl.Boolean)
            for front, cost in (("on_train_front", "train_seconds"), ("on_score_front", "score_microseconds"))
        )
        for part in joined.partition_by("dataset", maintain_order=True)
    ]
    empty = joined.clear().with_columns(
        on_train_front=pl.lit(None, pl.Boolean), on_score_front=pl.lit(None, pl.Boolean)
    )
    return pl.concat([empty, *frames])
