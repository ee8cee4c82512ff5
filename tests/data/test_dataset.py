import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import pomona as pm
from pomona.data.concatenation import concatenated
from pomona.data.content_order import in_content_order
from pomona.data.dataset import Dataset
from pomona.errors import InputError

query_ids = st.lists(st.integers(0, 4), min_size=1, max_size=12)


def small() -> Dataset:
    return Dataset(
        [[1, 10], [2, 20], [3, 30], [4, 40]], [0, 1, 2, 0], ["b", "a", "b", "c"], doc_ids=["w", "x", "y", "z"]
    )


def test_scattered_rows_are_gathered_in_order_of_first_appearance():
    data = small().gathered()
    assert data.qids.tolist() == ["b", "a", "c"]
    assert data.query_ptr.tolist() == [0, 2, 3, 4]
    assert data.X.tolist() == [[1, 10], [3, 30], [2, 20], [4, 40]]
    assert data.y.tolist() == [0, 2, 1, 0]
    assert list(data.doc_ids) == ["w", "y", "x", "z"]
    assert data.qid.tolist() == ["b", "b", "a", "c"]
    assert (data.X.dtype, data.y.dtype, data.query_ptr.dtype) == (np.float32, np.float32, np.int64)


def test_rows_are_seen_in_the_order_in_which_they_came():
    data = small()
    assert data.qids.tolist() == ["b", "a", "c"]
    assert data.query_lengths.tolist() == [2, 1, 1]
    assert data.X.tolist() == [[1, 10], [2, 20], [3, 30], [4, 40]]
    assert data.y.tolist() == [0, 1, 2, 0]
    assert list(data.doc_ids) == ["w", "x", "y", "z"]
    assert data.qid.tolist() == ["b", "a", "b", "c"]
    with pytest.raises(InputError, match=r"do not stand together: gathered\(\) puts them so"):
        _ = data.query_ptr
    # A copy: what is written there would be lost.
    with pytest.raises(ValueError, match="read-only"):
        data.X[0] = 0
    data.y = np.array([5, 6, 7, 8], np.float32)
    assert data.y.tolist() == [5, 6, 7, 8]
    assert data.gathered().y.tolist() == [5, 7, 6, 8]


def test_what_replaces_a_column_comes_in_the_order_of_the_rows():
    column = np.arange(1, 5, dtype=np.float32)
    other = small().replace(X=column[:, None], y=column[::-1])
    assert other.X.tolist() == [[1], [2], [3], [4]]
    assert other.y.tolist() == [4, 3, 2, 1]
    assert other.gathered().X.tolist() == [[1], [3], [2], [4]]
    assert small().with_features(["f2", "f1"]).X.tolist() == [[10, 1], [20, 2], [30, 3], [40, 4]]
    assert small().widened(3).X[1].tolist() == [2, 20, 0]


@given(query_ids)
def test_input_order_can_be_left_and_found_again(ids):
    values = np.arange(float(len(ids)))
    data = Dataset(values[:, None], values, ids)
    assert data.y.tolist() == values.tolist()
    assert data.from_input_order(values).tolist() == data.gathered().y.tolist()
    assert data.to_input_order(data.gathered().y).tolist() == values.tolist()


def test_grouped_rows_are_not_copied():
    X = np.ones((3, 2), np.float32)
    data = Dataset(X, [0, 1, 2], [5, 5, 6])
    assert data.X is X
    assert data.input_order is None


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.coo_array, scipy.sparse.csc_array])
def test_absent_in_a_sparse_matrix_is_zero(make):
    data = Dataset(make(np.array([[0.0, 2.0], [3.0, 0.0]])), [0, 1], [1, 1])
    assert data.X.tolist() == [[0, 2], [3, 0]]
    assert data.X.flags.c_contiguous


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame])
def test_frames_keep_their_feature_names(frame):
    data = Dataset(frame({"bm25": [1.0, None], "pagerank": [3, 4]}), [0, 1], [1, 1])
    assert data.feature_names == ("bm25", "pagerank")
    assert np.array_equal(data.X, [[1, 3], [np.nan, 4]], equal_nan=True)


