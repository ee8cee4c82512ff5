import io

import lightgbm
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_svmlight_file

import pomona as pm
from pomona.data.convert import (
    Weighted,
    format_of,
    from_stream,
    is_data,
    read_weighted,
    to_stream,
    write_data,
)
from pomona.errors import InputError, UnknownNameError


@pytest.fixture
def data():
    """Scattered queries, an undefined value, document ids."""
    X = [[1.0, 2.0], [0.1, np.nan], [3.0, 0.0], [5.0, -1e-7]]
    return pm.Dataset(X, [2, 0, 1, 0], [7, 5, 7, 5], doc_ids=["a", "b", "c", "d"])


def same(one, other):
    assert np.array_equal(one.X, other.X, equal_nan=True)
    assert np.array_equal(one.y, other.y)
    assert np.array_equal(one.qid, other.qid)


@pytest.mark.parametrize(
    "name", ["a.txt", "a.csv", "a.tsv", "a.jsonl", "a.parquet", "a.arrow", "a.csv.gz", "a.svm"]
)
def test_what_is_written_reads_back(data, tmp_path, name):
    assert write_data(Weighted(data), tmp_path / name) == [tmp_path / name]
    is_named = "svm" not in name and "txt" not in name
    back = pm.read(tmp_path / name, **({"doc_id": "doc_id"} if is_named else {}))
    same(back, data)
    if is_named:
        assert back.feature_names == data.feature_names
        assert list(back.doc_ids) == list(data.doc_ids)


def test_svmlight_as_scikit_learn_reads_it(data, tmp_path):
    write_data(Weighted(data), tmp_path / "a.svm")
    X, y, qid = load_svmlight_file(str(tmp_path / "a.svm"), query_id=True)
    assert y.tolist() == [2, 0, 1, 0]
    assert qid.tolist() == [7, 5, 7, 5]
    assert X.toarray()[2].tolist() == [3, 0]
    texts = pm.Dataset([[1.0], [2.0]], [0, 1], ["x", "y"])
    with pytest.warns(UserWarning, match="numbered from 1"):
        write_data(Weighted(texts), tmp_path / "b.svm")
    assert load_svmlight_file(str(tmp_path / "b.svm"), query_id=True)[2].tolist() == [1, 2]


def test_lightgbms_pair_as_lightgbm_reads_it(data, tmp_path):
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    files = write_data(Weighted(data, weights), tmp_path / "train.txt", "lightgbm")
    assert [file.name for file in files] == ["train.txt", "train.txt.query", "train.txt.weight"]
    read = lightgbm.Dataset(str(files[0]), params={"verbose": -1, "min_data_in_bin": 1}).construct()
    assert read.get_label().tolist() == [2, 1, 0, 0]
    assert read.get_group().tolist() == [2, 2]
    assert read.get_weight().tolist() == [1, 3, 2, 4]
    back = read_weighted(files[0])
    assert back.weights.tolist() == [1, 3, 2, 4]
    assert np.array_equal(back.data.X, data.gathered().X, equal_nan=True)


def test_weights_beside_lines_that_tell_their_queries_and_beside_names(data, tmp_path):
    write_data(Weighted(data), tmp_path / "rank.train")
    (tmp_path / "rank.train.weight").write_text("1\n2\n3\n4\n")
    (tmp_path / "rank.train.query").write_text("4\n")
    (tmp_path / "rank.features.json").write_text('{"1": "bm25"}')
    back = read_weighted(tmp_path / "rank.train")
    assert back.weights.tolist() == [1, 2, 3, 4]
    assert back.data.qid.tolist() == data.qid.tolist()
    assert back.data.feature_names[0] == "bm25"


def test_xgboosts_pair(data, tmp_path):
    files = write_data(Weighted(data), tmp_path / "train.txt", "xgboost")
    assert files[1].read_text() == "2\n2\n"
    assert b"qid" not in files[0].read_bytes()
    back = pm.read(files[0])
    assert back.query_ptr.tolist() == [0, 2, 4]


def test_weights_go_into_a_table_and_not_into_letor(data, tmp_path):
    weighted = Weighted(data, np.array([1.0, 2.0, 3.0, 4.0]))
    write_data(weighted, tmp_path / "a.parquet")
    assert pl.read_parquet(tmp_path / "a.parquet")["weight"].to_list() == [1, 2, 3, 4]
    with pytest.raises(InputError, match="no place for weights"):
        write_data(weighted, tmp_path / "a.txt")


def test_judgments_and_a_run(data, tmp_path):
    write_data(Weighted(data), tmp_path / "a.qrels")
    assert (tmp_path / "a.qrels").read_text() == "7 0 a 2\n5 0 b 0\n7 0 c 1\n5 0 d 0\n"
    (tmp_path / "run").write_text("7 Q0 c 1 2.5 t\n7 Q0 x 2 1 t\n")
    run = read_weighted(tmp_path / "run", qrels=tmp_path / "a.qrels").data
    assert run.y.tolist() == [1, 0]
    assert run.feature_names == ("score",)
    with pytest.raises(InputError, match="some have none"):
        write_data(Weighted(pm.Dataset([[1.0]], [0], [1])), tmp_path / "b.qrels")


def test_streams(data):
    out = io.BytesIO()
    to_stream(Weighted(data), out, "csv")
    with from_stream(io.BytesIO(out.getvalue()), "csv") as path:
        same(pm.read(path, doc_id="doc_id"), data)
    with pytest.raises(InputError, match="two files"):
        to_stream(Weighted(data), out, "lightgbm")


def test_by_one_call(data, tmp_path):
    pm.write_letor(data, tmp_path / "a.txt")
    assert pm.convert(tmp_path / "a.txt", tmp_path / "a.csv") == [tmp_path / "a.csv"]
    same(pm.read(tmp_path / "a.csv", doc_id="doc_id"), data)


def test_formats_by_name_and_content(tmp_path):
    assert format_of(tmp_path / "a.NDJSON") == "jsonl"
    with pytest.raises(UnknownNameError, match="did you mean 'parquet'"):
        format_of(tmp_path / "a", "parket")
    (tmp_path / "model").write_text("tree\nversion=v4\n")
    (tmp_path / "weights").write_text("## Coordinate Ascent\n1:0.5 2:0.1\n")
    (tmp_path / "letor").write_text("# a comment\n2 qid:1 1:0.5\n")
    assert [is_data(tmp_path / name) for name in ("model", "weights", "letor")] == [False, False, True]


def test_a_feature_that_is_called_as_a_column(tmp_path):
    data = pm.Dataset([[1.0]], [0], [1], feature_names=["qid"])
    with pytest.raises(InputError, match="a feature is called 'qid'"):
        write_data(Weighted(data), tmp_path / "a.csv")


def test_an_empty_file_is_said_to_be_one(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InputError, match="found no document"):
        pm.convert(tmp_path / "empty.txt", tmp_path / "a.csv")
