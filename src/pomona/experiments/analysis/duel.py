"""Is the gain real? Systems that ranked the same queries, compared pair by pair and slice by slice.

A difference is *significant* by the one rule of `pairs.py`: Fisher's randomization test of the mean, Holm's
correction over all pairs of a measure, and t, Wilcoxon and sign test that agree. The intervals are corrected
too, so that they do not promise what the test denies: each covers 1 − α / m of the m pairs (Bonferroni), all
together 1 − α. In slices the family is every pair in every slice; whether the gain depends on the slice at
all is Kruskal & Wallis's question.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from pomona._types import Values
from pomona.data.dataset import Dataset
from pomona.data.trec import dataset_of_trec, read_qrels, read_run
from pomona.errors import InputError
from pomona.experiments.analysis.pairs import decisions
from pomona.experiments.analysis.query_slice import (
    LENGTH,
    RELEVANT,
    QuerySlice,
    n_relevant_of,
    slice_of,
    slices_of_data,
)
from pomona.measures.base import Measure
from pomona.measures.judge import asked_for, judge, refuse_one_name, scored_queries
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.stats.bootstrap import Resampled
from pomona.stats.paired import PairedTests, compare_pairs

_TESTS_A_TAIL = 20  # resampled means beyond each end of an interval, at the least


@dataclass(frozen=True)
class Duel:
    """What was found about systems that ranked the same queries.

    Attributes
    ----------
    systems, measures : in the order given; the first measure is that of `queries` and `slices`.
    n_empty : queries without a document that is worth anything to the first measure, such as a relevant one,
        whose values are mere convention.
    n_left_out : queries that some system did not answer, and that are not compared.
    means : system, measure, mean, and its interval (of one mean alone).
    pairs : measure, a, b: the difference a − b where a came after b, its corrected interval, tests, verdict.
    slices : slice, group, a, b: the same for the queries of a group, by the first measure.
    dependence : slice, a, b: p of Kruskal & Wallis's test that the difference is the same in all groups.
    queries : query, its numbers of documents and of relevant ones, and the value of each system.
    """

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    alpha: float
    n_empty: int
    n_left_out: int
    means: pl.DataFrame
    pairs: pl.DataFrame
    slices: pl.DataFrame
    dependence: pl.DataFrame
    queries: pl.DataFrame

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name."""
        return {name: getattr(self, name) for name in ("means", "pairs", "slices", "dependence", "queries")}

    @property
    def main(self) -> str:
        """The first measure."""
        return self.measures[0]

    @property
    def duels(self) -> dict[str, tuple[str, str]]:
        """Every pair (a, b), by what it is called."""
        pairs = self.pairs.filter(measure=self.main).select("a", "b").rows()
        return {f"{a} − {b}": (a, b) for a, b in pairs}

    @property
    def verdicts(self) -> list[str]:
        """Every row of `pairs` in words."""
        return [_verdict(row, len(self.duels), self.alpha) for row in self.pairs.iter_rows(named=True)]

    def differences(self, a: str, b: str) -> pl.DataFrame:
        """Every query with its difference a − b, where a is worst first."""
        columns = ["query", LENGTH, RELEVANT]
        values = self.queries.select(*columns, pl.col(_of(b)).alias("b"), pl.col(_of(a)).alias("a"))
        change = (pl.col("a") - pl.col("b")).round(12).alias("difference")
        return values.with_columns(change).sort("difference", maintain_order=True)


@dataclass(frozen=True)
class _Judged:
    """Values of (measure, system, query), and what the queries are like."""

    systems: tuple[str, ...]
    measures: tuple[Measure, ...]
    values: Values
    qids: Sequence[Any]
    n_docs: NDArray[np.int64]
    n_relevant: NDArray[np.int64]
    judgments: RankedLists
    n_left_out: int = 0

    @property
    def n_empty(self) -> int:
        """How many queries have no document that is worth anything to the first measure."""
        worth = self.measures[0].relevant_levels(self.judgments.levels)
        return int((self.judgments.pool_count(worth) == 0).sum())


