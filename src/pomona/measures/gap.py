"""Why two tools' numbers differ: the rules changed one at a time, each with what it moves.

The path goes from one convention's measure to the other's in a fixed order (how scores are read and
tied first, then gains and discounts, then what is done with special queries), so that the parts sum to
the whole difference by construction. A part is what its rule moves *given the rules before it*.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.conventions import convention_named, relevant_of
from pomona.measures.judge import mean_in_order
from pomona.measures.lists import RankedLists, ScoredQueries

_STEPS: dict[str, tuple[str, ...]] = {
    "score precision": ("score_type",),
    "ties": ("ties",),
    "gain": ("gain", "max_grade", "beyond", "p_relevant", "clip"),
    "relevance": ("relevant",),
    "discount": ("discount", "p", "p_break"),
    "ideal list": ("divisor",),
    "cut-off": ("k",),
    "empty queries": ("empty",),
    "short queries": ("short",),
    "rounding": ("single",),  # RankLib divides reciprocal ranks in single precision
}
"""The order of the path, and the parameters that each step changes together."""

_WORDS = {
    "exp2": "2^label − 1",
    "exp2_int": "2^label − 1 of the label cut to an integer",
    "linear": "the label itself",
    "linear_int": "the label cut to an integer",
    "log2": "1 / log2(rank + 1)",
    "ln": "1 / ln(rank + 1)",
    "ranklib": "1 / log2(rank + 1)",
    "letor": "1 at ranks 1 and 2, then 1 / log2(rank)",
    "whole": "judged on the documents they have",
    "zero": "counted as 0",
    "pad": "filled up with irrelevant documents",
    "float32": "single precision",
    "float64": "double precision",
    "stable": "in input order",
    "docid": "by descending document id",
    "expected": "averaged over all orders",
    "worst": "least relevant first",
    "best": "most relevant first",
    "all": "divided by all relevant documents",
    "cut": "divided by at most k relevant documents",
}


_ROUNDING = 1e-12
"""Two ways of writing the same formula differ by less."""


@dataclass(frozen=True)
class Part:
    """One rule's share of the difference."""

    rule: str
    before: str
    after: str
    change: float
    n_queries: int
    why: str


@dataclass(frozen=True)
class Gap:
    """The difference between two conventions' numbers, rule by rule."""

    first: Measure
    last: Measure
    values: tuple[float, ...]
    parts: tuple[Part, ...]

    @property
    def difference(self) -> float:
        """The last number minus the first."""
        return self.values[-1] - self.values[0]

    def __str__(self) -> str:
        shown = [round(value, 4) for value in self.values]
        lines = [f"{shown[0]:.4f}  {self.first}"]
        for part, before, after in zip(self.parts, shown, shown[1:], strict=False):
            # Differences of the rounded running values: what is printed adds up.
            lines.append(f"{round(after - before, 4):+.4f}  {part.rule}: {part.why}")
        lines.append(f"{shown[-1]:.4f}  {self.last}")
        lines.append(f"{round(shown[-1] - shown[0], 4):+.4f}  in all")
        return "\n".join(lines)


