"""What the numbers of a comparison mean: every statistic of the report, computed once and only here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from pomona.errors import InputError, PomonaError
from pomona.experiments.analysis.caution import cautions
from pomona.experiments.analysis.convention import convention_table, order_changes
from pomona.experiments.analysis.cost import cost_table, front_table
from pomona.experiments.analysis.document import document_schema, document_table
from pomona.experiments.analysis.learning import learning_table
from pomona.experiments.analysis.pairs import marks_of, pairs_of, pairs_table
from pomona.experiments.analysis.pooled import pooled
from pomona.experiments.analysis.quality import cutoff_table, quality_table, query_table
from pomona.experiments.analysis.spread import variance_table
from pomona.experiments.analysis.winner import headline_table, winning_table
from pomona.measures.parse import measure as parse_measure

if TYPE_CHECKING:
    from pomona.experiments.results import Results


@dataclass(frozen=True)
class Findings:
    """A comparison, read by a statistician. Null is: cannot be told.

    Queries are the unit: seeds are averaged for each query first, the queries of all test folds are pooled.
    The best and the worst possible ranking (bounds) are in `table` only. A ranker that misses queries of
    others (some run failed) is in no ranking: not in `fronts`, `winning` and `headline`, and without a rank.

    Attributes
    ----------
    main : the measure that decides. baseline : the ranker that all are compared with.
    measures : every measure of `table`, the main one first.
    table : dataset, ranker, measure, mean, low, high (bootstrap), n_queries, mark (▲ ▼ against the baseline),
        norm (AVG_Norm), is_bound.
    costs : dataset, ranker, train_seconds, score_microseconds (a document), peak_memory, model_bytes,
        best_iteration, n_done, n_failed, reason.
    pairs : dataset, measure, a, b, n_queries, difference (a − b), low, high, effect, t_p, wilcoxon_p,
        sign_p, randomization_p, holm_p, bh_p (of randomization_p, over the pairs of a dataset and measure),
        wins, ties, losses, agree (t, Wilcoxon and sign reject), detectable (with 80 % power).
    cutoffs : dataset, ranker, convention, k, mean (of NDCG@k).
    conventions : dataset, ranker, trained_with, judged_with, measure, mean, rank.
    order_changes : dataset, measure, convention_1, convention_2, better, worse, difference_1, difference_2.
    fronts : dataset, ranker, mean, train_seconds, score_microseconds, on_train_front, on_score_front.
    learning : dataset, ranker, part, iteration, mean, low, high (over folds × seeds).
    variance : dataset, measure, ranker, queries, folds, seeds, residual (shares).
    winning : ranker, winning, ideal, normalized, is_pareto, is_rank2.
    queries : dataset, fold, qid, and the main measure in a column for each ranker.
    documents : dataset, fold, qid, doc, label, score:RANKER …, rank:RANKER …, features (JSON).
    headline : for each dataset winner, runner_up, measure, dataset, difference, low, high, p, is_significant,
        winner_train_seconds, winner_score_microseconds, runner_up_….
    warnings : sentences.
    """

    results: Results
    alpha: float
    main: str
    baseline: str
    measures: list[str]
    table: pl.DataFrame
    costs: pl.DataFrame
    pairs: pl.DataFrame
    cutoffs: pl.DataFrame
    conventions: pl.DataFrame
    order_changes: pl.DataFrame
    fronts: pl.DataFrame
    learning: pl.DataFrame
    variance: pl.DataFrame
    winning: pl.DataFrame
    queries: pl.DataFrame
    documents: pl.DataFrame
    headline: pl.DataFrame
    warnings: list[str]


def find(results: Results, *, alpha: float = 0.05, n_resamples: int = 10_000, seed: int = 0) -> Findings:
    """Apply every statistic to the results of a comparison.

    alpha : tests reject at this level, and intervals cover 1 − alpha.
    n_resamples, seed : of bootstrap and randomization; the same seed gives the same findings.
    """
    spec = results.spec
    judged = [str(parse_measure(text, name)) for name in spec.conventions for text in spec.measures]
    measures = list(dict.fromkeys(judged))
    main, baseline = measures[0], spec.baseline or spec.rankers[0].label
    datasets = pooled(results)
    if not datasets:
        raise InputError("no run is finished, so there is nothing to compare")
    tested = [
        pair
        for data in datasets
        for pair in pairs_of(data, measures, alpha=alpha, n_resamples=n_resamples, seed=seed)
    ]
    pairs, costs = pairs_table(tested, alpha), cost_table(results.runs)
    comparable = [(data.dataset, ranker) for data in datasets for ranker in data.comparable]
    marks = marks_of(tested, baseline, alpha)
    table = quality_table(datasets, measures, marks, alpha=alpha, n_resamples=n_resamples, seed=seed)
    ranked = table.join(
        pl.DataFrame(comparable, schema=["dataset", "ranker"], orient="row"),
        on=["dataset", "ranker"],
        how="semi",
        maintain_order="left",
    )
    conventions = convention_table(datasets, results.runs, spec.measures, spec.conventions)
    warnings = cautions(results, datasets, measures, baseline)
    documents = []
    for data in datasets:
        try:
            documents.append(document_table(results, data, main))
        except (PomonaError, OSError) as error:
            documents.append(pl.DataFrame(schema=document_schema(data)))
            warnings.append(f"documents of {data.dataset} cannot be shown: {error}")
    return Findings(
        results=results,
        alpha=alpha,
        main=main,
        baseline=baseline,
        measures=measures,
        table=table,
        costs=costs,
        pairs=pairs,
        cutoffs=cutoff_table(datasets, spec.conventions),
        conventions=conventions,
        order_changes=order_changes(conventions),
        fronts=front_table(ranked, costs, main),
        learning=learning_table(results.curves, alpha=alpha, seed=seed),
        variance=variance_table(datasets, measures),
        winning=winning_table(ranked),
        queries=query_table(datasets, main),
        documents=pl.concat(documents, how="diagonal"),
        headline=headline_table(ranked, pairs, costs, main, alpha),
        warnings=warnings,
    )
