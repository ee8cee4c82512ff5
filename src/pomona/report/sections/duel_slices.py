"""Does the gain depend on what the query is like?"""

from __future__ import annotations

from pomona.experiments.analysis.duel import Duel
from pomona.report.digits import count, p_value, signed
from pomona.report.names import measure_title
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.sections.duel_verdict import intervals
from pomona.report.table import Table, make_table, number, text, verdict, with_interval

_DEPENDENCE = """
<ul>{% for row in rows %}
<li>by {{ row.slice }}: {{ "the groups differ" if row.p <= alpha else "no sign that the groups differ" }}
(Kruskal &amp; Wallis, p {{ "" if p_value(row.p).startswith("<") else "= " }}{{ p_value(row.p) }})</li>
{% endfor %}</ul>
"""


class DuelSlicesSection(Section):
    """The difference in every group of queries."""

    name = "duel-slices"
    title = "By what the query is like"
    order = 30
    report = "duel"

    def of_dataset(self, findings: Duel, dataset: str) -> Parts:
        if not len(findings.slices):
            return
        a, b = findings.duels[dataset]
        rows = findings.slices.filter(a=a, b=b).to_dicts()
        yield Figure(
            "slices",
            intervals([{**row, "name": f"{row['slice']}: {row['group']}"} for row in rows]),
            f"{measure_title(findings.main)} of {a} minus that of {b} in groups of queries, with "
            f"{1 - findings.alpha:.0%} intervals that hold for all {len(findings.slices)} at once.",
        )
        dependence = findings.dependence.filter(a=a, b=b).to_dicts()
        yield Html(_DEPENDENCE, rows=dependence, alpha=findings.alpha, p_value=p_value)
        yield Numbers(slice_table(findings, a, b), "Every test of every group")


def slice_table(findings: Duel, a: str, b: str) -> Table:
    """A row a group."""
    columns = [
        text("Slice", "slice"),
        text("Group", "group"),
        number("Queries", "n_queries", count),
        number(b, "mean_b"),
        number(a, "mean_a"),
        with_interval("Difference", "difference", signed),
        *verdict("randomization_p", "holm_p"),
    ]
    rows = findings.slices.filter(a=a, b=b).to_dicts()
    return make_table("slices", f"{a} minus {b} by slice ({measure_title(findings.main)})", columns, rows)
