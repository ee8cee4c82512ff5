"""How much of a ranker's spread is due to queries, folds and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import polars as pl

from pomona.experiments.analysis.pooled import Pooled
from pomona.stats.variance import variance_shares

_SCHEMA = {
    **dict.fromkeys(("dataset", "measure", "ranker"), pl.String),
    **dict.fromkeys(("queries", "folds", "seeds", "residual"), pl.Float64),
}


def variance_table(datasets: Sequence[Pooled], measures: Sequence[str]) -> pl.DataFrame:
    """Shares of the variance, null where one fold or one seed cannot tell."""
    rows = [
        {
            "dataset": data.dataset,
            "measure": measure,
            "ranker": ranker,
            **asdict(variance_shares([fold[:, :, column] for fold in data.trainings[ranker]])),
        }
        for data in datasets
        for measure in measures
        for column in [data.measures.index(measure)]
        for ranker in data.real
    ]
    return pl.DataFrame(rows, schema=_SCHEMA).fill_nan(None)
