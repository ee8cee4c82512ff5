import pytest

from golden import thesis
from pomona.errors import InputError
from pomona.measures.average_precision import AveragePrecision
from pomona.measures.lists import RankedLists
from pomona.measures.parse import measure


def test_by_hand():
    assert AveragePrecision().of_query([0, 2, 1]) == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert AveragePrecision(k=2).of_query([0, 2, 1]) == pytest.approx((1 / 2) / 2)
    assert AveragePrecision(k=1, divisor="cut").of_query([1, 2, 1]) == 1
    assert AveragePrecision(relevant=2.0).of_query([0, 2, 1]) == 1 / 2
    assert measure("mslr:ap").of_query([0, 2, 1]) == 1 / 2
    assert measure("ranklib:map").of_query([0, 0.6]) == 1 / 2


def test_tied_blocks_as_checked_in_the_literature():
    # Blocks (documents, relevant) = (1, 1), (4, 2), (1, 0).
    import numpy as np

    lists = RankedLists.of_labels([[1, 1, 1, 0, 0, 0]])
    tied = RankedLists(
        lists.codes,
        lists.query_ptr,
        lists.levels,
        lists.pool_codes,
        lists.pool_ptr,
        np.array([1, 5, 5, 5, 5, 6]),
    )
    assert AveragePrecision().of_lists(tied)[0] == pytest.approx(0.840741, abs=1e-6)


def test_thesis_table():
    for labels, (_, _, printed) in thesis.rows(thesis.BINARY, 3):
        assert f"{AveragePrecision().of_query(labels):.5f}" == printed


def test_refusals():
    with pytest.raises(InputError, match="divisor must be 'all' or 'cut'"):
        AveragePrecision(divisor="half")


def test_values_and_normalizer():
    lists = RankedLists.of_labels([[0, 2, 1, 1], [0, 0]])
    assert AveragePrecision().relevant_levels(lists.levels).tolist() == [False, True, True]
    assert AveragePrecision().normalizer(lists).tolist() == [3, 0]
    assert AveragePrecision(k=2, divisor="cut").normalizer(lists).tolist() == [2, 0]
