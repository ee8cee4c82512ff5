"""Which pairs of rankers differ by more than chance?"""

from __future__ import annotations

from pomona.experiments.analysis.pairs import MOST_PAIRED, both_ways
from pomona.experiments.findings import Findings
from pomona.report.digits import signed
from pomona.report.encoding import Chart
from pomona.report.names import measure_title, rankers_of, significance_rule
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, rounded, text, verdict, with_interval
from pomona.report.tiles import tile_of, tiles

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
    rows = [tile_of(pair["a"], pair["b"], pair) for pair in pairs.iter_rows(named=True)]
    if not rows or len(order) > MOST_PAIRED:
        return None
    n_significant = sum(row["is_significant"] for row in rows) // 2
    description = (
        f"Differences in {measure_title(measure)} between every two of {len(order)} rankers on {dataset}. "
        f"{n_significant} of {len(rows) // 2} pairs differ significantly."
    )
    return tiles(rows, order, order, description, better="the row is")


def pair_table(findings: Findings, dataset: str) -> Table:
    """Every pair of rankers under every measure: difference, tests, corrections, wins."""
    columns = [
        text("Ranker", "a"),
        text("minus", "b"),
        measured(),
        with_interval("Difference", "difference", signed),
        rounded("Effect d_z", "effect", 2, signed),
        *verdict(is_full=True),
        number("Detectable", "detectable"),
    ]
    rows = findings.pairs.filter(dataset=dataset).to_dicts()
    return make_table("pairs", f"Every pair of rankers on {dataset}", columns, rows)
