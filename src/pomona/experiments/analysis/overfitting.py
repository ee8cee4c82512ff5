"""Does it hurt to go on: the test queries at the iteration that validation chose, and at the last."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import polars as pl

from pomona.experiments.findings import Analysis, Findings, columns
from pomona.stats.corrections import holm

SHOWN = (100, 200)
"""The iterations that the thesis speaks of (Modrý 2014, section 5.4)."""


class Overfitting(Analysis):
    """Means over test queries by the measure that the ranker was trained for.

    chosen : the iteration that the validation queries chose, a mean over folds and seeds. last : the last.
    at_100, at_200, at_chosen, at_last : the mean after so many; of a run that ended before, at its end.
    difference : at_last − at_chosen, the loss by training on, with its interval and tests over queries.
    is_significant : the tests agree, and Holm's p over the rankers of a dataset is at most α.
    """

    name = "overfitting"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker", "measure"),
        "n_queries": pl.Int64,
        **columns(pl.Float64, "chosen", "last", *(f"at_{n}" for n in SHOWN), "at_chosen", "at_last"),
        **columns(pl.Float64, "difference", "low", "high"),
        **columns(pl.Float64, "t_p", "wilcoxon_p", "sign_p", "randomization_p", "holm_p"),
        **columns(pl.Boolean, "agree", "is_significant"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        rows: list[dict[str, Any]] = []
        stages = findings.results.stages
        for (_,), dataset in stages.group_by("dataset", maintain_order=True):
            family = [
                _row(part, findings) for _, part in dataset.group_by("ranker", "measure", maintain_order=True)
            ]
            for row, p in zip(family, holm([row["randomization_p"] for row in family]), strict=True):
                significant = bool(row["agree"] and p <= findings.alpha)
                rows.append({**row, "holm_p": float(p), "is_significant": significant})
        return cls.table(rows)


def _row(part: pl.DataFrame, findings: Findings) -> dict[str, Any]:
    runs = part.group_by("fold", "seed").agg(
        pl.col("iteration").filter("is_chosen").first().alias("chosen"),
        pl.col("iteration").filter("is_last").first().alias("last"),
    )
    keys = ["fold", "qid"]
    at = {
        "at_chosen": part.filter("is_chosen"),
        "at_last": part.filter("is_last"),
        # A run that ended before stays as it is.
        **{
            f"at_{n}": part.filter(pl.col("iteration") <= n)
            .sort("iteration")
            .unique(["fold", "seed", "qid"], keep="last", maintain_order=True)
            for n in SHOWN
        },
    }
    by_query = {name: one.group_by(keys).agg(pl.col("value").mean()).sort(keys) for name, one in at.items()}
    last, chosen = (by_query[name]["value"].to_numpy() for name in ("at_last", "at_chosen"))
    (tests,) = findings.compared(np.stack([last, chosen]))
    return {
        **part.select("dataset", "ranker", "measure").row(0, named=True),
        "chosen": runs["chosen"].mean(),
        "last": runs["last"].mean(),
        **{name: float(np.mean(values["value"].to_numpy())) for name, values in by_query.items()},
        **asdict(tests),
        "agree": tests.agree(findings.alpha),
    }
