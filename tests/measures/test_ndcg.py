from math import log2

import numpy as np
import pytest

from golden import thesis
from pomona.errors import InputError
from pomona.measures.lists import ScoredQueries
from pomona.measures.ndcg import NDCG
from pomona.measures.parse import measure


def test_by_hand():
    dcg = 3 / log2(3) + 1 / 2
    ideal = 3 + 1 / log2(3)
    assert NDCG().of_query([0, 2, 1]) == pytest.approx(dcg / ideal)
    assert NDCG(k=1).of_query([0, 2, 1]) == 0
    assert NDCG(gain="linear").of_query([0, 2, 1]) == pytest.approx((2 / log2(3) + 1 / 2) / (2 + 1 / log2(3)))


@pytest.mark.parametrize(
    ("convention", "expected"),
    [
        ("letor3", (3 + 1 / log2(3)) / (3 + 1)),
        ("mslr", (3 + 1 / log2(3)) / (3 + 1)),
        ("yahoo", (3 / log2(3) + 1 / 2) / (3 + 1 / log2(3))),
        ("ranklib", (3 / log2(3) + 1 / 2) / (3 + 1 / log2(3))),
        ("trec_eval", (2 / log2(3) + 1 / 2) / (2 + 1 / log2(3))),
    ],
)
def test_the_tools_by_hand(convention, expected):
    assert measure("ndcg@3", convention).of_query([0, 2, 1]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("convention", "value"), [("letor4", 0), ("yahoo", 1), ("ranklib", 0), ("lightgbm", 1)]
)
def test_an_empty_query(convention, value):
    assert measure("ndcg@2", convention).of_query([0, 0]) == value
    assert measure("yahoo:ndcg(empty=0.5)@2").of_query([0, 0]) == 0.5


def test_a_short_query():
    assert measure("letor4:ndcg@10").of_query([2, 1]) == 0
    assert measure("ndcg@10").of_query([2, 1]) == 1


def test_the_ideal_knows_documents_that_were_not_ranked():
    judged = ScoredQueries(
        np.array([1.0]), np.array([1.0]), np.array([0, 1]), None, np.array([1.0, 2.0]), np.array([0, 2])
    )
    assert NDCG().of_lists(judged.ranked())[0] == pytest.approx(1 / (3 + 1 / log2(3)))


def test_a_gain_table_need_not_rise():
    one = NDCG(gain=(0.0, 5.0, 1.0))
    assert one.of_query([1, 2, 0]) == 1
    assert one.of_query([2, 1, 0]) == pytest.approx((1 + 5 / log2(3)) / (5 + 1 / log2(3)))


def test_thesis_tables():
    for labels, (printed, _, _) in thesis.rows(thesis.GRADED, 3):
        assert f"{NDCG().of_query(labels):.5f}" == printed
    for labels, printed, _ in thesis.LONG:
        assert f"{NDCG().of_query(labels):.6f}" == printed


def test_refusals():
    with pytest.raises(InputError, match="label 2000 has no finite gain"):
        NDCG().of_query([2000])
    with pytest.raises(InputError, match=r"label 0\.5 is not an integer"):
        measure("letor4:ndcg@1").of_query([0.5])
    with pytest.raises(InputError, match="short must be 'whole' or 'zero', found 'hole'"):
        NDCG(short="hole")
