import io
from itertools import pairwise

import lightgbm
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_svmlight_file

import pomona as pm
from pomona.data.convert import (
    Documents,
    format_of,
    from_stream,
    is_data,
    read_documents,
    read_judged_table,
    to_stream,
    write_documents,
)
from pomona.data.trec import dataset_of_trec, read_qrels, read_run
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
    assert write_documents(Documents(data), tmp_path / name) == [tmp_path / name]
    is_named = "svm" not in name and "txt" not in name
    back = pm.read(tmp_path / name, **({"doc_id": "doc_id"} if is_named else {}))
    same(back, data)
    if is_named:
        assert back.feature_names == data.feature_names
        assert list(back.doc_ids) == list(data.doc_ids)


def test_svmlight_as_scikit_learn_reads_it(data, tmp_path):
    write_documents(Documents(data), tmp_path / "a.svm")
    X, y, qid = load_svmlight_file(str(tmp_path / "a.svm"), query_id=True)
    assert y.tolist() == [2, 0, 1, 0]
    assert qid.tolist() == [7, 5, 7, 5]
    assert X.toarray()[2].tolist() == [3, 0]
    texts = pm.Dataset([[1.0], [2.0]], [0, 1], ["x", "y"])
    with pytest.warns(UserWarning, match="numbered from 1"):
        write_documents(Documents(texts), tmp_path / "b.svm")
    assert load_svmlight_file(str(tmp_path / "b.svm"), query_id=True)[2].tolist() == [1, 2]


def test_lightgbms_pair_as_lightgbm_reads_it(data, tmp_path):
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    files = write_documents(Documents(data.replace(weight=weights)), tmp_path / "train.txt", "lightgbm")
    assert [file.name for file in files] == ["train.txt", "train.txt.query", "train.txt.weight"]
    read = lightgbm.Dataset(str(files[0]), params={"verbose": -1, "min_data_in_bin": 1}).construct()
    assert read.get_label().tolist() == [2, 1, 0, 0]
    assert read.get_group().tolist() == [2, 2]
    assert read.get_weight().tolist() == [1, 3, 2, 4]
    back = read_documents(files[0])
    assert back.data.weight.tolist() == [1, 3, 2, 4]
    assert np.array_equal(back.data.X, data.gathered().X, equal_nan=True)


def test_weights_beside_lines_that_tell_their_queries_and_beside_names(data, tmp_path):
    write_documents(Documents(data), tmp_path / "rank.train")
    (tmp_path / "rank.train.weight").write_text("1\n2\n3\n4\n")
    (tmp_path / "rank.train.query").write_text("4\n")
    (tmp_path / "rank.features.json").write_text('{"1": "bm25"}')
    back = read_documents(tmp_path / "rank.train")
    assert back.data.weight.tolist() == [1, 2, 3, 4]
    assert back.data.qid.tolist() == data.qid.tolist()
    assert back.data.feature_names[0] == "bm25"


def test_xgboosts_pair(data, tmp_path):
    files = write_documents(Documents(data), tmp_path / "train.txt", "xgboost")
    assert files[1].read_text() == "2\n2\n"
    assert b"qid" not in files[0].read_bytes()
    back = pm.read(files[0])
    assert back.query_ptr.tolist() == [0, 2, 4]


