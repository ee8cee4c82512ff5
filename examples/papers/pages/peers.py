"""Against the living: LightGBM, XGBoost and CatBoost."""

from __future__ import annotations

from pathlib import Path

from common import Comparison, Parts, table

from pomona.report.digits import fixed, significant


def peers_table(of: Comparison, folder: Path) -> str:
    """Quality and cost of every ranker on every dataset."""
    rows = []
    for data in (found.name for found in of.results.spec.datasets):
        costs = {row["ranker"]: row for row in of.findings.costs.filter(dataset=data).iter_rows(named=True)}
        cells = {
            (row["ranker"], row["measure"]): f"{fixed(row['mean'])}{row['mark'] or ''}"
            for row in of.findings.quality.filter(dataset=data).iter_rows(named=True)
        }
        for row in of.results.spec.rankers:
            cost = costs[row.label]
            memory = None if cost["peak_memory"] is None else cost["peak_memory"] / 1e6
            spent = map(significant, (cost["train_seconds"], cost["score_microseconds"], memory))
            quality = [cells.get((row.label, measure), "") for measure in of.findings.measures]
            rows.append([data, row.label, *quality, *spent, fixed(cost["best_iteration"], 0)])
    heads = ["training, s", "scoring, µs/doc", "memory, MB", "trees"]
    note = f"▲ ▼: significantly above or below {of.findings.baseline}."
    return table(["dataset", "ranker", *of.findings.measures, *heads], rows, n_texts=2) + f"\n\n{note}"


PARTS: Parts = {"peers table": ("peers", peers_table)}
