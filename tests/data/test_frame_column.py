import narwhals as nw
import numpy as np
import polars as pl
import pytest

from pomona.data.frame_column import check_column, check_no_null, exact_values, numbers_of
from pomona.errors import InputError


def column(values, **options):
    return nw.from_native(pl.Series("x", values, **options), series_only=True)


def test_a_column_that_is_not_there():
    check_column("qid", ["label", "qid"], "qid")
    with pytest.raises(InputError, match=r"no column 'quid': did you mean 'Qid'\?; the option qid names it"):
        check_column("quid", ["label", "Qid"], "qid")


def test_missing_values_are_counted():
    check_no_null(column([1, 2]), "x")
    with pytest.raises(InputError, match=r"column 'x' is null in 2 rows \(first: row 2\)"):
        check_no_null(column([1, None, None]), "x")


def test_numbers_and_what_is_none():
    np.testing.assert_array_equal(numbers_of(column([1, None, 3]), "label"), [1, np.nan, 3])
    np.testing.assert_array_equal(numbers_of(column([None, None], dtype=pl.String), "feature"), [np.nan] * 2)
    with pytest.raises(InputError, match=r"holds String, expected numbers \(row 2: 'two'\)"):
        numbers_of(column(["1", "two"]), "feature")


def test_values_stay_what_they_are():
    assert exact_values(column([2**63 - 1, 1])).tolist() == [2**63 - 1, 1]
    assert exact_values(column(["b", "a"])).tolist() == ["b", "a"]
