"""What all charts share: how rows become data, rankers colours and shapes, points labels, and charts a size.

No chart names a colour or a font: `theme.vega_config` does.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import altair as alt

from pomona.experiments.findings import Findings
from pomona.report import labels
from pomona.report.names import rankers_of
from pomona.report.theme import DASHES, LABEL, LIGHT, SHAPES, SLOTS, SMALL_LABEL, slots_of, vega_config

Chart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.VConcatChart
Rows = list[dict[str, Any]]

WIDTH = 620
PANEL = 190
PANEL_HEIGHT = 150
FRONT_HEIGHT = 300
# Plots narrower than this get the labels that fit a phone.
NARROW = 400


def data_of(rows: Rows) -> alt.InlineData:
    """Rows, with the digits that a screen can show; as one text, which Altair does not check row by row."""
    rounded = [
        {name: float(f"{value:.6g}") if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    ]
    return alt.InlineData(
        values=json.dumps(rounded, ensure_ascii=False), format=alt.JsonDataFormat(type="json")
    )


def with_slots(findings: Findings, rows: Iterable[Mapping[str, Any]]) -> Rows:
    """The rows with the slot of their ranker, which is its colour and shape."""
    slots = slots_of(rankers_of(findings), findings.baseline)
    return [{**row, "slot": slots[row["ranker"]]} for row in rows]


def paint_order(rows: Rows) -> Rows:
    """The rows in drawing order: grey below, the leaders on top."""
    return sorted(rows, key=lambda row: SLOTS.index(row["slot"]), reverse=True)


def color(legend: Findings | alt.Legend | None = None) -> alt.Color:
    """A ranker's colour; with findings, a legend of their rankers."""
    scale = alt.Scale(domain=list(SLOTS), range="category")
    return alt.Color("slot:N", scale=scale, legend=_slot_legend(legend))


def shape(legend: Findings | alt.Legend | None = None) -> alt.Shape:
    """A ranker's shape, for those who do not see the colour."""
    scale = alt.Scale(domain=list(SLOTS), range=list(SHAPES))
    return alt.Shape("slot:N", scale=scale, legend=_slot_legend(legend))


def legend_of(findings: Findings, rankers: Iterable[str]) -> alt.Legend:
    """A legend of some rankers of findings."""
    slots = slots_of(rankers_of(findings), findings.baseline)
    shown = set(rankers)
    return _legend(
        {slot: "others" if slot == "other" else name for name, slot in slots.items() if name in shown}
    )


def _slot_legend(given: Findings | alt.Legend | None) -> alt.Legend | None:
    """A legend, or that of the rankers of findings."""
    if given is None or isinstance(given, alt.Legend):
        return given
    return legend_of(given, rankers_of(given))


def _legend(names: Mapping[str, str]) -> alt.Legend:
    """Slots under names."""
    # A name goes into an expression: as JSON it stays a text, whatever it contains.
    words = f"{_uninherited(json.dumps(dict(names)))}[datum.label]"
    return alt.Legend(
        title=None, orient="top", columns=3, values=sorted(names), labelExpr=words, labelLimit=150
    )


def tips(**fields: str | tuple[str, str]) -> list[alt.Tooltip]:
    """A tooltip: every field with its title, a number with its format, too."""
    return [
        alt.Tooltip(f"{name}:N", title=field)
        if isinstance(field, str)
        else alt.Tooltip(f"{name}:Q", title=field[0], format=field[1])
        for name, field in fields.items()
    ]


def in_order(names: Sequence[str]) -> alt.Scale:
    """Names in this order. (Vega-Lite's own `sort` would write them into an expression, which is code.)"""
    return alt.Scale(domain=list(names))


def names_down(field: str, names: Sequence[str], limit: int = 170, **axis: Any) -> alt.Y:
    """Names below each other in this order, none wider than so many pixels."""
    return alt.Y(f"{field}:N", scale=in_order(names), title=None, axis=alt.Axis(labelLimit=limit, **axis))


