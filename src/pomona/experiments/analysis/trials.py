"""What the searches for parameters tried: every value of every parameter, and what it gave."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import polars as pl

from pomona.experiments.findings import Analysis, Findings, columns


class Trials(Analysis):
    """One row a trial and searched parameter; `value` is of the validation queries, null where it failed.

    setting : the parameter's value in words; x : as a number, if it is one. is_chosen : the trial was kept.
    """

    name = "trials"
    schema: ClassVar = {
        "dataset": pl.String,
        "fold": pl.Int64,
        "ranker": pl.String,
        **columns(pl.Int64, "seed", "trial"),
        **columns(pl.String, "parameter", "setting"),
        **columns(pl.Float64, "x", "value"),
        "is_chosen": pl.Boolean,
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        rows = []
        for trial in findings.results.trials.iter_rows(named=True):
            for parameter, setting in json.loads(trial["parameters"]).items():
                words = {"parameter": parameter, "setting": word(setting), "x": _number(setting)}
                rows.append({**trial, **words})
        return cls.table(rows)


def _number(setting: Any) -> float | None:
    is_number = isinstance(setting, int | float) and not isinstance(setting, bool)
    return float(setting) if is_number else None


def word(setting: Any) -> str:
    """A parameter's value in words."""
    if setting is None:
        return "auto"  # left to the ranker
    return f"{setting:.4g}" if isinstance(setting, float) else str(setting)
