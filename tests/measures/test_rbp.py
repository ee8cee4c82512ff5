import pytest

from golden import thesis
from pomona.errors import InputError
from pomona.measures.rbp import RBP


def test_by_hand():
    assert RBP(p=0.5).of_query([1, 0, 1]) == 0.5 * (1 + 0.25)
    assert RBP(p=0.5, max_grade=4).of_query([2, 4]) == 0.5 * (0.5 + 0.5)


def test_thesis_table():
    for labels, (_, printed, _) in thesis.rows(thesis.BINARY, 3):
        assert f"{RBP(p=0.5).of_query(labels):.5f}" == printed


@pytest.mark.parametrize("p", [0, 1, -1])
def test_refusals(p):
    with pytest.raises(InputError, match="p must be a number above 0 and below 1"):
        RBP(p=p)
    with pytest.raises(InputError, match="above max_grade"):
        RBP(max_grade=1).of_query([2])
