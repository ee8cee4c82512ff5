"""What every measure promises, checked for each file dropped into the folder."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pomona._registry import entries
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.closed_form import CASCADE
from pomona.measures.dcg import DCG
from pomona.measures.judge import judge
from pomona.measures.lists import RankedLists, ScoredQueries
from pomona.measures.ndcg import NDCG
from pomona.measures.parse import measure
from pomona.testing import measure_checks
from reference import measures as reference

NAMES = sorted(entries("measures"))
GRADES = {"sr": (1, 2, 3, 4, 5)}  # SeznamRank's start at 1
labels_lists = st.lists(st.integers(0, 4), min_size=1, max_size=9)
cutoffs = st.none() | st.integers(1, 10)


def of(name, k=None):
    return replace(measure(name), k=k)


def judged(labels, scores):
    return ScoredQueries(np.array(labels, float), np.array(scores, float), np.array([0, len(labels)]))


def test_every_measure_has_a_reference():
    assert set(reference.BY_NAME) | {"sr"} == set(NAMES)


def test_user_models_are_those_of_the_formulas():
    models = {name: measure(name).user_model for name in NAMES}
    assert models == {name: entry.user_model for name, entry in entries("measures").items()}
    assert set(models.values()) == {"position", "cascade", "none"}
    for name, model in models.items():
        form = measure(name).closed_form(RankedLists.of_labels([[1, 2]]))
        assert (form is not None and form.kind == CASCADE) == (model == "cascade")


@pytest.mark.parametrize("name", [n for n in NAMES if n != "sr"])
@given(labels=labels_lists, k=cutoffs)
def test_equals_the_reference(name, labels, k):
    assert of(name, k).of_query(labels) == pytest.approx(reference.BY_NAME[name](labels, k), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", measure_checks(), ids=lambda check: check.__name__)
def test_keeps_the_contract(check, name):
    check(measure(name), GRADES.get(name, (0, 1, 2, 3, 4)))


@pytest.mark.parametrize("name", NAMES)
def test_the_listing_says_what_the_class_says(name):
    entry = entries("measures")[name]
    assert entry.summary == entry.load().__doc__.strip().partition("\n")[0]
    assert type(measure(name)) is entry.load()


class Halves(Measure):
    """A user's own measure: one method."""

    def of_query(self, labels):
        return float(labels[: self.k].sum()) / 2


def test_a_users_measure_works_everywhere():
    one = Halves(k=2)
    assert one.of_query(np.array([2.0, 1.0, 4.0])) == 3 / 2
    assert one.swap_deltas([2, 1, 4]).tolist() == [[0, 0, 1], [0, 0, 1.5], [1, 1.5, 0]]
    assert judge(judged([2, 0, 4], [1, 1, 0]), [one])[0].mean == 1.0
    tied = one.of_lists(judged([2, 0, 4], [1, 1, 1]).ranked("expected"))
    assert tied[0] == pytest.approx((2 + 0 + 2 + 4 + 0 + 4) / 6)
    assert str(one) == "Halves@2"
    assert one.under("letor4").convention == "letor4"


def test_a_measure_without_its_method_is_refused():
    with pytest.raises(TypeError, match="must define of_query"):
        type("Nothing", (Measure,), {})().of_query(np.ones(2))


def test_too_many_orders_are_refused():
    with pytest.raises(InputError, match="choose another tie rule"):
        Halves().of_lists(judged(np.arange(40), np.zeros(40)).ranked("expected"))


@pytest.mark.parametrize("k", [0, -1, 2.5])
def test_a_wrong_cutoff_is_refused(k):
    with pytest.raises(InputError, match="cut-off k"):
        Halves(k=k)


def test_under_keeps_what_was_set_by_hand():
    one = measure("ndcg(gain=linear)@10").under("letor4")
    assert (one.gain, one.discount, one.short, one.k) == ("linear", "letor", "zero", 10)
    back = one.under("definition")
    assert (back.gain, back.discount, back.short) == ("linear", "log2", "whole")
    assert measure("ap@5").under("ranklib").k is None  # RankLib ignores MAP's cut-off


