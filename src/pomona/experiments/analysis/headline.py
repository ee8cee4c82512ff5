"""Who wins: the best two rankers of every dataset, what tells them apart, and who is as good for less."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import polars as pl

from pomona.experiments.analysis.pairs import both_ways
from pomona.experiments.analysis.variant import contenders
from pomona.experiments.findings import Analysis, Findings, columns

_TIMES = ("train_seconds", "score_microseconds")
_ROLES = ("winner", "runner_up", "cheaper")


class Headline(Analysis):
    """For each dataset the best ranker by the main measure and the second, with what tells them apart.

    Of the variants of one method only the one that the validation queries choose is asked (`contenders`).

    winner_of, runner_up_of : of how many variants it was chosen; 1 where it is none.
    chosen_by : what chose them of their variants: `valid`, or `test` if need be; null where neither is one.
    difference, low, high, p (Holm's), agree, is_significant : of their pair, seen from the winner.
    cheaper : the fastest to train of those that the winner does not beat significantly; null if it is itself.
    """

    name = "headline"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "measure", *_ROLES),
        "mean": pl.Float64,
        **columns(pl.Int64, "n_queries", "winner_of", "runner_up_of"),
        "chosen_by": pl.String,
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
            of_ranker = {row["ranker"]: row for row in part.iter_rows(named=True)}
            means = {ranker: row["mean"] for ranker, row in of_ranker.items()}
            first, *others = contenders(findings, str(dataset), means)
            chosen_by = next(filter(None, (one.chosen_by for one in (first, *others[:1]))), None)
            costs = findings.costs.filter(dataset=dataset)
            spent = {cost["ranker"]: cost for cost in costs.iter_rows(named=True)}
            winner = first.ranker
            seen = both_ways(findings.pairs).filter(dataset=dataset, measure=findings.main, a=winner)
            pairs = {row["b"]: row for row in seen.to_dicts() if row["b"] in part["ranker"]}
            row: dict[str, Any] = {
                **{name: of_ranker[winner][name] for name in ("dataset", "measure", "mean", "n_queries")},
                **{"winner": winner, "winner_of": first.n_variants, "chosen_by": chosen_by},
                **({"runner_up": others[0].ranker, "runner_up_of": others[0].n_variants} if others else {}),
                "cheaper": _cheaper(winner, pairs, spent),
            }
            pair = pairs.get(row.get("runner_up"), {})
            row |= {name: pair.get(name) for name in ("difference", "low", "high", "agree", "is_significant")}
            row["p"] = pair.get("holm_p")
            row |= {
                f"{role}_{time}": spent.get(row.get(role), {}).get(time) for role in _ROLES for time in _TIMES
            }
            rows.append(row)
        return cls.table(rows)


def _cheaper(
    winner: str, pairs: Mapping[str, dict[str, Any]], spent: Mapping[str, dict[str, Any]]
) -> str | None:
    is_worse = {other: pair["is_significant"] and pair["difference"] > 0 for other, pair in pairs.items()}
    as_good = [winner, *(other for other in pairs if not is_worse[other])]
    times = {ranker: spent.get(ranker, {}).get("train_seconds") for ranker in as_good}
    known = {ranker: time for ranker, time in times.items() if time is not None}
    fastest = min(known, key=lambda ranker: float(known[ranker]), default=winner)
    return None if fastest == winner else fastest
