"""On what kind of queries does a ranker gain or lose?"""

from __future__ import annotations

import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.digits import count, p_value, signed
from pomona.report.encoding import Chart
from pomona.report.names import measure_title, rankers_of, significance_rule
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, number, rounded, text, verdict, with_interval
from pomona.report.tiles import tile_of, tiles

_INTRODUCTION = """
<p>Test queries in groups: by their number of documents, by how many of these are relevant{{ given }}.
Every ranker minus the baseline, {{ baseline }}, in each.</p>
"""
_DEPENDENCE = """
<p>Does a difference depend on the slice (Kruskal &amp; Wallis, Holm’s correction over all rankers and
slices)? {% if found %}Yes: {{ found|join(", ") }}.{% else %}None does by more than chance.{% endif %}</p>
"""


class SlicesSection(Section):
    """The difference from the baseline in groups of queries."""

    name = "slices"
    title = "By kind of query"
    order = 45

    def overall(self, findings: Findings) -> Parts:
        if findings.slices.is_empty():
            return
        given = "".join(f", by {name}" for name in findings.by)
        yield Html(_INTRODUCTION, baseline=findings.baseline, given=given)

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        slices = findings.slices.filter(dataset=dataset)
        if slices.is_empty():
            return
        title, rule = measure_title(findings.main), significance_rule(findings.alpha, "all tiles")
        yield Figure(
            "slices",
            slice_tiles(findings, dataset),
            f"{title} of the ranker minus that of {findings.baseline}, in hundredths, in groups of queries "
            f"(how many in brackets). Strong colours: significant, that is, {rule}.",
        )
        depends = findings.slice_dependence.filter("is_significant", dataset=dataset).to_dicts()
        found = [f"{row['ranker']} by {row['slice']} (p {_equals(row['holm_p'])})" for row in depends]
        yield Html(_DEPENDENCE, found=found)
        yield Numbers(mean_table(findings, dataset), "The means in every group")
        yield Numbers(slice_table(findings, dataset), "Every test of every group")


def _equals(p: float) -> str:
    shown = p_value(p).replace(" ", "\N{NO-BREAK SPACE}")
    return shown if shown.startswith("<") else f"= {shown}"


def _group(row: dict[str, object]) -> str:
    return f"{row['slice']}: {row['group']} ({row['n_queries']})"


def slice_tiles(findings: Findings, dataset: str) -> Chart:
    """Groups of queries × rankers."""
    slices = findings.slices.filter(dataset=dataset)
    rankers = [ranker for ranker in rankers_of(findings, dataset) if ranker in set(slices["ranker"])]
    rows = [tile_of(_group(row), row["ranker"], row) for row in slices.iter_rows(named=True)]
    groups = list(dict.fromkeys(row["row"] for row in rows))
    n_significant = sum(row["is_significant"] for row in rows)
    description = (
        f"Differences in {measure_title(findings.main)} from {findings.baseline} on {dataset}, of "
        f"{len(rankers)} rankers in {len(groups)} groups of queries. {n_significant} of {len(rows)} are "
        "significant."
    )
    return tiles(rows, groups, rankers, description, better="the column is", wide=220)


def mean_table(findings: Findings, dataset: str) -> Table:
    """A row a group, a column a ranker."""
    slices = findings.slices.filter(dataset=dataset)
    rankers = [one for one in rankers_of(findings, dataset) if one in {findings.baseline, *slices["ranker"]}]
    rows = []
    for (name, group), part in slices.group_by("slice", "group", maintain_order=True):
        means = dict(part.select("ranker", "mean").rows())
        means[findings.baseline] = part["baseline_mean"][0]
        rows.append({"slice": name, "group": group, "n_queries": part["n_queries"][0], "means": means})
    columns = [
        text("Slice", "slice"),
        text("Group", "group"),
        number("Queries", "n_queries", count),
        *(number(one, lambda row, one=one: row["means"].get(one)) for one in rankers),  # type: ignore[misc]
    ]
    title = f"{measure_title(findings.main)} in groups of queries of {dataset}"
    return make_table("slice-means", title, columns, rows)


def slice_table(findings: Findings, dataset: str) -> Table:
    """Every ranker in every group, and its tests against the baseline."""
    columns = [
        text("Slice", "slice"),
        text("Group", "group"),
        text("Ranker", "ranker"),
        number("Queries", "n_queries", count),
        with_interval("Difference", "difference", signed),
        rounded("Effect d_z", "effect", 2, signed),
        *verdict(),
    ]
    rows = findings.slices.filter(pl.col("dataset") == dataset).to_dicts()
    return make_table("slices", f"Rankers minus {findings.baseline} by slice on {dataset}", columns, rows)
