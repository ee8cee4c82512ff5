"""What a reader should know before believing the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from pomona.experiments.analysis.convention import plain
from pomona.experiments.analysis.pooled import Pooled
from pomona.experiments.findings import Findings

if TYPE_CHECKING:
    from pomona.experiments.results import Results

FEW_QUERIES = 50
"""Fewer than TREC gives to an experiment: tests then have little power, and means little meaning."""


def warnings_of(findings: Findings) -> Iterator[str]:
    """One sentence each: missing runs, few queries, other queries, choices made by the test data."""
    results, baseline = findings.results, findings.baseline
    yield from _missing_runs((findings.varied or results).runs)
    for data in findings.pooled:
        if baseline not in data.real:
            yield f"the baseline {baseline} has no finished run on {data.dataset}: nothing is marked"
        yield from _queries(data)
        yield from _choices(results, data, findings.main)
    # Rows that differ in what they are trained for do so on purpose.
    on_purpose = {row.label for row in results.spec.rankers if "measure" in getattr(row, "varied", ())}
    yield from _aims(results.runs.filter(~pl.col("ranker").is_in(on_purpose)), findings.measures)


def _missing_runs(runs: pl.DataFrame) -> Iterator[str]:
    counts = runs.group_by("of", "ranker", maintain_order=True).agg(
        n=pl.len(),
        failed=(pl.col("state") == "failed").sum(),
        done=(pl.col("state") == "done").sum(),
        reason=pl.col("reason").drop_nulls().first(),
    )
    for dataset, ranker, n, failed, done, reason in counts.iter_rows():
        if failed:
            yield f"{ranker} failed in {failed} of {n} runs on {dataset}: {reason or 'no reason was kept'}"
        if n > failed + done:
            yield f"{ranker} on {dataset}: {n - failed - done} of {n} runs were not done yet"


def _queries(data: Pooled) -> Iterator[str]:
    present, n = data.present, len(data.queries)
    if n < FEW_QUERIES:
        yield f"{data.dataset} has {n} test queries: fewer than {FEW_QUERIES} tell rankers apart badly"
    for ranker, count in zip(data.rankers, present.sum(axis=1), strict=True):
        if count < n:
            yield (
                f"{ranker} was judged on {count} of {n} queries of {data.dataset}: its means are of other "
                "queries than the others', and cannot be ranked; pairs are tested on what both have"
            )
    again = n - data.queries["qid"].n_unique()
    if again:
        yield (
            f"{again} query ids of {data.dataset} are in more than one test fold: if they are the same "
            "queries, they count more than once and tests are too sure"
        )


def _choices(results: Results, data: Pooled, main: str) -> Iterator[str]:
    """Variants of one method of which the test data, not the validation data, would choose the best."""
    kinds: dict[str, list[str]] = {}
    for ranker, kind in results.runs.select("ranker", "kind").unique(maintain_order=True).iter_rows():
        if ranker in data.comparable:
            kinds.setdefault(kind, []).append(ranker)
    valid = results.values.filter(pl.col("part") == "valid", dataset=data.dataset)
    by_valid = dict(valid.group_by("ranker").agg(pl.col(main).mean()).iter_rows())
    for kind, variants in kinds.items():
        if len(variants) < 2:
            continue
        best = max(variants, key=lambda ranker: data.mean(ranker, main))
        chosen = max(variants, key=lambda ranker: by_valid.get(ranker, float("-inf")))
        if not all(ranker in by_valid for ranker in variants):
            yield (
                f"{len(variants)} variants of {kind} on {data.dataset} have no validation values: to pick "
                "the best of them by these tables is to choose by the test data"
            )
        elif best != chosen:
            yield (
                f"of {len(variants)} variants of {kind} on {data.dataset}, {best} is best on the test data, "
                f"but the validation data choose {chosen}: report that one, the test fold must choose nothing"
            )


def _aims(runs: pl.DataFrame, measures: Sequence[str]) -> Iterator[str]:
    """Rankers trained for what nobody looks at."""
    judged = {plain(measure).lower() for measure in measures}
    aims = runs.filter(~pl.col("is_bound")).select("ranker", "trained_for").unique(maintain_order=True)
    for ranker, aim in aims.drop_nulls().iter_rows():
        if plain(aim).lower() not in judged:
            yield f"{ranker} was trained for {aim}, which is not among the measures it is judged by"
