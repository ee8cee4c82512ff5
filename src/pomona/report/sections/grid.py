"""How does quality depend on a parameter of which a spec lists the values?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt
import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.curve import HEIGHT, Axis, curves
from pomona.report.digits import count, fixed, p_value, signed
from pomona.report.encoding import Chart, data_of, in_order, scale_of, sized, tips
from pomona.report.names import measure_title
from pomona.report.section import Figure, Html, Numbers, Parts, Section, Side
from pomona.report.table import Cell, Column, Getter, Table, make_table, number, text, with_interval

_INTRODUCTION = """
<p>Rows of the table that differ in a parameter on purpose. NormPerformance is the mean over the measures of a
model’s value by the highest of all models (Modrý 2014): 1 is the best by each of them.</p>
"""


class GridSection(Section):
    """Quality against parameters."""

    name = "grid"
    title = "By parameter"
    order = -10

    def overall(self, findings: Findings) -> Parts:
        if not findings.grid.is_empty():
            yield Html(_INTRODUCTION)

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        table = findings.grid.filter(dataset=dataset)
        for (group,), part in table.group_by("group", maintain_order=True):
            yield from _of_group(findings, dataset, str(group), part)
        slopes = findings.slopes.filter(dataset=dataset)
        yield Numbers(slope_table(slopes, dataset), "The slope of quality on the parameter", is_open=True)
        extremes = findings.extremes.filter(dataset=dataset)
        yield Numbers(
            extreme_table(extremes, dataset), "The best minus the worst, as validation chooses", is_open=True
        )


def _of_group(findings: Findings, dataset: str, group: str, part: pl.DataFrame) -> Parts:
    stem = group.lower()
    variables = [one for one in (part["variable"][0], part["variable_2"][0]) if one is not None]
    if len(variables) == 1:
        yield Figure(
            f"grid-{stem}",
            by_parameter(findings, dataset, part),
            f"Every measure on test queries against {_title(part)}, with bootstrap intervals over queries. "
            "The queries are the same everywhere, so differences are surer than the bands.",
            title=group,
        )
    else:
        yield Figure(
            f"grid-{stem}",
            heat_map(part, dataset),
            "NormPerformance of every model: the stronger the colour, the higher; framed is the best.",
            title=group,
        )
        yield Side(
            *(
                Figure(f"grid-{stem}-{name}", scatter(part, dataset, end), f"A dot a model, against {name}.")
                for end, name in zip(("", "_2"), variables, strict=True)
            )
        )
    yield Numbers(grid_table(findings, dataset, group, part), f"{group} in numbers")


def _title(part: pl.DataFrame) -> str:
    name: str = part["variable"][0]
    return "the cut-off k of the measure trained for" if name == "measure" else name


def by_parameter(findings: Findings, dataset: str, part: pl.DataFrame) -> Chart | None:
    """Every measure against the parameter, a panel a measure."""
    numbers = part.filter(pl.col("x").is_not_null())
    if numbers["x"].n_unique() < 2:
        return None
    quality = findings.quality.filter(dataset=dataset).join(numbers.select("ranker", "x"), on="ranker")
    measures = _measures(findings)
    rows = [
        {**row, "title": measure_title(row["measure"]), "series": "test queries"}
        for row in quality.select("measure", "x", "mean", "low", "high").sort("x").to_dicts()
        if row["measure"] in measures
    ]
    return curves(
        rows,
        Axis("x", _title(part), ".3~r"),
        ["test queries"],
        ("mean", ".4f"),
        f"{', '.join(map(measure_title, measures))} on {dataset} against {_title(part)}.",
        by="title",
        panel_order=[measure_title(measure) for measure in measures],
    )


def _measures(findings: Findings) -> list[str]:
    return findings.measures[: len(findings.results.spec.measures)]


def _ordered(part: pl.DataFrame, end: str) -> list[str]:
    order: list[str] = part.sort(f"x{end}", nulls_last=True, maintain_order=True)[f"value{end}"].to_list()
    return list(dict.fromkeys(order))


def heat_map(part: pl.DataFrame, dataset: str) -> Chart | None:
    """NormPerformance by two parameters, the best cell framed."""
    rows = part.select("value", "value_2", "norm", "ranker").to_dicts()
    first, second = part["variable"][0], part["variable_2"][0]
    columns, lines = _ordered(part, ""), _ordered(part, "_2")[::-1]
    best = max(rows, key=lambda row: float(row["norm"]))
    low, high = min(row["norm"] for row in rows), best["norm"]
    x = alt.X("value:N", title=first, scale=in_order(columns), axis=alt.Axis(labelAngle=0, labelOverlap=True))
    y = alt.Y("value_2:N", title=second, scale=in_order(lines))
    shade = alt.FillOpacity(
        "norm:Q", scale=alt.Scale(domain=[low, max(high, low + 1e-9)], range=[0.06, 1]), legend=None
    )
    base = alt.Chart(data_of(rows)).encode(x=x, y=y)
    tooltip = tips(value=first, value_2=second, norm=("NormPerformance", ".4f"))
    seen = alt.expr(f"width >= {34 * len(columns)} ? 1 : 0")
    numbers = base.mark_text(style="on-paper", opacity=seen).encode(text=alt.Text("norm:Q", format=".3f"))
    chart = alt.layer(
        base.mark_rect(style=["heat", "tile"]).encode(fillOpacity=shade, tooltip=tooltip),
        alt.Chart(data_of([best])).mark_rect(style="frame", filled=False).encode(x=x, y=y),
        numbers,
    )
    return sized(
        chart,
        f"NormPerformance of {len(rows)} models on {dataset} by {first} and {second}, from {fixed(low)} to "
        f"{fixed(high)}. The best has {first} {best['value']} and {second} {best['value_2']}.",
        height=max(120, 28 * len(lines)),
    )


def scatter(part: pl.DataFrame, dataset: str, end: str) -> Chart | None:
    """NormPerformance against one parameter, a dot a model."""
    shown = part.filter(pl.col(f"x{end}").is_not_null())
    if shown.is_empty():
        return None
    name = part[f"variable{end}"][0]
    rows = shown.select(pl.col(f"x{end}").alias("x"), "norm", "ranker").to_dicts()
    chart = (
        alt.Chart(data_of(rows))
        .mark_point(style="dot", filled=True, size=40, opacity=0.7)
        .encode(
            x=alt.X("x:Q", title=name, scale=scale_of([row["x"] for row in rows])),
            y=alt.Y("norm:Q", title="NormPerformance", scale=scale_of([row["norm"] for row in rows])),
            tooltip=tips(ranker="model", x=(name, ".3~r"), norm=("NormPerformance", ".4f")),
        )
    )
    return sized(
        chart, f"NormPerformance of {len(rows)} models on {dataset} against {name}.", height=HEIGHT - 60
    )


def grid_table(findings: Findings, dataset: str, group: str, part: pl.DataFrame) -> Table:
    """The models by NormPerformance, rising, as the thesis prints them."""
    means = {
        (row["ranker"], row["measure"]): row["mean"]
        for row in findings.quality.filter(dataset=dataset).iter_rows(named=True)
    }

    def mean(measure: str) -> tuple[Column, Getter]:
        return number(measure_title(measure), lambda row: means.get((row["ranker"], measure)))

    names = [(end, part[f"variable{end}"][0]) for end in ("", "_2")]
    columns = [
        *(_parameter(end, name) for end, name in names if name is not None),
        *map(mean, _measures(findings)),
        number("NormPerformance", "norm", lambda norm: fixed(norm, 5)),
        number(f"{measure_title(findings.main)}, validation", "valid"),
    ]
    return make_table(f"grid-{group}", f"{group} on {dataset}", columns, part.sort("norm").to_dicts())


def _parameter(end: str, name: str) -> tuple[Column, Getter]:
    """The values of a parameter, as they were written, to be sorted by their numbers."""

    def cell(row: Mapping[str, Any]) -> Cell:
        number = row[f"x{end}"]
        return Cell(row[f"value{end}"] if number is None else number, row[f"value{end}"])

    return Column(name), cell


def slope_table(slopes: pl.DataFrame, dataset: str) -> Table:
    """The slope of every measure on the parameter, per unit of it."""
    columns = [
        text("Method", "group"),
        text("Parameter", "variable"),
        text("Measure", lambda row: measure_title(row["measure"])),
        number("Models", "n_models", count),
        number("Slope", "slope", lambda slope: signed(slope, 6)),
        number("from", "low", lambda slope: signed(slope, 6)),
        number("to", "high", lambda slope: signed(slope, 6)),
        text("Differs from 0", lambda row: "yes" if row["low"] > 0 or row["high"] < 0 else "no"),
    ]
    return make_table(
        "grid-slopes", f"Slopes of quality on {dataset}, a unit of the parameter", columns, slopes.to_dicts()
    )


def extreme_table(extremes: pl.DataFrame, dataset: str) -> Table:
    """The best minus the worst model by validation, on the test queries."""
    columns = [
        text("Method", "group"),
        text("Measure", lambda row: measure_title(row["measure"])),
        text("Best by validation", "best"),
        text("worst", "worst"),
        with_interval("Difference on test queries", "difference", signed),
        number("p (randomization)", "randomization_p", p_value),
        text("Tests agree", lambda row: "yes" if row["agree"] else "no"),
        number("Highest − lowest mean", "spread"),
    ]
    return make_table("grid-extremes", f"The best minus the worst on {dataset}", columns, extremes.to_dicts())
