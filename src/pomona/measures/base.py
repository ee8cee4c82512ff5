"""What a measure is: a value for every ranked list, by named rules.

A measure is a small frozen record of parameters, and one of three methods defines its values: `of_query` (of
one list), `of_lists` (of many at once) or `closed_form` (as a formula that learners know). A class that
defines one of them defines the measure: whatever it does not define itself follows from what it does, and
nothing that was computed by the rule of a parent class is inherited. A user's own measure needs one method:

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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona._types import Codes, Values
from pomona.errors import InputError, UnknownNameError
from pomona.measures.conventions import convention_named
from pomona.measures.lists import TIE_RULES, RankedLists

if TYPE_CHECKING:
    from pomona.measures.closed_form import ClosedForm

MOST_ORDERS = 50_000
"""Orders of tied documents that are enumerated for a measure without a closed form."""


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The value of a ranking; higher is better.

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

    user_model: ClassVar[str] = "none"
    """How the user is thought to read (Modrý 2014, 3.3.2.1): `position` where the rank alone decides whether
    a document is seen, `cascade` where those above it do, too, `none` where nobody reads down the list."""

    enumerates_ties: ClassVar[bool] = True
    """Whether the mean over orders of tied documents is found by trying them all; set by the class's rule."""

    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {}
    """Other libraries' parameter names: theirs → (ours, {their value: our value})."""

    def __post_init__(self) -> None:
        if self.k is not None and (not isinstance(self.k, int) or self.k < 1):
            raise InputError(
                f"{type(self).__name__}: the cut-off k must be an integer of at least 1, found {self.k}"
            )
        if self.ties is not None and self.ties not in TIE_RULES:
            raise UnknownNameError("tie rule", self.ties, TIE_RULES)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _let_newest_rule_win(cls)

    def of_query(self, labels: NDArray[Any]) -> float:
        """The value of one list of labels in ranked order."""
        raise TypeError(f"{type(self).__name__} must define of_query(self, labels)")

    def of_lists(self, lists: RankedLists) -> Values:
        """The value of every list; where `lists.block_end` is set, the mean over all orders within ties."""
        return _by_query(self.of_query, lists, type(self).__name__)

    def closed_form(self, lists: RankedLists) -> ClosedForm | None:
        """The measure of these lists as a formula whose parts learners know; None if there is none."""
        return None

    def swap_deltas(self, labels: ArrayLike) -> Values:
        """How the value of a ranked list changes when two of its documents trade places.

        Entry (a, b) is after − before for ranks a and b (0-based).
        """
        return _deltas_by_trial(self.of_lists, labels)

    def depth(self, n: int) -> int:
        """How many of n ranks count."""
        return n if self.k is None else min(self.k, n)

    def under(self, convention: str) -> Self:
        """This measure by a tool's rules; parameters that were set by hand stay as they are."""
        name = convention_named(convention).name
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        rules_now = self.conventions.get(self.convention, {})
        kept = {
            field: value
            for field, default in defaults.items()
            if (value := getattr(self, field)) != rules_now.get(field, default)
        }
        rules = dict(self.conventions.get(name, {}))
        reset = {field: default for field, default in defaults.items() if field in rules_now}
        changes = {**reset, **rules, **kept}
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
        # A subclass without a name of its own is another measure, and must not be read back as its base.
        name = vars(type(self)).get("name", type(self).__name__)
        arguments = f"({','.join(shown)})" if shown else ""
        return f"{prefix}{name}{arguments}{f'@{self.k}' if self.k else ''}"


def _let_newest_rule_win(cls: type[Measure]) -> None:
    """Let the methods that a class does not define follow from the newest that define its values.

    What follows is bound to the class, not looked up in the instance, so that `super()` means the parent's.
    """
    age = {name: _age(cls, name) for name in ("of_query", "of_lists", "closed_form", "swap_deltas")}
    newest = min(age["of_query"], age["of_lists"], age["closed_form"])
    of_query, of_lists, closed_form = cls.of_query, cls.of_lists, cls.closed_form
    has_form = age["closed_form"] == newest
    derived: dict[str, Callable[..., Any]] = {}
    if age["closed_form"] > min(newest, age["swap_deltas"]):
        derived["closed_form"] = closed_form = Measure.closed_form
    if age["of_lists"] > newest and has_form:
        derived["of_lists"] = of_lists = lambda self, lists: _by_form(self, closed_form(self, lists))
    elif age["of_lists"] > newest:
        derived["of_lists"] = of_lists = lambda self, lists: _by_query(
            lambda labels: of_query(self, labels), lists, type(self).__name__
        )
    if age["of_query"] > newest:
        derived["of_query"] = lambda self, labels: float(of_lists(self, RankedLists.of_labels([labels]))[0])
    if newest == 0 or {"of_query", "of_lists"} & derived.keys():
        cls.enumerates_ties = "of_lists" in derived and not has_form
    if age["swap_deltas"] > newest:

        def swap_deltas(self: Measure, labels: ArrayLike) -> Values:
            form = closed_form(self, RankedLists.of_labels([labels]))
            if form is not None:
                return form.swap_deltas()
            return _deltas_by_trial(lambda lists: of_lists(self, lists), labels)

        derived["swap_deltas"] = swap_deltas
    for name, method in derived.items():
        method.__name__, method.__doc__ = name, getattr(Measure, name).__doc__
        setattr(cls, name, method)


def _age(cls: type[Measure], name: str) -> int:
    """How many classes up a method is defined; `Measure.closed_form` only says that there is none."""
    none = vars(Measure)["closed_form"]
    owners = [base is Measure or vars(base).get(name, none) is not none for base in cls.__mro__]
    return owners.index(True)


def _by_form(measure: Measure, form: ClosedForm | None) -> Values:
    if form is None:
        who = type(measure).__name__
        raise InputError(f"{who} has no closed form here, and defines neither of_query nor of_lists")
    return form.evaluate()


def _deltas_by_trial(of_lists: Callable[[RankedLists], Values], labels: ArrayLike) -> Values:
    """Swap deltas by re-evaluating every list with two different labels swapped."""
    ranked = np.asarray(labels, np.float64)
    n = len(ranked)
    deltas = np.zeros((n, n))
    before = of_lists(RankedLists.of_labels([ranked]))[0]
    for a in range(n - 1):
        others = a + 1 + np.flatnonzero(ranked[a + 1 :] != ranked[a])  # equal labels change nothing
        if not len(others):
            continue
        swapped = np.tile(ranked, (len(others), 1))
        swapped[:, a] = ranked[others]
        swapped[np.arange(len(others)), others] = ranked[a]
        deltas[a, others] = of_lists(RankedLists.of_labels(list(swapped))) - before
    return deltas + deltas.T


def _by_query(of_query: Callable[[Values], float], lists: RankedLists, who: str) -> Values:
    """The value of every list by a rule for one; with blocks of ties, the mean over their orders."""
    if lists.block_end is None:
        return np.array([float(of_query(lists.levels[lists.single(q)])) for q in range(lists.n_queries)])
    means = []
    for query in range(lists.n_queries):
        begin, end = lists.query_ptr[query], lists.query_ptr[query + 1]
        block_ends = (lists.block_end[begin:end] - begin).tolist()
        orders = orders_of_ties(lists.single(query), block_ends, who)
        values = [float(of_query(lists.levels[np.array(codes, int)])) for codes in orders]
        means.append(math.fsum(values) / len(values))
    return np.array(means)


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