def duel(
    data: Dataset,
    scores: Mapping[str, ArrayLike],
    measures: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    by: str | Sequence[str] | Mapping[str, Any] = (),
    convention: str | None = None,
    ties: str | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> Duel:
    """Compare systems by their scores of the same documents, the old one first.

    Parameters
    ----------
    scores : of each system one score a document, in the order in which the rows of `data` came.
    measures : what is judged; the first decides about queries and slices.
    by : what queries are sliced by, besides their numbers of documents and of relevant ones: names of
        features, or values by name, one a query in the order of `data.qids` or as a mapping from query id.
    convention, ties : as in `evaluate`.
    alpha : how often a false claim, of all about a measure, is accepted at the most.

    >>> from pomona import Dataset
    >>> data = Dataset([[0.0]] * 20, [0, 1] * 10, np.repeat(np.arange(10), 2))
    >>> found = duel(data, {"old": [1, 0] * 10, "new": [0, 1] * 10}, "rr")
    >>> found.pairs.select("a", "b", "difference", "wins", "is_significant").row(0)
    ('new', 'old', 0.5, 10, True)
    """
    _check(scores, alpha)
    wanted = _parsed(measures, convention, ties)
    judged = {name: scored_queries(data, given) for name, given in scores.items()}
    values = np.array([[j.values for j in judge(one, wanted)] for one in judged.values()]).transpose(1, 0, 2)
    of_queries = data.qids.tolist(), data.query_lengths, n_relevant_of(data)
    one = next(iter(judged.values()))
    pools = RankedLists.of_documents(one.labels, one.query_ptr)
    found = _Judged(tuple(scores), tuple(wanted), values, *of_queries, pools)
    return _compared(found, slices_of_data(data, by), alpha, seed)


def duel_of_runs(
    qrels: str | Path,
    runs: Mapping[str, str | Path],
    measures: str | Measure | Iterable[str | Measure] = "ndcg@10",
    *,
    by: Mapping[str, Mapping[Any, Any]] | None = None,
    complete: bool = False,
    convention: str | None = None,
    ties: str | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> Duel:
    """Compare TREC runs by the same judgments: as `duel`.

    by : values by name, each a mapping from query id.
    complete : a judged query that a run lacks counts 0 (trec_eval's `-c`); otherwise queries that some run
        lacks are left out, and `n_left_out` tells how many.
    """
    _check(runs, alpha)
    wanted, judgments = _parsed(measures, convention, ties), read_qrels(qrels)
    of_run: dict[str, dict[str, Values]] = {}
    for name, path in runs.items():
        trec = dataset_of_trec(judgments, read_run(path))
        documents = trec.data.y, trec.scores, trec.data.query_ptr, trec.data.doc_ids
        lists = ScoredQueries(*documents, trec.pool_labels, trec.pool_ptr)
        columns = np.array([j.values for j in judge(lists, wanted)])
        of_run[name] = dict(zip(trec.data.qids.tolist(), columns.T, strict=True))
    every = [qid.decode(errors="surrogateescape") for qid in judgments.qids]
    kept = [q for q, qid in enumerate(every) if complete or all(qid in values for values in of_run.values())]
    if not kept:
        raise InputError("no query is in the judgments and in every run: check that they belong together")
    zero = np.zeros(len(wanted))
    values = np.array([[of_run[name].get(every[q], zero) for q in kept] for name in runs])
    pools = [[label for label in judgments.judgments(q).values() if label >= 0] for q in kept]
    found = _Judged(
        tuple(runs),
        tuple(wanted),
        values.transpose(2, 0, 1),
        [every[q] for q in kept],
        np.array([len(pool) for pool in pools]),
        np.array([sum(label > 0 for label in pool) for pool in pools]),
        RankedLists.of_labels(pools),
        len(every) - len(kept),
    )
    slices = [slice_of(name, _known(of, found.qids)) for name, of in (by or {}).items()]
    return _compared(found, slices, alpha, seed)


def _known(values: Mapping[Any, Any], qids: Sequence[str]) -> list[Any]:
    texts = {str(qid): value for qid, value in values.items()}
    return [texts.get(qid) for qid in qids]


def _verdict(pair: Mapping[str, Any], n_pairs: int, alpha: float) -> str:
    a, b, difference, p = pair["a"], pair["b"], pair["difference"], pair["holm_p"]
    corrected = f", corrected for {n_pairs} pairs" if n_pairs > 1 else ""
    interval = f"{1 - alpha:.0%} interval {pair['low']:+.4f} to {pair['high']:+.4f}{corrected}".replace(
        "-", "−"
    )
    chance = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    start = f"{pair['measure']}: {a} is {abs(difference):.4f} {'above' if difference > 0 else 'below'} {b}"
    if difference == 0:
        start = f"{pair['measure']}: {a} and {b} are the same on average"
    if pair["is_significant"]:
        return f"{start} ({interval}): a significant difference ({chance})."
    if p <= alpha:
        return (
            f"{start} ({interval}): not accepted: {chance}, but t, Wilcoxon and sign test do not all agree."
        )
    return (
        f"{start} ({interval}): within chance ({chance}). "
        f"{pair['n_queries']} queries would show a difference of {pair['detectable']:.4f} with 80 % power."
    )


def _check(systems: Mapping[str, Any], alpha: float) -> None:
    if len(systems) < 2:
        raise InputError(f"found {len(systems)} system, expected two or more to compare")
    if not 0 < alpha < 1:
        raise InputError(f"found alpha {alpha}, expected a number between 0 and 1")


def _parsed(
    measures: str | Measure | Iterable[str | Measure], convention: str | None, ties: str | None
) -> list[Measure]:
    each = [measures] if isinstance(measures, str | Measure) else list(measures)
    if not each:
        raise InputError("no measure was asked for")
    parsed = list(asked_for(each, convention)[0].values())
    refuse_one_name(parsed)
    return list(dict.fromkeys(dataclasses.replace(one, ties=ties) if ties else one for one in parsed))


def _compared(judged: _Judged, slices: Sequence[QuerySlice], alpha: float, seed: int) -> Duel:
    """Every table of the duel."""
    own = [slice_of(LENGTH, judged.n_docs.tolist()), slice_of(RELEVANT, judged.n_relevant.tolist())]
    every = [one for one in (*own, *slices) if len(one.groups) > 1]
    # The one that came later is a, so that a gain is positive.
    b, a = np.triu_indices(len(judged.systems), 1)
    pairs = []
    for measure, values in zip(judged.measures, judged.values, strict=True):
        rows = decisions(_tests(values, a, b, len(a), alpha, seed), alpha)
        pairs += [{"measure": str(measure), **names, **row} for names, row in _named(judged, a, b, rows)]
    columns = {"query": pl.Series([str(qid) for qid in judged.qids], dtype=pl.String)}
    columns |= {LENGTH: pl.Series(judged.n_docs), RELEVANT: pl.Series(judged.n_relevant)}
    columns |= {one.name: pl.Series([one.groups[g] for g in one.group_of]) for one in slices}
    columns |= {_of(name): pl.Series(row) for name, row in zip(judged.systems, judged.values[0], strict=True)}
    return Duel(
        judged.systems,
        tuple(str(measure) for measure in judged.measures),
        alpha,
        judged.n_empty,
        judged.n_left_out,
        pl.DataFrame(_means(judged, alpha, seed)),
        pl.DataFrame(pairs),
        _by_slice(judged, every, a, b, alpha, seed),
        _dependence(judged, every, a, b),
        pl.DataFrame(columns),
    )


def _of(system: str) -> str:
    """The column of a system's values, which no slice can be called."""
    return f"value of {system}"


def _tests(
    values: Values, a: NDArray[np.intp], b: NDArray[np.intp], n_family: int, alpha: float, seed: int
) -> list[PairedTests]:
    """The tests of pairs, whose intervals hold for `n_family` at once."""
    corrected = alpha / n_family
    n_resamples = max(10_000, math.ceil(2 * _TESTS_A_TAIL / corrected))
    return compare_pairs(values, a, b, alpha=corrected, n_resamples=n_resamples, seed=seed)


def _named(
    judged: _Judged, a: NDArray[np.intp], b: NDArray[np.intp], rows: Sequence[dict[str, Any]]
) -> Iterable[tuple[dict[str, str], dict[str, Any]]]:
    for i, j, row in zip(a, b, rows, strict=True):
        yield {"a": judged.systems[i], "b": judged.systems[j]}, row


def _means(judged: _Judged, alpha: float, seed: int) -> Iterable[dict[str, Any]]:
    for measure, values in zip(judged.measures, judged.values, strict=True):
        low, high = Resampled.of(values, seed=seed).intervals(1 - alpha)
        for i, system in enumerate(judged.systems):
            ends = {"low": float(low[i]), "high": float(high[i])}
            yield {"system": system, "measure": str(measure), "mean": float(values[i].mean()), **ends}


def _by_slice(
    judged: _Judged,
    slices: Sequence[QuerySlice],
    a: NDArray[np.intp],
    b: NDArray[np.intp],
    alpha: float,
    seed: int,
) -> pl.DataFrame:
    """The pairs in every group, by the first measure: one family."""
    groups = [(one, g) for one in slices for g in range(len(one.groups)) if (one.group_of == g).any()]
    family: list[PairedTests] = []
    for one, g in groups:
        chosen = np.ascontiguousarray(judged.values[0][:, one.group_of == g])
        family += _tests(chosen, a, b, len(groups) * len(a), alpha, seed)
    where = [(one, g, i, j) for one, g in groups for i, j in zip(a, b, strict=True)]
    return pl.DataFrame(
        [
            {
                "slice": one.name,
                "group": one.groups[g],
                "a": judged.systems[i],
                "b": judged.systems[j],
                "mean_a": float(judged.values[0][i, one.group_of == g].mean()),
                "mean_b": float(judged.values[0][j, one.group_of == g].mean()),
                **row,
            }
            for (one, g, i, j), row in zip(where, decisions(family, alpha), strict=True)
        ]
    )


def _dependence(
    judged: _Judged, slices: Sequence[QuerySlice], a: NDArray[np.intp], b: NDArray[np.intp]
) -> pl.DataFrame:
    """Whether the difference is spread alike in all groups of a slice."""
    rows = []
    for one in slices:
        for i, j in zip(a, b, strict=True):
            p = one.dependence(judged.values[0][i] - judged.values[0][j])
            rows.append({"slice": one.name, "a": judged.systems[i], "b": judged.systems[j], "p": p})
    return pl.DataFrame(rows)
