"""The checks find out measures that break a promise."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

import pomona as pm
from pomona.measures.ndcg import NDCG
from pomona.testing import check_measure, measure_checks
from pomona.testing import measure as checks
from testing.extending import FirstGood


def test_measures_of_anybody_pass():
    check_measure(FirstGood)
    check_measure(FirstGood(patience=0.5))
    check_measure(pm.measure("sr"), grades=(1, 2, 3, 4, 5))


def test_checks_have_names_and_say_what_they_check():
    names = [check.__name__ for check in measure_checks()]
    assert len(set(names)) == len(names) >= 12
    assert all(name.startswith("check_") for name in names)
    assert all(check.__doc__ for check in measure_checks())


class NotANumber(FirstGood):
    def of_query(self, labels):
        return float("nan")


class TwoMinds(FirstGood):
    def of_query(self, labels):
        return 1.0

    def of_lists(self, lists):
        return np.full(lists.n_queries, 2.0)


class WorseIsBetter(FirstGood):
    def of_query(self, labels):
        return -float(sum(labels[:1]))


class PerfectIsNot(FirstGood):
    """Worth most when the second document is the best."""

    def of_query(self, labels):
        return float(labels[1]) if len(labels[: self.k]) > 1 else 0.0


class IgnoresItsCutoff(FirstGood):
    def of_query(self, labels):
        return float(sum(label / (rank + 1) for rank, label in enumerate(labels)))


class TakesAnyCutoff(FirstGood):
    def __post_init__(self):
        pass


class WrongDeltas(FirstGood):
    def swap_deltas(self, labels):
        return np.zeros((len(labels), len(labels)))


class WrongClosedForm(NDCG):
    def of_lists(self, lists):
        return super().of_lists(lists)

    def closed_form(self, lists):
        form = super().closed_form(lists)
        return replace(form, normalizer=form.normalizer / 2)


class StableIsExpected(NDCG):
    """NDCG: takes tied documents in the order in which they come."""

    enumerates_ties: ClassVar[bool] = False  # it says

    def of_lists(self, lists):
        return super().of_lists(replace(lists, block_end=None))


class HasMemory(FirstGood):
    """A measure with a memory: counts its calls."""

    calls: ClassVar[list[int]] = []

    def of_query(self, labels):
        self.calls.append(1)
        return float(len(self.calls))


class CannotBeEmpty(FirstGood):
    def of_query(self, labels):
        return float(labels[0])


class EmptyCounts(FirstGood):
    def of_query(self, labels):
        return super().of_query(labels) if len(labels) else 1.0


class TwoLines(FirstGood):
    def __str__(self):
        return "a\nb"


@dataclass(frozen=True, kw_only=True)
class Undocumented(FirstGood):
    """A measure of k and p."""

    p: float = 0.5


class WithoutASentence(FirstGood):
    """no sentence"""


class SaysBestIsWorst(NDCG):
    """NDCG: the value of the worst order of ties for every other rule."""

    enumerates_ties: ClassVar[bool] = False

    def of_lists(self, lists):
        values = super().of_lists(lists)
        return values + 1 if lists.block_end is not None else values


@pytest.mark.parametrize(
    ("cls", "check", "message"),
    [
        (NotANumber, checks.check_value_is_finite, "must be a finite number, found nan"),
        (TwoMinds, checks.check_value_is_finite, "of_query and of_lists must agree"),
        (WorseIsBetter, checks.check_better_first_is_better, "the perfect ranking must be worth most"),
        (PerfectIsNot, checks.check_better_first_is_better, "the perfect ranking must be worth most"),
        (IgnoresItsCutoff, checks.check_cutoff, "below the cut-off k=1 must not count"),
        (TakesAnyCutoff, checks.check_cutoff, r"TakesAnyCutoff\(k=0\) must be refused"),
        (WrongDeltas, checks.check_swap_deltas, "swap_deltas must equal the change of the value"),
        (WrongClosedForm, checks.check_closed_form, "closed_form must give the value of the measure"),
        (StableIsExpected, checks.check_expected_ties, "must give the mean over all orders"),
        (SaysBestIsWorst, checks.check_worst_and_best_ties, "worst and best must bound the others"),
        (HasMemory, checks.check_is_a_value, "must not remember earlier queries"),
        (CannotBeEmpty, checks.check_nothing_retrieved_counts_nothing, "must take an empty list of labels"),
        (EmptyCounts, checks.check_nothing_retrieved_counts_nothing, r"must be 0, found \[1.0\]"),
        (TwoLines, checks.check_prints_as_it_is_read, "must be one line"),
        (Undocumented, checks.check_measure_is_documented, r"without one: p$"),
        (
            WithoutASentence,
            checks.check_measure_is_documented,
            "must begin with a sentence, found 'no sentence'",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_is_found_out(cls, check, message):
    assert check in measure_checks()
    with pytest.raises(AssertionError, match=message):
        check(cls())


def test_a_worse_document_that_moves_up():
    class SecondBest(FirstGood):
        """The perfect ranking is worth most, and yet a worse document that moves up can help."""

        def of_query(self, labels):
            shown = list(labels[: self.k])
            return 9.0 if shown == sorted(shown, reverse=True) else -float(shown[0])

    with pytest.raises(AssertionError, match="a worse document that moves up must not raise the value"):
        checks.check_better_first_is_better(SecondBest())


def test_rows_and_threads():
    class ByTheFirstRow(FirstGood):
        """The label of the document that came first."""

        def of_lists(self, lists):
            return np.full(lists.n_queries, float(next(rows)))

    rows = iter(range(9999))
    with pytest.raises(AssertionError, match="the order of the rows must not count"):
        checks.check_documents_in_any_order(ByTheFirstRow())
    with pytest.raises(AssertionError, match="must not depend on threads: 2 of them change 500 values"):
        checks.check_any_number_of_threads(ByTheFirstRow())
