"""What a measure is: a value for every ranked list, by named rules.

A measure is a small frozen record of parameters. A user's own measure is a class with one method:

>>> class TopTwo(Measure):
...     def of_query(self, labels):
...         return float(labels[:2].sum())
>>> TopTwo().of_query(np.array([2.0, 1.0, 0.0]))
3.0
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Codes, Values
from pomona.errors import InputError, UnknownNameError
from pomona.measures.conventions import convention_named
from pomona.measures.lists import TIE_RULES, RankedLists

MOST_ORDERS = 50_000
"""Orders of tied documents that are enumerated for a measure without a closed form."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What a ranking is worth; higher is better.

    Parameters
    ----------
    k : judge only the first k documents; None judges all.
    ties : how tied scores are ordered; None leaves it to the convention.
    convention : whose rules the other parameters follow.
    """

    k: int | None = None
    ties: str | None = None
    convention: str = "definition"

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """For each tool that has this measure, the parameters by which it departs from the definition.

    `k` is special: None means that the tool ignores a cut-off, a number is its cut-off when none is given.
    """

    is_discounted: ClassVar[bool] = False
    """Whether deeper ranks count ever less, so that a larger cut-off asks for the same, only deeper."""

    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {}
    """Other libraries' parameter names: theirs → (ours, {their value: our value})."""

    def __post_init__(self) -> None:
        if self.k is not None and (not isinstance(self.k, int) or self.k < 1):
            raise InputError(
                f"{type(self).__name__}: the cut-off k must be an integer of at least 1, found {self.k}"
            )
        if self.ties is not None and self.ties not in TIE_RULES:
            raise UnknownNameError("tie rule", self.ties, TIE_RULES)

    def of_query(self, labels: NDArray[Any]) -> float:
        """The value of one list of labels in ranked order."""
        if type(self).of_lists is Measure.of_lists:
            raise TypeError(f"{type(self).__name__} must define of_query(self, labels)")
        return float(self.of_lists(RankedLists.of_labels([labels]))[0])

    def of_lists(self, lists: RankedLists) -> Values:
        """The value of every list; built-in measures answer with a kernel, others list by list."""
        if lists.block_end is not None:
            return np.array([self._mean_over_orders(lists, q) for q in range(lists.n_queries)])
        return np.array([float(self.of_query(lists.levels[lists.single(q)])) for q in range(lists.n_queries)])

    def _mean_over_orders(self, lists: RankedLists, query: int) -> float:
        assert lists.block_end is not None
        begin, end = lists.query_ptr[query], lists.query_ptr[query + 1]
        block_ends = (lists.block_end[begin:end] - begin).tolist()
        orders = orders_of_ties(lists.single(query), block_ends, type(self).__name__)
        values = [float(self.of_query(lists.levels[np.array(codes, int)])) for codes in orders]
        return math.fsum(values) / len(values)

    def swap_deltas(self, labels: ArrayLike) -> Values:
        """How the value of a ranked list changes when two of its documents trade places.

        Entry (a, b) is after − before for ranks a and b (0-based). This default re-evaluates every
        list with different labels swapped; measures with a closed form override it.
        """
        ranked = np.asarray(labels, np.float64)
        n = len(ranked)
        deltas = np.zeros((n, n))
        before = self.of_query(ranked)
        for a in range(n - 1):
            others = a + 1 + np.flatnonzero(ranked[a + 1 :] != ranked[a])  # equal labels change nothing
            if not len(others):
                continue
            swapped = np.tile(ranked, (len(others), 1))
            swapped[:, a] = ranked[others]
            swapped[np.arange(len(others)), others] = ranked[a]
            deltas[a, others] = self.of_lists(RankedLists.of_labels(list(swapped))) - before
        return deltas + deltas.T

    def under(self, convention: str) -> Self:
        """This measure by a tool's rules; parameters that were set by hand stay as they are."""
        name = convention_named(convention).name
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        own = self.conventions.get(self.convention, {})
        kept = {
            field: value
            for field, default in defaults.items()
            if (value := getattr(self, field)) != own.get(field, default)
        }
        rules = dict(self.conventions.get(name, {}))
        changes = {**{field: default for field, default in defaults.items() if field in own}, **rules, **kept}
        changes |= {"k": cut_off(rules, kept.get("k")), "convention": name}
        return dataclasses.replace(self, **changes)

    @property
    def tie_rule(self) -> str:
        """How tied scores are ordered."""
        return self.ties or convention_named(self.convention).ties

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter but k and the convention, with its value."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ("k", "convention")
        }

    def __str__(self) -> str:
        """The string that `pomona.measure` reads back, e.g. `letor4:ndcg@10`."""
        by_rule = {field.name: field.default for field in dataclasses.fields(self)}
        by_rule.update(self.conventions.get(self.convention, {}))
        shown = [f"{p}={_written(v)}" for p, v in self.parameters.items() if v != by_rule[p]]
        prefix = "" if self.convention == "definition" else f"{self.convention}:"
        name = getattr(self, "name", type(self).__name__)
        arguments = f"({','.join(shown)})" if shown else ""
        return f"{prefix}{name}{arguments}{f'@{self.k}' if self.k else ''}"


def cut_off(rules: Mapping[str, Any], k: int | None) -> int | None:
    """The cut-off that a tool's rules make of the one asked for."""
    if "k" not in rules:
        return k
    return None if rules["k"] is None else k or int(rules["k"])


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(f"{part:g}" for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def orders_of_ties(codes: Codes, block_ends: list[int], who: str) -> Iterator[tuple[int, ...]]:
    """Every distinct order of the labels within blocks of ties; all are equally likely."""
    blocks: list[list[int]] = []
    begin = 0
    while begin < len(codes):
        blocks.append(sorted(codes[begin : block_ends[begin]].tolist()))
        begin = block_ends[begin]
    if sum(_log_orders(block) for block in blocks) > math.log(MOST_ORDERS) + 1e-9:
        raise InputError(
            f"{who} has no closed form for tied scores, and the tied documents of a query have more than "
            f"{MOST_ORDERS} orders, too many to enumerate: choose another tie rule"
        )
    for parts in itertools.product(*(list(_distinct_orders(block)) for block in blocks)):
        yield tuple(itertools.chain.from_iterable(parts))


def _log_orders(block: list[int]) -> float:
    """The logarithm of the multinomial coefficient: how many distinct orders the block has."""
    return math.lgamma(len(block) + 1) - sum(math.lgamma(count + 1) for count in Counter(block).values())


def _distinct_orders(block: list[int]) -> Iterator[tuple[int, ...]]:
    if not block:
        yield ()
    for code in sorted(set(block)):
        rest = block.copy()
        rest.remove(code)
        for tail in _distinct_orders(rest):
            yield (code, *tail)
