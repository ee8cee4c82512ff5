"""Rows of one method that differ in a parameter on purpose (`each` of a spec): quality against the parameter.

A measure as a parameter counts as its cut-off k. The slope of quality on a parameter is a mean over queries
of their own slopes, so its interval is a bootstrap over queries. Of a grid, the best and the worst model by
the validation queries are compared on the test queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import polars as pl

from pomona._types import Values
from pomona.errors import PomonaError
from pomona.experiments.analysis.pooled import Pooled
from pomona.experiments.analysis.variant import valid_means, variants
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.measures.parse import measure as parse_measure
from pomona.stats.bootstrap import Resampled
from pomona.stats.norm import norm_performance


class Grid(Analysis):
    """One row a dataset and ranker of a group: the values of the parameters that vary (the first two).

    group : the method. variable, x, value : a parameter, its value as a number, if it is one, and in words;
        variable_2, x_2, value_2 of the second. norm : NormPerformance over the measures, in the group.
    valid : the mean of the main measure on validation queries, which may choose.
    """

    name = "grid"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "group", "ranker", "variable", "value", "variable_2", "value_2"),
        **columns(pl.Float64, "x", "x_2", "norm", "valid"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        groups = variants(findings)
        rows: list[dict[str, Any]] = []
        for data in findings.pooled:
            by_valid = valid_means(findings, data.dataset)
            for group, members in groups.items():
                known = {label: given for label, given in members.items() if label in data.comparable}
                means = [[data.mean(label, one) for one in _judged(findings)] for label in known]
                norms = norm_performance(means) if known else ()
                for (label, given), norm in zip(known.items(), norms, strict=True):
                    row = {"dataset": data.dataset, "group": group, "ranker": label, "norm": norm}
                    row |= {"valid": by_valid.get(label)}
                    for end, (name, value) in zip(("", "_2"), given.items(), strict=False):
                        row |= {f"variable{end}": name, f"x{end}": _number(value), f"value{end}": str(value)}
                    rows.append(row)
        return cls.table(rows)


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        try:
            k = parse_measure(value).k
        except PomonaError:  # a text that is no measure
            return None
        return None if k is None else float(k)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _judged(findings: Findings) -> list[str]:
    """The measures under the first convention."""
    return findings.measures[: len(findings.results.spec.measures)]


class Slopes(Analysis):
    """The slope of a measure on the one parameter of a group, per unit, with its interval over queries."""

    name = "slopes"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "group", "variable", "measure"),
        "n_models": pl.Int64,
        **columns(pl.Float64, "slope", "low", "high"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        return cls.table(row for data in findings.pooled for row in _slopes(data, findings))


def _slopes(data: Pooled, findings: Findings) -> Iterator[tuple[Any, ...]]:
    alone = findings.grid.filter(pl.col("variable_2").is_null(), dataset=data.dataset)
    for (group,), part in alone.group_by("group", maintain_order=True):
        x = part["x"].to_numpy()
        if part["x"].null_count() or len(np.unique(x)) < 3:
            continue
        weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
        for measure in findings.measures:
            slopes: Values = weights @ _of(data, part["ranker"].to_list(), measure)
            low, high = Resampled.of(slopes[None], findings.n_resamples, findings.seed).intervals(
                1 - findings.alpha
            )
            yield (
                *(data.dataset, group, part["variable"][0], measure, len(part)),
                *(float(slopes.mean()), float(low[0]), float(high[0])),
            )


class Extremes(Analysis):
    """The best minus the worst model of a group, which the validation queries choose, on the test queries.

    spread : the best minus the worst mean of the test queries, which no one could have chosen.
    """

    name = "extremes"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "group", "measure", "best", "worst"),
        **columns(pl.Float64, "difference", "low", "high", "t_p", "wilcoxon_p", "sign_p", "randomization_p"),
        "agree": pl.Boolean,
        "spread": pl.Float64,
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        return cls.table(row for data in findings.pooled for row in _extremes(data, findings))


def _extremes(data: Pooled, findings: Findings) -> Iterator[Mapping[str, Any]]:
    known = findings.grid.filter(pl.col("valid").is_not_null(), dataset=data.dataset)
    for (group,), part in known.group_by("group", maintain_order=True):
        ordered = part.sort("valid", maintain_order=True)["ranker"]
        best, worst = ordered[-1], ordered[0]
        if best == worst:
            continue
        for measure in findings.measures:
            (tests,) = findings.compared(_of(data, [best, worst], measure))
            means = [data.mean(ranker, measure) for ranker in part["ranker"]]
            row = {"dataset": data.dataset, "group": group, "measure": measure, "best": best, "worst": worst}
            decided = {"agree": tests.agree(findings.alpha), "spread": max(means) - min(means)}
            yield row | asdict(tests) | decided


def _of(data: Pooled, rankers: list[str], measure: str) -> Values:
    """(rankers × queries) values of the queries that all have."""
    values: Values = data.of_measure(measure)[[data.rankers.index(ranker) for ranker in rankers]]
    return values[:, np.isfinite(values).all(axis=0)]
