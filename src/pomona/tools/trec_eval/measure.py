"""The measures of trec_eval, a small function each, in the order in which the tool prints them.

Sums are added in the tool's order and divided where it divides, so that the last bit is the same. What
looks odd is the tool's: a query with nothing retrieved has precision 0/0 at recall 0, printed `-nan`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pomona._types import Values
from pomona.tools.trec_eval.gain import Pairs, gain_by_label, gains_of, levels_of
from pomona.tools.trec_eval.parameter import (
    NamedPairs,
    Read,
    cutoffs,
    gains,
    labelled_10,
    named,
    no_parameter,
    numbers,
    shares,
)
from pomona.tools.trec_eval.ranking import NOT_IN_POOL, UNJUDGED, Ranking

Value = int | float | str
"""What is printed: a count as it is, a number with four decimals, a text as it is."""

_LEAST = 0.00001  # what a geometric mean takes for 0
_EPSILON = 0.00001  # infAP's smoothing


def _last_sum(terms: Values) -> float:
    """The sum, added from first to last (np.sum adds in pairs)."""
    return float(np.cumsum(terms)[-1]) if terms.size else 0.0


def _over(numerator: float, denominator: float) -> float:
    """Division as the processor does it: by 0 it gives infinity or NaN."""
    return float(np.float64(numerator) / np.float64(denominator))


# --- counts and sets ----------------------------------------------------------------------------------


def _num_nonrel_judged_ret(ranking: Ranking) -> int:
    return int((ranking.labels >= 0).sum()) - ranking.n_rel_ret


def _set_precision(ranking: Ranking) -> float:
    return ranking.n_rel_ret / ranking.n_ret if ranking.n_ret else 0.0


def _set_recall(ranking: Ranking) -> float:
    return ranking.n_rel_ret / ranking.n_rel if ranking.n_rel else 0.0


def _set_relative_precision(ranking: Ranking) -> float:
    possible = min(ranking.n_ret, ranking.n_rel)
    return ranking.n_rel_ret / possible if possible else 0.0


def _set_map(ranking: Ranking) -> float:
    if not (ranking.n_ret and ranking.n_rel):
        return 0.0
    return ranking.n_rel_ret * ranking.n_rel_ret / (ranking.n_ret * ranking.n_rel)


def _set_f(ranking: Ranking, weights: Sequence[float]) -> float:
    if not ranking.n_rel_ret:
        return 0.0
    x, precision, recall = weights[0], _set_precision(ranking), _set_recall(ranking)
    return _over((x + 1.0) * precision * recall, x * precision + recall)


def _utility(ranking: Ranking, worth: Sequence[float]) -> float:
    found, n_ret, n_rel = ranking.n_rel_ret, ranking.n_ret, ranking.n_rel
    return (
        worth[0] * found
        + worth[1] * (n_ret - found)
        + worth[2] * (n_rel - found)
        + worth[3] * (found - n_ret - n_rel)
    )


# --- precision and recall along the ranking -----------------------------------------------------------


def _precisions(ranking: Ranking) -> Values:
    """The precision at every relevant document."""
    return np.arange(1, ranking.n_rel_ret + 1) / ranking.hits


def _average_precision(ranking: Ranking) -> float:
    return _last_sum(_precisions(ranking)) / ranking.n_rel if ranking.n_rel_ret else 0.0


def _average_precision_at(ranking: Ranking, k: int) -> float:
    return _last_sum(_precisions(ranking)[: ranking.n_hits(k)]) / ranking.n_rel if ranking.n_rel else 0.0


def _yaap(ranking: Ranking) -> float:
    total = _last_sum(_precisions(ranking))
    return math.log((1.0 + total) / (1.0 + ranking.n_rel - total))


def _precision_at(ranking: Ranking, k: int) -> float:
    return ranking.n_hits(k) / k


def _recall_at(ranking: Ranking, k: int) -> float:
    return ranking.n_hits(k) / ranking.n_rel if ranking.n_rel else 0.0


def _relative_precision_at(ranking: Ranking, k: int) -> float:
    return ranking.n_hits(k) / min(k, ranking.n_rel) if ranking.n_rel else 0.0


def _success_at(ranking: Ranking, k: int) -> float:
    return 1.0 if ranking.n_hits(k) else 0.0


def _unjudged_at(ranking: Ranking, k: int) -> float:
    return int((ranking.labels[:k] < 0).sum()) / k


def _r_precision(ranking: Ranking) -> float:
    return ranking.n_hits(ranking.n_rel) / ranking.n_rel if ranking.n_rel else 0.0


def _r_precision_times(ranking: Ranking, multiple: float) -> float:
    k = int(multiple * ranking.n_rel + 0.9)
    return ranking.n_hits(k) / k if k > 0 else 0.0


def _reciprocal_rank(ranking: Ranking) -> float:
    return 1.0 / int(ranking.hits[0]) if ranking.n_rel_ret else 0.0


def _interpolated(ranking: Ranking, shares: Sequence[float]) -> list[float | None]:
    """The greatest precision at or after each share of the relevant documents, from the last share back.

    None where the ranking does not get that far. Shares are turned into numbers of documents by adding
    0.9 and cutting (version 9) or by rounding (version 10), and are expected in ascending order: one
    that is greater than its successor counts as 0, and so do all before it.
    """
    cut = _add_and_cut if ranking.version == 9 else _rounded
    reached = ranking.n_rel_ret
    best = np.maximum.accumulate(_precisions(ranking)[::-1])[::-1]
    at_any = float(best[0]) if reached else _over(0, ranking.n_ret)
    out: list[float | None] = []
    for share in reversed(shares):
        n = cut(share * ranking.n_rel)
        if n > ranking.n_rel_ret and all(value is None for value in out):
            out.append(None)
        elif 1 <= n <= reached:
            reached = n
            out.append(float(best[n - 1]))
        else:
            reached = 0
            out.append(at_any)
    return out


def _add_and_cut(number: float) -> int:
    return int(number + 0.9)


def _rounded(number: float) -> int:
    """C's lround: halves away from 0."""
    whole = math.floor(abs(number))
    return int(math.copysign(whole + (abs(number) - whole >= 0.5), number))


