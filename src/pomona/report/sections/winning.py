"""How many other rankers does each one beat, over all datasets and measures?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.digits import count
from pomona.report.encoding import FRONT_HEIGHT, Chart, Rows, labelled_points, scale_of, sized, tips
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, rounded, text

_INTRODUCTION = """
<p>How many other rankers each one beats, over all datasets and measures (Hiemstra et al. 2017).</p>
"""


class WinningSection(Section):
    """Winning Numbers (Hiemstra et al. 2017)."""

    name = "winning"
    title = "Winning numbers"
    order = 70

    def overall(self, findings: Findings) -> Parts:
        compared = findings.winning.filter(pl.col("normalized").is_not_null())
        # Of one dataset, the table of results says all of it.
        if findings.ranked["dataset"].n_unique() < 2 or len(compared) < 2:
            return
        yield Html(_INTRODUCTION)
        # Where all took part in as many comparisons, the chart would be a line.
        has_chart = compared["ideal"].n_unique() > 1
        if has_chart:
            yield Figure(
                "winning-numbers",
                winning_numbers(findings),
                "Up: the share of comparisons won. Right: the number of comparisons, so how sure that "
                "share is.",
            )
        yield Numbers(winning_table(findings), "The winning numbers", is_open=not has_chart)


def winning_numbers(findings: Findings) -> Chart | None:
    """Of the rankers of a comparison."""
    compared = findings.winning.filter(pl.col("normalized").is_not_null()).to_dicts()
    return winning_chart(compared, findings.baseline) if compared else None


def winning_chart(methods: Rows, baseline: str = "", noun: str = "rankers") -> Chart:
    """Normalized against ideal winning number (Hiemstra et al. 2017, Figure 1): how good, and how surely.

    As there, labels are of the Pareto front, smaller ones of rank 2, and of linear regression and the best
    single feature as baselines (without these, of `baseline`). Where methods are few, the others have small
    ones, too.
    """
    named = [row["ranker"] for row in methods if _is_baseline(row["ranker"])] or [baseline]
    groups = [_group(row, named) for row in methods]
    rows = [
        {
            **row,
            "front": group,
            "slot": _SLOTS[group],
            "label": row["ranker"] if group != "others" or len(methods) <= _FEW else "",
            "is_small": not row["is_pareto"] and row["ranker"] not in named,
        }
        for row, group in zip(methods, groups, strict=True)
    ]
    rows.sort(key=lambda row: (not row["is_pareto"], row["ranker"] not in named, not row["is_rank2"]))
    front = sorted((row for row in rows if row["is_pareto"]), key=lambda row: float(row["ideal"]))
    tooltip = tips(
        ranker=noun.removesuffix("s"),
        winning=("winning number", "d"),
        ideal=("ideal", "d"),
        normalized=("normalized", ".4f"),
        front="front",
    )
    chart = labelled_points(
        rows,
        front,
        alt.X(
            "ideal:Q",
            title="ideal winning number: comparisons it took part in",
            scale=scale_of([row["ideal"] for row in rows]),
            axis=alt.Axis(format="d", tickMinStep=1, tickCount=6),
        ),
        alt.Y(
            "normalized:Q",
            title="normalized winning number",
            scale=scale_of([row["normalized"] for row in rows]),
        ),
        tooltip,
        "linear",
        groups={slot: group for group, slot in _SLOTS.items() if group in groups},
        n_needed=sum(row["is_pareto"] or row["ranker"] in named for row in rows),
    )
    best = ", ".join(row["ranker"] for row in front)
    return sized(
        chart,
        f"Normalized against ideal winning number of {len(rows)} {noun}. Pareto-optimal: {best}.",
        height=FRONT_HEIGHT,
    )


_FEW = 12
_SLOTS = {"Pareto-optimal": "1", "rank 2": "2", "baseline": "3", "others": "other"}


def _group(row: Mapping[str, Any], baselines: Sequence[str]) -> str:
    if row["is_pareto"]:
        return "Pareto-optimal"
    if row["is_rank2"]:
        return "rank 2"
    return "baseline" if row["ranker"] in baselines else "others"


def _is_baseline(name: str) -> bool:
    """Whether a name is one that linear regression or the best single feature goes by.

    >>> [_is_baseline(name) for name in ("Linear Regression", "BestFeature (Pomona)", "Best Ranker")]
    [True, True, False]
    """
    letters = "".join(filter(str.isalpha, name.lower()))
    return letters.startswith(("linearregression", "bestfeature", "bestsinglefeature"))


def winning_table(findings: Findings) -> Table:
    """Winning numbers over all datasets and measures."""
    columns = [
        text("Ranker", "ranker"),
        number("Winning number", "winning", count),
        number("Ideal", "ideal", count),
        rounded("Normalized", "normalized", 3),
        text(
            "Front", lambda row: "Pareto-optimal" if row["is_pareto"] else "rank 2" if row["is_rank2"] else ""
        ),
    ]
    rows = findings.winning.sort("normalized", descending=True, maintain_order=True).to_dicts()
    return make_table("winning", "Winning numbers over datasets and measures", columns, rows)
