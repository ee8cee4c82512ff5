"""Curves with bands over a variable: what the sections of studies draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from pomona.report.encoding import Chart, Rows, data_of, panels, series_of, sized, tips

HEIGHT = 300
_ROUND = tuple(digit * 10.0**power for power in range(9) for digit in (1, 2, 5))
"""Where ticks of a logarithmic axis stand."""


class Axis(NamedTuple):
    """The field of a variable, its title, format and scale, and where ticks stand, if that is said.

    is_free : each panel has its own ends.
    """

    field: str
    title: str
    form: str = "~s"
    scale: str = "linear"
    ticks: tuple[float, ...] = ()
    is_free: bool = False

    def encoded(self, rows: Rows) -> alt.X:
        """The axis of these rows."""
        values = [row[self.field] for row in rows]
        ends: dict[str, Any] = {} if self.is_free else {"domain": [min(values), max(values)]}
        kind: dict[str, Any] = {"type": self.scale, **({"constant": 1} if self.scale == "symlog" else {})}
        scale = alt.Scale(**kind, **ends, zero=False if self.is_free else alt.Undefined, nice=False)
        step: Any = 1 if self.is_free else alt.Undefined  # of iterations there are no halves
        places = self.ticks or (_ROUND if self.scale == "log" else ())
        ticks = [tick for tick in places if min(values) <= tick <= max(values)]
        axis: dict[str, Any] = {"values": ticks} if ticks else {"tickCount": 6, "tickMinStep": step}
        return alt.X(
            f"{self.field}:Q",
            title=self.title,
            scale=scale,
            axis=alt.Axis(format=self.form, labelOverlap=True, **axis),
        )


def curves(
    rows: Rows,
    x: Axis,
    series: Sequence[str],
    value: tuple[str, str],
    description: str,
    *,
    by: str = "",
    panel_order: Sequence[str] = (),
    columns: int = 2,
    has_points: bool = True,
    about: Mapping[str, str | tuple[str, str]] | None = None,
) -> Chart | None:
    """A curve for each of the `series`, with its interval (`low`, `high`) as a band, if the rows have one.

    value : the title and the format of `mean`. by : a field that has a panel for each of its values.
    about : what else a tooltip tells.
    """
    if not rows:
        return None
    words, form = value
    symbol: Any = alt.Undefined if has_points else "stroke"
    named = alt.Legend(
        title=None, orient="top", columns=3, symbolOpacity=1, symbolType=symbol, labelLimit=180
    )
    look, has_band = series_of("series", series, named), "low" in rows[0]
    ends = {"low": ("from", form), "high": ("to", form)} if has_band else {}
    told = {"mean": (words, form), **ends, x.field: (x.title, x.form), **(about or {})}
    low, mean = (alt.Y(f"{name}:Q", title=words, scale=alt.Scale(zero=False)) for name in ("low", "mean"))
    base = (alt.Chart() if by else alt.Chart(data_of(rows))).encode(
        x=x.encoded(rows), color=look.color, tooltip=tips(series="curve", **told)
    )
    layers = [base.mark_area(opacity=0.15).encode(y=low, y2="high:Q")] if has_band else []
    layers.append(base.mark_line(strokeWidth=1.8).encode(y=mean, strokeDash=look.dash))
    if has_points:
        layers.append(base.mark_point(filled=True, size=30, opacity=1).encode(y=mean, shape=look.shape))
    chart = alt.layer(*layers)
    if by:
        return panels(
            chart, rows, by, panel_order, description, columns=columns, least=480 // columns, is_apart=True
        )
    return sized(chart, description, height=HEIGHT)
