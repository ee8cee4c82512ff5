"""From which measure can one tell where the relevant documents are?"""

from __future__ import annotations

from pomona.experiments.analysis.informative import Informativeness
from pomona.report.digits import count
from pomona.report.section import Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, text

_INTRODUCTION = """
<p>Of every list only its length, its labels without their places, and the value of one measure are told. The
distribution of largest entropy that fits gives each rank a chance of relevance, and so a precision–recall
curve. The smaller its error, the more the measure tells (Yilmaz &amp; Robertson 2009).</p>
{% if n_left_out %}
<p>{{ n_left_out }} lists have no curve: none or all of their documents are relevant. Means of measures and of
PC count them.</p>
{% endif %}
{% if n_incomplete %}
<p>{{ n_incomplete }} lists miss relevant documents; measures divide by all relevant documents of the
query.</p>
{% endif %}
"""


class InformativeSummarySection(Section):
    """Errors of inferred precision–recall curves (Yilmaz & Robertson 2009, Table 1)."""

    name = "informative-summary"
    title = "What a value tells"
    order = 10
    report = "informative"

    def overall(self, findings: Informativeness) -> Parts:
        first = findings.summary.unique("dataset", maintain_order=True)
        counts = {name: int(first[name].sum()) for name in ("n_left_out", "n_incomplete")}
        yield Html(_INTRODUCTION, **counts)
        yield Numbers(summary_table(findings), "Errors of the inferred curves", is_open=True)


def summary_table(findings: Informativeness) -> Table:
    """Every measure on every dataset; the least error of a dataset is bold."""
    columns = [
        measured(),
        text("Dataset", "dataset"),
        number("RMS", "rms"),
        number("MAE", "mae"),
        number(f"RMS of inferred PC({findings.n_top})", "rms_of_inferred_pc"),
        number("τ", "tau_of_inferred_pc"),
        number(f"RMS to PC({findings.n_top})", "rms_to_pc"),
        number("τ to it", "tau_to_pc"),
        number("Lists", "n_lists", count),
    ]
    title = "Errors of precision–recall curves inferred from a measure"
    return make_table("informative", title, columns, findings.summary.to_dicts())