def _precisions_at_recall(ranking: Ranking, shares: Sequence[float]) -> list[Value]:
    return [value or 0.0 for value in reversed(_interpolated(ranking, shares))]


def _mean_precision_at_recall(ranking: Ranking, shares: Sequence[float]) -> float:
    reached = [value for value in _interpolated(ranking, shares) if value is not None]
    return _last_sum(np.array(reached)) / len(shares)


def _bpref(ranking: Ranking) -> float:
    if not ranking.n_rel_ret:
        return 0.0
    judged = ranking.labels[ranking.labels >= 0]
    above = np.cumsum(judged < ranking.level)[judged >= ranking.level]
    n_nonrel = int(ranking.levels[: ranking.level].sum())
    # With nothing above a document it loses nothing, also where no nonrelevant document was judged.
    losses = np.minimum(above, ranking.n_rel) / max(min(n_nonrel, ranking.n_rel), 1)
    return _last_sum(1.0 - losses) / ranking.n_rel


def _inferred_ap(ranking: Ranking) -> float:
    if not ranking.n_rel_ret:
        return 0.0
    before = ranking.hits - 1
    relevant = np.arange(ranking.n_rel_ret)
    nonrelevant = np.cumsum((ranking.labels >= 0) & (ranking.labels < ranking.level))[before]
    unjudged = np.cumsum(ranking.labels == UNJUDGED)[before]
    above = before.astype(np.float64)
    terms = 1.0 / (above + 1.0) + (above / (above + 1.0)) * (
        (relevant + nonrelevant + unjudged) / np.maximum(above, 1.0)
    ) * ((relevant + _EPSILON) / (relevant + nonrelevant + 2 * _EPSILON))
    return _last_sum(terms) / ranking.n_rel


# --- gains --------------------------------------------------------------------------------------------


def _dcg(ranking: Ranking, pairs: Pairs) -> float:
    return float(gains_of(ranking, pairs).dcg[-1])


def _ideal_dcg(ranking: Ranking, pairs: Pairs) -> float:
    return float(gains_of(ranking, pairs).ideal_dcg[-1])


def _ndcg(ranking: Ranking, pairs: Pairs) -> float:
    gains = gains_of(ranking, pairs)
    return float(gains.dcg[-1] / gains.ideal_dcg[-1]) if gains.ideal_dcg[-1] > 0 else 0.0


def _ndcg_at_all(ranking: Ranking, cutoffs: Sequence[int]) -> list[Value]:
    gains = gains_of(ranking)
    dcg = gains.dcg[np.minimum(cutoffs, ranking.n_ret)]
    ideal = gains.ideal_dcg[np.minimum(cutoffs, len(gains.ideal))]
    return list((dcg / np.where(ideal > 0, ideal, 1.0)).tolist())


