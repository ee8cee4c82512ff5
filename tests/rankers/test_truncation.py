import pytest

import pomona as pm
from pomona.rankers.truncation import deepened


@pytest.mark.parametrize(
    ("asked", "k", "trained"),
    [
        ("ndcg@10", 30, "ndcg@30"),
        ("ndcg@40", 30, "ndcg@40"),
        ("ndcg", 30, "ndcg"),
        ("ndcg@10", None, "ndcg@10"),
        ("p@10", 30, "p@10"),
        ("letor4:ndcg@10", 30, "letor4:ndcg@10"),
    ],
)
def test_only_discounted_measures_are_cut_deeper(asked, k, trained):
    assert str(deepened(pm.measure(asked), k)) == trained
