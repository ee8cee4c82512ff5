"""What rankers cost, and which of them nobody beats in both quality and cost."""

from __future__ import annotations

from typing import ClassVar

import polars as pl

from pomona.experiments.findings import Analysis, Findings, columns
from pomona.stats.winning import pareto

_FRONTS = {"on_train_front": "train_seconds", "on_score_front": "score_microseconds"}


class Costs(Analysis):
    """Means over the finished runs of a dataset and ranker; one that failed everywhere has its reason only.

    Seconds are of a training run, microseconds of scoring a document; memory is the largest peak.
    """

    name = "costs"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker"),
        **columns(pl.Float64, "train_seconds", "score_microseconds"),
        **columns(pl.Int64, "peak_memory", "model_bytes"),
        "best_iteration": pl.Float64,
        **columns(pl.Int64, "n_done", "n_failed"),
        "reason": pl.String,
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        done = pl.col("state") == "done"
        means = (pl.col(name).filter(done).mean() for name in ("train_seconds", "best_iteration"))
        seconds, documents = (pl.col(name).filter(done).sum() for name in ("score_seconds", "n_test_docs"))
        return (
            findings.results.runs.filter(~pl.col("is_bound"))
            .group_by("dataset", "ranker", maintain_order=True)
            .agg(
                *means,
                pl.when(documents > 0).then(1e6 * seconds / documents).alias("score_microseconds"),
                pl.col("peak_memory").filter(done).max(),
                pl.col("model_bytes").filter(done).mean().round(),
                done.sum().alias("n_done"),
                (pl.col("state") == "failed").sum().alias("n_failed"),
                pl.col("reason").drop_nulls().first(),
            )
            .select(pl.col(name).cast(kind) for name, kind in cls.schema.items())
        )


class Fronts(Analysis):
    """The mean of the main measure beside the costs, and who is on the Pareto front of the two."""

    name = "fronts"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker"),
        **columns(pl.Float64, "mean", "train_seconds", "score_microseconds"),
        **columns(pl.Boolean, *_FRONTS),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        joined = (
            findings.ranked.filter(measure=findings.main)
            .join(findings.costs, on=["dataset", "ranker"], maintain_order="left")
            .select("dataset", "ranker", "mean", "train_seconds", "score_microseconds")
        )
        frames = [
            part.with_columns(
                pl.Series(front, pareto(part["mean"], -part[cost].fill_null(float("nan"))), pl.Boolean)
                for front, cost in _FRONTS.items()
            )
            for part in joined.partition_by("dataset", maintain_order=True)
        ]
        return pl.concat([pl.DataFrame(schema=cls.schema), *frames])