def _ndcg_rel(ranking: Ranking, pairs: Pairs) -> float:
    """NDCG averaged over the relevant documents; one not retrieved counts with the last DCG."""
    gains = gains_of(ranking, pairs)
    n_rel, ideal_dcg = len(gains.ideal), gains.ideal_dcg
    found = np.flatnonzero(gains.gains > 0) + 1
    terms = gains.dcg[found] / ideal_dcg[np.minimum(found, n_rel)]
    total = _last_sum(terms) + _over((n_rel - len(found)) * gains.dcg[-1], ideal_dcg[-1])
    return _over(total, n_rel) if total > 0 else 0.0


def _r_ndcg(ranking: Ranking, pairs: Pairs) -> float:
    """NDCG averaged over the ranks at which the gain of the best list changes."""
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
    return _over(total, n_changes)


def _g(ranking: Ranking, pairs: Pairs) -> float:
    """Gain over log2(2 + what the best list has gained more), relative to the best list's gain."""
    gains = gains_of(ranking, pairs)
    costs = np.ones(ranking.n_ret)
    shown = min(len(gains.ideal), ranking.n_ret)
    costs[:shown] = np.maximum(gains.ideal[:shown], 1.0)
    behind = 2 + np.cumsum(costs) - np.cumsum(gains.gains)
    total = 0.0
    for rank in np.flatnonzero(gains.gains).tolist():
        total += _over(gains.gains[rank], _log2(behind[rank]))
    best = _last_sum(gains.ideal)
    return total / best if best > 0 else 0.0


def _log2(number: float) -> float:
    if number > 0:
        return math.log2(number)
    return -math.inf if number == 0 else math.nan


def _bin_g(ranking: Ranking) -> float:
    total = 0.0
    for found, rank in enumerate(ranking.hits.tolist(), 1):
        total += 1.0 / math.log2(2 + rank - found)
    return total / ranking.n_rel if ranking.n_rel_ret else 0.0


def _rbp(ranking: Ranking, pairs: NamedPairs) -> float:
    """Rank-biased precision of gains scaled to [0, 1].

    The tool leaves the variables for the least and the greatest gain unset; the outputs that it
    publishes with its sources are those of 0, and so are ours.
    """
    p = _persistence(pairs)
    gain_of_label = gain_by_label(levels_of(ranking, labelled_10(pairs)))
    low, high = min(0.0, *gain_of_label.values()), max(0.0, *gain_of_label.values())
    if low < 0 or high > 1:
        gain_of_label = {label: (gain - low) / (high - low) for label, gain in gain_of_label.items()}
    total, weight = 0.0, 1.0
    for label in ranking.labels.tolist():
        total += gain_of_label.get(label, 0.0) * weight
        weight *= p
    return (1.0 - p) * total


def _rbp_residual(ranking: Ranking, pairs: NamedPairs) -> float:
    p = _persistence(pairs)
    total, weight = 0.0, 1.0
    for label in ranking.labels.tolist():
        total += weight if label < 0 else 0.0
        weight *= p
    return weight + (1 - p) * total if (ranking.labels < 0).any() else 0.0


def _persistence(pairs: NamedPairs) -> float:
    return dict([("p", 0.9), *pairs])["p"]


# --- texts --------------------------------------------------------------------------------------------


def _relstring(ranking: Ranking, lengths: Sequence[float]) -> str:
    """The first labels, a character each."""
    signs = {NOT_IN_POOL: "-", UNJUDGED: "."}
    first = ranking.labels[: max(int(lengths[0]), 0)].tolist()
    return "'" + "".join(signs.get(label, str(label) if label <= 9 else ">") for label in first) + "'"


# --- how a measure is printed -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scope:
    """What the summary lines need: the queries they are over, and two things about the files."""

    n_queries: int  # that a mean divides by
    n_evaluated: int
    n_rel: int | None  # the relevant documents of all judgments, with -c
    tag: str


Summary = Callable[[float, Scope], Value]


def _mean(total: float, scope: Scope) -> float:
    return total / scope.n_queries


def _sum(total: float, scope: Scope) -> float:
    return total


def _geometric_mean(total: float, scope: Scope) -> float:
    missing = scope.n_queries - scope.n_evaluated
    return math.exp((total + missing * math.log(_LEAST)) / scope.n_queries)


def _n_queries(total: float, scope: Scope) -> int:
    return scope.n_queries


def _n_relevant(total: float, scope: Scope) -> float:
    return total if scope.n_rel is None else scope.n_rel


def _tag(total: float, scope: Scope) -> str:
    return scope.tag


