"""How much of the variance of a ranker's values is due to queries, folds and seeds."""

from __future__ import annotations

from dataclasses import asdict
from typing import ClassVar

import polars as pl

from pomona.experiments.findings import Analysis, Findings, columns
from pomona.stats.variance import variance_shares


class Variance(Analysis):
    """Shares of the variance, null where one fold or one seed cannot tell."""

    name = "variance"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "measure", "ranker"),
        **columns(pl.Float64, "queries", "folds", "seeds", "residual"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        return cls.table(
            {
                "dataset": data.dataset,
                "measure": measure,
                "ranker": ranker,
                **asdict(variance_shares([fold[:, :, column] for fold in data.trainings[ranker]])),
            }
            for data in findings.pooled
            for measure in findings.measures
            for column in [data.measures.index(measure)]
            for ranker in data.real
        )
