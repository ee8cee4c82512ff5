"""Modrý 2014, the thesis: every ranker, the bounds, AVG_Norm, times."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

from common import Comparison, Parts, published, table

from pomona.report.digits import fixed, significant


def thesis_table(of: Comparison, folder: Path, paper: str = "") -> str:
    """Every measure, AVG_Norm and times of every ranker, published numbers (of a file) beside."""
    data, measures = of.results.spec.datasets[0].name, of.findings.measures
    known = {row["ranker"]: row for row in published(paper)} if paper else {}
    columns = [name for name in next(iter(known.values()), {}) if name not in ("method", "ranker")]
    costs = {row["ranker"]: row for row in of.findings.costs.filter(dataset=data).iter_rows(named=True)}
    quality = of.findings.quality.filter(dataset=data)
    marks = {(row["ranker"], row["measure"]): row["mark"] or "" for row in quality.iter_rows(named=True)}
    found = quality.filter(measure=measures[0]).sort("norm", descending=True)
    rows = []
    for row in found.iter_rows(named=True):
        name, cost = row["ranker"], {} if row["is_bound"] else costs[row["ranker"]]
        theirs = [known.get(name, {}).get(column, "") for column in columns]
        ours = [fixed(of.mean(data, name, measure)) + marks[name, measure] for measure in measures]
        ours.append(fixed(row["norm"]))
        times = [significant(cost.get("train_seconds")), significant(cost.get("score_microseconds"))]
        both = [cell for pair in zip(theirs, ours, strict=True) for cell in pair] if known else ours
        rows.append([name, *both, *(times if cost else ["", ""])])
    heads = [re.sub(r"^.*:|\(.*\)", "", measure).upper() for measure in measures] + ["AVG_Norm"]
    measured = [f"{head}{who}" for head in heads for who in (" thesis", " ours")] if known else heads
    note = f"▲ ▼: significantly above or below {of.findings.baseline}, tested for each measure."
    return table(["ranker", *measured, "training, s", "scoring, µs/doc"], rows) + f"\n\n{note}"


def thesis_times(of: Comparison, folder: Path) -> str:
    """The thesis' times of training and testing, of other data and another machine, and ours normed alike."""
    data, rows = of.results.spec.datasets[0].name, published("thesis_times")
    costs = {row["ranker"]: row for row in of.findings.costs.filter(dataset=data).iter_rows(named=True)}
    columns = []
    for theirs, ours in (("train", "train_seconds"), ("test", "score_microseconds")):
        spent = [costs[row["ranker"]][ours] for row in rows]
        least, most = min(spent), max(spent)
        columns.append([row[f"{theirs}_norm"] for row in rows])
        columns.append([fixed((value - least) / (most - least), 3) for value in spent])
        columns.append([significant(value) for value in spent])
    heads = ["training, AvgNorm thesis", "training, ours", "s"]
    heads += ["testing, AvgNorm thesis", "testing, ours", "µs/doc"]
    return table(["method", *heads], zip([row["method"] for row in rows], *columns, strict=True))


def thesis_claims(of: Comparison, folder: Path) -> str:
    """Does RC-Rank win, and do oblivious trees help LambdaMART?"""
    data, rows = of.results.spec.datasets[0].name, []
    for measure in of.findings.measures[:2]:
        for a, b in (
            ("RC-Rank", "LambdaMART"),
            ("RC-Rank enhanced", "RC-Rank"),
            ("LambdaMART oblivious", "LambdaMART"),
            ("LambdaMART oblivious", "RC-Rank"),
            ("RankNet", "LambdaMART"),
            ("ListNet", "LambdaMART"),
        ):
            rows.append([f"{a} − {b}, {measure}", of.told(data, measure, a, b)])
    return table(
        ["difference", "mean (95 % interval; p of Fisher's test, and by Holm: verdict)"], rows, n_texts=2
    )


PARTS: Parts = {
    "thesis letor4": ("thesis_letor4", partial(thesis_table, paper="thesis_letor4")),
    "thesis mslr10k": ("thesis_mslr10k", partial(thesis_table, paper="thesis_mslr10k")),
    "thesis wcl2r": ("thesis_wcl2r", partial(thesis_table, paper="thesis_wcl2r")),
    "thesis letor4 times": ("thesis_letor4", thesis_times),
    "thesis letor4 claims": ("thesis_letor4", thesis_claims),
    "thesis ohsumed": ("thesis_ohsumed", thesis_table),
    "thesis ohsumed claims": ("thesis_ohsumed", thesis_claims),
}
