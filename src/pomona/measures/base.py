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
import inspect
import itertools
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pomona import _registry
from pomona._kinds import admits, plain_value, types_of, words
from pomona._other_names import unknown_parameter
from pomona._types import Codes, Values
from pomona.errors import InputError, UnknownMeasureError, UnknownNameError, UnknownParameterError
from pomona.measures.conventions import LabelRange, convention_named, relevant_of
from pomona.measures.lists import TIE_RULES, RankedLists

if TYPE_CHECKING:
    from pomona.measures.closed_form import ClosedForm

MOST_ORDERS = 50_000
"""Orders of tied documents that are enumerated for a measure that is not known in the mean over them."""
SAMPLED_ORDERS = 1_000
"""Random orders whose mean stands for all, where there are more."""
_LARGEST_K = 1 << 53  # beyond, no float is the number
_MOST_RANKED = 1 << 20  # documents of orders that a rule for lists is given at once


@dataclass(frozen=True, kw_only=True)
class Measure:
    """The value of a ranking; higher is better.

    Parameters
    ----------
    k : judge only the first k documents; None judges all.
    ties : how tied scores are ordered; None leaves it to the convention.
    convention : whose rules hold for all parameters that are not set.
    given : names of the parameters that were set, which no convention changes; found out by itself.
    """

    k: int | None = None
    ties: str | None = None
    convention: str = "definition"
    given: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    conventions: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """For each tool that has this measure, the parameters by which it departs from the definition.

    `k` is special: None means that the tool ignores a cut-off, a number is its cut-off when none is given.
    And `labels` are the only labels that the tool takes: a tuple beside labels below 0, or a `LabelRange`.
    """

    is_discounted: ClassVar[bool] = False
    """Whether deeper ranks count ever less, so that a larger cut-off asks for the same, only deeper."""

    user_model: ClassVar[str] = "none"
    """How the user is thought to read (Modrý 2014, 3.3.2.1): `position` where the rank alone decides whether
    a document is seen, `cascade` where those above it do, too, `none` where nobody reads down the list."""

    enumerates_ties: ClassVar[bool] = True
    """Whether the mean over orders of tied documents is found by trying them.

    A class whose `of_lists` gives the mean itself, where `lists.block_end` is set, says False.
    """

    spellings: ClassVar[Mapping[str, tuple[str, Mapping[str, Any]]]] = {}
    """Other libraries' parameter names: theirs → (ours, {their value: our value})."""

    def __new__(cls, *positional: Any, **named: Any) -> Self:
        """Note which parameters are set, before their defaults are."""
        known: tuple[str, ...] | None = _parameters_of(cls)  # type: ignore[arg-type]
        if known is not None and (unknown := next((name for name in named if name not in known), None)):
            others = [name for name in known if name != "given"]
            if unknown in vars(cls).get("__annotations__", {}):
                advice = "put @dataclass(frozen=True, kw_only=True) above the class"
                raise UnknownParameterError(f"parameter of {cls.__name__}", unknown, others, advice)
            raise unknown_parameter(cls.__name__, unknown, others)
        made = super().__new__(cls)
        made.__dict__["_named"] = frozenset(named)  # until `__post_init__` knows what was set
        return made

    def __post_init__(self) -> None:
        named = self.__dict__.pop("_named", frozenset())
        self._set("convention", convention_named(self.convention).name)
        self._check_parameters(named)
        if self.convention != "definition" and self.convention not in self.conventions:
            raise self._unknown_to_tool()
        rules, given = self._rules(), named - {"given", "convention"}
        if "given" in named:  # a changed copy: what is as the convention has it may never have been set
            by_rule = self._by_rule()
            given = self.given | {name for name in by_rule if getattr(self, name) != by_rule[name]}
        for name in rules.keys() - given:
            self._set(name, rules[name])
        if rules.get("k", "free") is None:
            self._set("k", None)
            given -= {"k"}
        self._set("given", frozenset(given - {"ties"} if self.ties is None else given))

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _rules(self) -> Mapping[str, Any]:
        """The parameters by which the convention departs from the definition."""
        rules = self.conventions.get(self.convention, {})
        return {name: rules[name] for name in rules if name != "labels"}

    def _by_rule(self) -> dict[str, Any]:
        """What every parameter is where it is not set."""
        names = ("k", *self.parameters)
        defaults = {one.name: one.default for one in dataclasses.fields(self) if one.name in names}
        return defaults | dict(self._rules())

    def _check_parameters(self, named: frozenset[str]) -> None:
        """Refuse one of these parameters that its type does not admit, in one line that names it."""
        who = type(self).__name__
        kinds = types_of(type(self))
        for name in sorted(named & kinds.keys() - {"convention", "given"}):
            value, kind = getattr(self, name), kinds[name]
            plain = plain_value(value, kind)
            if name == "k":
                if plain is not None and (type(plain) is not int or not 1 <= plain <= _LARGEST_K):
                    raise InputError(
                        f"{who}: the cut-off k must be an integer of at least 1, found {value!r:.40}"
                    )
            elif name == "ties":
                if plain is not None and plain not in TIE_RULES:
                    raise UnknownNameError("tie rule", str(plain), TIE_RULES)
            elif not admits(kind, plain):
                raise InputError(f"{who}: {name} must be {words(kind)}, found {value!r}")
            if plain is not value:
                self._set(name, plain)

    def _unknown_to_tool(self) -> UnknownMeasureError:
        known = [
            name
            for name, entry in _registry.entries("measures").items()
            if self.convention in entry.load().conventions
        ]
        tool = self.convention
        self._set("convention", "definition")
        return UnknownMeasureError(tool, type(self).__name__, str(self), known)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        ours = __name__.partition(".")[0]
        is_shipped = [base.__module__.partition(".")[0] == ours for base in (cls, cls.__base__)]
        if is_shipped == [False, True] and "conventions" not in vars(cls):
            cls.conventions = {}  # no tool has the measure that somebody made of one of ours
        _let_newest_rule_win(cls)

    def of_query(self, labels: NDArray[Any]) -> float:
        """The value of one list of labels in ranked order; a document that is not judged has NaN."""
        raise TypeError(f"{type(self).__name__} must define of_query(self, labels)")

    def of_lists(self, lists: RankedLists) -> Values:
        """The value of every list; where `lists.block_end` is set, the mean over all orders within ties."""
        return _by_query(self.of_query, lists)

    def closed_form(self, lists: RankedLists) -> ClosedForm | None:
        """The measure of these lists as a formula whose parts learners know; None if there is none."""
        return None

    def closed_forms(self, lists: RankedLists) -> list[tuple[NDArray[np.bool_], ClosedForm]]:
        """Each formula of these lists, and which of them it holds for; none if not all have one.

        One formula for all, unless a measure has several rules and says so here.
        """
        form = self.closed_form(lists)
        return [] if form is None else [(np.ones(lists.n_queries, np.bool_), form)]

    def swap_deltas(self, labels: ArrayLike) -> Values:
        """How the value of a ranked list changes when two of its documents trade places.

        Entry (a, b) is after − before for ranks a and b (0-based).
        """
        return _deltas_by_trial(self.of_lists, labels)

    def depth(self, n: int) -> int:
        """How many of n ranks count."""
        return n if self.k is None else min(self.k, n)

    def relevant_levels(self, levels: Values) -> NDArray[np.bool_]:
        """Which distinct labels are worth something: a query without any of them is an empty one."""
        relevant = getattr(self, "relevant", None)
        return relevant_of(levels, relevant) if isinstance(relevant, float | int | tuple) else levels > 0

    @property
    def labels_taken(self) -> tuple[float, ...] | LabelRange | None:
        """The labels that the convention's tool takes; None where it takes all as the definition does."""
        taken: tuple[float, ...] | LabelRange | None = self.conventions.get(self.convention, {}).get("labels")
        return taken

    def check_labels(self, lists: RankedLists) -> None:
        """Refuse labels that the convention's tool refuses, and empty queries where it leaves them out."""
        tool, levels = convention_named(self.convention), lists.levels
        taken = self.labels_taken
        if taken is not None:
            is_taken = taken.holds if isinstance(taken, LabelRange) else partial(_is_among, taken)
            wrong = levels[~is_taken(levels)]
            if wrong.size:  # levels may have whole numbers that no document has
                found = levels[np.unique(np.concatenate((lists.codes, lists.pool_codes)))]
                wrong = found[~is_taken(found)]
            if wrong.size:
                own = isinstance(taken, LabelRange) and wrong[0] < 0
                does = "does not take a label below 0 as not judged: found" if own else "refuses label"
                labels = str(taken) if isinstance(taken, LabelRange) else ", ".join(map(written, taken))
                raise InputError(
                    f"{tool.name} {does} {wrong[0]:g} for {type(self).__name__}: it takes {labels}"
                )
        if tool.leaves_out_empty:
            n_empty = int((lists.pool_count(self.relevant_levels(levels)) == 0).sum())
            if n_empty:
                raise InputError(
                    f"{tool.name} leaves queries without a relevant document out of its means, and {n_empty} "
                    f"of {lists.n_queries} have none: leave them out of the data"
                )

    def notes(self, lists: RankedLists) -> list[str]:
        """What to know beside the values of these lists, a sentence each."""
        n_sampled = 0
        if self.enumerates_ties and lists.block_end is not None:
            n_sampled = sum(
                _n_orders(codes, ends) > MOST_ORDERS for codes, ends in _tied_lists(lists) if ends is not None
            )
        if not n_sampled:
            return []
        return [
            f"{n_sampled} of {lists.n_queries} queries have more than {MOST_ORDERS} orders of tied "
            f"documents: their values are means over {SAMPLED_ORDERS} random orders, the same every time"
        ]

    def under(self, convention: str) -> Self:
        """This measure by a tool's rules; parameters that were set by hand stay as they are.

        >>> from pomona.measures.parse import measure
        >>> str(measure("ndcg(gain=exp2)@10").under("trec_eval"))
        'trec_eval:ndcg(gain=exp2)@10'
        """
        kept = {name: getattr(self, name) for name in self.given}
        return type(self)(**kept, convention=convention)

    @property
    def tie_rule(self) -> str:
        """How tied scores are ordered."""
        return self.ties or convention_named(self.convention).ties

    @property
    def is_averaged_by_trying(self) -> bool:
        """Whether tied documents are averaged over, and orders must be tried for that."""
        return self.enumerates_ties and self.tie_rule == "expected"

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter but k and the convention, with its value."""
        return {
            one.name: getattr(self, one.name)
            for one in dataclasses.fields(self)
            if one.name not in ("k", "convention", "given")
        }

    @property
    def is_registered(self) -> bool:
        """Whether this class is the one that its name means everywhere."""
        entry = _entry_named(vars(type(self)).get("name", type(self).__name__))
        return entry is not None and (entry.module, entry.class_name) == _place_of(type(self))

    def __str__(self) -> str:
        """The string that `pomona.measure` reads back, e.g. `letor4:ndcg@10`."""
        by_rule = self._by_rule()
        shown = [
            f"{name}={written(value)}"
            for name, value in self.parameters.items()
            if name in self.given or value != by_rule[name]
        ]
        if self.k is None and by_rule["k"] is not None:
            shown.append("k=none")
        prefix = "" if self.convention == "definition" else f"{self.convention}:"
        # A subclass without a name of its own is another measure, and must not be read back as its base.
        name = vars(type(self)).get("name", type(self).__name__)
        if _entry_named(name) is not None and not self.is_registered:
            module, own = _place_of(type(self))
            name = f"{module}{':' if module.endswith('.py') else '.'}{own}"
        arguments = f"({','.join(shown)})" if shown else ""
        return f"{prefix}{name}{arguments}{f'@{self.k}' if self.k else ''}"


@cache
def _parameters_of(cls: Any) -> tuple[str, ...] | None:
    """The keywords that `cls(…)` takes; None where it takes any."""
    parameters = inspect.signature(cls.__init__).parameters.values()
    if any(one.kind is one.VAR_KEYWORD for one in parameters):
        return None
    return tuple(one.name for one in parameters)[1:]


def _entry_named(name: str) -> _registry.Entry | None:
    try:
        return _registry.find("measures", name, "measure")
    except UnknownNameError:
        return None


def _place_of(cls: type) -> tuple[str, str]:
    """The module of a class and its name there."""
    return cls.__module__, cls.__qualname__


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
    if _age(cls, "closed_forms") > min(newest, age["swap_deltas"]):
        derived["closed_forms"] = Measure.closed_forms
    if age["of_lists"] > newest and has_form:
        derived["of_lists"] = of_lists = lambda self, lists: _by_form(self, closed_form(self, lists))
    elif age["of_lists"] > newest:
        derived["of_lists"] = of_lists = lambda self, lists: _by_query(
            lambda labels: of_query(self, labels), lists
        )
    if age["of_query"] > newest:
        derived["of_query"] = lambda self, labels: float(of_lists(self, RankedLists.of_labels([labels]))[0])
    owner: Any = cls.__mro__[newest]
    is_new = newest == 0 or not issubclass(owner, Measure)
    if "enumerates_ties" not in vars(cls):
        by_formula = has_form and age["of_lists"] > newest
        cls.enumerates_ties = not by_formula if is_new else owner.enumerates_ties
    if cls.enumerates_ties and is_new and age["of_lists"] == newest:
        plain = of_lists
        of_lists = derived["of_lists"] = lambda self, lists: _by_lists(lambda one: plain(self, one), lists)
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


def _by_query(of_query: Callable[[Values], float], lists: RankedLists) -> Values:
    """The value of every list by a rule for one; with blocks of ties, the mean over their orders."""
    means = []
    for codes, block_ends in _tied_lists(lists):
        if block_ends is None:
            means.append(_one_number(of_query(lists.levels[codes])))
            continue
        values = [
            _one_number(of_query(lists.levels[order])) for order in orders_of_ties(codes, block_ends, lists)
        ]
        means.append(math.fsum(values) / len(values) if np.isfinite(values).all() else math.nan)
    return np.array(means)


def _one_number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InputError(f"of_query must return one number, found {value!r:.60}") from None


def _by_lists(of_lists: Callable[[RankedLists], Values], lists: RankedLists) -> Values:
    """As `_by_query`, by a rule for many lists at once that knows nothing of ties."""
    values = np.array(of_lists(dataclasses.replace(lists, block_end=None)), np.float64)
    if lists.block_end is None or values.shape != (lists.n_queries,):
        return values
    for query in np.flatnonzero(lists.has_ties).tolist():
        begin, end = lists.query_ptr[query], lists.query_ptr[query + 1]
        pool = lists.pool_codes[lists.pool_ptr[query] : lists.pool_ptr[query + 1]]
        orders = orders_of_ties(lists.single(query), (lists.block_end[begin:end] - begin).tolist(), lists)
        n_together, total, n = max(1, _MOST_RANKED // (end - begin)), [], 0
        while some := list(itertools.islice(orders, n_together)):
            n = len(some)
            same = RankedLists(
                np.concatenate(some),
                np.arange(n + 1) * (end - begin),
                lists.levels,
                np.tile(pool, n),
                np.arange(n + 1) * len(pool),
            )
            total += np.asarray(of_lists(same), np.float64).tolist()
        values[query] = math.fsum(total) / len(total) if np.isfinite(total).all() else math.nan
    return values


def _tied_lists(lists: RankedLists) -> Iterator[tuple[Codes, list[int] | None]]:
    """The codes of every list, and where the block of ties of each place ends; None without ties."""
    for query in range(lists.n_queries):
        ends = None
        if lists.block_end is not None and lists.has_ties[query]:
            begin, end = lists.query_ptr[query], lists.query_ptr[query + 1]
            ends = (lists.block_end[begin:end] - begin).tolist()
        yield lists.single(query), ends


def _is_among(taken: tuple[float, ...], levels: Values) -> NDArray[np.bool_]:
    return np.isin(levels, taken) | ~(levels >= 0)


def written(value: Any) -> str:
    """The value of a parameter as it stands in a measure's string: no digit is lost.

    >>> written(0.5), written(1 / 3), written((0.0, 1.0)), written((2.0,)), written(True)
    ('0.5', '0.3333333333333333', '0/1', '2/', 'true')
    """
    if isinstance(value, tuple):
        return "/".join(map(written, value)) + "/" * (len(value) == 1)
    if isinstance(value, float):
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return str(value).lower() if isinstance(value, bool | None) else str(value)


def orders_of_ties(codes: Codes, block_ends: list[int], lists: RankedLists) -> Iterator[Codes]:
    """Every distinct order of the labels within blocks of ties, all of them equally likely.

    Where there are more than `MOST_ORDERS`, `SAMPLED_ORDERS` random ones. They are drawn from a seed of the
    labels themselves: the order of the rows, and other queries, have no part in them.
    """
    blocks = _blocks(codes, block_ends)
    if _n_orders(codes, block_ends) <= MOST_ORDERS:
        for parts in itertools.product(*(list(_distinct_orders(block)) for block in blocks)):
            yield np.array([*itertools.chain.from_iterable(parts)], np.int32)
        return
    in_order = np.concatenate([np.array(block, np.int32) for block in blocks])
    said = lists.levels[in_order].tobytes() + np.array(block_ends).tobytes()
    random = np.random.default_rng(zlib.crc32(said))
    ends = np.cumsum([len(block) for block in blocks])
    for _ in range(SAMPLED_ORDERS):
        yield np.concatenate([random.permutation(part) for part in np.split(in_order, ends[:-1])])


def _blocks(codes: Codes, block_ends: list[int]) -> list[list[int]]:
    """The labels of each block of ties, in an order of their own."""
    blocks, begin = [], 0
    while begin < len(codes):
        blocks.append(sorted(codes[begin : block_ends[begin]].tolist()))
        begin = block_ends[begin]
    return blocks


def _n_orders(codes: Codes, block_ends: list[int]) -> float:
    """How many distinct orders the blocks have in all: the product of their multinomial coefficients."""
    logarithm = sum(
        math.lgamma(len(block) + 1) - sum(math.lgamma(count + 1) for count in Counter(block).values())
        for block in _blocks(codes, block_ends)
    )
    return round(math.exp(min(logarithm, 50.0)), 3)


def _distinct_orders(block: list[int]) -> Iterator[tuple[int, ...]]:
    if not block:
        yield ()
    for code in sorted(set(block)):
        rest = block.copy()
        rest.remove(code)
        for tail in _distinct_orders(rest):
            yield (code, *tail)