def test_weights_go_into_a_table_and_not_into_letor(data, tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    weighted = Documents(data.replace(weight=[1.0, 2.0, 3.0, 4.0]))
    write_documents(weighted, tmp_path / "a.parquet")
    assert pl.read_parquet(tmp_path / "a.parquet")["sample_weight"].to_list() == [1, 2, 3, 4]
    for name in ("a.csv", "a.jsonl", "a.arrow"):
        pm.convert(tmp_path / "a.parquet", tmp_path / name)
        for cache in (False, True, True):
            assert pm.read(tmp_path / name, cache=cache).fingerprint() == weighted.data.fingerprint()
    frame = pl.read_parquet(tmp_path / "a.parquet").rename({"sample_weight": "w"})
    frame.write_parquet(tmp_path / "b.parquet")
    names = {"label": "label", "qid": "qid", "doc_id": "doc_id", "weight": "w"}
    for back in (pm.read(tmp_path / "b.parquet", weight="w"), pm.Dataset.from_frame(frame, **names)):
        assert back.fingerprint() == weighted.data.fingerprint()
    for wrong in (None, -1.0, float("inf")):
        odd = frame.with_columns(pl.Series("w", [1.0, 2.0, 3.0, wrong]))
        with pytest.raises(InputError, match="weight"):
            pm.Dataset.from_frame(odd, **names)
    with pytest.raises(InputError, match="no place for weights"):
        write_documents(weighted, tmp_path / "a.txt")


def test_judgments(data, tmp_path):
    write_documents(Documents(data), tmp_path / "a.qrels")
    assert (tmp_path / "a.qrels").read_text() == "7 0 a 2\n5 0 b 0\n7 0 c 1\n5 0 d 0\n"
    with pytest.warns(UserWarning, match="below 0"):
        some = data.replace(y=[2, np.nan, -1, np.nan])
    write_documents(Documents(some), tmp_path / "b.qrels")
    assert (tmp_path / "b.qrels").read_text() == "7 0 a 2\n7 0 c -1\n"
    for wrong, message in (
        (pm.Dataset([[1.0]], [0], [1]), "some have none"),
        (pm.Dataset([[1.0]], [np.nan], [1], doc_ids=["a"]), "no document is judged"),
        (pm.Dataset([[1.0]], [0.5], [1], doc_ids=["a"]), "found a fraction"),
        (pm.Dataset([[1.0]] * 2, [0, 1], [1, 1], doc_ids=["a", "a"]), "'a' stands twice in query 1"),
        (pm.Dataset([[1.0]], [0], [1], doc_ids=["a b"]), "holds a space"),
    ):
        with pytest.raises(InputError, match=message):
            write_documents(Documents(wrong), tmp_path / "c.qrels")


QRELS = "2 0 d1 1\n10 0 d1 0\n10 0 d2 2\n10 0 d9 -1\n10 0 d7 1\n11 0 d1 1\n12 0 d1 -1\n"
RUN = (
    "2 Q0 d3 1 7 t\n2 Q0 d1 2 6.00000001 t\n2 Q0 d5 3 6.00000002 t\n10 Q0 d9 1 3 t\n10 Q0 d2 2 1 t\n"
    "12 Q0 d1 1 1 t\n12 Q0 d2 2 1 t\n13 Q0 d1 1 1 t\n"
)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.jsonl", "a.tsv.gz"])
def test_a_run_keeps_the_pool_of_its_judgments(tmp_path, name):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    out = tmp_path / name
    assert pm.convert(tmp_path / "run", out, qrels=tmp_path / "qrels") == [out]
    with pytest.warns(UserWarning, match="2 labels are below 0"):  # those of the judgments
        judged = read_judged_table(out)
    expected = dataset_of_trec(read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run"))
    assert [str(qid) for qid in judged.data.qids] == ["10", "12", "2"]
    assert list(judged.data.doc_ids) == list(expected.data.doc_ids)
    assert judged.scores.tolist() == expected.scores.tolist()  # float64: two differ in the ninth digit
    assert judged.pool_ptr.tolist() == expected.pool_ptr.tolist()
    for a, b in pairwise(judged.pool_ptr.tolist()):
        assert sorted(judged.pool_labels[a:b]) == sorted(expected.pool_labels[a:b])
    assert judged.data.y.tolist() == expected.data.y.tolist()


def test_the_table_of_a_run_has_every_judged_document(tmp_path):
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    pm.convert(tmp_path / "run", tmp_path / "a.csv", qrels=tmp_path / "qrels")
    assert (tmp_path / "a.csv").read_text().split() == [
        *("label,qid,doc_id,score", "-1,10,d9,3.0", "2,10,d2,1.0", "0,10,d1,", "1,10,d7,", "1,11,d1,"),
        *("-1,12,d1,1.0", ",12,d2,1.0", ",13,d1,1.0", ",2,d3,7.0", "1,2,d1,6.00000001", ",2,d5,6.00000002"),
    ]
    pm.convert(tmp_path / "run", tmp_path / "a.txt", qrels=tmp_path / "qrels", unjudged=0)
    assert "nan qid" not in (tmp_path / "a.txt").read_text()
    with pytest.raises(InputError, match="a run has no columns"):
        pm.convert(tmp_path / "run", tmp_path / "a.csv", qrels=tmp_path / "qrels", label="grade")


@pytest.mark.parametrize("name", ["a.txt", "a.csv", "a.jsonl", "a.parquet"])
def test_documents_that_nobody_judged_stay_so(data, tmp_path, name):
    some = data.replace(y=np.array([np.nan, 0, 1.5, np.nan], np.float32))
    pm.convert(pm.convert(_written(some, tmp_path / "source.txt"), tmp_path / name)[0], tmp_path / "b.txt")
    assert pm.read(tmp_path / "b.txt").fingerprint() == some.fingerprint()
    assert "nan qid:7" in (tmp_path / "b.txt").read_text()


def _written(data, path):
    pm.write_letor(data, path)
    return path


@pytest.mark.parametrize("kind", ["lightgbm", "xgboost", "svmlight"])
def test_who_has_a_label_for_each_document_gets_none_that_is_nan(data, tmp_path, kind):
    some = data.replace(y=np.array([np.nan, 0, 1, np.nan], np.float32))
    source = _written(some, tmp_path / "source.txt")
    with pytest.raises(InputError, match=f"2 documents are not judged, and {kind} has a label for each"):
        pm.convert(source, tmp_path / "a", kind)
    pm.convert(source, tmp_path / "a", kind, unjudged=0)
    assert sorted(pm.read(tmp_path / "a").y.tolist()) == [0, 0, 0, 1]


def test_names_of_features_go_beside_text(tmp_path):
    (tmp_path / "a.csv").write_text("label,qid,bm25,clicks é\n1,1,2,3\n")
    files = pm.convert(tmp_path / "a.csv", tmp_path / "b.txt")
    assert [file.name for file in files] == ["b.txt", "b.txt.features.json"]
    assert pm.read(tmp_path / "b.txt").fingerprint() == pm.read(tmp_path / "a.csv").fingerprint()
    (tmp_path / "c.csv").write_text("label,qid,f1,f2\n1,1,2,3\n")
    with pytest.raises(InputError, match=r"b\.txt\.features\.json: names features of b\.txt, but"):
        pm.convert(tmp_path / "c.csv", tmp_path / "b.txt")
    assert [file.name for file in pm.convert(tmp_path / "c.csv", tmp_path / "d.txt")] == ["d.txt"]


def test_streams(data):
    out = io.BytesIO()
    to_stream(Documents(data), out, "csv")
    with from_stream(io.BytesIO(out.getvalue()), "csv") as path:
        same(pm.read(path, doc_id="doc_id"), data)
    with pytest.raises(InputError, match="two files"):
        to_stream(Documents(data), out, "lightgbm")


def test_by_one_call(data, tmp_path):
    pm.write_letor(data, tmp_path / "a.txt")
    assert pm.convert(tmp_path / "a.txt", tmp_path / "a.csv") == [tmp_path / "a.csv"]
    same(pm.read(tmp_path / "a.csv"), data)
    assert list(pm.read(tmp_path / "a.csv").doc_ids) == list("abcd")  # by the name that `convert` gives


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
        write_documents(Documents(data), tmp_path / "a.csv")


def test_an_empty_file_is_said_to_be_one(tmp_path):
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(InputError, match="found no document"):
        pm.convert(tmp_path / "empty.txt", tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("changed", "name", "message"),
    [
        ({"X": [[np.inf], [1.0]]}, "a.jsonl", "JSON has no infinite value"),
        ({"qid": ["a ", "b"]}, "a.csv", "query id 'a ' begins or ends with a blank"),
        ({"doc_ids": ["d", " d"]}, "a.tsv.gz", "document id ' d' begins or ends with a blank"),
        ({"doc_ids": ["d", "d\n"]}, "a.csv", "document id .* control character"),
        ({"qid": ["a b", "b"]}, "a.txt", "query id 'a b' cannot be written"),
        ({"doc_ids": ["a b", "b"]}, "a.txt", "document id 'a b' cannot be written"),
    ],
)
def test_what_a_format_cannot_hold_is_refused(tmp_path, changed, name, message):
    given = {"X": [[1.0], [2.0]], "y": [0, 1], "qid": ["a", "b"], "doc_ids": ["d", "e"]}
    with pytest.raises(InputError, match=message):
        write_documents(Documents(pm.Dataset(**{**given, **changed})), tmp_path / name)
    assert not list(tmp_path.iterdir())