def test_labels_and_query_ids_may_be_series():
    data = Dataset([[1.0], [2.0]], pd.Series([0, 1]), pl.Series(["a", "b"]))
    assert data.qids.tolist() == ["a", "b"]
    assert Dataset([[1.0]], pl.Series([1]), pd.Series([7.0])).qids.dtype == np.int64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0], ["x"]], [0, 1], [1, 1]), "X must be a table of numbers"),
        (([1.0, 2.0], [0, 1], [1, 1]), "two dimensions"),
        (([[1e300]], [0], [1]), "beyond float32"),
        ((scipy.sparse.csr_array([[1e300]]), [0], [1]), "beyond float32"),
        (([[1.0]], [0, 1], [1]), "found 2 labels"),
        (([[1.0]], ["good"], [1]), "y must be numbers"),
        (([[1.0], [2.0]], [0, np.inf], [1, 1]), "label of document 1 is not finite"),
        (([[1.0]], [1e300], [1]), "label of document 0 is not finite"),
        (([[1.0]], [0], [1, 2]), "found 2 query ids for 1 documents"),
        (([[1.0]], [0], [1.5]), "fraction or NaN"),
        (([[1.0]], [0], [np.inf]), "fraction or NaN"),
        (([[1.0], [2.0]], [0, 1], ["a", None]), "integers or strings, found NoneType"),
    ],
)
def test_wrong_input_is_refused_with_a_reason(arguments, message):
    with pytest.raises(InputError, match=message):
        Dataset(*arguments)


def test_wrong_numbers_of_names_are_refused():
    with pytest.raises(InputError, match="2 document ids for 1 documents"):
        Dataset([[1.0]], [0], [1], doc_ids=["a", "b"])
    with pytest.raises(InputError, match="2 feature names for 1 features"):
        Dataset([[1.0]], [0], [1], feature_names=["a", "b"])


def test_take_gives_whole_queries_in_the_order_asked():
    assert small().take([2, 0]).X[:, 0].tolist() == [1, 3, 4]  # as they came
    part = small().take([2, 0]).gathered()
    assert part.qids.tolist() == ["c", "b"]
    assert part.query_ptr.tolist() == [0, 1, 3]
    assert part.X[:, 0].tolist() == [4, 1, 3]
    assert list(part.doc_ids) == ["z", "w", "y"]
    assert small().take(np.array([False, True, False])).qids.tolist() == ["a"]
    assert small().take([]).n_docs == 0


def test_data_can_be_sent_to_another_process():
    scattered = Dataset([[1.0], [2.0], [3.0]], [0, 1, 2], ["a", "b", "a"], doc_ids=["x", "y", "z"])
    for data in (scattered, scattered.gathered(), scattered.take([0])):
        for copied in (pickle.loads(pickle.dumps(data)), copy.deepcopy(data)):
            assert copied.X.tolist() == data.X.tolist()
            assert copied.qid.tolist() == data.qid.tolist()
            assert list(copied.doc_ids) == list(data.doc_ids)
            assert copied.categories == {}


