"""Which pairs of rankers differ by more than chance?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from pomona.experiments.analysis.pairs import MOST_PAIRED, both_ways
from pomona.experiments.findings import Findings
from pomona.report.digits import count, p_value, signed
from pomona.report.encoding import Chart, data_of, in_order, sized, tips
from pomona.report.names import measure_title, rankers_of, significance_rule
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, text, with_interval

MOST_WITH_NUMBERS = 12
"""Rankers of a significance matrix whose cells still have room for numbers."""

# In the order of the config's diverging colours.
_VERDICTS = (
    "significantly better",
    "better, within chance",
    "the same",
    "worse, within chance",
    "significantly worse",
)
_TESTS = {
    "t_p": "p (t)",
    "wilcoxon_p": "p (Wilcoxon)",
    "sign_p": "p (sign)",
    "randomization_p": "p (randomization)",
    "holm_p": "p (Holm)",
    "bh_p": "p (BH)",
}


_FEWER = """
<p>Of {{ n }} rankers only those pairs are tested in which the best one stands, or the baseline,
{{ baseline }}: all of them would be {{ n * (n - 1) // 2 }}.</p>
"""


class PairsSection(Section):
    """A matrix of all pairs by each measure, and every test."""

    name = "pairs"
    title = "Pair by pair"
    order = 40

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        if len(rankers_of(findings, dataset)) > MOST_PAIRED:
            yield Html(_FEWER, n=len(rankers_of(findings, dataset)), baseline=findings.baseline)
        for measure in findings.measures:
            title, is_main = measure_title(measure), measure == findings.main
            yield Figure(
                "significance" if is_main else f"significance-{measure}",
                significance_matrix(findings, dataset, measure),
                f"{title} of the row minus the column, in hundredths. Strong colours: significant, that is, "
                f"{significance_rule(findings.alpha)}. Intervals are of each pair alone, uncorrected.",
                fold="" if is_main else f"The same by {title}",
            )
        yield Numbers(pair_table(findings, dataset), "Every test of every pair")


def significance_matrix(findings: Findings, dataset: str, measure: str) -> Chart | None:
    """Every pair of rankers: is the row's better than the column's, and is that more than chance?"""
    order = rankers_of(findings, dataset)
    pairs = both_ways(findings.pairs.filter(dataset=dataset, measure=measure))
    rows = [_cell(pair) for pair in pairs.iter_rows(named=True)]
    if not rows or len(order) > MOST_PAIRED:
        return None
    is_small = len(order) <= MOST_WITH_NUMBERS
    top = alt.Axis(
        orient="top", labelAngle=-45 if is_small else -90, labelLimit=140, domain=False, ticks=False
    )
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("column:N", scale=in_order(order), title=None, axis=top),
        y=alt.Y("row:N", scale=in_order(order), title=None, axis=alt.Axis(labelLimit=130)),
    )
    legend = alt.Legend(
        title=None,
        orient="bottom",
        columns=1,
        symbolType="square",
        labelLimit=260,
        values=[verdict for verdict in _VERDICTS if any(row["verdict"] == verdict for row in rows)],
    )
    verdicts = alt.Scale(domain=list(_VERDICTS), range="diverging")
    names = {"row": "row", "column": "column", "verdict": "the row is", "difference": "difference"}
    cells = base.mark_rect(style="tile").encode(
        color=alt.Color("verdict:N", scale=verdicts, legend=legend),
        tooltip=tips(**names, interval="interval (uncorrected)", p="p (Holm)"),
    )
    layers = [cells]
    if is_small:
        numbers = base.encode(text="points:N")
        seen = alt.expr(f"width >= {36 * len(order)} ? 1 : 0")
        for chosen, style in (("datum.is_significant", "on-color"), ("!datum.is_significant", "on-paper")):
            layers.append(numbers.transform_filter(chosen).mark_text(style=style, opacity=seen))
    n_significant = sum(row["is_significant"] for row in rows) // 2
    return sized(
        alt.layer(*layers),
        f"Differences in {measure_title(measure)} between every two of {len(order)} rankers on {dataset}. "
        f"{n_significant} of {len(rows) // 2} pairs differ significantly.",
        height=max(90, (26 if is_small else 17) * len(order)),
    )


def _cell(pair: Mapping[str, Any]) -> dict[str, Any]:
    """A cell of the matrix: the row's ranker minus the column's."""
    difference, is_significant = pair["difference"], pair["is_significant"]
    side = "better" if difference > 0 else "worse"
    verdict = f"significantly {side}" if is_significant else f"{side}, within chance"
    return {
        "row": pair["a"],
        "column": pair["b"],
        "verdict": verdict if difference else "the same",
        "points": signed(100 * difference, 1),
        "difference": signed(difference),
        "interval": f"{signed(pair['low'])} to {signed(pair['high'])}",
        "p": p_value(pair["holm_p"]),
        "is_significant": is_significant,
    }


def pair_table(findings: Findings, dataset: str) -> Table:
    """Every pair of rankers under every measure: difference, tests, corrections, wins."""
    columns = [
        text("Ranker", "a"),
        text("minus", "b"),
        text("Measure", lambda row: measure_title(row["measure"])),
        with_interval("Difference", "difference", signed),
        number("Effect d_z", "effect", lambda effect: signed(effect, 2)),
        *(number(title, test, p_value) for test, title in _TESTS.items()),
        text("Tests agree", lambda row: "yes" if row["agree"] else "no"),
        text("Significant", lambda row: "yes" if row["is_significant"] else "no"),
        number("Wins", "wins", count),
        number("Ties", "ties", count),
        number("Losses", "losses", count),
        number("Detectable", "detectable"),
    ]
    rows = findings.pairs.filter(dataset=dataset).to_dicts()
    return make_table("pairs", f"Every pair of rankers on {dataset}", columns, rows)
