"""Does a ranker get worse on test queries when it is trained on and on?"""

from __future__ import annotations

import polars as pl

from pomona.experiments.findings import Findings
from pomona.report.curve import Axis, curves
from pomona.report.digits import count, signed
from pomona.report.encoding import Chart, Rows, thinned
from pomona.report.section import Figure, Html, Numbers, Parts, Section
from pomona.report.table import Table, make_table, measured, number, p_values, text, with_interval, yes

N_POINTS = 120
_ITERATION = Axis("iteration", "iterations", "~s")
_INTRODUCTION = """
<p>The test queries judged after every iteration: to look at. What the rankers are elsewhere in this report
was chosen by the validation queries, and nothing by these curves.</p>
"""


class OverfittingSection(Section):
    """Training and test queries, iteration by iteration."""

    name = "overfitting"
    title = "Training on"
    order = -20

    def overall(self, findings: Findings) -> Parts:
        if not findings.overfitting.is_empty():
            yield Html(_INTRODUCTION)

    def of_dataset(self, findings: Findings, dataset: str) -> Parts:
        table = findings.overfitting.filter(dataset=dataset)
        if table.is_empty():
            return
        yield Figure(
            "overfitting",
            train_and_test(findings, dataset),
            "Mean over folds and seeds, with its interval; a panel a ranker.",
        )
        yield Figure(
            "overfitting-folds",
            by_fold(findings, dataset),
            "Test queries of each fold, a curve a fold: how far folds differ, beside what training on does.",
            title="Fold by fold",
        )
        yield Numbers(overfitting_table(table, dataset))


def _in_order_of_spec(findings: Findings, rankers: set[str]) -> list[str]:
    return [row.label for row in findings.results.spec.rankers if row.label in rankers]


def train_and_test(findings: Findings, dataset: str) -> Chart | None:
    """The measure that was trained for by iteration, on training and on test queries."""
    judged = set(findings.overfitting.filter(dataset=dataset)["ranker"])
    learning = findings.learning.filter(pl.col("ranker").is_in(judged), dataset=dataset)
    names = {"test": "test queries", "valid": "validation queries", "train": "training queries"}
    rows: Rows = []
    ends = [pl.col(end).fill_null(pl.col("mean")) for end in ("low", "high")]
    for (ranker, part), curve in learning.group_by("ranker", "part", maintain_order=True):
        if part in names:
            for row in thinned(curve.select("iteration", "mean", *ends).to_dicts(), N_POINTS):
                rows.append({**row, "ranker": ranker, "series": names[str(part)]})
    return curves(
        rows,
        _ITERATION,
        [name for name in names.values() if any(row["series"] == name for row in rows)],
        ("its training measure", ".4f"),
        f"The training measure by iteration on training and on test queries of {dataset}, a panel a ranker: "
        f"{', '.join(sorted(judged))}.",
        by="ranker",
        panel_order=_in_order_of_spec(findings, judged),
        has_points=False,
    )


def by_fold(findings: Findings, dataset: str) -> Chart | None:
    """The test queries of each fold by iteration, the mean over seeds."""
    test = findings.results.curves.filter(dataset=dataset, part="test")
    rows: Rows = []
    for (ranker, fold), curve in test.group_by("ranker", "fold", maintain_order=True):
        means = curve.group_by("iteration").agg(pl.col("value").mean().alias("mean")).sort("iteration")
        for row in thinned(means.to_dicts(), N_POINTS):
            rows.append({**row, "ranker": ranker, "series": f"fold {fold}"})
    folds = sorted({row["series"] for row in rows}, key=lambda name: int(name.split()[1]))
    if len(folds) < 2:
        return None
    return curves(
        rows,
        _ITERATION,
        folds,
        ("its training measure", ".4f"),
        f"The training measure by iteration on the test queries of each fold of {dataset}.",
        by="ranker",
        panel_order=_in_order_of_spec(findings, set(test["ranker"])),
        has_points=False,
    )


def overfitting_table(table: pl.DataFrame, dataset: str) -> Table:
    """What validation chose, test values at some iterations, and the loss by training on."""
    columns = [
        text("Ranker", "ranker"),
        measured(),
        number("Chosen by validation", "chosen", count),
        number("Test at 100", "at_100"),
        number("at 200", "at_200"),
        number("at the chosen", "at_chosen"),
        number("at the last", "at_last"),
        number("Last", "last", count),
        with_interval("Last minus chosen", "difference", signed),
        *p_values(),
        yes("Significant", "is_significant"),
    ]
    return make_table("overfitting", f"What training on costs on {dataset}", columns, table.to_dicts())
