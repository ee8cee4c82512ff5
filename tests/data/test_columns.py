"""What is handed over as features, labels and query ids keeps its meaning, or is refused."""

from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from pomona.data.columns import numbers_of_rows
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


def test_nan_is_a_label_that_nobody_gave():
    for y in ([1, np.nan], [1, None], pd.Series([1, None], dtype="Int64"), pl.Series([1, None])):
        assert np.array_equal(Dataset([[1.0], [2.0]], y, [1, 1]).y, [1, np.nan], equal_nan=True)
    assert np.array_equal(Dataset([[1.0]] * 3, [np.nan, 2, 1], [7, 8, 7]).gathered().y, [np.nan, 1, 2], True)
    with pytest.raises(InputError, match="label of document 1 is not finite"):
        Dataset([[1.0], [2.0]], [0, -np.inf], [1, 1])


def test_labels_below_0_are_warned_of_once_a_dataset():
    with pytest.warns(
        UserWarning, match=r"2 labels are below 0 \(such as -1\): measures .* not judged, rank"
    ) as w:
        data = Dataset([[1.0], [2.0], [3.0]], [0, -1, -2], [1, 1, 2])
    assert len(w) == 1
    assert w[0].filename == __file__
    assert data.y.tolist() == [0, -1, -2]
    assert data.take([0]).split([0.5, 0.5])[0].replace(X=data.X[:2]).y.tolist() == [0, -1]  # and no more


def test_labels_that_become_one_are_warned_of():
    with pytest.warns(UserWarning, match=r"labels 1.0 and 1.00000001 become one in float32"):
        Dataset([[1.0], [2.0]], [1, 1.00000001], [1, 1])
    assert Dataset([[1.0], [2.0]], [0.1, 0.2], [1, 1]).y.tolist() == np.array([0.1, 0.2], np.float32).tolist()


STRANGE = {
    "complex numbers": (np.array([1j, 2]), "Complex data not supported"),
    "a list of complex numbers": ([1j, 2], "Complex data not supported"),
    "complex objects": (np.array([1j, 2], object), "complex not supported"),
    "masked": (np.ma.array([1.0, 2], mask=[0, 1]), "masked"),
    "texts": (np.array(["1", "2"]), "texts not supported"),
    "a list of texts": (["1", "2"], "texts not supported"),
    "text objects": (np.array([1, "2"], object), "str not supported"),
    "bytes": (np.array([b"1", b"2"]), "texts not supported"),
    "dates": (np.array(["2024-01-01", "2024-01-02"], "M8[D]"), "dates not supported"),
    "dates of pandas": (pd.to_datetime(pd.Series(["2024-01-01", "2024-01-02"])), "dates not supported"),
    "date objects": ([date(2024, 1, 1), date(2024, 1, 2)], "date not supported"),
    "durations": (np.array([1, 2], "m8[s]"), "durations not supported"),
    "records": (np.array([(1,), (2,)], [("a", int)]), "records not supported"),
}


@pytest.mark.parametrize("case", STRANGE)
def test_what_numpy_would_silently_make_numbers_of_is_refused(case):
    values, message = STRANGE[case]
    with pytest.raises(InputError, match=f"scores must be numbers: .*{message}"):
        numbers_of_rows(values, "scores")
    with pytest.raises(InputError, match=f"y must be numbers: .*{message}"):
        Dataset([[1.0], [2.0]], values, [1, 1])
    with pytest.raises(InputError, match=f"y must be numbers: .*{message}"):
        Dataset([[1.0], [2.0]], [0, 1], [1, 1]).replace(y=values)
    if case != "masked":  # which is undefined in X
        table = [[value] for value in values] if isinstance(values, list) else np.asarray(values)[:, None]
        with pytest.raises(InputError, match=f"X must be a table of numbers: .*{message}"):
            Dataset(table, [0, 1], [1, 1])
        if not isinstance(table, list):
            with pytest.raises(InputError, match=f"X must be a table of numbers: .*{message}"):
                Dataset(np.ma.array(table, mask=[[True], [False]]), [0, 1], [1, 1])
    if "text" not in case and "bytes" not in case:
        with pytest.raises(InputError, match="group must be"):
            Dataset([[1.0], [2.0]], [0, 1], group=values)
        with pytest.raises(InputError, match="query ids must be"):
            Dataset([[1.0], [2.0]], [0, 1], values)
        with pytest.raises(InputError, match="document ids must be"):
            Dataset([[1.0], [2.0]], [0, 1], [1, 1], doc_ids=values)


def test_true_and_false_are_numbers_where_they_are_meant_as_such():
    marks = np.array([True, False])
    assert Dataset(marks[:, None], marks, [1, 1]).X.tolist() == [[1], [0]]
    assert Dataset([[1.0], [2.0]], marks, [1, 1]).y.tolist() == [1, 0]
    for refused in (marks, [True, False], np.array([1, True], object)):
        with pytest.raises(InputError, match=r"weight must be numbers: .*not supported"):
            numbers_of_rows(refused, "weight")
        with pytest.raises(InputError, match="query ids must be integers or strings, found"):
            Dataset([[1.0], [2.0]], [0, 1], refused)


