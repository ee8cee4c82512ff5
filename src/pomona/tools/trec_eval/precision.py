"""trec_eval's measures of relevant and not: sets, precision and recall along the ranking.

Sums are added in the tool's order and divided where it divides, so that the last bit is the same. What
looks odd is the tool's: a query with nothing retrieved has precision 0/0 at recall 0, printed `-nan`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pomona._types import Values
from pomona.measures.judge import sum_in_order
from pomona.tools.trec_eval.ranking import UNJUDGED, Ranking

_EPSILON = 0.00001  # infAP's smoothing


def over(numerator: float, denominator: float) -> float:
    """Division as the processor does it: by 0 it gives infinity or NaN."""
    return float(np.float64(numerator) / np.float64(denominator))


def num_nonrel_judged_ret(ranking: Ranking) -> int:
    """How many retrieved documents are judged and not relevant."""
    return int((ranking.labels >= 0).sum()) - ranking.n_rel_ret


def set_precision(ranking: Ranking) -> float:
    """The share of the retrieved documents that is relevant."""
    return ranking.n_rel_ret / ranking.n_ret if ranking.n_ret else 0.0


def set_recall(ranking: Ranking) -> float:
    """The share of the relevant documents that was retrieved."""
    return ranking.n_rel_ret / ranking.n_rel if ranking.n_rel else 0.0


def set_relative_precision(ranking: Ranking) -> float:
    """Precision relative to the best possible for so many documents."""
    possible = min(ranking.n_ret, ranking.n_rel)
    return ranking.n_rel_ret / possible if possible else 0.0


def set_map(ranking: Ranking) -> float:
    """Precision times recall of the set."""
    if not (ranking.n_ret and ranking.n_rel):
        return 0.0
    return ranking.n_rel_ret * ranking.n_rel_ret / (ranking.n_ret * ranking.n_rel)


def set_f(ranking: Ranking, weights: Sequence[float]) -> float:
    """The weighted harmonic mean of precision and recall: (x + 1) P R / (x P + R)."""
    if not ranking.n_rel_ret:
        return 0.0
    x, precision, recall = weights[0], set_precision(ranking), set_recall(ranking)
    return over((x + 1.0) * precision * recall, x * precision + recall)


def utility(ranking: Ranking, values: Sequence[float]) -> float:
    """What the four kinds of document are worth: retrieved or not, relevant or not.

    The fourth counts from a collection of 0 documents, as the tool does without its -N.
    """
    n_rel_ret, n_ret, n_rel = ranking.n_rel_ret, ranking.n_ret, ranking.n_rel
    counts = n_rel_ret, n_ret - n_rel_ret, n_rel - n_rel_ret, n_rel_ret - n_ret - n_rel
    return values[0] * counts[0] + values[1] * counts[1] + values[2] * counts[2] + values[3] * counts[3]


def _precisions(ranking: Ranking) -> Values:
    """The precision at every relevant document."""
    return np.arange(1, ranking.n_rel_ret + 1) / ranking.hits


def average_precision(ranking: Ranking) -> float:
    """The mean precision at the relevant documents; at one not retrieved it is 0."""
    return sum_in_order(_precisions(ranking)) / ranking.n_rel if ranking.n_rel_ret else 0.0


def average_precision_at(ranking: Ranking, k: int) -> float:
    """The same over the first k documents, still divided by all relevant ones."""
    return sum_in_order(_precisions(ranking)[: ranking.n_hits(k)]) / ranking.n_rel if ranking.n_rel else 0.0


def yaap(ranking: Ranking) -> float:
    """Average precision on the scale of a logarithm of odds (Robertson 2012)."""
    total = sum_in_order(_precisions(ranking))
    return math.log((1.0 + total) / (1.0 + ranking.n_rel - total))


def precision_at(ranking: Ranking, k: int) -> float:
    """The share of relevant documents in the first k; missing ones are not relevant."""
    return ranking.n_hits(k) / k


def recall_at(ranking: Ranking, k: int) -> float:
    """The share of the relevant documents that is in the first k."""
    return ranking.n_hits(k) / ranking.n_rel if ranking.n_rel else 0.0


def relative_precision_at(ranking: Ranking, k: int) -> float:
    """Precision at k relative to the best possible."""
    return ranking.n_hits(k) / min(k, ranking.n_rel) if ranking.n_rel else 0.0


def success_at(ranking: Ranking, k: int) -> float:
    """Whether one of the first k documents is relevant."""
    return 1.0 if ranking.n_hits(k) else 0.0


def unjudged_at(ranking: Ranking, k: int) -> float:
    """The share of documents without a judgment in the first k."""
    return int((ranking.labels[:k] < 0).sum()) / k


def r_precision(ranking: Ranking) -> float:
    """Precision at R, the number of relevant documents."""
    return ranking.n_hits(ranking.n_rel) / ranking.n_rel if ranking.n_rel else 0.0


def r_precision_times(ranking: Ranking, multiple: float) -> float:
    """Precision at a multiple of R."""
    k = int(multiple * ranking.n_rel + 0.9)
    return ranking.n_hits(k) / k if k > 0 else 0.0


def reciprocal_rank(ranking: Ranking) -> float:
    """One over the rank of the first relevant document."""
    return 1.0 / int(ranking.hits[0]) if ranking.n_rel_ret else 0.0


def precisions_at_recall(ranking: Ranking, shares: Sequence[float]) -> list[float | str]:
    """The greatest precision at or after each share of the relevant documents; 0 where it is not reached."""
    return [value or 0.0 for value in reversed(_interpolated(ranking, shares))]


def mean_precision_at_recall(ranking: Ranking, shares: Sequence[float]) -> float:
    """The mean of those over the shares."""
    reached = [value for value in _interpolated(ranking, shares) if value is not None]
    return sum_in_order(np.array(reached)) / len(shares)


def _interpolated(ranking: Ranking, shares: Sequence[float]) -> list[float | None]:
    """The greatest precision at or after each share, from the last share back; None where not reached.

    Shares are turned into numbers of documents by adding 0.9 and cutting (version 9) or by rounding
    (version 10), and should ascend: one greater than its successor counts as 0, and so do all before it.
    """
    reached = ranking.n_rel_ret
    best = np.maximum.accumulate(_precisions(ranking)[::-1])[::-1]
    at_any = float(best[0]) if reached else over(0, ranking.n_ret)
    out: list[float | None] = []
    for share in reversed(shares):
        number = share * ranking.n_rel
        n = int(number + 0.9) if ranking.version == 9 else _rounded(number)
        if n > ranking.n_rel_ret and all(value is None for value in out):
            out.append(None)
        elif 1 <= n <= reached:
            reached = n
            out.append(float(best[n - 1]))
        else:
            reached = 0
            out.append(at_any)
    return out


def _rounded(number: float) -> int:
    """C's lround: halves away from 0."""
    whole = math.floor(abs(number))
    return int(math.copysign(whole + (abs(number) - whole >= 0.5), number))


