"""How many other rankers does each one beat, over all datasets and measures?"""

from __future__ import annotations

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.digits import count, fixed
from pomona.report.encoding import FRONT_HEIGHT, Chart, labelled_points, scale_of, sized, tips, with_slots
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text

_INTRODUCTION = """
<p>How many other rankers each one beats, over all datasets and measures (Hiemstra et al. 2017).</p>
"""


class WinningSection(Section):
    """Winning Numbers (Hiemstra et al. 2017)."""

    name = "winning"
    title = "Winning numbers"
    order = 70

    def overall(self, findings: Findings) -> Parts:
        chart = winning_numbers(findings)
        if chart is None:
            return
        yield Html(_INTRODUCTION)
        yield Figure(
            "winning-numbers",
            chart,
            "Up: the share of comparisons won. Right: the number of comparisons, so how sure that share is.",
        )
        yield Numbers(winning_table(findings), "The winning numbers")


def winning_numbers(findings: Findings) -> Chart | None:
    """Normalized against ideal winning number (Hiemstra et al. 2017, Figure 1): how good, and how surely."""
    compared = findings.winning.filter(pl.col("normalized").is_not_null()).to_dicts()
    if not compared:
        return None
    # Labels go to the fronts first, as in the paper, then to the baseline.
    compared.sort(
        key=lambda row: (not row["is_pareto"], not row["is_rank2"], row["ranker"] != findings.baseline)
    )
    rows = with_slots(findings, compared)
    for row in rows:
        row["front"] = "Pareto-optimal" if row["is_pareto"] else "rank 2" if row["is_rank2"] else "neither"
    front = sorted((row for row in rows if row["is_pareto"]), key=lambda row: float(row["ideal"]))
    tooltip = tips(
        ranker="ranker",
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
    )
    best = ", ".join(row["ranker"] for row in front)
    return sized(
        chart,
        f"Normalized against ideal winning number of {len(rows)} rankers. Pareto-optimal: {best}.",
        height=FRONT_HEIGHT,
    )


def winning_table(findings: Findings) -> Table:
    """Winning numbers over all datasets and measures."""
    columns = [
        text("Ranker", "ranker"),
        number("Winning number", "winning", count),
        number("Ideal", "ideal", count),
        number("Normalized", "normalized", lambda share: fixed(share, 3)),
        text(
            "Front", lambda row: "Pareto-optimal" if row["is_pareto"] else "rank 2" if row["is_rank2"] else ""
        ),
    ]
    rows = findings.winning.sort("normalized", descending=True, maintain_order=True).to_dicts()
    return make_table("winning", "Winning numbers over datasets and measures", columns, rows)
