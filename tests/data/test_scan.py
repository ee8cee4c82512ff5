import numpy as np
import pytest

from pomona.data.dataset import Dataset
from pomona.data.scan import Scan, duplicates, text_hashes
from pomona.data.text import TextColumn

# Hashes wrap around on purpose; with the kernels' compilation switched off, numpy says so.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered in scalar")


def test_rows_are_equal_by_value():
    X = [[0.0, np.nan], [-0.0, -np.nan], [0.0, 1.0], [1.0, 0.0]]
    hashes = Scan("x", Dataset(X, [0, 1, 0, 1], [1, 1, 1, 1])).row_hash
    assert hashes[0] == hashes[1]
    assert len(set(hashes.tolist())) == 3


def test_queries_are_equal_whatever_the_order_of_their_rows():
    scan = Scan("x", Dataset([[1.0], [2.0], [2.0], [1.0], [3.0], [3.0]], [0] * 6, [7, 7, 8, 8, 9, 9]))
    assert scan.query_hash[0] == scan.query_hash[1] != scan.query_hash[2]
    assert scan.is_telling.tolist() == [True, True, False]
    assert (scan.query(2), scan.row(4)) == ("9", 5)


def test_duplicates_name_the_first_and_each_later_one():
    hashes = np.array([5, 3, 5, 3, 5], np.uint64)
    assert [places.tolist() for places in duplicates(hashes)] == [[0, 1, 0], [2, 3, 4]]
    groups = np.array([0, 0, 0, 1, 1])
    assert [places.tolist() for places in duplicates(hashes, groups)] == [[0], [2]]


def test_equal_texts_have_equal_hashes():
    a, b, c, d = text_hashes(TextColumn.of(["GX01", "GX02", "GX01", ""])).tolist()
    assert a == c
    assert len({a, b, d}) == 3