def test_split_parts_share_no_query_and_lose_none():
    data = Dataset(np.ones((20, 1)), np.ones(20), np.arange(20) // 2)
    parts = data.split([0.6, 0.2, 0.2], seed=3)
    assert [part.n_queries for part in parts] == [6, 2, 2]
    assert sorted(np.concatenate([part.qids for part in parts])) == list(range(10))
    assert data.split([0.6, 0.4], seed=3)[0].qids.tolist() == parts[0].qids.tolist()
    for wrong in ([0.8, 0.4], [1.2], [0.5, -0.1], [float("nan")], []):
        with pytest.raises(InputError, match="fractions must be positive"):
            data.split(wrong)


def test_a_smaller_sample_lies_inside_a_larger_one():
    data = Dataset(np.ones((40, 1)), np.ones(40), np.arange(40) // 2)
    small_part, large_part = data.sample(0.25, seed=1), data.sample(n_queries=12, seed=1)
    assert (small_part.n_queries, large_part.n_queries) == (0.25 * 20, 12)
    assert set(small_part.qids) < set(large_part.qids)
    assert set(small_part.qids) != set(data.sample(0.25, seed=2).qids)
    assert data.sample(0.001).n_queries == 1


@pytest.mark.parametrize("size", [{}, {"fraction": 0.5, "n_queries": 1}, {"fraction": 0.0}, {"n_queries": 9}])
def test_impossible_samples_are_refused(size):
    with pytest.raises(InputError):
        small().sample(**size)


def test_replace_changes_what_is_given_and_shares_the_rest():
    data = small()
    data.n_undefined = 3
    other = data.replace(y=data.y + 1, feature_names=["a", "b"])
    assert other.y.tolist() == [1, 2, 3, 1]
    assert other.gathered().X is data.gathered().X
    assert other.gathered().doc_ids is data.gathered().doc_ids
    assert other.feature_names == ("a", "b")
    assert other.n_undefined == 3
    assert data.replace(X=data.X + 1).n_undefined is None
    assert data.replace(X=np.zeros((4, 3), np.float32)).feature_names == ("f1", "f2", "f3")


def test_it_prints_its_size():
    assert repr(small()) == "Dataset(3 queries, 4 documents, 2 features)"


def test_the_fingerprint_is_that_of_the_same_data_on_every_machine_and_version():
    names = ["bm25", "clicks"]
    data = Dataset([[1, np.nan], [-0.0, 2]], [1, 0], ["a", "b"], doc_ids=["x", "ä"], feature_names=names)
    data = data.replace(y=np.array([1, np.nan], np.float32))
    assert data.fingerprint() == "86ed5a90e779094cf486816e9abb0b66"


def test_the_fingerprint_changes_with_all_that_could_change_a_number():
    X, y, ids = np.array([[1, 10], [2, 20], [3, 30.0]]), np.array([0, 1, 2.0]), ["w", "x", "y"]
    given = {"X": X, "y": y, "qid": [7, 8, 7], "doc_ids": ids, "feature_names": ["a", "b"]}
    others = [
        {"X": X + np.array([[0, 0], [0, 1], [0, 0]])},
        {"X": np.where(X == 2, np.nan, X)},
        {"X": X[:, ::-1]},
        {"X": X[:, ::-1], "feature_names": ["b", "a"]},
        {"feature_names": ["b", "a"]},
        {"feature_names": None},
        {"y": [0, 1, 2.5]},
        {"qid": [7, 8, 8]},
        {"qid": [7, 9, 7]},
        {"qid": [8, 7, 8]},
        {"doc_ids": None},
        {"doc_ids": ["w", "y", "x"]},
        {"doc_ids": ["wx", "", "y"]},
        {"X": X[::-1], "y": y[::-1], "doc_ids": ids[::-1]},  # the same documents in other rows
    ]
    found = [Dataset(**(given | changed)).fingerprint() for changed in [{}, *others]]
    assert len(set(found)) == len(found)
    frames = [pl.DataFrame({"label": [0, 1], "qid": [1, 1], "c": list(texts)}) for texts in ("ab", "bc")]
    one, other = (Dataset.from_frame(frame, label="label", qid="qid") for frame in frames)
    assert one.X.tolist() == other.X.tolist()
    assert one.fingerprint() != other.fingerprint()


@given(query_ids)
def test_the_fingerprint_is_blind_to_how_the_same_data_are_kept(ids):
    X = np.arange(2.0 * len(ids)).reshape(-1, 2)
    data = Dataset(X, np.arange(len(ids)), ids)
    alike = [
        Dataset(np.asfortranarray(X).astype(np.float32), list(range(len(ids))), np.array(ids, np.uint8)),
        Dataset(scipy.sparse.csr_matrix(X), np.arange(len(ids), dtype=">f8"), [str(q) for q in ids]),
        Dataset(X, np.arange(len(ids)), ids, doc_ids=[""] * len(ids), feature_names=["f1", "f2"]),
        in_content_order(data),
        pickle.loads(pickle.dumps(data)),
    ]
    assert {one.fingerprint() for one in alike} == {data.fingerprint()}


def test_the_fingerprint_of_many_rows_does_not_depend_on_how_many_are_hashed_at_once(monkeypatch):
    data = Dataset(np.arange(30.0).reshape(10, 3), np.arange(10), [1, 2] * 5)
    expected = data.fingerprint()
    monkeypatch.setattr("pomona.data.dataset._ROWS_HASHED", 3)
    assert data.fingerprint() == expected


def test_weights_belong_to_the_documents():
    data = Dataset(np.eye(4), [0, 1, 2, 3], ["a", "b", "a", "b"], weight=[1, 2, 3, 4])
    assert data.weight.tolist() == [1, 2, 3, 4]
    assert data.gathered().weight.tolist() == [1, 3, 2, 4]
    assert data.take([1]).weight.tolist() == [2, 4]
    assert data.replace(X=np.ones((4, 2), np.float32)).weight.tolist() == [1, 2, 3, 4]
    assert data.replace(weight=[4, 3, 2, 1]).gathered().weight.tolist() == [4, 2, 3, 1]
    assert data.widened(6).with_features([f"f{j}" for j in (2, 1, 3, 4, 5, 6)]).weight.tolist() == [
        1,
        2,
        3,
        4,
    ]
    for part in (*data.split([0.5, 0.5], seed=1), data.sample(0.5)):
        assert part.weight.tolist() == (part.y + 1).tolist()
    assert Dataset(np.eye(2), [0, 1], [1, 1]).weight is None


def test_joined_documents_without_weights_have_weight_1():
    one, other = Dataset([[1.0]], [0], [7], weight=[3]), Dataset([[2.0], [3.0]], [1, 2], [8, 7])
    assert concatenated([one, other]).weight.tolist() == [3, 1, 1]
    assert concatenated([other, other]).weight is None


@pytest.mark.parametrize(
    "weight",
    [
        [1.0],
        [1.0, -1.0],
        [1.0, np.nan],
        [1.0, np.inf],
        [1e308, 1e308],
        [1.0, 1 + 2j],
        ["a", "b"],
        np.ma.masked_array([1.0, 2.0], [True, False]),
    ],
)
def test_what_is_no_weight_is_refused(weight):
    with pytest.raises(InputError, match="weight"):
        Dataset(np.eye(2), [0, 1], [1, 1], weight=weight)


def test_weights_of_rows_that_are_named_otherwise_are_refused():
    X = pd.DataFrame({"bm25": [1.0, 2.0]}, index=[5, 6])
    with pytest.raises(InputError, match="index of weight"):
        Dataset(X, [0, 1], [1, 1], weight=pd.Series([1.0, 2.0]))


def test_names_of_features_differ_and_are_texts():
    with pytest.raises(InputError, match="two features are called 'a'"):
        Dataset([[1, 2, 3]], [0], [1], feature_names=["b", "a", "a"])
    with pytest.raises(InputError, match="two features are called '1'"):
        Dataset([[1, 2]], [0], [1], feature_names=[1, "1"])
    assert Dataset([[1, 2]], [0], [1], feature_names=[1, 2]).feature_names == ("1", "2")


def test_a_part_knows_how_its_rows_were_named():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}, index=[10, 11, 12, 13])
    for qid in ([1, 1, 2, 2], [2, 1, 2, 1]):
        data = Dataset(frame, [1, 0, 1, 0], qid)
        part = data.take([1])
        assert part.index.tolist() == [10 + int(x) - 1 for x in part.X[:, 0]]
        scores = pd.Series([1.0, 2.0], index=part.index[::-1])
        with pytest.raises(InputError, match="the index of scores"):
            pm.evaluate(part, scores, "ndcg")
        assert pm.evaluate(part, scores[part.index], "rr")
