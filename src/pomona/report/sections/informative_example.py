"""What does the curve that is inferred from a measure look like?"""

from __future__ import annotations

import altair as alt

from pomona.experiments.analysis.informative import Informativeness
from pomona.report.encoding import Chart, data_of, series_of, sized, tips
from pomona.report.names import measure_title
from pomona.report.section import Figure, Parts, Section
from pomona.report.theme import SLOTS


class InformativeExampleSection(Section):
    """Precision–recall curves of one list (Yilmaz & Robertson 2009, Figure 2)."""

    name = "informative-example"
    title = "An example"
    order = 20
    report = "informative"

    def overall(self, findings: Informativeness) -> Parts:
        about = findings.example["about"][0]
        yield Figure(
            "example-curves",
            example_curves(findings),
            f"Actual precision at the ranks of the relevant documents, and the curves inferred: {about}.",
        )


def example_curves(findings: Informativeness) -> Chart:
    """The actual curve and one for each measure, told apart by colour and dashes."""
    titles = {"actual": "actual"} | {f"from {one}": f"from {measure_title(one)}" for one in findings.measures}
    names = list(titles.values())[: len(SLOTS) - 1]
    rows = [
        {**row, "curve": titles[row["curve"]]}
        for row in findings.example.drop("about").to_dicts()
        if titles[row["curve"]] in names
    ]
    legend = alt.Legend(title=None, orient="top", labelLimit=200, symbolType="stroke")
    look = series_of("curve", names, legend)
    base = alt.Chart(data_of(rows)).encode(
        x=alt.X("recall:Q", scale=alt.Scale(domain=[0, 1]), title="recall", axis=alt.Axis(tickCount=5)),
        y=alt.Y("precision:Q", scale=alt.Scale(domain=[0, 1]), title="precision", axis=alt.Axis(tickCount=5)),
        color=look.color,
        tooltip=tips(
            curve="curve", rank=("rank", "d"), recall=("recall", ".3f"), precision=("precision", ".3f")
        ),
    )
    lines = base.mark_line(strokeWidth=2, clip=True).encode(strokeDash=look.dash, order="rank:Q")
    points = base.transform_filter("datum.curve == 'actual'").mark_point(filled=True, size=40, opacity=1)
    about = findings.example["about"][0]
    return sized(alt.layer(lines, points), f"Precision–recall curves of {about}.", height=320)
