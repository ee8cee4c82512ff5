"""The picture of a ranker that learns (Modrý 2014, Figures 4.1–4.3): four plots, linked.

From above: the label at each place of the ranking, the force on each document, its score, and the measure of
the query, all over the same iterations. A reader points at a document, which is then shown in all plots, and
at a moment. Colours of labels are ordered by lightness, and their digits stand in the plot: no hue need be
told from another.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from pomona.experiments.analysis.trace import Drawn
from pomona.report.digits import fixed
from pomona.report.encoding import WIDTH, Chart, data_of, with_room, zero_line
from pomona.report.names import measure_title
from pomona.report.theme import GRADES

_AXIS = 50
"""Pixels left of every plot, the same for all so that iterations stand below each other."""

_LINES, _STRIP = 190, 80
"""Heights of a plot of lines, and of the measure."""

_FADED = 0.2
"""Opacity of what is not pointed at, while something is."""

_DIGIT = 8
"""Pixels that a digit needs."""

Facts = Mapping[str, Any]


def picture(facts: Facts, part: Drawn, *, is_paper: bool = False) -> Chart:
    """The four plots (three, if the ranker has no forces); on paper nobody can point at anything."""
    plots = _Plots(facts, part, is_paper)
    drawn = [plots.places()]
    if has_forces(part):
        drawn.append(plots.lines("lambda", "Force on each document: plus pushes up"))
    drawn += [plots.lines("score", "Score of each document"), plots.measure()]
    with warnings.catch_warnings():
        # That one selection belongs to several plots is what links them.
        warnings.filterwarnings("ignore", "Automatically deduplicated")
        chart = alt.vconcat(*drawn, spacing=12).resolve_scale(color="independent", strokeDash="independent")
    of_query = part.measures.drop_nulls("qid")
    moments, values = of_query["iteration"], of_query["value"]
    linked: Chart = chart.properties(
        description=f"Query {part.qid}: {part.n_documents} documents while {facts['ranker']} learns, from "
        f"{facts['unit']} {moments[0]} to {moments[-1]}. {measure_title(facts['measure'])} goes from "
        f"{fixed(values[0])} to {fixed(values[-1])}.",
        usermeta={"stacked": _AXIS + 14, "height": sum(plot.height + 50 for plot in drawn)},
    )
    return linked


def has_forces(part: Drawn) -> bool:
    """Whether the ranker tells what pushes documents."""
    return bool(part.documents["lambda"].is_not_null().any())


def grade_of(label: float, limits: list[float]) -> int:
    """Which of the ordered colours a label has: the lowest of the data the first, the highest the last.

    >>> [grade_of(label, [0, 4]) for label in range(5)], [grade_of(label, [0, 2]) for label in range(3)]
    ([0, 1, 2, 3, 4], [0, 2, 4])
    """
    low, high = limits
    return round((len(GRADES) - 1) * (label - low) / (high - low)) if high > low else 0


class _Plots:
    """The plots of one picture, and what they share."""

    def __init__(self, facts: Facts, part: Drawn, is_paper: bool) -> None:
        self.facts, self.part, self.is_paper = facts, part, is_paper
        self.scale = alt.Scale(domain=[min(part.bars["begin"]), max(part.bars["end"])], nice=False)
        self.document, self.moment = _nearest("document", "row"), _nearest("moment", "iteration")
        force = {"lambda": ("force", "+.4f")} if has_forces(part) else {}
        moment = {"iteration": (facts["unit"], "d"), "rank": ("place", "d")}
        self.told = _told(doc="document", label=("label", "~g"), **moment, score=("score", ".4f"), **force)

    def places(self) -> Any:
        """The label at each place of the ranking: a bar for as long as it is the same document."""
        n = max(self.part.places["rank"])
        height = n * (20 if n <= 12 else 15 if n <= 25 else 12)
        ticks = {"values": [1, *range(5, n + 1, 5)], "grid": False}
        shown = alt.Chart(data_of(self._bars())).encode(opacity=self._seen(1))
        tiles = shown.mark_rect(style="tile", aria=False).encode(
            x=self._x("begin"),
            x2="end:Q",
            y=self._y("top", (n + 0.5, 0.5), **ticks),
            y2="bottom:Q",
            color=self._color(self._legend()),
        )
        y = self._y("rank", (n + 0.5, 0.5), **ticks)
        low, high = min(self.part.bars["begin"]), max(self.part.bars["end"])
        has_room = f"(datum.end - datum.begin) * width / {high - low} >= {_DIGIT} * length(datum.digit)"
        size = alt.expr(f"{has_room} ? {min(10, height // n - 3)} : 0")
        digits = shown.transform_filter("datum.is_new").encode(x=self._x("begin"), y=y, text="digit:N")
        base = alt.Chart(self._rows(self.part.places)).encode(x=self._x(), y=y, detail="row:N")
        layers: list[Any] = [
            tiles,
            digits.mark_text(style="on-color", aria=False, align="left", dx=2, fontSize=size),
            *([] if self.is_paper else [base.transform_filter(_only(self.document)).mark_line(style="way")]),
        ]
        sensed = self._sensed(base, self.told, self.document, self.moment)
        return self._titled([*layers, *sensed], "Label at each place of the ranking", height)

    def lines(self, field: str, title: str) -> Any:
        """A line for each document, the more relevant the stronger."""
        is_force = field == "lambda"
        domain = with_room([*self.part.documents[field], *([0.0] if is_force else [])])
        base = alt.Chart(self._rows(self.part.documents)).encode(
            x=self._x(), y=self._y(field, domain, tickCount=5), detail="row:N"
        )
        widths = alt.Scale(domain=[0, len(GRADES) - 1], range=[1, 2.4])
        drawn = base.mark_line(aria=False).encode(
            color=self._color(),
            opacity=self._seen(0.9),
            strokeWidth=alt.StrokeWidth("grade:Q", scale=widths, legend=None),
        )
        pointed = base.transform_filter(_only(self.document)).encode(color=self._color())
        dot = pointed.transform_filter(_only(self.moment)).mark_point(filled=True, size=70, opacity=1)
        layers = [
            *([zero_line("y")] if is_force else []),
            drawn,
            *([] if self.is_paper else [pointed.mark_line(strokeWidth=3), dot]),
        ]
        sensed = self._sensed(base, self.told, self.document, self.moment)
        return self._titled([*layers, *sensed], title, _LINES)

    def measure(self) -> Any:
        """The measure of the query and the mean of all, in a strip."""
        title = measure_title(self.facts["measure"])
        names = ["this query", f"mean of all {self.facts['n_queries']} training queries"]
        rows = [{**row, "of": names[row["qid"] is None]} for row in self.part.measures.to_dicts()]
        axis = alt.Axis(format="d", tickMinStep=1, tickCount=10, grid=False)
        legend = alt.Legend(
            title=None, orient="top", symbolType="stroke", offset=4, labelLimit=300, values=names
        )
        colors = alt.Scale(domain=[names[0], *"23456", names[1]], range="category")
        dashes = alt.Scale(domain=names, range=[[1, 0], [5, 3]])
        base = alt.Chart(data_of(rows)).encode(
            x=self._x(axis=axis), y=self._y("value", with_room([row["value"] for row in rows]), tickCount=3)
        )
        lines = base.mark_line(strokeWidth=2).encode(
            color=alt.Color("of:N", scale=colors, legend=legend),
            strokeDash=alt.StrokeDash("of:N", scale=dashes, legend=None),
        )
        told = _told(of="of", iteration=(self.facts["unit"], "d"), value=(title, ".4f"))
        return self._titled([lines, *self._sensed(base, told, self.moment)], title, _STRIP, axis)

    def _bars(self) -> list[dict[str, Any]]:
        """The bars of places; the digit of its label stands where the label of a place changes."""
        bars, before = [], None
        for row in self.part.bars.to_dicts():
            rank, grade = row["rank"], self._grade(row["label"])
            look = {"grade": grade, "digit": f"{row['label']:g}", "top": rank - 0.47, "bottom": rank + 0.47}
            bars.append({**row, **look, "is_new": before != (rank, row["label"])})
            before = rank, row["label"]
        return bars

    def _titled(self, layers: list[Any], title: str, height: int, axis: alt.Axis | None = None) -> Any:
        """The layers below a title, with the moment that is pointed at."""
        if not self.is_paper:
            moments = [{"iteration": t} for t in sorted(set(self.part.documents["iteration"]))]
            now = alt.Chart(data_of(moments)).transform_filter(_only(self.moment))
            layers.insert(-1, now.mark_rule(style="moment").encode(x=self._x(axis=axis)))
        above = alt.TitleParams(title, anchor="start", frame="group", offset=6, style="note")
        return alt.layer(*layers).properties(width=WIDTH, height=height, title=above)

    def _sensed(self, base: alt.Chart, told: alt.ExprRef, *pointed: alt.Parameter) -> list[alt.Chart]:
        """Points that nobody sees, by which the nearest document and moment are found."""
        if self.is_paper:
            return []
        return [base.mark_point(size=30, opacity=0, aria=False, tooltip=told).add_params(*pointed)]

    def _seen(self, opacity: float) -> Any:
        """How much is seen of a document: this, unless another is pointed at."""
        if self.is_paper:
            return alt.value(opacity)
        return alt.condition(self.document, alt.value(opacity), alt.value(_FADED))

    def _x(self, field: str = "iteration", axis: alt.Axis | None = None) -> alt.X:
        return alt.X(f"{field}:Q", scale=self.scale, axis=axis, title=f"{self.facts['unit']}s learnt")

    def _y(self, field: str, domain: tuple[float, float], **axis: Any) -> alt.Y:
        shown = alt.Axis(minExtent=_AXIS, maxExtent=_AXIS, **axis)
        return alt.Y(f"{field}:Q", scale=alt.Scale(domain=list(domain), nice=False), axis=shown, title=None)

    def _grade(self, label: float) -> int:
        return grade_of(label, self.facts["labels"])

    def _color(self, legend: alt.Legend | None = None) -> alt.Color:
        scale = alt.Scale(domain=list(range(len(GRADES))), range="ramp")
        return alt.Color("grade:O", scale=scale, legend=legend)

    def _legend(self) -> alt.Legend:
        """Colours beside the labels that have them, the least first."""
        named: dict[int, list[str]] = {}
        for label in sorted(set(self.part.places["label"])):
            named.setdefault(self._grade(label), []).append(f"{label:g}")
        words = {grade: "–".join(dict.fromkeys((of[0], of[-1]))) for grade, of in named.items()}
        every = json.dumps([words.get(grade, "") for grade in range(len(GRADES))])
        return alt.Legend(
            title="Label",
            orient="top",
            titleOrient="left",
            values=sorted(words),
            labelExpr=f"{every}[datum.value]",
            symbolType="square",
            symbolSize=150,
            symbolStrokeWidth=0,
            symbolOpacity=1,
        )

    def _rows(self, frame: pl.DataFrame) -> alt.InlineData:
        """Documents with the colour of their label."""
        rows = frame.drop("qid", "weight").to_dicts()
        return data_of([{**row, "grade": self._grade(row["label"])} for row in rows])


def _nearest(name: str, field: str) -> alt.Parameter:
    """What a reader points at: the nearest value of a field."""
    return alt.selection_point(
        name=name, fields=[field], on="pointerover", clear="pointerout", nearest=True, empty=True
    )


def _only(pointed: alt.Parameter) -> Any:
    """A filter for what is pointed at; nothing, if nothing is."""
    return {"param": pointed.name, "empty": False}


def _told(**fields: str | tuple[str, str]) -> alt.ExprRef:
    """The tooltip of a nearest point, as `encoding.tips` of others: there Vega-Lite would lose texts."""
    row, parts = "(datum.datum || datum)", []
    for name, field in fields.items():
        title, form = (field, None) if isinstance(field, str) else field
        value = f"{row}[{json.dumps(name)}]"
        shown = value if form is None else f"format({value}, {json.dumps(form)})"
        parts.append(f"{json.dumps(title)}: {shown}")
    return alt.ExprRef("{" + ", ".join(parts) + "}")
