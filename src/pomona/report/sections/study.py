"""How does quality depend on the amount of training data, on label noise, on the number of features?"""

from __future__ import annotations

from typing import Any

import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.curve import Axis, curves
from pomona.report.digits import count, signed
from pomona.report.encoding import Chart
from pomona.report.names import measure_title
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, p_values, rounded, text

_PERCENT = (0, 0.1, 0.5, 1, 2, 5, 10, 20, 30, 50)
_AXES = {
    "train_fraction": Axis("n_train_docs", "documents to learn from", "~s", "log"),
    "label_noise": Axis("percent", "changed training labels, %", ".3~r", "symlog", _PERCENT),
    "n_features": Axis("x", "features", "d", "log"),
    "draw": Axis("x", "draw", "d"),
}
_INTRODUCTION = """
<p>Each dataset in {{ variants }} variants, judged on the same test queries: the mean over queries and draws,
with its {{ level }} interval over both. Tests are against the complete data, query by query, with Holm’s
correction over the values of a curve. The other sections speak of {{ shown }} alone.</p>
"""


class StudySection(Section):
    """Quality against the variable of a study."""

    name = "study"
    title = "The study"
    order = -30

    def overall(self, findings: Findings) -> Parts:
        if findings.study.is_empty() or findings.varied is None:
            return
        runs = findings.varied.runs
        most = runs.group_by("of").agg(pl.col("dataset").n_unique())["dataset"]
        variants = "–".join(str(n) for n in sorted({most.min(), most.max()}))  # type: ignore[type-var]
        yield Html(
            _INTRODUCTION,
            variants=variants,
            level=f"{1 - findings.alpha:.0%}",
            shown=", ".join(findings.results.runs["dataset"].unique(maintain_order=True)),
        )
        for variable in findings.study["variable"].unique(maintain_order=True):
            yield Figure(
                f"study-{variable}-datasets",
                by_dataset(findings, variable),
                f"{measure_title(findings.main)} on test queries, a curve a dataset, a panel a method. "
                "Bands: intervals over queries and draws.",
                title="Dataset by dataset",
            )
        yield Numbers(
            enough_table(findings), "The least training data that are not significantly worse", True
        )

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        table = _of(findings, dataset)
        if table.is_empty():
            return
        variable = table["variable"][0]
        for column, name, title in (("mean", "study", ""), ("loss", "study-loss", "The loss in percent")):
            if column == "mean" or variable == "label_noise":
                yield Figure(
                    f"{name}-{variable}",
                    by_series(table, dataset, column),
                    _CAPTIONS[column],
                    title=title,
                )
        yield Numbers(noise_table(table, dataset), "What the noise does to the pairs of a query", True)
        yield Numbers(study_table(table, dataset), "Every value and test")


_CAPTIONS = {
    "mean": "The mean over test queries and draws, with its interval over both.",
    "loss": "100 · (M(0) − M(ρ)) / M(0): what the noise costs, in percent of the value without noise.",
}


def _of(findings: Findings, dataset: str) -> pl.DataFrame:
    """The study of the dataset that a panel is of, which may be a variant."""
    of = findings.results.runs.filter(dataset=dataset)["of"].unique(maintain_order=True)
    return findings.study.filter(pl.col("dataset").is_in(of.to_list()))


def _points(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(
        percent=100 * pl.col("x"), title=pl.col("measure").map_elements(measure_title, pl.String)
    )


def by_dataset(findings: Findings, variable: str) -> Chart | None:
    """The main measure against the variable, a curve a dataset."""
    table = findings.study.filter(variable=variable, measure=findings.main)
    datasets = table["dataset"].unique(maintain_order=True).to_list()
    if len(datasets) < 2:
        return None
    methods = table["series"].unique(maintain_order=True).to_list()
    rows = _points(table.rename({"series": "method", "dataset": "series"})).to_dicts()
    title = measure_title(findings.main)
    return curves(
        rows,
        _AXES[variable],
        datasets,
        (title, ".4f"),
        f"{title} against {_AXES[variable].title} on {', '.join(datasets)}.",
        by="method" if len(methods) > 1 else "",
        panel_order=methods,
    )


def by_series(table: pl.DataFrame, dataset: str, column: str) -> Chart | None:
    """Every measure against the variable, a curve a ranker (and further variables), a panel a measure."""
    variable = table["variable"][0]
    shown = _points(table)
    if column == "loss":
        base = pl.col("mean") / (1 - pl.col("loss") / 100)
        ends = {
            name: 100 * (base - pl.col(other)) / base for name, other in (("low", "high"), ("high", "low"))
        }
        shown = shown.with_columns(**ends, mean=pl.col("loss")).filter(pl.col("loss").is_not_null())
    titles = shown["title"].unique(maintain_order=True).to_list()
    words = ("loss, %", ".2f") if column == "loss" else ("mean", ".4f")
    return curves(
        shown.to_dicts(),
        _AXES[variable],
        table["series"].unique(maintain_order=True).to_list(),
        words if len(titles) > 1 or column == "loss" else (titles[0], ".4f"),
        f"{', '.join(titles)} against {_AXES[variable].title} on {dataset}, a curve for each of "
        f"{', '.join(table['series'].unique(maintain_order=True))}.",
        by="title" if len(titles) > 1 else "",
        panel_order=titles,
    )


def enough_table(findings: Findings) -> Table:
    """The smallest size of each curve that is not significantly below the whole."""
    columns = [
        text("Dataset", "dataset"),
        text("Method", "series"),
        measured(),
        rounded("Share of the queries", "x", 3),
        number("Queries", "n_train_queries", count),
        number("Documents", "n_train_docs", count),
        number("of", "whole", count),
        number("Value there", "mean"),
        number("Value with all", "whole_mean"),
    ]
    title = "The smallest training set that is not significantly below the whole"
    return make_table("study-enough", title, columns, findings.enough.to_dicts())


def noise_table(table: pl.DataFrame, dataset: str) -> Table:
    """How many pairs of documents the noise turns round or makes equal."""
    noise = table.filter(variable="label_noise").unique("x", maintain_order=True).sort("x")
    columns = [
        number("Changed labels, %", lambda row: 100 * row["x"], lambda share: f"{share:.4g}"),
        rounded("Pairs turned round, %", lambda row: _percent(row["pairs_turned"]), 2),
        rounded("Pairs made equal, %", lambda row: _percent(row["pairs_equal"]), 2),
    ]
    return make_table(
        "study-noise", f"Pairs of training documents under noise, {dataset}", columns, noise.to_dicts()
    )


def _percent(share: float | None) -> float:
    return 100 * (share or 0.0)


def study_table(table: pl.DataFrame, dataset: str) -> Table:
    """Every point of every curve, and its tests against the complete data."""
    variable = table["variable"][0]
    columns = [
        text("Method", "series"),
        measured(),
        number(variable, "x", lambda x: f"{x:.4g}"),
        number("Queries", "n_train_queries", count),
        number("Documents", "n_train_docs", count),
        number("Draws", "n_draws", count),
        number("Mean", "mean"),
        number("from", "low"),
        number("to", "high"),
        number("Difference", "difference", signed),
        number("from ", "difference_low", signed),
        number("to ", "difference_high", signed),
        rounded("Loss, %", "loss", 2, signed),
        *p_values(),
        text("Significant", _verdict),
    ]
    return make_table("study", f"The study of {dataset}", columns, table.to_dicts())


def _verdict(row: dict[str, Any] | Any) -> str:
    if row["is_reference"]:
        return "complete data"
    return "yes" if row["is_significant"] else "no"