def names_across(field: str, names: Sequence[str], limit: int = 140, **axis: Any) -> alt.X:
    """Names above a chart, aslant."""
    look: dict[str, Any] = {"orient": "top", "labelAngle": -45, "labelLimit": limit, **axis}
    return alt.X(f"{field}:N", scale=in_order(names), title=None, axis=alt.Axis(**look))


def zero_line(axis: Literal["x", "y"]) -> alt.Chart:
    """A line where an axis has its 0."""
    line: alt.Chart = alt.Chart(data_of([{"zero": 0}])).mark_rule(style="zero").encode(**{axis: "zero:Q"})
    return line


class Series(NamedTuple):
    """How curves are told apart: by colour, dashes and shapes of points."""

    color: alt.Color
    dash: alt.StrokeDash
    shape: alt.Shape


def series_of(field: str, names: Sequence[str], legend: alt.Legend | None) -> Series:
    """The looks of the values of a field, all with the same legend."""
    places = range(len(names))
    dashes, shapes = (
        [list(DASHES[i % len(DASHES)]) for i in places],
        [SHAPES[i % len(SHAPES)] for i in places],
    )
    color, dash, shape = (alt.Scale(domain=list(names), range=one) for one in ("category", dashes, shapes))
    return Series(
        alt.Color(f"{field}:N", scale=color, legend=legend),
        alt.StrokeDash(f"{field}:N", scale=dash, legend=legend),
        alt.Shape(f"{field}:N", scale=shape, legend=legend),
    )


def thinned(curve: Rows, most: int) -> Rows:
    """At most so many points of a curve, evenly, with its first and last.

    >>> thinned([{"x": x} for x in range(5)], 3)
    [{'x': 0}, {'x': 2}, {'x': 4}]
    """
    n = len(curve)
    return curve if n <= most else [curve[round(i * (n - 1) / (most - 1))] for i in range(most)]


def scale_of(values: Sequence[float], *, log: bool = False) -> alt.Scale:
    """A scale with some room at both ends, fixed because labels are placed by it."""
    if log:
        low, high = math.log10(min(values)), math.log10(max(values))
        room = max(0.1 * (high - low), 0.1)
        return alt.Scale(type="log", domain=[10 ** (low - room), 10 ** (high + room)], nice=False)
    return alt.Scale(domain=list(with_room(values)), nice=False)


def with_room(values: Sequence[float]) -> tuple[float, float]:
    """The least and the largest value, moved apart a little."""
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or max(0.01, 0.06 * abs(high))
    return low - room, high + room


def labelled_points(
    rows: Rows,
    front: Rows,
    x: alt.X,
    y: alt.Y,
    tooltip: list[alt.Tooltip],
    joined: Literal["linear", "step-after"],
    *,
    groups: Mapping[str, str] | None = None,
    n_needed: int = 0,
) -> Chart:
    """Points, the front that joins some, and labels where there is room, the first rows first.

    There is one set of labels for wide plots and one for narrow ones; the width decides which is seen. Where
    a row has a `label`, it is shown instead of the ranker's name; `is_small` makes it so.

    Parameters
    ----------
    groups : what slots stand for, where they are not rankers': a legend tells it.
    n_needed : so many labels of the first rows are shown, whether there is room or not.
    """
    legend = None if groups is None else _legend(groups)
    base = alt.Chart(data_of(paint_order(rows))).encode(x=x, y=y, color=color(legend), tooltip=tooltip)
    layers: list[Any] = [
        alt.Chart(data_of(front)).mark_line(style="front", interpolate=joined).encode(x=x, y=y),
        base.mark_point(filled=True, size=80, opacity=1).encode(shape=shape(legend)),
    ]
    texts = [str(row.get("label", row["ranker"])) for row in rows]
    for width, seen in ((NARROW + 40, f"width >= {NARROW}"), (NARROW - 110, f"width < {NARROW}")):
        points = [(width * _part(row, x), FRONT_HEIGHT * (1 - _part(row, y))) for row in rows]
        places = labels.around(points, texts, width, FRONT_HEIGHT, n_needed=n_needed)
        placed = [
            {**row, "label": label, **place._asdict()}
            for row, label, place in zip(rows, texts, places, strict=True)
            if place.align
        ]
        text = alt.Chart(data_of(placed)).encode(x=x, y=y, text="label:N")
        layers += [
            text.mark_text(
                style=style,
                align=alt.expr("datum.align"),
                dx=alt.expr("datum.dx"),
                dy=alt.expr("datum.dy"),
                fontSize=alt.expr(f"datum.is_small ? {SMALL_LABEL} : {LABEL}"),
                opacity=alt.expr(f"{seen} ? 1 : 0"),
            )
            for style in ("halo", "direct-label")
        ]
    return alt.layer(*layers)


