"""Hiemstra, Tax & Bockting 2017: Winning Numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from common import Comparison, Parts, published, shown, table

import pomona as pm
from pomona.experiments.results import Results
from pomona.report.digits import fixed
from pomona.report.sections.winning import winning_chart
from pomona.report.sections.winning import winning_numbers as comparison_chart
from pomona.stats.winning import winning_numbers


def winning_table(of: Comparison, folder: Path) -> str:
    """Winning Numbers over all datasets and measures at hand."""
    found = of.findings.winning.sort("normalized", descending=True, nulls_last=True)
    rows = [
        [row["ranker"], str(row["winning"]), str(row["ideal"]), fixed(row["normalized"]), _front(row)]
        for row in found.iter_rows(named=True)
    ]
    return table(["ranker", "WN", "IWN", "NWN", "front"], rows)


def _front(row: dict[str, Any]) -> str:
    return "Pareto" if row["is_pareto"] else "rank 2" if row["is_rank2"] else ""


def winning_figure(of: Comparison, folder: Path) -> str:
    """NWN by IWN."""
    return shown(comparison_chart(of.findings), folder, "winning-numbers")


THESIS = {"MSLR-WEB10K": "mslr10k", "Seznam": "seznam", "LETOR 4.0": "letor4", "WCL2R": "wcl2r"}
"""The datasets of Modrý's Tables 5.1 to 5.4, and the files of their numbers."""


def published_table(of: Comparison, folder: Path) -> str:
    """Winning Numbers of what is published alone, a sparse table of five datasets; also `published.csv`."""
    rows = [
        (row["ranker"], data, name.upper(), value)  # the thesis has two names for random forests
        for data, stem in THESIS.items()
        for row in published(f"thesis_{stem}")
        if row["ranker"] not in ("IdealRanker", "WorstRanker")
        for name, value in row.items()
        if name not in ("method", "ranker", "avg_norm")
    ]
    rows += [tuple(row.values()) for row in published("letor_baselines")]
    lines = ["method,dataset,measure,value", *map(",".join, rows)]
    (folder / "published.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = {(method, (data, name)): float(value) for method, data, name, value in rows}
    methods, results = (list(dict.fromkeys(key[i] for key in values)) for i in (0, 1))
    won = winning_numbers([[values.get((m, result), np.nan) for result in results] for m in methods])
    found = [
        {
            "ranker": method,
            "winning": int(won.winning[i]),
            "ideal": int(won.ideal[i]),
            "normalized": float(won.normalized[i]),
            "is_pareto": bool(won.is_pareto[i]),
            "is_rank2": bool(won.is_rank2[i]),
            "n": sum((method, result) in values for result in results),
        }
        for i, method in enumerate(methods)
    ]
    found.sort(key=lambda row: -row["normalized"])
    counts = ("n", "winning", "ideal")
    cells = [
        [row["ranker"], *(f"{row[key]}" for key in counts), fixed(row["normalized"]), _front(row)]
        for row in found
    ]
    figure = shown(winning_chart(found, noun="methods"), folder, "winning-published")
    return f"{figure}\n\n" + table(["method", "results", "WN", "IWN", "NWN", "front"], cells)


LETOR = {"MAP": "ap", "NDCG@3": "ndcg@3", "NDCG@5": "ndcg@5", "NDCG@10": "ndcg@10"}


def literature_table(of: Comparison, folder: Path) -> str:
    """Our rankers on MQ2008 beside the official baselines, all judged as LETOR 4.0 did: a sparse table.

    It is also written as a file, `literature.csv`, for `pomona winning`.
    """
    results = of.results
    # Published values have four digits, but for one method's: all are counted with as many.
    rows = [
        (row["method"], row["measure"], round(float(row["value"]), 4)) for row in published("letor_baselines")
    ]
    done = results.runs.filter(dataset="mq2008", state="done", is_bound=False)
    for (ranker,), runs in done.group_by("ranker", maintain_order=True):
        by_fold = [_as_letor(results, str(ranker), run) for run in runs.iter_rows(named=True)]
        rows += [
            (f"{ranker} (Pomona)", name, round(float(np.mean([of[name] for of in by_fold])), 4))
            for name in LETOR
        ]
    lines = ["method,dataset,measure,value", *(f"{m},MQ2008,{name},{value:.4f}" for m, name, value in rows)]
    (folder / "literature.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = {(method, name): value for method, name, value in rows}
    methods = list(dict.fromkeys(method for method, _, _ in rows))
    grid = np.array([[values.get((method, name), np.nan) for name in LETOR] for method in methods])
    won = winning_numbers(grid)
    order = np.argsort(-won.normalized, kind="stable")
    shown = [
        [
            methods[i],
            *(fixed(None if np.isnan(value) else float(value)) for value in grid[i]),
            *(str(won.winning[i]), str(won.ideal[i]), fixed(float(won.normalized[i]))),
        ]
        for i in order
    ]
    return table(["method", *LETOR, "WN", "IWN", "NWN"], shown)


def _as_letor(results: Results, ranker: str, run: dict[str, Any]) -> dict[str, float]:
    """A run judged by the rules of the LETOR 4.0 script."""
    scores = results.scores("mq2008", run["fold"], ranker, run["seed"])
    found = pm.evaluate(_mq2008(run["fold"]), scores, [f"letor4:{text}" for text in LETOR.values()])
    return {name: found[f"letor4:{text}"] for name, text in LETOR.items()}


@cache
def _mq2008(fold: int) -> pm.Dataset:
    return pm.load("mq2008", fold).test


PARTS: Parts = {
    "winning table": ("winning", winning_table),
    "winning figure": ("winning", winning_figure),
    "winning literature": ("winning", literature_table),
    "winning published": ("winning", published_table),
}
