"""The measures of trec_eval, in the order in which the tool prints them.

A measure reads its parameters, gives values for a query, and says what the summary makes of their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pomona.tools.trec_eval import ndcg, precision
from pomona.tools.trec_eval.parameter import Read, cutoffs, gains, named, no_parameter, numbers, shares
from pomona.tools.trec_eval.ranking import NOT_IN_POOL, UNJUDGED, Ranking

Value = float | str
"""What is printed: an int as it is, a float with four decimals, a text as it is."""

_LEAST = 0.00001  # what a geometric mean takes for 0


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


def _relstring(ranking: Ranking, lengths: Sequence[float]) -> str:
    """The first labels, a character each."""
    signs = {NOT_IN_POOL: "-", UNJUDGED: "."}
    first = ranking.labels[: max(int(lengths[0]), 0)].tolist()
    return "'" + "".join(signs.get(label, str(label) if label <= 9 else ">") for label in first) + "'"


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
    "map": _one(precision.average_precision),
    "gm_map": _one(_logarithm(precision.average_precision), per_query=False, summary=_geometric_mean),
    "Rprec": _one(precision.r_precision),
    "bpref": _one(precision.bpref),
    "recip_rank": _one(precision.reciprocal_rank),
    "iprec_at_recall": Measure(precision.precisions_at_recall, shares(*_ELEVEN)),
    "P": _each(precision.precision_at, _USUAL),
    "relstring": _single(_relstring, numbers(10.0), summary=None),
    "recall": _each(precision.recall_at, _USUAL),
    "infAP": _one(precision.inferred_ap),
    "gm_bpref": _one(_logarithm(precision.bpref), per_query=False, summary=_geometric_mean),
    "Rprec_mult": _each(precision.r_precision_times, shares(*_TWO_R)),
    "utility": _single(precision.utility, numbers(1.0, -1.0, 0.0, 0.0, exactly=True)),
    "11pt_avg": _single(precision.mean_precision_at_recall, numbers(*_ELEVEN)),
    "binG": _one(precision.bin_g),
    "G": _single(ndcg.g, gains),
    "dcg": _single(ndcg.dcg, gains, since=10),
    "ideal_dcg": _single(ndcg.ideal_dcg, gains, since=10),
    "ndcg": _single(ndcg.ndcg, gains),
    "ndcg_rel": _single(ndcg.ndcg_rel, gains),
    "Rndcg": _single(ndcg.r_ndcg, gains),
    "ndcg_cut": Measure(ndcg.ndcg_at, _USUAL),
    "map_cut": _each(precision.average_precision_at, _USUAL),
    "relative_P": _each(precision.relative_precision_at, _USUAL),
    "success": _each(precision.success_at, cutoffs(1, 5, 10)),
    "set_P": _one(precision.set_precision),
    "set_relative_P": _one(precision.set_relative_precision),
    "set_recall": _one(precision.set_recall),
    "set_map": _one(precision.set_map),
    "set_F": _single(precision.set_f, numbers(1.0)),
    "num_nonrel_judged_ret": _one(precision.num_nonrel_judged_ret, summary=_sum),
    "yaap": _one(precision.yaap),
    "rbp": _single(ndcg.rbp, named, since=10),
    "rbp_resid": _single(ndcg.rbp_residual, named, since=10),
    "unj": _each(precision.unjudged_at, cutoffs(5, 10, 20), since=10),
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
