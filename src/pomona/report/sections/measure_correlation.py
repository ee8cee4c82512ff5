"""Which measures say the same?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.analysis.measure_values import MeasureComparison
from pomona.report.digits import fixed
from pomona.report.encoding import Chart, data_of, names_across, names_down, sized, tips
from pomona.report.names import measure_title
from pomona.report.section import Figure, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, rounded

_COEFFICIENTS = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall’s τ_b"}
# The least coefficient of each band, from the colour of agreement to that of its opposite.
_BANDS = {
    "0.9 or more": 0.9,
    "0.5 to 0.9": 0.5,
    "−0.5 to 0.5": -0.5,
    "−0.9 to −0.5": -0.9,
    "below −0.9": -2.0,
}


class MeasureCorrelationSection(Section):
    """Correlation of measures over the lists (Modrý 2014, Table 3.4)."""

    name = "measure-correlation"
    title = "Correlation"
    order = 20
    report = "measures"

    def overall(self, findings: MeasureComparison) -> Parts:
        yield Figure(
            "correlation",
            correlation_map(findings),
            "Kendall’s τ_b of every two measures over the lists: 1 where they put all in the same order.",
        )
        yield Numbers(correlation_table(findings), "All three coefficients", is_open=True)


def correlation_map(findings: MeasureComparison) -> Chart | None:
    """A matrix of τ_b, with its number in every cell."""
    titles = [measure_title(one) for one in findings.measures]
    known = findings.correlations.filter(findings.correlations["kendall"].is_not_null())
    pairs = [(row["first"], row["second"], row) for row in known.iter_rows(named=True)]
    rows = [
        {
            "row": measure_title(a),
            "column": measure_title(b),
            "text": fixed(row["kendall"], 3),
            "band": next(band for band, least in _BANDS.items() if row["kendall"] >= least),
            **{name: fixed(row[name], 5) for name in _COEFFICIENTS},
        }
        for first, second, row in pairs
        for a, b in ((first, second), (second, first))
    ]
    if not rows:
        return None
    base = alt.Chart(data_of(rows)).encode(
        x=names_across("column", titles, 150, domain=False, ticks=False),
        y=names_down("row", titles, 150, domain=False, ticks=False),
    )
    bands = alt.Scale(domain=list(_BANDS), range="diverging")
    shown = [band for band in _BANDS if any(row["band"] == band for row in rows)]
    legend = alt.Legend(title="τ_b", orient="right", symbolType="square", values=shown)
    cells = base.mark_rect(style="tile").encode(
        color=alt.Color("band:N", scale=bands, legend=legend),
        tooltip=tips(row="row", column="column", **_COEFFICIENTS),
    )
    numbers = base.encode(text="text:N")
    is_dark = f"datum.band == '{next(iter(_BANDS))}' || datum.band == '{list(_BANDS)[-1]}'"
    layers = [
        cells,
        numbers.transform_filter(is_dark).mark_text(style="on-color"),
        numbers.transform_filter(f"!({is_dark})").mark_text(style="on-paper"),
    ]
    least = min(pairs, key=lambda pair: float(pair[2]["kendall"]))
    return sized(
        alt.layer(*layers),
        f"Kendall’s τ_b of every two of {len(titles)} measures. The least is "
        f"{fixed(least[2]['kendall'], 3)}, of {measure_title(least[0])} and {measure_title(least[1])}.",
        height=max(90, 40 * len(titles)),
    )


def correlation_table(findings: MeasureComparison) -> Table:
    """Every two measures with their coefficients."""
    columns = [
        measured("Measure", "first"),
        measured("and", "second"),
        *(rounded(title, name, 5) for name, title in _COEFFICIENTS.items()),
    ]
    return make_table("correlations", "Correlation of measures", columns, findings.correlations.to_dicts())
