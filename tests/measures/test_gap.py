import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona._registry import entries
from pomona.errors import InputError
from pomona.measures.gap import explain_gap
from pomona.measures.judge import judge
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure

PAIRS = [
    (name, first, last)
    for name in entries("measures")
    for conventions in [["definition", *measure(name).conventions]]
    for first in conventions
    for last in conventions
    if first != last
]


def documents(seed, *, any_tool=False):
    """Queries with ties; for `any_tool` with what all tools take: labels 0 and 1, and no empty query."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 15, 12)
    labels = random.integers(1, 3, lengths.sum()) * (random.random(lengths.sum()) < 0.5)
    labels[: lengths[0]] = 0
    if any_tool:
        labels = np.minimum(labels, 1)
        labels[np.cumsum(lengths) - 1] = 1
    scores = np.round(random.standard_normal(lengths.sum()), 1)
    ids = [f"d{i}" for i in random.permutation(lengths.sum())]
    return ScoredQueries(labels.astype(float), scores, np.append(0, np.cumsum(lengths)), ids)


@pytest.mark.parametrize(("name", "first", "last"), PAIRS)
def test_parts_sum_to_the_whole(name, first, last):
    judged = documents(1, any_tool=bool({first, last} & {"gdeval", "xgboost"}))
    ends = [measure(f"{name}@10", convention) for convention in (first, last)]
    gap = explain_gap(judged, *ends)
    values = [judgement.mean for judgement in judge(judged, ends)]
    assert (gap.values[0], gap.values[-1]) == tuple(values)
    assert math.fsum(part.change for part in gap.parts) == pytest.approx(values[1] - values[0], abs=1e-15)


@given(st.integers(0, 10**6))
def test_what_is_printed_adds_up(seed):
    lines = str(
        explain_gap(documents(seed), measure("yahoo:ndcg@10"), measure("letor4:ndcg@10"))
    ).splitlines()
    numbers = [line.split()[0] for line in lines]
    start, *parts, end, whole = (round(float(number) * 10_000) for number in numbers)
    assert start + sum(parts) == end
    assert sum(parts) == whole


def test_in_words():
    judged = ScoredQueries(np.array([0.0, 0.0, 2.0]), np.array([2.0, 1.0, 1.0]), np.array([0, 2, 3]))
    gap = explain_gap(judged, measure("yahoo:ndcg@10"), measure("letor4:ndcg@10"))
    by_rule = {part.rule: part for part in gap.parts}
    assert by_rule["empty queries"].change == -1 / 2
    assert by_rule["short queries"].change == -1 / 2
    assert (
        "1 of 2 queries have no relevant document, counted as 1 → counted as 0"
        in by_rule["empty queries"].why
    )
    assert "2 of 2 queries have fewer than 10 documents" in by_rule["short queries"].why


def test_ties_and_precision():
    judged = ScoredQueries(np.array([0.0, 1.0]), np.array([0.7, 0.700000001]), np.array([0, 2]), ["a", "b"])
    gap = explain_gap(judged, measure("definition:rr"), measure("trec_eval:rr"))
    # In single precision the two are tied, and the relevant one is first in one of two orders, or by its id.
    assert [(part.rule, part.change) for part in gap.parts] == [("score precision", -1 / 4), ("ties", 1 / 4)]


def test_refusals():
    judged = documents(1)
    with pytest.raises(InputError, match="different measures"):
        explain_gap(judged, measure("ap"), measure("rr"))
    with pytest.raises(InputError, match="gdeval leaves queries without a relevant document out"):
        explain_gap(judged, measure("err"), measure("gdeval:err"))
