"""What a study found: quality against the amount of training data, of label noise, or of features.

The variants of a dataset are judged on the same test queries. A value is the mean over queries and draws, its
interval that of both. Every variant is tested against the complete data, query by query, the draws averaged;
Holm's correction is over the values of the variable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars as pl

from pomona._types import Values
from pomona.experiments.analysis.pooled import Pooled, pooled
from pomona.experiments.data_spec import DataSpec
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.experiments.variation import Variation
from pomona.stats.bootstrap import interval_crossed
from pomona.stats.corrections import holm
from pomona.stats.paired import PairedTests

_COUNTS = ("n_train_queries", "n_train_docs", "n_features")


class Study(Analysis):
    """Means of the variants of a dataset, one row a value of the variable, series and measure.

    dataset : the one that is varied. variable : what is varied, `x` its value.
    series : what a curve is of: the ranker, and the values of further variables.
    n_train_queries, n_train_docs, n_features : to learn from, means over folds and draws.
    pairs_turned, pairs_equal : the shares of training pairs whose order the noise turns, or makes equal.
    difference, difference_low, difference_high : from the complete data (`is_reference`).
    loss : the same in percent of the value on the complete data, with the sign turned.
    is_significant : the tests of `pairs` agree, and Holm's p is at most α.
    """

    name = "study"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "variable", "series", "ranker", "measure"),
        "x": pl.Float64,
        "n_draws": pl.Int64,
        **columns(pl.Float64, *_COUNTS, "pairs_turned", "pairs_equal"),
        **columns(pl.Float64, "mean", "low", "high"),
        "is_reference": pl.Boolean,
        **columns(pl.Float64, "difference", "difference_low", "difference_high", "loss"),
        **columns(pl.Float64, "t_p", "wilcoxon_p", "sign_p", "randomization_p", "holm_p"),
        **columns(pl.Boolean, "agree", "is_significant"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        if findings.varied is None:
            return cls.table(())
        by_name = {data.dataset: data for data in pooled(findings.varied)}
        studies = [data for data in findings.varied.spec.datasets if data.is_study]
        return cls.table(row for data in studies for row in _rows(data, by_name, findings))


@dataclass
class _Point:
    """A value of the variable: what was learnt from, and (draws × rankers × queries × measures) values."""

    x: float
    variants: list[str]
    values: Values


def variable_of(data: DataSpec) -> str:
    """The variable that a study is about: the first of its `each`."""
    name = next(iter(data.each), "draw")
    return "n_features" if name == "features" else name


def _rows(data: DataSpec, by_name: dict[str, Pooled], findings: Findings) -> Iterator[dict[str, Any]]:
    assert findings.varied is not None
    runs, variable = findings.varied.runs.filter(of=data.name), variable_of(data)
    rankers = runs.filter(~pl.col("is_bound"))["ranker"].unique(maintain_order=True).to_list()
    facts = {key[0]: part for key, part in runs.partition_by("dataset", as_dict=True).items()}
    for others, points in _points(data, by_name, rankers, findings.measures, facts).items():
        for r, ranker in enumerate(rankers):
            # A variant that misses queries of the others, because a run failed, cannot stand among them.
            whole = [point for point in points if np.isfinite(point.values[:, r]).all()]
            if not whole:
                continue
            reference = whole[_reference(variable, [point.x for point in whole])]
            for m, measure in enumerate(findings.measures):
                draws = [point.values[:, r, :, m] for point in whole]
                tests = _tests(draws, whole.index(reference), findings)
                base = reference.values[:, r, :, m].mean()
                for point, values, test, p in zip(whole, draws, *tests, strict=True):
                    ends = interval_crossed(values[None], seed=findings.seed, level=1 - findings.alpha)
                    agree = None if test is None else test.agree(findings.alpha)
                    known = [facts[name] for name in point.variants]
                    yield {
                        "dataset": data.name,
                        "variable": variable,
                        "series": ", ".join(filter(None, (ranker, others))),
                        "ranker": ranker,
                        "measure": measure,
                        "x": point.x,
                        "n_draws": len(point.variants),
                        **{name: _mean(known, name) for name in (*_COUNTS, "pairs_turned", "pairs_equal")},
                        "mean": values.mean(),
                        "low": ends[0][0],
                        "high": ends[1][0],
                        "is_reference": point is reference,
                        **({} if test is None else _tested(test)),
                        "loss": 100 * (base - values.mean()) / base if base else None,
                        "holm_p": p,
                        "agree": agree,
                        "is_significant": None if p is None else bool(agree and p <= findings.alpha),
                    }


def _points(
    data: DataSpec,
    by_name: dict[str, Pooled],
    rankers: list[str],
    measures: list[str],
    facts: dict[str, pl.DataFrame],
) -> dict[str, list[_Point]]:
    """By the values of the further variables, in words: the points of a curve, in the order of x."""
    groups: dict[str, dict[float, list[str]]] = {}
    for name, variation in data.variants():
        if name in by_name:
            further = [_word(key, variation) for key in list(data.each)[1:]]
            x = _value(variable_of(data), variation, facts[name])
            groups.setdefault(", ".join(further), {}).setdefault(x, []).append(name)
    known = [by_name[name] for group in groups.values() for names in group.values() for name in names]
    queries = max((one.queries for one in known), key=len)
    return {
        others: [
            _Point(
                x, names, np.stack([_aligned(by_name[name], rankers, queries, measures) for name in names])
            )
            for x, names in sorted(group.items())
        ]
        for others, group in groups.items()
    }


def _value(variable: str, variation: Variation, runs: pl.DataFrame) -> float:
    if variable == "n_features":
        return float(runs["n_features"].max() or 0)  # type: ignore[arg-type]
    return float(getattr(variation, variable))


def _word(key: str, variation: Variation) -> str:
    value: Any = getattr(variation, key)
    words = {"train_fraction": "of the queries", "label_noise": "noise"}
    if key in words:
        return f"{value:.4g} {words[key]}"
    return "all features" if value == "all" else f"{len(value) if key == 'features' else value} features"


def _aligned(data: Pooled, rankers: list[str], queries: pl.DataFrame, measures: list[str]) -> Values:
    """(rankers × queries × measures) values; NaN where there are none."""
    place = {key: q for q, key in enumerate(queries.rows())}
    at = [place[key] for key in data.queries.rows()]
    chosen = [data.measures.index(measure) for measure in measures]
    out = np.full((len(rankers), len(queries), len(measures)), np.nan)
    for r, ranker in enumerate(rankers):
        if ranker in data.rankers:
            out[r, at] = data.values[data.rankers.index(ranker)][:, chosen]
    return out


def _reference(variable: str, xs: list[float]) -> int:
    """The complete data: all queries, all features, no noise."""
    return int(np.argmin(xs)) if variable == "label_noise" else int(np.argmax(xs))


def _tests(
    draws: list[Values], reference: int, findings: Findings
) -> tuple[list[PairedTests | None], list[float | None]]:
    """Each point against the reference, and Holm's p; nothing for the reference itself."""
    rows = np.stack([values.mean(axis=0) for values in draws])
    others = np.array([i for i in range(len(rows)) if i != reference], np.intp)
    tests: list[PairedTests | None] = [None] * len(rows)
    corrected: list[float | None] = [None] * len(rows)
    if len(others) and rows.shape[1] > 1:
        pairs = findings.compared(rows, others, np.full(len(others), reference))
        for i, test, p in zip(others, pairs, holm([one.randomization_p for one in pairs]), strict=True):
            tests[i], corrected[i] = test, float(p)
    return tests, corrected