def _part(row: Mapping[str, Any], axis: alt.X | alt.Y) -> float:
    """How far along its axis a row's value is, from 0 to 1."""
    scale = axis["scale"].to_dict()
    numbers = (float(row[axis["shorthand"].removesuffix(":Q")]), *scale["domain"])
    value, low, high = map(math.log10, numbers) if scale.get("type") == "log" else numbers
    return (value - low) / (high - low)


def sized(chart: Chart, description: str, *, height: int, note: str = "") -> Chart:
    """A chart of one plot, perhaps with a note below it; the page sets its width."""
    if note:
        below = alt.TitleParams(note, orient="bottom", anchor="start", style="note", offset=8)
        chart, description = chart.properties(title=below), f"{description} {note[0].upper()}{note[1:]}."
    return chart.properties(width=WIDTH, height=height, description=description, usermeta={})


def panels(
    layers: Any,
    rows: Rows,
    by: str,
    order: Sequence[str],
    description: str,
    *,
    columns: int = 3,
    least: int = 110,
    is_apart: bool = False,
) -> Chart:
    """One panel a value of `by`; `is_apart` when each has its own axes.

    The page puts fewer than `columns` beside each other where a panel would be narrower than `least`.
    """
    header = alt.Header(title=None, labelAnchor="start", labelLimit=PANEL)
    facet = alt.Facet(f"{by}:N", sort=alt.EncodingSortField("place", op="min"), header=header)
    chart = layers.properties(width=PANEL, height=PANEL_HEIGHT).facet(
        data=data_of([{**row, "place": order.index(row[by])} for row in rows]),
        facet=facet,
        columns=columns,
        spacing={"row": 18, "column": 18},
    )
    if is_apart:
        chart = chart.resolve_scale(x="independent", y="independent")
    meta = {"columns": columns, "panels": len(order), "least": least, "apart": is_apart}
    faceted: Chart = chart.properties(description=description, usermeta=meta)
    return faceted


def vega_lite(chart: Chart) -> dict[str, Any]:
    """The chart as Vega-Lite, its data as rows, without Altair's own config and schema version."""
    spec: dict[str, Any] = chart.to_dict(validate=False)
    rows = {name: json.loads(_uninherited(text)) for name, text in spec.pop("datasets").items()}
    parts = {key: part for key, part in spec.items() if key not in ("$schema", "config")}
    return {**json.loads(_uninherited(json.dumps(parts))), "datasets": rows}


# What every object of JavaScript has: as a name, Vega would look it up among groups and find a function.
_INHERITED = re.compile(
    r'(?<!\\)"(constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf'
    r'|__proto__|__(?:define|lookup)(?:G|S)etter__)"(?=\s*[],}])'
)


def _uninherited(text: str) -> str:
    """JSON in which no value is a name that objects inherit: such a one has a space after it, unseen.

    >>> _uninherited('{"ranker": "constructor", "note": "a \\\\"constructor\\\\""}')
    '{"ranker": "constructor ", "note": "a \\\\"constructor\\\\""}'
    """
    return _INHERITED.sub(r'"\1 "', text)


def for_file(spec: Mapping[str, Any]) -> str:
    """The chart as JSON with the light theme, to be drawn outside of the page, the same on every machine.

    Its font is not the reader's but one that vl-convert carries, in one weight only: of two fonts in a PDF,
    chance decides which comes first.
    """
    config = vega_config(LIGHT, font="Liberation Sans", strong=400)
    return json.dumps({**spec, "config": config, "background": LIGHT["paper"]}, ensure_ascii=False)
