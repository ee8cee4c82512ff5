import numpy as np
import pytest

from golden import thesis
from pomona.errors import InputError
from pomona.measures.parse import measure
from pomona.measures.seznam_rank import SR4, WEIGHTS, SeznamRank


def test_thesis_tables():
    for labels, (_, _, printed) in thesis.rows(thesis.GRADED, 3):
        assert f"{SR4().of_query(labels):.5f}" == printed
    for row, printed in thesis.LONG_SR4.items():
        assert f"{SR4(clip=False).of_query(thesis.LONG[row][0]):.6f}" == printed


@pytest.mark.parametrize(("row", "value"), [(1, 0.33), (5, 0.33972), (7, 0.31671)])
def test_lists_of_table_3_5_whose_print_nothing_explains(row, value):
    """π2, π6 and π8 hold no 4; with all 2s worth the printed 0.55, π8 would exceed its printed 0.45."""
    assert SR4(clip=False).of_query(thesis.LONG[row][0]) == pytest.approx(value, abs=1e-9)


def test_correlations_of_table_3_4():
    for names in thesis.CORRELATIONS:
        table = thesis.BINARY if "ap" in names or "wta" in names else thesis.GRADED
        lists = [labels for labels, _ in thesis.rows(table, 3)]
        # The thesis correlated the values as printed: only so do all digits agree.
        first, second = (np.round([measure(name).of_query(labels) for labels in lists], 5) for name in names)
        assert f"{np.corrcoef(first, second)[0, 1]:.5f}" == thesis.CORRELATIONS[names]


def test_by_hand():
    assert SR4().of_query([4] * 20) == 1.0  # 1.17 without the clip
    assert (
        SeznamRank().of_query([5, 4]) == SR4().of_query([4, 3]) == pytest.approx(0.702 * 1.17 + 0.134 * 0.6)
    )
    assert sum(WEIGHTS) == pytest.approx(1)
    assert list(WEIGHTS) == sorted(WEIGHTS, reverse=True)
    assert SR4().of_query([4] * 20) == SR4().of_query([4] * 20 + [4])


def test_refusals():
    with pytest.raises(InputError, match="labels 0 to 4, found 5"):
        SR4().of_query([5])
    with pytest.raises(InputError, match="not an integer"):
        SR4().of_query([0.5])
