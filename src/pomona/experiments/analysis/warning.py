"""What a reader should know before believing the numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from pomona.errors import UnknownNameError
from pomona.experiments.analysis.convention import differences_from_definition, plain
from pomona.experiments.analysis.pooled import Pooled
from pomona.experiments.analysis.variant import valid_means, variants
from pomona.experiments.findings import Findings
from pomona.measures.base import Measure
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure as parse_measure

if TYPE_CHECKING:
    from pomona.experiments.results import Results

FEW_QUERIES = 50
"""Fewer than TREC gives to an experiment: tests then have little power, and means little meaning."""


def warnings_of(findings: Findings) -> Iterator[str]:
    """One sentence each: missing runs, few queries, other queries, choices made by the test data, rules."""
    results, baseline = findings.results, findings.baseline
    for dataset, reason in results.facts.get("left_out", {}).items():
        yield f"{dataset} is left out: {reason}"
    yield from _missing_runs((findings.varied or results).runs)
    for data in findings.pooled:
        if baseline not in data.real:
            yield f"the baseline {baseline} has no finished run on {data.dataset}: nothing is marked"
        yield from _queries(data)
        yield from _choices(findings, data)
        yield from _rules(results, data.dataset, findings.main)
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
            f"query ids of {data.dataset} that are in more than one test fold: {again}; if they are the same "
            "queries, they count more than once and tests are too sure"
        )


def _choices(findings: Findings, data: Pooled) -> Iterator[str]:
    """Variants of one method of which the test data, not the validation data, would choose the best."""
    by_valid, on_purpose = valid_means(findings, data.dataset), variants(findings)
    named = {label for members in on_purpose.values() for label in members}
    families = [(name, list(members), ", which the headline takes") for name, members in on_purpose.items()]
    kinds: dict[str, list[str]] = {}
    for ranker, kind in (
        findings.results.runs.select("ranker", "kind").unique(maintain_order=True).iter_rows()
    ):
        if ranker not in named:
            kinds.setdefault(kind, []).append(ranker)
    advice = ": report that one, the test fold must choose nothing"
    for kind, members, then in [*families, *((kind, members, advice) for kind, members in kinds.items())]:
        rankers = [ranker for ranker in members if ranker in data.comparable]
        if len(rankers) < 2:
            continue
        best = max(rankers, key=lambda ranker: data.mean(ranker, findings.main))
        chosen = max(rankers, key=lambda ranker: by_valid.get(ranker, float("-inf")))
        if not all(ranker in by_valid for ranker in rankers):
            yield (
                f"{len(rankers)} variants of {kind} on {data.dataset} have no validation values: to pick "
                "the best of them by these tables is to choose by the test data"
            )
        elif best != chosen:
            yield (
                f"of {len(rankers)} variants of {kind} on {data.dataset}, {best} is best on the test data, "
                f"but the validation data choose {chosen}{then}"
            )


def _aims(runs: pl.DataFrame, measures: Sequence[str]) -> Iterator[str]:
    """Rankers trained for what nobody looks at."""
    judged = {plain(measure).lower() for measure in measures}
    aims = runs.filter(~pl.col("is_bound")).select("ranker", "trained_for").unique(maintain_order=True)
    for ranker, aim in aims.drop_nulls().iter_rows():
        if plain(aim).lower() not in judged:
            yield f"{ranker} was trained for {aim}, which is not among the measures it is judged by"


def _rules(results: Results, dataset: str, main: str) -> Iterator[str]:
    """What Busa-Fekete et al. (2012) advise against, where the data make it matter."""
    facts = {row["dataset"]: row for row in results.datasets.iter_rows(named=True)}.get(dataset)
    if facts is None:
        return
    n_queries, n_empty = facts["queries"], facts["empty_queries"]
    judges = {column: _known(column) for column in results.columns.values()}
    depths: dict[str, int] = {}
    for judge in judges.values():
        if judge is not None and judge.k is not None and getattr(judge, "short", "whole") == "zero":
            depths[judge.convention] = max(judge.k, depths.get(judge.convention, 0))
    for tool, k in depths.items():
        if n_short := _n_shorter(results, facts, k):
            yield (
                f"{tool} gives 0 to a query of fewer than {k} documents, however it is ranked: to "
                f"{'some' if n_short < 0 else n_short} of the {n_queries} queries of {dataset}; judge by "
                "another convention"
            )
    if n_empty:
        yield (
            f"{n_empty} of the {n_queries} queries of {dataset} {'has' if n_empty == 1 else 'have'} no "
            "relevant document: no ranking is better than another there, and it counts 0 or 1 as the "
            "convention says; drop_empty = true leaves such queries out"
        )
    # Of what a measure has to say of labels, that which their largest one tells.
    largest = RankedLists.of_labels([[facts["max_label"]]])
    for column, judge in judges.items():
        for note in () if judge is None else judge.notes(largest):
            yield f"{column} on {dataset}: {note}"
    judge = judges[main]
    if judge is None:
        return
    has_short = _n_shorter(results, facts, judge.k or 0) != 0
    reasons = differences_from_definition(
        judge, facts["max_label"], has_empty=n_empty > 0, has_short=has_short
    )
    if reasons:
        yield (
            f"{main} is not {plain(main)} by its definition on {dataset} ({', '.join(reasons)}): whatever "
            "trained a ranker, the final evaluation should be by the definition"
        )


def _known(text: str) -> Measure | None:
    """The measure; None where it is a user's own, whose code is not run to read results."""
    try:
        return parse_measure(text)
    except UnknownNameError:
        return None


def _n_shorter(results: Results, facts: Mapping[str, Any], k: int) -> int:
    """How many queries have fewer than k documents; −1 if some do, nobody knows how many."""
    lengths = results.lengths.get(facts["dataset"])
    if lengths is None:
        return -1 if facts["min_docs"] < k else 0
    return sum(count for length, count in lengths.items() if length < k)
