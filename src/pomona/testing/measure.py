"""What every measure promises, as checks for measures of anybody's."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona import _registry
from pomona._jit import threads
from pomona._types import Values
from pomona.errors import PomonaError
from pomona.measures.base import Measure
from pomona.measures.judge import judge
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.measures.parse import measure as parse_measure
from pomona.testing.contract import check_parameters_are_documented, refusal_of, require, run_checks

Grades = Sequence[int]
MeasureCheck = Callable[..., None]
GRADES = (0, 1, 2, 3, 4)
_CUTOFFS = (None, 1, 3, 10)
_ROUNDING = 1e-12


def check_measure(measure: Measure | type[Measure], grades: Grades = GRADES) -> None:
    """Check that a measure keeps every promise; `grades` are labels that it understands, lowest first."""
    run_checks(measure_checks(), measure() if isinstance(measure, type) else measure, grades)


def check_value_is_finite(measure: Measure, grades: Grades = GRADES) -> None:
    """Every ranked list has a finite value, the same from `of_query` and from `of_lists`."""
    for one, labels in _cases(measure, grades):
        value = one.of_query(labels)
        require(math.isfinite(value), f"{_case(one, labels)} must be a finite number, found {value}")
        of_lists = one.of_lists(RankedLists.of_labels([labels]))[0]
        require(
            abs(value - of_lists) <= _ROUNDING,
            f"of_query and of_lists must agree, found {value} and {of_lists} for {_case(one, labels)}",
        )


def check_better_first_is_better(measure: Measure, grades: Grades = GRADES) -> None:
    """No ranking is worth more than the perfect one, nor more after a worse document moved up."""
    for one, labels in _cases(measure, grades):
        value, perfect = one.of_query(labels), one.of_query(np.sort(labels)[::-1])
        require(
            value <= perfect + _ROUNDING,
            f"the perfect ranking must be worth most: {_case(one, labels)} is {value}, perfect {perfect}",
        )
        for place in np.flatnonzero(np.diff(labels) < 0):
            swapped = labels.copy()
            swapped[[place, place + 1]] = labels[[place + 1, place]]
            after = one.of_query(swapped)
            require(
                after <= value + _ROUNDING,
                f"a worse document that moves up must not raise the value: {_case(one, labels)} is {value}, "
                f"{_case(one, swapped)} is {after}",
            )


def check_cutoff(measure: Measure, grades: Grades = GRADES) -> None:
    """Documents below the cut-off may trade places; a cut-off that is no positive integer is refused."""
    for one, labels in _cases(measure, grades):
        if one.k is not None and len(labels) > one.k:
            changed = np.concatenate((labels[: one.k], labels[one.k :][::-1]))
            require(
                abs(one.of_query(labels) - one.of_query(changed)) <= _ROUNDING,
                f"the order of documents below the cut-off k={one.k} must not count: "
                f"{_case(one, labels)} is {one.of_query(labels)}, {_case(one, changed)} is "
                f"{one.of_query(changed)}",
            )
    for k in (0, -1, 2.5):
        with refusal_of(f"{type(measure).__name__}(k={k})", "cut-off k"):
            replace(measure, k=k)  # type: ignore[arg-type]


def check_swap_deltas(measure: Measure, grades: Grades = GRADES) -> None:
    """`swap_deltas` is how the value changes when two documents trade places."""
    for one, labels in _cases(measure, grades):
        deltas, brute = one.swap_deltas(labels), Measure.swap_deltas(one, labels)
        require(
            np.shape(deltas) == brute.shape and np.allclose(deltas, brute, rtol=1e-7, atol=_ROUNDING),
            f"swap_deltas must equal the change of the value when two documents trade places: for "
            f"{_case(one, labels)} found\n{deltas}\nexpected\n{brute}",
        )


def check_closed_form(measure: Measure, grades: Grades = GRADES) -> None:
    """`closed_form`, where there is one, gives the value of the measure."""
    for one, labels in _cases(measure, grades):
        lists = RankedLists.of_labels([labels])
        form = one.closed_form(lists)
        if form is not None:
            value, expected = form.evaluate()[0], one.of_lists(lists)[0]
            require(
                abs(value - expected) <= _ROUNDING,
                f"closed_form must give the value of the measure: for {_case(one, labels)} found {value}, "
                f"expected {expected}",
            )


def check_expected_ties(measure: Measure, grades: Grades = GRADES) -> None:
    """With the tie rule `expected` the value is the mean over all orders of tied documents."""
    random = np.random.default_rng(0)
    for one, labels in _cases(measure, grades):
        if len(labels) > 5:
            continue
        scores = random.integers(0, 3, len(labels)).astype(float)
        blocks = [labels[scores == score] for score in np.unique(scores)[::-1]]
        orders = itertools.product(*(itertools.permutations(block.tolist()) for block in blocks))
        lists = RankedLists.of_labels([np.array([*itertools.chain(*order)]) for order in orders])
        mean = float(np.mean(one.of_lists(lists)))
        value = one.of_lists(_judged(labels, scores).ranked("expected"))[0]
        require(
            abs(value - mean) <= _ROUNDING,
            f"the tie rule `expected` must give the mean over all orders of tied documents: "
            f"{_case(one, labels)} with scores {scores.tolist()} is {value}, the mean {mean}",
        )


def check_worst_and_best_ties(measure: Measure, grades: Grades = GRADES) -> None:
    """The tie rules `worst` and `best` bound the others."""
    random = np.random.default_rng(1)
    for one, labels in _cases(measure, grades):
        scores = random.integers(0, 2, len(labels)).astype(float)
        value = {
            rule: float(one.of_lists(_judged(labels, scores).ranked(rule))[0])
            for rule in ("worst", "stable", "best")
        }
        if len(labels) <= 7:  # a measure without a closed form enumerates all orders
            value["expected"] = float(one.of_lists(_judged(labels, scores).ranked("expected"))[0])
        require(
            value["worst"] - _ROUNDING <= min(value.values())
            and max(value.values()) <= value["best"] + _ROUNDING,
            f"the tie rules worst and best must bound the others: {_case(one, labels)} with scores "
            f"{scores.tolist()} gave {value}",
        )


def check_documents_in_any_order(measure: Measure, grades: Grades = GRADES) -> None:
    """The order in which documents are handed in does not count, where no scores are tied."""
    random = np.random.default_rng(5)
    labels, scores, order = random.choice(grades, 40), random.permutation(40), random.permutation(40)
    one = replace(measure, k=10)
    before = one.of_lists(_judged(labels, scores).ranked())[0]
    after = one.of_lists(_judged(labels[order], scores[order]).ranked())[0]
    require(
        before == after, f"the order of the rows must not count: {one} is {before}, of other rows {after}"
    )


def check_any_number_of_threads(measure: Measure, grades: Grades = GRADES) -> None:
    """Values are the same to the last bit with any number of threads."""
    random = np.random.default_rng(5)
    labels, scores = random.choice(grades, 5000), random.integers(0, 9, 5000)
    documents = ScoredQueries(labels.astype(float), scores.astype(float), np.arange(0, 5001, 10))
    values: list[Values] = []
    for count in (1, 2, 4):
        with threads(count):
            values.append(judge(documents, [replace(measure, k=5)])[0].values)
    for other, count in zip(values[1:], (2, 4), strict=True):
        n_different = int((values[0] != other).sum())
        require(
            not n_different,
            f"{measure} must not depend on threads: {count} of them change {n_different} values",
        )


def check_is_a_value(measure: Measure, grades: Grades = GRADES) -> None:
    """Measures of the same parameters are equal, also as keys, and remember nothing between calls."""
    twin = replace(measure)
    require(measure == twin and hash(measure) == hash(twin), f"{measure} must equal a copy of itself")
    values = [measure.of_query(np.array(labels, float)) for labels in (grades, grades[::-1], grades)]
    require(values[0] == values[2], f"{measure} must not remember earlier queries: {values[0]}, {values[2]}")


def check_prints_as_it_is_read(measure: Measure, grades: Grades = GRADES) -> None:
    """Its text is one line, and that of a measure of Pomona is read back as the same measure."""
    for k in (None, 7):
        text = str(replace(measure, k=k))
        require(text and "\n" not in text, f"the text of a measure must be one line, found {text!r}")
    if _is_registered(measure):
        for convention in ("definition", *measure.conventions):
            for k in (None, 7):
                one = replace(measure.under(convention), k=k)
                again = parse_measure(str(one))
                require(
                    again.parameters == one.parameters,
                    f"{one} must be read back as it was: found {again.parameters}, expected {one.parameters}",
                )


def check_nothing_retrieved_counts_nothing(measure: Measure, grades: Grades = GRADES) -> None:
    """A query whose judged documents were not retrieved at all is worth 0."""
    none, judged = np.empty(0), np.array([grades[-1], grades[1]], float)
    documents = ScoredQueries(none, none, np.array([0, 0]), None, judged, np.array([0, 2]))
    try:
        value = replace(measure, k=5).of_lists(documents.ranked()).tolist()
    except (IndexError, ZeroDivisionError) as error:
        raise AssertionError(f"{measure} must take an empty list of labels, found {error!r}") from error
    require(value == [0.0], f"{measure} of a query without retrieved documents must be 0, found {value}")


def check_measure_is_documented(measure: Measure, grades: Grades = GRADES) -> None:
    """A sentence says what it is, and each parameter has an entry in a `Parameters` section."""
    summary = (type(measure).__doc__ or "").strip().partition("\n")[0]
    require(
        summary.endswith(".") or ":" in summary,
        f"the docstring of {type(measure).__name__} must begin with a sentence, found {summary!r}",
    )
    check_parameters_are_documented(measure, [field.name for field in fields(measure)])


def measure_checks() -> tuple[MeasureCheck, ...]:
    """Every check of a measure: called with an instance, and perhaps with the grades that it understands."""
    return (
        check_value_is_finite,
        check_better_first_is_better,
        check_cutoff,
        check_swap_deltas,
        check_closed_form,
        check_expected_ties,
        check_worst_and_best_ties,
        check_documents_in_any_order,
        check_any_number_of_threads,
        check_is_a_value,
        check_prints_as_it_is_read,
        check_nothing_retrieved_counts_nothing,
        check_measure_is_documented,
    )


def _cases(measure: Measure, grades: Grades) -> Iterator[tuple[Measure, NDArray[np.float64]]]:
    """The measure at several cut-offs, with all short rankings of three grades and some longer ones."""
    random = np.random.default_rng(0)
    few = (grades[0], grades[1], grades[-1])
    lists: list[Any] = [labels for n in (1, 2, 3) for labels in itertools.product(few, repeat=n)]
    lists += [random.choice(grades, n) for n in range(3, 10) for _ in range(6)]
    for k in _CUTOFFS:
        for labels in lists:
            yield replace(measure, k=k), np.array(labels, np.float64)


def _case(measure: Measure, labels: NDArray[np.float64]) -> str:
    return f"{measure} of labels {labels.tolist()}"


def _judged(labels: NDArray[Any], scores: NDArray[Any]) -> ScoredQueries:
    return ScoredQueries(labels.astype(float), scores.astype(float), np.array([0, len(labels)]))


def _is_registered(measure: Measure) -> bool:
    """Whether the name of the measure means this class."""
    try:
        entry = _registry.find("measures", getattr(measure, "name", ""), "measure")
    except PomonaError:
        return False
    return entry.load() is type(measure)
