"""trec_eval's measures of gain: DCG and its relatives, G, and rank-biased precision."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pomona.measures.judge import sum_in_order
from pomona.tools.trec_eval.gain import Pairs, gain_by_label, gains_of, levels_of
from pomona.tools.trec_eval.parameter import NamedPairs, labels_10
from pomona.tools.trec_eval.precision import over
from pomona.tools.trec_eval.ranking import Ranking


def dcg(ranking: Ranking, pairs: Pairs) -> float:
    """The sum of gain / log2(rank + 1)."""
    return float(gains_of(ranking, pairs).dcg[-1])


def ideal_dcg(ranking: Ranking, pairs: Pairs) -> float:
    """The DCG of the best list."""
    return float(gains_of(ranking, pairs).ideal_dcg[-1])


def ndcg(ranking: Ranking, pairs: Pairs) -> float:
    """DCG over that of the best list, 0 where that is 0."""
    gains = gains_of(ranking, pairs)
    return float(gains.dcg[-1] / gains.ideal_dcg[-1]) if gains.ideal_dcg[-1] > 0 else 0.0


def ndcg_at(ranking: Ranking, cutoffs: Sequence[int]) -> list[float | str]:
    """NDCG of the first k documents; a shorter run or best list is used whole. The gain is the label."""
    gains = gains_of(ranking)
    dcg_at = gains.dcg[np.minimum(cutoffs, ranking.n_ret)]
    ideal = gains.ideal_dcg[np.minimum(cutoffs, len(gains.ideal))]
    return list((dcg_at / np.where(ideal > 0, ideal, 1.0)).tolist())


def ndcg_rel(ranking: Ranking, pairs: Pairs) -> float:
    """NDCG averaged over the relevant documents; one not retrieved counts with the last DCG."""
    gains = gains_of(ranking, pairs)
    n_rel, ideal = len(gains.ideal), gains.ideal_dcg
    hits = np.flatnonzero(gains.gains > 0) + 1
    terms = gains.dcg[hits] / ideal[np.minimum(hits, n_rel)]
    total = sum_in_order(terms) + over((n_rel - len(hits)) * gains.dcg[-1], ideal[-1])
    return over(total, n_rel) if total > 0 else 0.0


def r_ndcg(ranking: Ranking, pairs: Pairs) -> float:
    """NDCG averaged over the ranks at which the gain of the best list changes, and the end of the run."""
    if not ranking.n_rel:
        return 0.0
    gains = gains_of(ranking, pairs)
    total, n_changes = 0.0, 0
    previous = gains.top
    for rank, gain in enumerate([*gains.ideal.tolist(), 0.0]):
        if gain != previous and rank:
            total += float(gains.dcg[min(rank, ranking.n_ret)] / gains.ideal_dcg[rank])
            n_changes += 1
        previous = gain
    if len(gains.ideal) and len(gains.ideal) + 1 < ranking.n_ret:
        total += float(gains.dcg[-1] / gains.ideal_dcg[-1])
        n_changes += 1
    return over(total, n_changes)


def g(ranking: Ranking, pairs: Pairs) -> float:
    """Gain over log2(2 + what the best list has gained more), relative to the best list's gain.

    A document of the best list costs at least 1, also where its gain is less.
    """
    gains = gains_of(ranking, pairs)
    costs = np.ones(ranking.n_ret)
    n_ideal = min(len(gains.ideal), ranking.n_ret)
    costs[:n_ideal] = np.maximum(gains.ideal[:n_ideal], 1.0)
    behind = 2 + np.cumsum(costs) - np.cumsum(gains.gains)
    total = 0.0
    for rank in np.flatnonzero(gains.gains).tolist():
        total += over(gains.gains[rank], _log2(behind[rank]))
    best = sum_in_order(gains.ideal)
    return total / best if best > 0 else 0.0


def _log2(number: float) -> float:
    """C's log2, which has no error to raise."""
    if number > 0:
        return math.log2(number)
    return -math.inf if number == 0 else math.nan


def rbp(ranking: Ranking, pairs: NamedPairs) -> float:
    """Rank-biased precision of gains scaled to [0, 1] (Moffat & Zobel 2008), p = 0.9 unless given.

    The tool leaves the variables for the least and the greatest gain unset; the outputs that it
    publishes with its sources are those of 0, and so are ours.
    """
    p = _persistence(pairs)
    gain_of_label = gain_by_label(levels_of(ranking, labels_10(pairs)))
    low, high = min(0.0, *gain_of_label.values()), max(0.0, *gain_of_label.values())
    if low < 0 or high > 1:
        gain_of_label = {label: (gain - low) / (high - low) for label, gain in gain_of_label.items()}
    total, weight = 0.0, 1.0
    for label in ranking.labels.tolist():
        total += gain_of_label.get(label, 0.0) * weight
        weight *= p
    return (1.0 - p) * total


def rbp_residual(ranking: Ranking, pairs: NamedPairs) -> float:
    """How much rank-biased precision would gain if every document without a judgment were the best."""
    p = _persistence(pairs)
    total, weight = 0.0, 1.0
    for label in ranking.labels.tolist():
        total += weight if label < 0 else 0.0
        weight *= p
    return weight + (1 - p) * total if (ranking.labels < 0).any() else 0.0


def _persistence(pairs: NamedPairs) -> float:
    return dict([("p", 0.9), *pairs])["p"]