@settings(max_examples=30)
@given(labels=st.lists(st.floats(0, 4, width=32), min_size=1, max_size=8))
def test_real_valued_labels(labels):
    lists = RankedLists.of_labels([labels])
    assert lists.levels[lists.codes].tolist() == labels
    assert measure("ndcg@5").of_query(labels) == pytest.approx(reference.ndcg(labels, 5), abs=1e-9)


class TwiceOfQuery(NDCG):
    def of_query(self, labels):
        return 2 * super().of_query(labels)


class TwiceOfLists(NDCG):
    def of_lists(self, lists):
        return 2 * super().of_lists(lists)


class TwiceClosedForm(NDCG):
    def closed_form(self, lists):
        form = super().closed_form(lists)
        return replace(form, normalizer=form.normalizer / 2)


class TwiceValues(DCG):
    def values(self, levels):
        return 2 * super().values(levels)


class TwiceMixin:
    def of_query(self, labels):
        return 2 * super().of_query(labels)


class TwiceMixedIn(TwiceMixin, NDCG):
    """A rule that stands in a class that is no measure."""


TWICE = [TwiceOfQuery, TwiceOfLists, TwiceClosedForm, TwiceValues, TwiceMixedIn]


def four_times(cls):
    """The measure of `cls` doubled once more, by each of the methods."""

    class ByQuery(cls):
        def of_query(self, labels):
            return 2 * super().of_query(labels)

    class ByLists(cls):
        def of_lists(self, lists):
            return 2 * super().of_lists(lists)

    class BySwaps(cls):
        def swap_deltas(self, labels):
            return 2 * super().swap_deltas(labels)

    return ByQuery, ByLists, BySwaps


@pytest.mark.parametrize("cls", TWICE)
def test_one_method_defines_the_measure_everywhere(cls):
    once = DCG(k=3) if cls is TwiceValues else NDCG(k=3)
    labels, scores = [0, 2, 1, 1, 3], [3, 3, 2, 1, 0]
    ways = [(cls(k=3), 2, 2)]
    by_query, by_lists, by_swaps = four_times(cls)
    ways += [(by_query(k=3), 4, 4), (by_lists(k=3), 4, 4), (by_swaps(k=3), 2, 4)]
    for one, factor, delta_factor in ways:
        lists = judged(labels, scores).ranked()
        assert one.of_query(labels) == pytest.approx(factor * once.of_query(labels))
        assert one.of_lists(lists) == pytest.approx(factor * once.of_lists(lists))
        tied = judged(labels, scores).ranked("expected")
        assert one.of_lists(tied) == pytest.approx(factor * once.of_lists(tied))
        np.testing.assert_allclose(one.swap_deltas(labels), delta_factor * once.swap_deltas(labels))
        form = one.closed_form(lists)
        assert (form is None) == (cls not in (TwiceClosedForm, TwiceValues) or factor + delta_factor > 4)
        assert form is None or form.evaluate() == pytest.approx(factor * once.of_lists(lists))


def test_only_a_rule_for_one_list_enumerates_ties():
    assert Halves.enumerates_ties
    assert TwiceOfQuery.enumerates_ties
    assert not TwiceOfLists.enumerates_ties
    assert not TwiceClosedForm.enumerates_ties
    by_query, by_lists, by_swaps = four_times(TwiceOfQuery)
    assert by_query.enumerates_ties
    assert not by_lists.enumerates_ties
    assert by_swaps.enumerates_ties


def test_a_closed_form_that_is_switched_off_needs_another_rule():
    class Off(NDCG):
        def closed_form(self, lists):
            return None

    with pytest.raises(InputError, match="Off has no closed form here"):
        Off().of_query([1, 0])
