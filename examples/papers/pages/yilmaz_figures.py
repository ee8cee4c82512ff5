"""Yilmaz & Robertson 2009, Figures 4 and 5: features and amount of data, and the curves of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from common import Comparison, Parts, shown, table

from pomona.report.digits import fixed, p_value, signed
from pomona.report.encoding import data_of
from pomona.stats.paired import compare_pair

PANELS = {"p@10": ("ap", "p@10"), "ndcg@10": ("ndcg", "ndcg@10")}
"""The measure of the test: the informative measure and itself, which are trained for."""
FEATURES = ("2", "9", "all")
_VARIANT = r"train_fraction=([\d.]+)(?: features=(\w+))?"


def amount_values(of: Comparison) -> pl.DataFrame:
    """One row a test query and setting: share of the training queries, features, what was trained for."""
    dataset = pl.col("dataset")
    return (
        of.results.values.filter(part="test")
        .with_columns(
            share=dataset.str.extract(_VARIANT, 1).cast(pl.Float64).fill_null(1.0),
            features=dataset.str.extract(_VARIANT, 2).fill_null("all"),
            trained=pl.col("ranker").str.extract(r" (\S+)\|", 1),
            tested=pl.col("ranker").str.extract(r"\|(\S+)$", 1),
        )
        .select("share", "features", "trained", "tested", "dataset", "seed", "qid", "p@10", "ndcg@10")
    )


def amount_figure(of: Comparison, folder: Path) -> str:
    """Figure 4: the measure of the test against the share of the training queries."""
    values, dashes = amount_values(of), alt.Legend(symbolSize=600)
    charts = []
    for tested in PANELS:
        means = values.filter(tested=tested).group_by("share", "features", "trained", maintain_order=True)
        rows = means.agg(pl.col(tested).mean()).with_columns(percent=100 * pl.col("share")).to_dicts()
        charts.append(
            alt.Chart(data_of([{**row, "value": 100 * row[tested]} for row in rows]))
            .mark_line()
            .encode(
                alt.X("percent:Q", title="training queries, %"),
                alt.Y("value:Q", title=f"{tested.upper()} × 100", scale=alt.Scale(zero=False)),
                alt.Color("features:N", sort=FEATURES, title="features"),
                alt.StrokeDash("trained:N", sort=PANELS[tested], title="trained for", legend=dashes),
            )
            .properties(width=260, height=240)
        )
    chart = alt.hconcat(*charts).resolve_scale(strokeDash="independent")
    chart = chart.properties(description="Test measure against the share of the training queries")
    return shown(chart, folder, "yilmaz-robertson-amount")


def amount_table(of: Comparison, folder: Path) -> str:
    """The lead of the informative measure, query by query, with its interval and its test."""
    values, rows = amount_values(of), []
    for tested, (informative, own) in PANELS.items():
        for features in FEATURES:
            cells = []
            for share in values["share"].unique().sort():
                part = values.filter(tested=tested, features=features, share=share)
                queries = part.group_by("trained", "qid").agg(pl.col(tested).mean()).sort("qid")
                one, other = (queries.filter(trained=name)[tested].to_numpy() for name in (informative, own))
                if not len(one):
                    cells.append("")
                    continue
                found = compare_pair(one, other)
                lead = signed(100 * found.difference, 2)
                cells.append(f"{lead} ({p_value(found.randomization_p)})")
            rows.append([tested.upper(), features, *cells])
    shares = [f"{fixed(100 * share, 0)} %" for share in values["share"].unique().sort()]
    return table(["tested on", "features", *shares], rows, n_texts=2)


def training_figure(of: Comparison, folder: Path) -> str:
    """Figure 5: a run of each aim, fold 1 and seed 0, all data and features."""
    curves = of.results.curves.filter(dataset="mq2007", seed=0)
    lines = []
    for tested, aims in PANELS.items():
        panels = [_training(curves, aim, tested) for aim in aims]
        both = [
            {**row, "curve": f"trained for {aim.upper()}"}
            for aim in aims
            for row in _curve(curves, aim, tested, "train" if aim == tested else "train_valid_measure")
        ]
        panels.append(_panel(both, f"{tested.upper()}, training queries"))
        lines.append(alt.hconcat(*panels).resolve_scale(color="independent", strokeDash="independent"))
    chart = alt.vconcat(*lines).resolve_scale(color="independent", strokeDash="independent")
    chart = chart.properties(description="Learning curves, epoch by epoch; restarts are drops")
    return shown(chart, folder, "yilmaz-robertson-training")


def training_table(of: Comparison, folder: Path) -> str:
    """How far the measure of the test rises on the training queries, by what is trained for."""
    curves, rows = of.results.curves.filter(dataset="mq2007", seed=0), []
    for tested, aims in PANELS.items():
        parts = ("train_valid_measure", "train")  # the second aim is the measure of the test itself
        found = [_curve(curves, aim, tested, part) for aim, part in zip(aims, parts, strict=True)]
        highest = [fixed(100 * max(row["value"] for row in curve), 2) if curve else "" for curve in found]
        rows.append([tested.upper(), aims[0].upper(), *highest])
    heads = ["informative measure", "highest, trained for that", "highest, trained for itself"]
    return table(["tested on", *heads], rows, n_texts=2)


def _training(curves: pl.DataFrame, aim: str, tested: str) -> alt.Chart:
    names = {
        "train": f"{aim.upper()}, training queries",
        "train_valid_measure": f"{tested.upper()}, training queries",
        "valid": f"{tested.upper()}, validation queries",
    }
    if aim == tested:  # the same curve
        del names["train_valid_measure"]
    rows = [
        {**row, "curve": name} for part, name in names.items() for row in _curve(curves, aim, tested, part)
    ]
    return _panel(rows, f"trained for {aim.upper()}")


def _curve(curves: pl.DataFrame, aim: str, tested: str, part: str) -> list[dict[str, Any]]:
    found = curves.filter(ranker=f"LambdaRank {aim}|{tested}", part=part)
    return found.select("iteration", "value").to_dicts()


def _panel(rows: list[dict[str, Any]], title: str) -> alt.Chart:
    names = list(dict.fromkeys(row["curve"] for row in rows))
    legend = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=220, symbolSize=400)
    return (
        alt.Chart(data_of(rows), title=title)
        .mark_line()
        .encode(
            alt.X("iteration:Q", title="epoch"),
            alt.Y("value:Q", title=None, scale=alt.Scale(zero=False)),
            alt.Color("curve:N", sort=names, legend=None),
            alt.StrokeDash("curve:N", sort=names, legend=legend),
        )
        .properties(width=200, height=170)
    )


PARTS: Parts = {
    "yilmaz-robertson amount": ("yilmaz_amount", amount_figure),
    "yilmaz-robertson amount table": ("yilmaz_amount", amount_table),
    "yilmaz-robertson training": ("yilmaz_amount", training_figure),
    "yilmaz-robertson training table": ("yilmaz_amount", training_table),
}
