"""On what queries rankers differ from the baseline: by length, by relevant documents, by what is given.

A difference in a group is *significant* by the one rule of `pairs.py`; the family that Holm corrects for is
every ranker in every group of a dataset. Whether a difference depends on the slice at all is Kruskal &
Wallis's question, corrected over all rankers and slices of a dataset. Slices are of the main measure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import polars as pl

from pomona._types import Values
from pomona.experiments.analysis.pairs import MOST_PAIRED, decisions
from pomona.experiments.analysis.pooled import Pooled
from pomona.experiments.analysis.query_slice import LENGTH, RELEVANT, QuerySlice, slice_of
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.stats.corrections import holm
from pomona.stats.paired import PairedTests


class Slices(Analysis):
    """A ranker minus the baseline in a group of queries: means of both, and the tests of `pairs`.

    low, high : a bootstrap interval of this one difference, which is not corrected.
    holm_p : over all rankers and groups of the dataset.
    """

    name = "slices"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "slice", "group", "ranker"),
        "n_queries": pl.Int64,
        **columns(pl.Float64, "mean", "baseline_mean", "difference", "low", "high", "effect"),
        **columns(pl.Float64, "t_p", "wilcoxon_p", "sign_p", "randomization_p", "holm_p"),
        **columns(pl.Int64, "wins", "ties", "losses"),
        **columns(pl.Boolean, "agree", "is_significant"),
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        return cls.table(row for data in findings.pooled for row in _rows(data, findings))


class Dependence(Analysis):
    """Does the difference from the baseline depend on the slice? `holm_p` is over those of a dataset."""

    name = "slice_dependence"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "slice", "ranker"),
        **columns(pl.Float64, "p", "holm_p"),
        "is_significant": pl.Boolean,
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        return cls.table(row for data in findings.pooled for row in _dependence(data, findings))


def _values(data: Pooled, findings: Findings) -> tuple[list[str], Values]:
    """The rankers that can be compared, the baseline first, and their values where all have one."""
    others = [ranker for ranker in data.comparable if ranker != findings.baseline]
    if findings.baseline not in data.comparable or not 0 < len(others) < MOST_PAIRED:
        return [], np.empty((0, 0))
    rankers = [findings.baseline, *others]
    places = [data.rankers.index(ranker) for ranker in rankers]
    return rankers, data.of_measure(findings.main)[places]


def _slices(data: Pooled, findings: Findings) -> list[QuerySlice]:
    """What the queries of a dataset can be cut by, where that gives two groups or more."""
    known = data.queries.join(
        findings.results.queries.filter(dataset=data.dataset).drop("dataset"),
        on=["fold", "qid"],
        how="left",
        maintain_order="left",
    )
    given = {LENGTH: known["n_docs"].to_list(), RELEVANT: known["n_relevant"].to_list()}
    for name, of in findings.by.items():
        given[name] = [of.get(qid) for qid in known["qid"]]
    cut = [slice_of(name, values) for name, values in given.items() if values != [None] * len(values)]
    return [one for one in cut if len(one.groups) > 1]


def _rows(data: Pooled, findings: Findings) -> Iterator[dict[str, Any]]:
    rankers, values = _values(data, findings)
    slices = _slices(data, findings) if rankers else []
    first, second = np.arange(1, len(rankers)), np.zeros(len(rankers) - 1 if rankers else 0, np.intp)
    judged = np.isfinite(values).all(axis=0)
    groups = [
        (one, name, judged & (one.group_of == g)) for one in slices for g, name in enumerate(one.groups)
    ]
    groups = [(one, name, chosen) for one, name, chosen in groups if chosen.any()]
    # The smallest p of B resamples is 1 / (B + 1): Holm's correction of the family must be able to reject.
    n_resamples = math.ceil(2 * len(first) * len(groups) / findings.alpha)
    family: list[PairedTests] = []
    for _, _, chosen in groups:
        rows = np.ascontiguousarray(values[:, chosen])
        family += findings.compared(rows, first, second, n_resamples=n_resamples)
    where = [(group, r) for group in groups for r in first]
    for ((one, name, chosen), r), tests in zip(where, decisions(family, findings.alpha), strict=True):
        yield {
            "dataset": data.dataset,
            "slice": one.name,
            "group": name,
            "ranker": rankers[r],
            "mean": float(values[r, chosen].mean()),
            "baseline_mean": float(values[0, chosen].mean()),
            **tests,
        }


def _dependence(data: Pooled, findings: Findings) -> Iterator[dict[str, Any]]:
    rankers, values = _values(data, findings)
    judged = np.isfinite(values).all(axis=0)
    rows: list[dict[str, Any]] = []
    for one in _slices(data, findings) if rankers else []:
        kept = QuerySlice(one.name, one.groups, one.group_of[judged])
        for r, ranker in enumerate(rankers[1:], 1):
            p = kept.dependence(values[r, judged] - values[0, judged])
            rows.append({"dataset": data.dataset, "slice": one.name, "ranker": ranker, "p": p})
    corrected = holm([row["p"] for row in rows]).tolist() if rows else []
    for row, holm_p in zip(rows, corrected, strict=True):
        yield {**row, "holm_p": holm_p, "is_significant": holm_p <= findings.alpha}
