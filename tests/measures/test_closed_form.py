import numpy as np
import pytest

from pomona._registry import entries
from pomona.measures.closed_form import CASCADE, POSITION, PRECISION, clip_rule, head_terms, read_past
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure

LABELS = [[2, 1, 3, 1, 4, 2], [1, 3], [1, 1, 1], [2]]
WITHOUT = {"best", "gap", "meanndcg"}


def terms(form, values, n):
    """The sum over ranks of one list of values, written out."""
    total, n_relevant, reading = 0.0, 0, 1.0
    for value, weight in zip(values, form.weight[:n], strict=False):
        n_relevant += value > 0
        factor = {POSITION: 1.0, PRECISION: n_relevant, CASCADE: reading}[form.kind]
        total += value * weight * factor
        reading *= 1.0 - value
    return total


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("name", sorted(set(entries("measures")) - WITHOUT))
def test_the_parts_make_up_the_measure(name, k):
    one = measure(name if k is None else f"{name}@{k}")
    # SeznamRank has one form for lists with the top grade, and another one.
    every = [[labels] for labels in LABELS] if name.startswith("sr") else [LABELS]
    for labels in every:
        check_parts(one, RankedLists.of_labels(labels))


def check_parts(one, lists):
    form = one.closed_form(lists)
    per_query = np.split(form.document_values, lists.query_ptr[1:-1])
    sums = np.array([terms(form, values, len(values)) for values in per_query])
    expected = np.minimum(sums * form.factors, form.ceiling)
    assert one.of_lists(lists) == pytest.approx(expected)
    assert form.evaluate().tolist() == one.of_lists(lists).tolist()


@pytest.mark.parametrize("name", sorted({*WITHOUT, "sr4"}))
def test_measures_without_one_form_for_many_lists(name):
    labels = [[label + (name == "sr") for label in ranked] for ranked in LABELS]  # one list has the top grade
    assert measure(name).closed_form(RankedLists.of_labels(labels)) is None


def test_queries_that_no_ranking_changes_have_no_values():
    lists = RankedLists.of_labels([[0, 0], [2, 1]])
    form = measure("yahoo:ndcg@10").closed_form(lists)
    assert form.document_values[:2].tolist() == [0, 0]
    assert form.evaluate()[0] == 1.0
    short = measure("letor4:ndcg@3").closed_form(lists)
    assert short.document_values.tolist() == [0, 0, 0, 0]
    assert short.evaluate().tolist() == [0, 0]


FAMILY = {"ndcg": POSITION, "dcg": POSITION, "rbp": POSITION, "p": POSITION, "sr4": POSITION}
FAMILY |= {"ap": PRECISION, "err": CASCADE, "pfound": CASCADE, "rr": CASCADE}


def closed_deltas(one, family, value, weight):
    """(n, n) upper triangle from the terms, as the kernels combine them, the rest by its own coefficient."""
    n = len(value)
    own, share, other, skipping = np.empty((4, n))
    rest = head_terms(family, value, weight, own, share, other)
    excess, room = clip_rule(value, weight, 1.0 if one.name == "sr4" else np.inf)
    deltas = np.zeros((n, n))
    for a in range(min(n, len(weight))):
        coefficients, rest_coefficient = own[a] - share[a] * other, own[a] - share[a] * rest
        if share[a] == 0:
            rest_of_a = read_past(a, value, weight, own[a], skipping)
            coefficients = own[a] * weight[a] - skipping
            rest_coefficient = own[a] * weight[a] - rest_of_a
        coefficients[len(weight) :] = rest_coefficient
        change = (value[a + 1 :] - value[a]).astype(float) * coefficients[a + 1 :]
        deltas[a, a + 1 :] = np.minimum(change + excess, room)
    return deltas


@pytest.mark.parametrize("k", [None, 1, 4, 9])
@pytest.mark.parametrize("name", sorted(FAMILY))
def test_terms_give_the_measures_swap_deltas(name, k):
    random = np.random.default_rng(0)
    one = measure(name if k is None else f"{name}@{k}")
    for _ in range(20):
        labels = random.integers(0, 5, 12).astype(float)
        labels[5] = 4.0  # without the top grade, SeznamRank has other weights
        levels = np.arange(5.0)
        depth = len(labels) if k is None else k
        if FAMILY[name] == PRECISION:
            worth, weight = (levels >= 1) / max((labels > 0).sum(), 1), 1 / np.arange(1.0, depth + 1)
        else:
            worth = one.satisfies(levels) if FAMILY[name] == CASCADE else one.values(levels)
            numerator, divisor = one.weights(depth)
            weight = numerator / divisor
        expected = np.triu(one.swap_deltas(labels))
        value = worth[labels.astype(int)].astype(np.float32)
        if name in ("ndcg", "p"):
            best = np.sort(one.values(levels)[labels.astype(int)])[::-1][:depth] @ weight
            value /= np.float32(best if name == "ndcg" else depth)
        scale = max(np.abs(expected).max(), 1e-3)
        assert np.abs(closed_deltas(one, FAMILY[name], value, weight) - expected).max() < 1e-6 * scale


def test_err_deltas_by_hand():
    # Labels (2, 1, 3, 0): the pairs of the ranks 1 to 4, of which RankLib has those with rank 4 wrong.
    labels = np.array([2, 1, 3, 0])
    value = ((2.0**labels - 1) / 16).astype(np.float32)
    deltas = closed_deltas(measure("err"), CASCADE, value, 1 / np.arange(1.0, 5))
    expected = [-0.0625, 0.164062, -0.131287, 0.050781, -0.010844, -0.027771]
    assert deltas[np.triu_indices(4, 1)] == pytest.approx(expected, abs=1e-6)


def test_clip_rule():
    # A sum of 0.8 has room for 0.2; one of 1.5 loses nothing until it falls by 0.5.
    weight = np.ones(1)
    assert clip_rule(np.float32([0.8]), weight, 1.0) == pytest.approx((0, 0.2))
    assert clip_rule(np.float32([1.5]), weight, 1.0) == pytest.approx((0.5, 0))
    assert clip_rule(np.float32([1.5]), weight, np.inf) == (0, np.inf)