def bpref(ranking: Ranking) -> float:
    """The judged nonrelevant documents that stand below each relevant one (Buckley & Voorhees 2004)."""
    if not ranking.n_rel_ret:
        return 0.0
    judged = ranking.labels[ranking.labels >= 0]
    above = np.cumsum(judged < ranking.level)[judged >= ranking.level]
    n_nonrel = int(ranking.levels[: ranking.level].sum())
    # With nothing above it a document loses nothing, also where no nonrelevant document was judged.
    losses = np.minimum(above, ranking.n_rel) / max(min(n_nonrel, ranking.n_rel), 1)
    return sum_in_order(1.0 - losses) / ranking.n_rel


def inferred_ap(ranking: Ranking) -> float:
    """Average precision inferred from a pool of which a sample was judged (Yilmaz & Aslam 2006)."""
    if not ranking.n_rel_ret:
        return 0.0
    before = ranking.hits - 1
    relevant = np.arange(ranking.n_rel_ret)
    nonrelevant = np.cumsum((ranking.labels >= 0) & (ranking.labels < ranking.level))[before]
    unjudged = np.cumsum(ranking.labels == UNJUDGED)[before]
    above = before.astype(np.float64)
    in_pool = (relevant + nonrelevant + unjudged) / np.maximum(above, 1.0)
    of_judged = (relevant + _EPSILON) / (relevant + nonrelevant + 2 * _EPSILON)
    terms = 1.0 / (above + 1.0) + (above / (above + 1.0)) * in_pool * of_judged
    return sum_in_order(terms) / ranking.n_rel


def bin_g(ranking: Ranking) -> float:
    """The mean of 1 / log2(2 + nonrelevant documents above) over the relevant ones."""
    total = 0.0
    for n_hits, rank in enumerate(ranking.hits.tolist(), 1):
        total += 1.0 / math.log2(2 + rank - n_hits)
    return total / ranking.n_rel if ranking.n_rel_ret else 0.0
