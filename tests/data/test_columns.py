"""What is handed over as features, labels and query ids keeps its meaning, or is refused."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from pomona.data.concatenation import concatenated
from pomona.data.dataset import Dataset
from pomona.errors import InputError


def test_complex_numbers_are_refused():
    with pytest.raises(InputError, match="X must be a table of numbers: Complex data not supported"):
        Dataset(np.ones((2, 1), complex), [0, 1], [1, 1])


@pytest.mark.parametrize(
    "qid",
    [
        ["01", "1"],
        [2**53, 2**53 + 1],
        [2**63, 2**63 + 1],
        [2**64, 2**64 + 1],
        [-(2**63), -(2**63) - 1],
        [2**100, 1],
        ["a", "a "],
        ["1", "1.0"],
        np.array([2**64, 2**64 + 1], object),
        np.array([2**63, 2**63 + 1], np.uint64),
        pl.Series([2**63, 2**63 + 1], dtype=pl.UInt64),
        pl.Series(["01", "1"]),
        pd.Series([2**63, 2**63 + 1], dtype="uint64"),
        pd.Series(["01", "1"]),
        pd.Series([2**53, 2**53 + 1], dtype="Int64"),
        pd.Categorical(["01", "1"]),
    ],
)
def test_different_query_ids_stay_different(qid):
    data = Dataset([[1.0], [2.0]], [0, 1], qid)
    assert data.n_queries == 2
    assert [str(value) for value in data.qids] == [str(value) for value in list(qid)]
    joined = concatenated([data, Dataset([[3.0]], [1], [-1])])
    assert [str(value) for value in joined.qids] == [*map(str, list(qid)), "-1"]


@pytest.mark.parametrize(
    ("qid", "message"),
    [
        ([2.0**53, 1.0], "float64 beyond 9007199254740992, which may be the same for different ids"),
        ([2**63, -1], "float64 beyond"),
        (np.array([2**24, 1], np.float32), "float32 beyond 16777216"),
        (pd.Series([2.0**60, 1]), "float64 beyond"),
        ([1, "1"], "different query ids, such as 1 and '1', would become one"),
        (np.array([1, "1"], object), "would become one"),
        (["a", "a\0"], "would become one"),
        (pl.Series([Decimal("1"), Decimal("1.5")]), "found Decimal"),
        (np.ma.array([1, 2], mask=[0, 1]), "found a masked one"),
        ([[1], [1, 2]], "query ids"),
    ],
)
def test_query_ids_that_could_be_taken_for_others_are_refused(qid, message):
    with pytest.raises(InputError, match=message):
        Dataset([[1.0], [2.0]], [0, 1], qid)


@pytest.mark.parametrize("label", [2**24 + 1, 2**53 + 1, 2**63 - 1, 16777217.0, -(2**24) - 1, 2**70 + 1])
def test_labels_that_float32_would_round_are_refused(label):
    for y in ([0, label], np.array([0, label], object)):
        with pytest.raises(InputError, match="of document 1 is beyond what float32 holds"):
            Dataset([[1.0], [2.0]], y, [1, 1])
    wide = pl.Series([0, int(label)], dtype=pl.Int128)
    with pytest.raises(InputError, match="y must be numbers: cannot convert"):  # NumPy has no such type
        Dataset([[1.0], [2.0]], wide, [1, 1])
    frame = pl.DataFrame({"y": wide, "q": [1, 1], "x": [1.0, 2.0]})
    with pytest.raises(InputError, match="of document 1 is beyond what float32 holds"):
        Dataset.from_frame(frame, label="y", qid="q")


def test_large_labels_that_float32_holds_are_taken():
    assert Dataset([[1.0], [2.0]], [2**24, 2**30], [1, 1]).y.tolist() == [2**24, 2**30]


def test_masked_is_undefined_and_refused_in_a_label():
    X = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[0, 1], [0, 0]])
    assert np.array_equal(Dataset(X, [0, 1], [1, 1]).X, [[1, np.nan], [3, 4]], equal_nan=True)
    whole = np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])
    assert np.isnan(Dataset(whole, [0, 1], [1, 1]).X[0, 1])
    with pytest.raises(InputError, match="found a masked label"):
        Dataset(X, np.ma.array([0, 1], mask=[1, 0]), [1, 1])


@pytest.mark.parametrize(
    ("X", "place"),
    [
        ([[1.0, 2.0], [3.0, 1e39]], " in row 2, column 2"),
        (np.array([[1.0, -1e300], [3.0, 1.0]]), " in row 1, column 2"),
        ([[1, 2], [3, 10**400]], ""),
        ([[1, 2], [3, 10**39]], ""),
        (scipy.sparse.csr_matrix([[0.0, 1e39], [0.0, 1.0]]), ""),
        (pd.DataFrame({"a": [1e39, 0.0]}), None),
        (np.array([[1.0, 1e39], [3.0, 1.0]], object), ""),
    ],
)
def test_a_finite_value_beyond_float32_is_refused_with_its_place(X, place):
    expected = "column 'a' holds" if place is None else rf"3\.4e38\){place}: rescale"
    with pytest.raises(InputError, match=expected):
        Dataset(X, [0, 1], [1, 1])
    assert np.isinf(Dataset([[np.inf], [1]], [0, 1], [1, 1]).X[0, 0])


def test_sizes_of_queries_stand_for_their_ids():
    X, y = np.arange(6.0)[:, None], [0, 1, 2, 0, 1, 0]
    data = Dataset(X, y, group=[2, 1, 3])
    same = Dataset(X, y, [0, 0, 1, 2, 2, 2])
    assert data.qid.tolist() == same.qid.tolist()
    assert data.query_ptr.tolist() == [0, 2, 3, 6]
    assert Dataset(X, y, group=pd.Series([5, 1])).query_lengths.tolist() == [5, 1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"group": [2, 3]},
            "sizes of 2 queries, 5 documents in all, for 6: one size a query; .* qid",
        ),
        ({"group": [0, 6]}, r"whole numbers above 0, found \[0, 6\]"),
        ({"group": [3.0, 3.0]}, "whole numbers above 0"),
        ({"group": [[3, 3]]}, "whole numbers above 0"),
        ({"group": ["a", "b"]}, "whole numbers"),
        ({"group": 6}, "whole numbers above 0, found 6"),
        ({"group": []}, "group must be"),
        ({"group": [6], "qid": [1] * 6}, "found both of qid and group"),
        ({}, "found neither of qid and group"),
    ],
)
def test_sizes_that_are_none_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        Dataset(np.ones((6, 1)), np.ones(6), **given)