def explain_gap(judged: ScoredQueries, first: Measure, last: Measure) -> Gap:
    """Attribute `last` − `first` to the rules in which the two measures differ.

    Both must be the same measure, under two conventions:

    >>> from pomona.measures.parse import measure
    >>> judged = ScoredQueries(np.array([0.0, 0.0]), np.array([2.0, 1.0]), np.array([0, 2]))
    >>> gap = explain_gap(judged, measure("yahoo:ndcg@10"), measure("ranklib:ndcg@10"))
    >>> [(part.rule, part.change) for part in gap.parts if part.change]
    [('empty queries', -1.0)]
    """
    if type(first) is not type(last):
        raise InputError(
            f"{first} and {last} are different measures: compare one measure under two conventions"
        )
    rules, goal = _rules(first), _rules(last)
    for one, said in ((first, rules), (last, goal)):
        one.check_labels(_ranked(judged, said))
    values = [_per_query(judged, first, rules)]
    parts: list[Part] = []
    for rule, fields in _STEPS.items():
        changed = [field for field in fields if rules.get(field) != goal.get(field)]
        if not changed:
            continue
        old = {field: rules[field] for field in changed}
        rules = {**rules, **{field: goal[field] for field in changed}}
        values.append(_per_query(judged, first, rules))
        before = ", ".join(_in_words(field, old[field]) for field in changed)
        after = ", ".join(_in_words(field, goal[field]) for field in changed)
        moved = int((np.abs(values[-1] - values[-2]) > _ROUNDING).sum())
        why = _sentence(judged, rule, before, after, moved, rules)
        change = mean_in_order(values[-1]) - mean_in_order(values[-2])
        parts.append(Part(rule, before, after, change, moved, why))
    missed = [field for field in goal if rules[field] != goal[field]]
    if missed:
        raise InputError(f"{first} and {last} differ in {', '.join(missed)}, which no step explains")
    return Gap(first, last, tuple(map(mean_in_order, values)), tuple(parts))


def _rules(one: Measure) -> dict[str, Any]:
    """All that decides a measure's value, ties and score precision made explicit."""
    rules = {
        field.name: getattr(one, field.name)
        for field in dataclasses.fields(one)
        if field.name not in ("convention", "given")
    }
    return {**rules, "ties": one.tie_rule, "score_type": convention_named(one.convention).score_type.__name__}


def _ranked(judged: ScoredQueries, rules: dict[str, Any]) -> RankedLists:
    return judged.ranked(rules["ties"], getattr(np, rules["score_type"]))


def _per_query(judged: ScoredQueries, like: Measure, rules: dict[str, Any]) -> Values:
    fields = {name: value for name, value in rules.items() if name != "score_type"}
    values: Values = type(like)(**fields).of_lists(_ranked(judged, rules))
    return values


def _in_words(field: str, value: Any) -> str:
    if field == "gain" and isinstance(value, tuple):
        return f"gains {', '.join(f'{gain:g}' for gain in value)} of labels 0 to {len(value) - 1}, else 0"
    if field == "relevant":
        if isinstance(value, tuple):
            return f"labels {', '.join(f'{label:g}' for label in value)} are relevant"
        return "any label above 0 is relevant" if value < 1e-40 else f"labels from {value:g} are relevant"
    if field == "k":
        return "the whole list" if value is None else f"the first {value}"
    if field == "empty":
        return f"counted as {value:g}"
    return _WORDS.get(str(value), str(value))


def _sentence(
    judged: ScoredQueries, rule: str, before: str, after: str, moved: int, rules: dict[str, Any]
) -> str:
    """The rule, its two readings, and how many queries it concerns."""
    n = len(judged.query_ptr) - 1
    effect = f"moves {moved} of {n} queries" if moved else "changes nothing here"
    concerned: dict[str, Callable[[], str]] = {
        "ties": lambda: (
            f"{_count_tied(judged, rules)} of {n} queries have differing documents that are tied, "
        ),
        "short queries": lambda: (
            f"{_count_short(judged, rules)} of {n} queries have fewer than {rules['k']} documents, "
        ),
        "empty queries": lambda: f"{_count_empty(judged)} of {n} queries have no relevant document, ",
    }
    about = concerned[rule]() if rule in concerned else ""
    return f"{about}{before} → {after}; {effect}"


def _count_tied(judged: ScoredQueries, rules: dict[str, Any]) -> int:
    return int(_ranked(judged, {**rules, "ties": "expected"}).has_ties.sum())


def _count_short(judged: ScoredQueries, rules: dict[str, Any]) -> int:
    return int((np.diff(judged.query_ptr) < (rules["k"] or 0)).sum())


def _count_empty(judged: ScoredQueries) -> int:
    lists = judged.ranked()
    return int((lists.pool_count(relevant_of(lists.levels, 1e-45)) == 0).sum())
