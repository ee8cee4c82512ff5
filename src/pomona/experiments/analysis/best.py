"""What a search for the best ranker found, for its report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from pomona.experiments.best.best_ranker import BestRanker
from pomona.experiments.best.conclusion import Conclusion


@dataclass(frozen=True, eq=False)
class BestFindings:
    """What was tried, and what came of it.

    data, valid : what it was given, in words; `valid` is None where queries were held out in turn.
    trials : see `trials_table`.
    progress : those that were judged by all folds, in the order of time, with the best value so far.
    members : a row for each ranker in the model.
    """

    data: str
    valid: str | None
    measure: str
    n_folds: int
    seconds: float
    spent: float
    was_interrupted: bool
    conclusion: Conclusion
    trials: pl.DataFrame
    progress: pl.DataFrame
    members: pl.DataFrame

    @classmethod
    def of(cls, best: BestRanker, data: str, valid: str | None) -> BestFindings:
        """The findings of a fitted search."""
        return cls(
            data,
            valid,
            str(best.parsed_measure),
            best.n_folds,
            best.seconds_,
            best.spent_,
            best.interrupted_,
            best.conclusion_,
            best.trials_,
            progress_of(best.trials_),
            members_of(best),
        )

    @property
    def summary(self) -> pl.DataFrame:
        """One row: the estimate, and what it took."""
        conclusion, estimate = self.conclusion, self.conclusion.estimate
        row: dict[str, Any] = {
            "measure": self.measure,
            "estimate": estimate.mean,
            "low": estimate.low,
            "high": estimate.high,
            "queries": estimate.n_queries,
            "rankers": len(conclusion.members),
            "weights": conclusion.way,
            "form": conclusion.form,
            "microseconds": conclusion.microseconds,
            "tried": self.trials.height,
            "seconds": self.seconds,
            "seconds_in_all": self.spent,
            "is_partial": conclusion.is_partial,
        }
        return pl.DataFrame([row])


def progress_of(trials: pl.DataFrame) -> pl.DataFrame:
    """The trials that came furthest, as they were done, and the best value so far."""
    top = trials.row(0, named=True)["n_folds"] if trials.height else 0
    done = trials.filter(pl.col("n_folds") == top, pl.col("value").is_not_null(), pl.col("reason") == "")
    ordered = done.sort("at")
    return ordered.with_columns(best=pl.col("value").cum_max()).with_columns(
        is_better=(pl.col("best") > pl.col("best").shift(1)).fill_null(True)
    )


def members_of(best: BestRanker) -> pl.DataFrame:
    """The rankers in the model, the heaviest first: weight, what each is worth alone, and what it costs."""
    chosen = best.trials_.filter(pl.col("weight") > 0).sort("weight", descending=True)
    return chosen.select("recipe", "weight", "value", "microseconds", "seconds", "origin")