def test_numbers_of_rows():
    frame = pd.DataFrame({"x": [1.0, 2.0], "s": [3, 4]}, index=["a", "b"])
    assert numbers_of_rows(frame["s"], "scores", frame, 2).tolist() == [3, 4]
    data = Dataset(frame[["x"]], [0, 1], [1, 1])
    for rows in (frame, data):
        with pytest.raises(InputError, match="the index of scores is not that of X"):
            numbers_of_rows(frame["s"][::-1], "scores", rows)
        assert numbers_of_rows(frame["s"][::-1].to_numpy(), "scores", rows).tolist() == [4, 3]
    with pytest.raises(InputError, match=r"found 2 values \(shape \(2,\)\) as scores for 3 rows"):
        numbers_of_rows([1, 2], "scores", n_rows=3)
    assert np.isnan(numbers_of_rows([1, None, pd.NA], "scores")[1:]).all()
    assert numbers_of_rows(np.array([2**53, -(2**63)]), "scores").tolist() == [2.0**53, -(2.0**63)]
    for beyond in (np.array([0, 2**53 + 1]), np.array([0, 2**64 - 1], np.uint64)):
        with pytest.raises(InputError, match=r"float64 .* round \d+ \(value 2\)"):
            numbers_of_rows(beyond, "scores")


def test_a_dataset_knows_the_index_of_its_frame_as_long_as_its_rows_are_the_same():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]}, index=[5, 7, 6])
    data = Dataset(frame, [0, 1, 2], [1, 2, 1])
    assert data.index is frame.index
    assert data.replace(y=np.zeros(3, np.float32)).widened(2).index is frame.index
    assert data.take([1]).index.tolist() == [7]  # of the second query
    assert data.gathered().index is None
    with pytest.raises(InputError, match="the index of doc_ids is not that of X"):
        Dataset(frame, [0, 1, 2], [1, 2, 1], doc_ids=pd.Series(["a", "b", "c"]))


def test_document_ids_keep_their_meaning():
    ids = ["a", 7, np.int64(8), 9.0, None, np.nan, pd.NA, "ä b"]
    data = Dataset(np.ones((8, 1)), np.zeros(8), np.zeros(8, int), doc_ids=ids)
    assert list(data.doc_ids) == ["a", "7", "8", "9", "", "", "", "ä b"]
    assert list(Dataset(np.ones((2, 1)), [0, 1], [1, 1], doc_ids=pd.Series([1, 2])).doc_ids) == ["1", "2"]
    for wrong in ([1.5, 2], [b"a", b"b"], [True, False], [2.0**60, 1], ["a", ["b"]], "ab", b"ab"):
        with pytest.raises(InputError, match="document ids must be"):
            Dataset(np.ones((2, 1)), [0, 1], [1, 1], doc_ids=wrong)


def test_labels_that_replace_others_are_looked_at_as_new_ones_are():
    data = Dataset(pd.DataFrame({"x": [1.0, 2.0]}), [0, 1], [7, 7])
    assert data.replace(y=[2, None]).y.dtype == np.float32
    with pytest.raises(InputError, match="the index of y is not that of X"):
        data.replace(y=pd.Series([1, 2], index=[1, 0]))
    with pytest.raises(InputError, match="found 1 labels"):
        data.replace(y=[1])
    with pytest.warns(UserWarning, match="below 0"):
        negative = data.replace(y=[-1, 1])
    assert negative.replace(y=[-1, 2]).y.tolist() == [-1, 2]  # of these documents it was said


def test_columns_of_pandas_go_together_where_the_features_have_no_names():
    X = np.array([[1.0], [2.0]])
    y, qid = pd.Series([0, 1], index=[1, 0]), pd.Series([1, 2], index=[0, 1])
    with pytest.raises(InputError, match="the index of qid is not that of y"):
        Dataset(X, y, qid)
    assert Dataset(X, y, qid.set_axis([1, 0])).qids.tolist() == [1, 2]
    assert Dataset(X, y, [1, 2]).y.tolist() == [0, 1]


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 has it")
def test_numpys_strings_of_any_length_are_texts():
    texts = np.array(["1", "2"], np.dtypes.StringDType())
    data = Dataset(np.zeros((2, 1)), [0, 1], texts, doc_ids=texts)
    assert (data.qids.tolist(), list(data.doc_ids)) == (["1", "2"], ["1", "2"])
    for wrong in ({"X": texts[:, None]}, {"y": texts}, {"weight": texts}):
        with pytest.raises(InputError, match="texts not supported"):
            Dataset(**{"X": np.zeros((2, 1)), "y": [0, 1], "qid": [1, 1]} | wrong)
    missing = np.array(["a", None], np.dtypes.StringDType(na_object=None))
    with pytest.raises(InputError, match="query ids must be integers or strings, found NoneType"):
        Dataset(np.zeros((2, 1)), [0, 1], missing)
