"""Which lists do two measures order differently?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pomona.experiments.analysis.measure_values import MeasureComparison
from pomona.report.digits import count, fixed
from pomona.report.section import Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, text

_NOTHING = "<p>No two of these lists are ordered differently by any two of these measures.</p>"
_INTRODUCTION = """
<p>Pairs of lists of which one measure calls the first better and another the second. A measure that does not
divide by the best possible value cannot be compared between queries: a list in its worst order may be worth
more than another in its best.</p>
"""


class MeasureDisagreementSection(Section):
    """Pairs of lists that two measures order differently (Modrý 2014, 3.3.3 and 3.3.4)."""

    name = "measure-disagreement"
    title = "Disagreement"
    order = 30
    report = "measures"

    def overall(self, findings: MeasureComparison) -> Parts:
        if len(findings.measures) > 1:
            yield Html(_NOTHING if findings.examples.is_empty() else _INTRODUCTION)
        yield Numbers(disagreement_table(findings), "How many pairs of lists", is_open=True)
        yield Numbers(example_table(findings), "The clearest examples", is_open=True)


def disagreement_table(findings: MeasureComparison) -> Table:
    """Every two measures: the pairs that both tell apart, and those they order differently."""
    columns = [
        measured("Measure", "first"),
        measured("and", "second"),
        number("Pairs told apart by both", "n_pairs", count),
        number("Ordered differently", "n_different", count),
        number("Share", "share"),
    ]
    rows = findings.disagreements.to_dicts()
    return make_table("disagreements", "Pairs of lists that two measures order differently", columns, rows)


def example_table(findings: MeasureComparison) -> Table:
    """The clearest disagreements, with the values that decide."""
    columns = [
        measured("Measure", "first"),
        text("prefers", "above"),
        text("to", "below"),
        text("by", lambda row: _values(row, "first", "above", "below")),
        measured("but", "second"),
        text("the other way round, by", lambda row: _values(row, "second", "below", "above")),
    ]
    return make_table("examples", "The clearest disagreements", columns, findings.examples.to_dicts())


def _values(row: Mapping[str, Any], measure: str, better: str, worse: str) -> str:
    return f"{fixed(row[f'{measure}_{better}'])} > {fixed(row[f'{measure}_{worse}'])}"
