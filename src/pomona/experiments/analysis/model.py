"""Every model of a comparison: where it lies, what was chosen for it, and how good it is."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import polars as pl

from pomona.experiments.analysis.trials import word
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.experiments.refit import model_names


class Models(Analysis):
    """One row a finished run.

    file : its place in the directory of the comparison. name : what `models/index.csv` calls it.
    valid, test : means of the main measure. steps : trees, rounds or epochs that were kept.
    chosen : the parameters that a search, or the ranker itself where they were left open, chose: in words.
    """

    name = "models"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "ranker"),
        **columns(pl.Int64, "fold", "seed"),
        **columns(pl.Float64, "valid", "test"),
        **columns(pl.Int64, "steps", "bytes"),
        **columns(pl.String, "chosen", "name", "file"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        results = findings.results
        keys = ["dataset", "ranker", "fold", "seed"]
        of_parts = results.values.group_by(*keys, "part").agg(pl.col(findings.main).mean().alias("mean"))
        means = {tuple(row[:-1]): row[-1] for row in of_parts.iter_rows()}
        searched = results.trials.filter("is_chosen").select(*keys, "parameters").rows()
        tried = {tuple(key): json.loads(parameters) for *key, parameters in searched}
        runs = results.runs.filter(state="done", is_bound=False)
        names = model_names(runs)
        rows = []
        for run in runs.iter_rows(named=True):
            key = tuple(run[name] for name in keys)
            chosen = tried.get(key, {}) | json.loads(run.get("chosen") or "{}")
            chosen = {name: value for name, value in chosen.items() if value is not None}  # left open, again
            row: dict[str, Any] = {name: run[name] for name in keys}
            row |= {part: means.get((*key, part)) for part in ("valid", "test")}
            row |= {"steps": run["best_iteration"], "bytes": run["model_bytes"]}
            row |= {"chosen": ", ".join(f"{name} = {word(value)}" for name, value in chosen.items())}
            row |= {"name": names[run["run"]], "file": f"models/{run['run']}.pomona"}
            rows.append(row)
        return cls.table(rows)
