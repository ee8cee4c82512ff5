import numpy as np
import pytest

from pomona._registry import entries
from pomona.measures.closed_form import CASCADE, POSITION, PRECISION
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure

LABELS = [[2, 1, 3, 1, 4, 2], [1, 3], [1, 1, 1], [2]]
WITHOUT = {"best", "meanndcg"}


def terms(form, values, n):
    """The sum over ranks of one list of values, written out."""
    total, n_relevant, reading = 0.0, 0, 1.0
    for value, weight in zip(values, form.weight[:n], strict=False):
        n_relevant += value > 0
        factor = {POSITION: 1.0, PRECISION: n_relevant, CASCADE: reading}[form.kind]
        total += value * weight * factor
        reading *= 1.0 - value
    return min(total, form.ceiling)


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("name", sorted(set(entries("measures")) - WITHOUT))
def test_the_parts_make_up_the_measure(name, k):
    one = measure(name if k is None else f"{name}@{k}")
    lists = RankedLists.of_labels(LABELS)
    form = one.closed_form(lists)
    per_query = np.split(form.document_values, lists.query_ptr[1:-1])
    expected = [terms(form, values, len(values)) for values in per_query]
    assert one.of_lists(lists) == pytest.approx(expected)
    assert form.evaluate().tolist() == one.of_lists(lists).tolist()


@pytest.mark.parametrize("name", sorted(WITHOUT))
def test_measures_known_by_their_values_only(name):
    assert measure(name).closed_form(RankedLists.of_labels(LABELS)) is None


def test_queries_that_no_ranking_changes_have_no_values():
    lists = RankedLists.of_labels([[0, 0], [2, 1]])
    form = measure("yahoo:ndcg@10").closed_form(lists)
    assert form.document_values[:2].tolist() == [0, 0]
    assert form.evaluate()[0] == 1.0
    short = measure("letor4:ndcg@3").closed_form(lists)
    assert short.document_values.tolist() == [0, 0, 0, 0]
    assert short.evaluate().tolist() == [0, 0]
