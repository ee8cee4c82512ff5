import pytest

from golden import thesis
from pomona.errors import InputError
from pomona.measures.err import ERR
from pomona.measures.parse import measure


def test_by_hand():
    assert ERR().of_query([0, 2, 1]) == pytest.approx((3 / 16) / 2 + (13 / 16) * (1 / 16) / 3)
    assert ERR(k=2).of_query([0, 2, 1]) == pytest.approx((3 / 16) / 2)
    assert ERR(max_grade=2).of_query([2, 2]) == pytest.approx(3 / 4 + (1 / 4) * (3 / 4) / 2)


def test_swaps_as_checked_in_the_literature():
    deltas = ERR().swap_deltas([2, 1, 3, 0])
    expected = {
        (0, 1): -0.0625,
        (0, 2): 0.164062,
        (0, 3): -0.131287,
        (1, 2): 0.050781,
        (1, 3): -0.010844,
        (2, 3): -0.027771,
    }
    for (a, b), delta in expected.items():
        assert deltas[a, b] == pytest.approx(delta, abs=1e-6)


def test_thesis_tables():
    for labels, (_, printed, _) in thesis.rows(thesis.GRADED, 3):
        assert f"{ERR().of_query(labels):.5f}" == printed
    for labels, _, printed in thesis.LONG:
        assert f"{ERR().of_query(labels):.6f}" == printed


def test_a_high_grade_does_not_overflow():
    assert ERR(max_grade=10_000, k=10).of_query([2, 1]) == 0.0
    assert ERR(max_grade=1000).of_query([1000]) == pytest.approx(1.0)


def test_gains_that_are_no_chances_are_refused():
    for gain in ("linear", (0.0, 5.0, 9.0)):
        with pytest.raises(InputError, match="gain must be"):
            ERR(gain=gain)
    with pytest.raises(InputError, match="label 2 is no chance"):
        ERR(gain="label").of_query([2])


def test_a_highest_grade_that_no_label_has_is_noted():
    from pomona.measures.lists import RankedLists

    lists = RankedLists.of_labels([[2, 1], [0]])
    (note,) = ERR().notes(lists)
    assert "largest label is 2, below max_grade=4, and satisfies with a chance of 0.1875" in note  # 3 / 16
    assert "give max_grade=2" in note
    assert ERR(max_grade=4).notes(lists) == ERR().notes(RankedLists.of_labels([[4]])) == []


def test_labels_above_the_highest_grade():
    with pytest.raises(InputError, match=r"label 5 is above max_grade=4: .*err\(max_grade=5\)"):
        ERR().of_query([5])
    assert measure("yahoo:err@1").of_query([5, 5, 1]) == 1.047607421875  # k is ignored, and ERR may pass 1


@pytest.mark.parametrize("text", ["catboost:err", "catboost:pfound"])
def test_labels_that_a_tool_takes_for_chances_are_noted(text):
    from pomona.measures.lists import RankedLists

    (note,) = measure(text).notes(RankedLists.of_labels([[3, 0]]))
    assert "label 3 is none: its values can lie far outside 0 to 1" in note
    assert measure(text).notes(RankedLists.of_labels([[0.5, 0]])) == []