def _tested(test: PairedTests) -> dict[str, Any]:
    p = {name: getattr(test, name) for name in ("t_p", "wilcoxon_p", "sign_p", "randomization_p")}
    ends = {"difference": test.difference, "difference_low": test.low, "difference_high": test.high}
    return {**ends, **p}


def _mean(runs: list[pl.DataFrame], name: str) -> float | None:
    values = pl.concat([part[name].cast(pl.Float64) for part in runs]).drop_nulls()
    return None if values.is_empty() else float(values.mean())  # type: ignore[arg-type]


class Enough(Analysis):
    """For each curve over the amount of training data: the least that is not significantly below all of it.

    Every column is of that point; `whole` is the number of documents of the complete data.
    """

    name = "enough"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "series", "measure"),
        **columns(pl.Float64, "x", "n_train_queries", "n_train_docs", "whole", "mean", "whole_mean"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        rows = []
        sizes = findings.study.filter(variable="train_fraction")
        for _, curve in sizes.group_by("dataset", "series", "measure", maintain_order=True):
            points = curve.sort("x").to_dicts()
            whole = next(point for point in points if point["is_reference"])
            enough = next(
                point for point in points if not (point["is_significant"] and point["difference"] < 0)
            )
            rows.append({**enough, "whole": whole["n_train_docs"], "whole_mean": whole["mean"]})
        return cls.table(rows)