@dataclass(frozen=True, slots=True)
class Measure:
    """How a measure reads its parameters, what it gives for a query, and what the summary makes of it."""

    values: Callable[[Ranking, Any], list[Value]]
    read: Read = no_parameter
    per_query: bool = True
    summary: Summary | None = _mean
    since: int = 9


def _one(function: Callable[[Ranking], Value], **options: Any) -> Measure:
    """A measure without parameters."""
    return Measure(lambda ranking, _: [function(ranking)], **options)


def _single(function: Callable[[Ranking, Any], Value], read: Read, **options: Any) -> Measure:
    """One value, whatever the number of parameters."""
    return Measure(lambda ranking, given: [function(ranking, given)], read, **options)


def _each(function: Callable[[Ranking, Any], Value], read: Read, **options: Any) -> Measure:
    """One value for each parameter."""
    return Measure(lambda ranking, given: [function(ranking, one) for one in given], read, **options)


def _logarithm(function: Callable[[Ranking], float]) -> Callable[[Ranking], float]:
    """What a geometric mean adds up."""
    return lambda ranking: math.log(max(function(ranking), _LEAST))


_USUAL = cutoffs(5, 10, 15, 20, 30, 100, 200, 500, 1000)
_ELEVEN = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_TWO_R = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

MEASURES: dict[str, Measure] = {
    "runid": _one(lambda ranking: 0, per_query=False, summary=_tag),
    "num_q": _one(lambda ranking: 1, per_query=False, summary=_n_queries),
    "num_ret": _one(lambda ranking: ranking.n_ret, summary=_sum),
    "num_rel": _one(lambda ranking: ranking.n_rel, summary=_n_relevant),
    "num_rel_ret": _one(lambda ranking: ranking.n_rel_ret, summary=_sum),
    "map": _one(_average_precision),
    "gm_map": _one(_logarithm(_average_precision), per_query=False, summary=_geometric_mean),
    "Rprec": _one(_r_precision),
    "bpref": _one(_bpref),
    "recip_rank": _one(_reciprocal_rank),
    "iprec_at_recall": Measure(_precisions_at_recall, shares(*_ELEVEN)),
    "P": _each(_precision_at, _USUAL),
    "relstring": _single(_relstring, numbers(10.0), summary=None),
    "recall": _each(_recall_at, _USUAL),
    "infAP": _one(_inferred_ap),
    "gm_bpref": _one(_logarithm(_bpref), per_query=False, summary=_geometric_mean),
    "Rprec_mult": _each(_r_precision_times, shares(*_TWO_R)),
    "utility": _single(_utility, numbers(1.0, -1.0, 0.0, 0.0, exactly=True)),
    "11pt_avg": _single(_mean_precision_at_recall, numbers(*_ELEVEN)),
    "binG": _one(_bin_g),
    "G": _single(_g, gains),
    "dcg": _single(_dcg, gains, since=10),
    "ideal_dcg": _single(_ideal_dcg, gains, since=10),
    "ndcg": _single(_ndcg, gains),
    "ndcg_rel": _single(_ndcg_rel, gains),
    "Rndcg": _single(_r_ndcg, gains),
    "ndcg_cut": Measure(_ndcg_at_all, _USUAL),
    "map_cut": _each(_average_precision_at, _USUAL),
    "relative_P": _each(_relative_precision_at, _USUAL),
    "success": _each(_success_at, cutoffs(1, 5, 10)),
    "set_P": _one(_set_precision),
    "set_relative_P": _one(_set_relative_precision),
    "set_recall": _one(_set_recall),
    "set_map": _one(_set_map),
    "set_F": _single(_set_f, numbers(1.0)),
    "num_nonrel_judged_ret": _one(_num_nonrel_judged_ret, summary=_sum),
    "yaap": _one(_yaap),
    "rbp": _single(_rbp, named, since=10),
    "rbp_resid": _single(_rbp_residual, named, since=10),
    "unj": _each(_unjudged_at, cutoffs(5, 10, 20), since=10),
}
"""Every measure of the tool on judgments and a run, in the order in which it prints them."""

_OFFICIAL = "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
_SETS = "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map set_F"

NICKNAMES: dict[str, tuple[str, ...]] = {
    "official": tuple(_OFFICIAL.split()),
    "set": tuple(_SETS.split()),
    "all_trec": tuple(name for name in MEASURES if name not in {"dcg", "ideal_dcg", "yaap"}),
}
"""Names for several measures; `all_trec` leaves out three that the tool has only by name."""
