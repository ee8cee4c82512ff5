"""Every pair of rankers, tested on the queries that both were judged on; here a difference is *significant*.

The claim is about the mean, so Fisher's randomization test of the mean decides, corrected by Holm over all
pairs of a dataset and measure: of all claims about such a family, any at all is false with probability α at
most. We also ask that t, Wilcoxon and sign test reject at α (Yilmaz & Robertson 2009) and that the majority
of the queries points where the mean does, which can only make claims fewer: a few large differences alone
are not enough. Nothing else decides: marks, matrix, headline and tables all read `is_significant`.

Of more than `MOST_PAIRED` rankers (a grid of parameters, say) only those pairs are tested that have the
baseline or the best ranker by the main measure in them (of variants, the one that the validation queries
chose): thousands of pairs would answer no question.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pomona.experiments.analysis.pooled import Pooled
from pomona.experiments.analysis.variant import contenders
from pomona.experiments.findings import Analysis, Findings, columns
from pomona.stats.corrections import benjamini_hochberg, holm
from pomona.stats.paired import PairedTests

MOST_PAIRED = 40
"""Of so many rankers every pair is tested."""


class Pairs(Analysis):
    """Rankers a and b: difference a − b, its tests, and whether it is significant.

    low, high : a bootstrap interval of this one difference, which is not corrected.
    effect : Cohen's d_z. wins, ties, losses : queries, of a.
    holm_p, bh_p : randomization_p corrected over the pairs of the dataset and measure.
    agree : t, Wilcoxon and sign test reject, uncorrected.
    is_significant : `agree`, and holm_p is at most α.
    detectable : the smallest difference that these queries would show with 80 % power.
    """

    name = "pairs"
    schema: ClassVar = {
        **columns(pl.String, "dataset", "measure", "a", "b"),
        "n_queries": pl.Int64,
        **columns(pl.Float64, "difference", "low", "high", "effect"),
        **columns(pl.Float64, "t_p", "wilcoxon_p", "sign_p", "randomization_p", "holm_p", "bh_p"),
        **columns(pl.Int64, "wins", "ties", "losses"),
        **columns(pl.Boolean, "agree", "is_significant"),
        "detectable": pl.Float64,
    }

    @classmethod
    def compute(cls, findings: Findings) -> pl.DataFrame:
        return cls.table(row for data in findings.pooled for row in _rows(data, findings))


def both_ways(pairs: pl.DataFrame) -> pl.DataFrame:
    """Every pair as it is seen from a, and then from b."""
    swapped = {"a": "b", "b": "a", "wins": "losses", "losses": "wins"}
    negated = {"difference": "difference", "effect": "effect", "low": "high", "high": "low"}
    turned = pairs.with_columns(
        **{name: pl.col(other) for name, other in swapped.items()},
        **{name: -pl.col(other) for name, other in negated.items()},
    )
    return pl.concat([pairs, turned])


def _rows(data: Pooled, findings: Findings) -> Iterator[dict[str, Any]]:
    first, second = _chosen_pairs(data, findings)
    tested = _tests(data, findings)
    for m, measure in enumerate(findings.measures):
        pairs = [pair for pair in range(len(first)) if (m, pair) in tested]
        decided = decisions([tested[m, pair] for pair in pairs], findings.alpha)
        for pair, row in zip(pairs, decided, strict=True):
            names = {"a": data.real[first[pair]], "b": data.real[second[pair]]}
            yield {"dataset": data.dataset, "measure": measure, **names, **row}


def decisions(family: Sequence[PairedTests], alpha: float) -> list[dict[str, Any]]:
    """The tests of a family of pairs as rows, with corrected p-values and whether each is significant."""
    p = [tests.randomization_p for tests in family]
    return [
        {
            **asdict(tests),
            "holm_p": holm_p,
            "bh_p": bh_p,
            "agree": tests.agree(alpha),
            "is_significant": tests.agree(alpha) and holm_p <= alpha,
        }
        for tests, holm_p, bh_p in zip(family, holm(p).tolist(), benjamini_hochberg(p).tolist(), strict=True)
    ]


def _chosen_pairs(data: Pooled, findings: Findings) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The pairs that are tested, as places among the real rankers."""
    first, second = np.triu_indices(len(data.real), 1)
    if len(data.real) <= MOST_PAIRED:
        return first, second
    means = {ranker: data.mean(ranker, findings.main) for ranker in data.comparable}
    best = contenders(findings, data.dataset, means)[0].ranker
    told = np.isin(data.real, [best, findings.baseline])
    kept = told[first] | told[second]
    return first[kept], second[kept]


def _tests(data: Pooled, findings: Findings) -> dict[tuple[int, int], PairedTests]:
    """The tests of (measure, pair), both as numbers; pairs with the same queries are tested together."""
    first, second = _chosen_pairs(data, findings)
    # The smallest p of B resamples is 1 / (B + 1): Holm's correction of so many pairs must be able to reject.
    n_resamples = math.ceil(2 * len(first) / findings.alpha)
    common = data.present[first] & data.present[second]
    measures = np.array([data.measures.index(measure) for measure in findings.measures])
    tested: dict[tuple[int, int], PairedTests] = {}
    for queries in np.unique(common, axis=0):
        if not queries.any():
            continue
        chosen = np.flatnonzero((common == queries).all(axis=1))
        used = np.unique([first[chosen], second[chosen]])
        rows = data.values[np.ix_(used, np.flatnonzero(queries), measures)]  # (rankers, queries, measures)
        rows = np.moveaxis(rows, 2, 0)
        offsets = len(used) * np.arange(len(measures))[:, None]
        one, other = ((offsets + np.searchsorted(used, side[chosen])).ravel() for side in (first, second))
        tests = findings.compared(rows.reshape(-1, rows.shape[2]), one, other, n_resamples=n_resamples)
        keys = [(m, int(pair)) for m in range(len(measures)) for pair in chosen]
        tested.update(zip(keys, tests, strict=True))
    return tested
