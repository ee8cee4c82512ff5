"""Who wins: the best two rankers of every dataset, what tells them apart, and who is as good for less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from pomona.experiments.analysis.pairs import both_ways
from pomona.experiments.findings import Analysis, Findings, columns

_TIMES = ("train_seconds", "score_microseconds")
_ROLES = ("winner", "runner_up", "cheaper")


class Headline(Analysis):
    """For each dataset the best ranker by the main measure and the second, with what tells them apart.

    difference, low, high, p (Holm's), agree, is_significant : of their pair, seen from the winner.
    cheaper : the fastest to train of those that the winner does not beat significantly; null if it is itself.
    """

    name = "headline"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "measure", *_ROLES),
        "mean": pl.Float64,
        "n_queries": pl.Int64,
        **columns(pl.Float64, "difference", "low", "high", "p"),
        **columns(pl.Boolean, "agree", "is_significant"),
        **columns(pl.Float64, *(f"{role}_{time}" for role in _ROLES for time in _TIMES)),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        rows = []
        for (dataset,), part in findings.ranked.filter(measure=findings.main).group_by(
            "dataset", maintain_order=True
        ):
            best = part.sort("mean", descending=True, maintain_order=True).head(2).to_dicts()
            costs = findings.costs.filter(dataset=dataset)
            spent = {cost["ranker"]: cost for cost in costs.iter_rows(named=True)}
            winner = best[0]["ranker"]
            seen = both_ways(findings.pairs).filter(dataset=dataset, measure=findings.main, a=winner)
            pairs = {row["b"]: row for row in seen.to_dicts() if row["b"] in part["ranker"]}
            row: dict[str, Any] = {
                **{name: best[0][name] for name in ("dataset", "measure", "mean", "n_queries")},
                "winner": winner,
                "runner_up": best[1]["ranker"] if len(best) > 1 else None,
                "cheaper": _cheaper(winner, pairs, spent),
            }
            pair = pairs.get(row["runner_up"], {})
            row |= {name: pair.get(name) for name in ("difference", "low", "high", "agree", "is_significant")}
            row["p"] = pair.get("holm_p")
            row |= {
                f"{role}_{time}": spent.get(row[role], {}).get(time) for role in _ROLES for time in _TIMES
            }
            rows.append({name: row.get(name) for name in cls.schema})
        return cls.table(rows)


def _cheaper(
    winner: str, pairs: Mapping[str, dict[str, Any]], spent: Mapping[str, dict[str, Any]]
) -> str | None:
    as_good = [winner, *(other for other, pair in pairs.items() if not pair["is_significant"])]
    times = {ranker: spent.get(ranker, {}).get("train_seconds") for ranker in as_good}
    known = {ranker: time for ranker, time in times.items() if time is not None}
    fastest = min(known, key=lambda ranker: float(known[ranker]), default=winner)
    return None if fastest == winner else fastest
