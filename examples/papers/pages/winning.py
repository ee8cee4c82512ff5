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
from pomona.report.sections.winning import winning_numbers as winning_chart
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
    return shown(winning_chart(of.findings), folder, "winning-numbers")


LETOR = {"MAP": "ap", "NDCG@3": "ndcg@3", "NDCG@5": "ndcg@5", "NDCG@10": "ndcg@10"}


def literature_table(of: Comparison, folder: Path) -> str:
    """Our rankers on MQ2008 beside the official baselines, all judged as LETOR 4.0 did: a sparse table.

    It is also written as a file, `literature.csv`, for `pomona winning`.
    """
    results = of.results
    rows = [(row["method"], row["measure"], float(row["value"])) for row in published("letor_baselines")]
    done = results.runs.filter(dataset="mq2008", state="done", is_bound=False)
    for (ranker,), runs in done.group_by("ranker", maintain_order=True):
        by_fold = [_as_letor(results, str(ranker), run) for run in runs.iter_rows(named=True)]
        # Published values have four digits, so ours are counted with as many.
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
}
