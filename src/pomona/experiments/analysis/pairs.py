"""Every pair of rankers, tested on the queries that both were judged on.

The pairs of one dataset and measure are a family: Holm's and Benjamini and Hochberg's corrections are over
it. Against the baseline a ranker is marked by Yilmaz & Robertson's rule, with each of the three tests
corrected (Holm) for the number of rankers that are compared with the baseline.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import polars as pl

from pomona.experiments.analysis.pooled import Pooled
from pomona.stats.corrections import benjamini_hochberg, holm
from pomona.stats.paired import PairedTests, compare_pairs

ABOVE, BELOW = "▲", "▼"


@dataclass(frozen=True, slots=True)
class Pair:
    """Rankers `a` and `b` on a dataset, by a measure."""

    dataset: str
    measure: str
    a: str
    b: str
    tests: PairedTests


def pairs_of(
    data: Pooled, measures: Sequence[str], *, alpha: float, n_resamples: int, seed: int
) -> list[Pair]:
    """All pairs by all measures, in the order of measures, then rankers."""
    first, second = np.triu_indices(len(data.real), 1)
    # The smallest p of B resamples is 1 / (B + 1): Holm's correction of so many pairs must be able to reject.
    n_resamples = max(n_resamples, math.ceil(2 * len(first) / alpha))
    common = data.present[first] & data.present[second]
    columns = np.array([data.measures.index(measure) for measure in measures])
    found: dict[tuple[int, int], PairedTests] = {}
    # Pairs with the same queries, usually all, are tested together.
    for queries in np.unique(common, axis=0):
        chosen = np.flatnonzero((common == queries).all(axis=1))
        if not queries.any():
            continue
        used = np.unique([first[chosen], second[chosen]])
        rows = data.values[np.ix_(used, np.flatnonzero(queries), columns)]  # (rankers, queries, measures)
        rows = np.moveaxis(rows, 2, 0)
        of_measure = len(used) * np.arange(len(columns))[:, None]
        tests = compare_pairs(
            rows.reshape(-1, rows.shape[2]),
            (of_measure + np.searchsorted(used, first[chosen])).ravel(),
            (of_measure + np.searchsorted(used, second[chosen])).ravel(),
            alpha=alpha,
            n_resamples=n_resamples,
            seed=seed,
        )
        places = [(m, int(pair)) for m in range(len(columns)) for pair in chosen]
        found.update(zip(places, tests, strict=True))
    return [
        Pair(data.dataset, measures[m], data.real[first[pair]], data.real[second[pair]], tests)
        for (m, pair), tests in sorted(found.items())
    ]


def _families(pairs: Iterable[Pair]) -> list[list[Pair]]:
    families: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        families.setdefault((pair.dataset, pair.measure), []).append(pair)
    return list(families.values())


_SCHEMA = {
    **dict.fromkeys(("dataset", "measure", "a", "b"), pl.String),
    "n_queries": pl.Int64,
    **dict.fromkeys(("difference", "low", "high", "effect"), pl.Float64),
    **dict.fromkeys(("t_p", "wilcoxon_p", "sign_p", "randomization_p", "holm_p", "bh_p"), pl.Float64),
    **dict.fromkeys(("wins", "ties", "losses"), pl.Int64),
    "agree": pl.Boolean,
    "detectable": pl.Float64,
}


def pairs_table(pairs: Sequence[Pair], alpha: float) -> pl.DataFrame:
    """One row a pair; `agree` is Yilmaz & Robertson's rule without correction."""
    rows = []
    for family in _families(pairs):
        p = [pair.tests.randomization_p for pair in family]
        for pair, holm_p, bh_p in zip(family, holm(p), benjamini_hochberg(p), strict=True):
            who = {"dataset": pair.dataset, "measure": pair.measure, "a": pair.a, "b": pair.b}
            corrected = {"holm_p": holm_p, "bh_p": bh_p, "agree": pair.tests.agree(alpha)}
            rows.append({**who, **asdict(pair.tests), **corrected})
    table = pl.DataFrame(rows, schema=_SCHEMA)
    numbers = pl.col(pl.Float64)  # a single query, or the same difference everywhere, leaves some undefined
    return table.with_columns(pl.when(numbers.is_finite()).then(numbers))


def marks_of(pairs: Sequence[Pair], baseline: str, alpha: float) -> dict[tuple[str, str, str], str]:
    """(dataset, measure, ranker) → ▲ significantly above the baseline, ▼ below; others are not there."""
    marks = {}
    for family in _families(pair for pair in pairs if baseline in (pair.a, pair.b)):
        tests = [pair.tests for pair in family]
        t_p = holm([test.t_p for test in tests])
        wilcoxon_p = holm([test.wilcoxon_p for test in tests])
        sign_p = holm([test.sign_p for test in tests])
        for pair, t, w, s in zip(family, t_p, wilcoxon_p, sign_p, strict=True):
            if replace(pair.tests, t_p=t, wilcoxon_p=w, sign_p=s).agree(alpha):
                other, sign = (pair.a, 1) if pair.b == baseline else (pair.b, -1)
                above = sign * pair.tests.difference > 0
                marks[pair.dataset, pair.measure, other] = ABOVE if above else BELOW
    return marks
