import gzip
import io
import json
import lzma
import os
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pomona as pm
from pomona.data import table
from pomona.data.dataset import Dataset
from pomona.data.table import features_of_frame, read_table, read_to_score
from pomona.errors import InputError

COLUMNS = {
    "rank": [3.0, 1.0, 2.0],
    "label": [2, 0, 1],
    "clicked": [True, False, True],
    "qid": ["a", "b", "a"],
    "url": ["u1", "u2", "u3"],
}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
def test_any_frame_gives_the_same_dataset(frame):
    data = Dataset.from_frame(frame(COLUMNS), label="label", qid="qid", doc_id="url")
    assert data.feature_names == ("rank", "clicked")
    assert data.X.tolist() == [[3, 1], [1, 0], [2, 1]]
    assert data.y.tolist() == [2, 0, 1]
    assert data.qids.tolist() == ["a", "b"]
    assert list(data.doc_ids) == ["u1", "u2", "u3"]


@pytest.mark.parametrize("column", [pd.array([1, None], dtype="Int64"), np.array([1.0, np.nan])])
def test_null_in_a_feature_is_undefined(column):
    data = Dataset.from_frame(pd.DataFrame({"x": column, "y": [0, 1], "q": [1, 1]}), label="y", qid="q")
    assert np.array_equal(data.X, [[1], [np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    ("changes", "names", "message"),
    [
        ({}, {"label": "labels", "qid": "qid"}, "no column 'labels': did you mean 'label'"),
        ({}, {"label": "LABEL", "qid": "qid"}, "did you mean 'label'"),
        ({}, {"label": "zzz", "qid": "qid"}, "no column 'zzz' .the first columns: 'rank', 'label'"),
        (
            {"url": ["1", "x", "2"]},
            {"label": "label", "qid": "qid"},
            "'url' holds texts, .*, expected numbers",
        ),
        ({}, {"label": "url", "qid": "qid"}, "expected numbers"),
        ({}, {"label": "qid", "qid": "qid"}, "must be different columns"),
        (
            {"qid": ["a", "b", None]},
            {"label": "label", "qid": "qid"},
            "'qid' is null in 1 rows .first: row 3",
        ),
        (
            {"qid": [1.5, 2.0, 3.0], "url": [1, 2, 3]},
            {"label": "label", "qid": "qid"},
            "'qid' .query id.*fraction",
        ),
        (
            {"rank": [1e300, 0.0, 0.0]},
            {"label": "label", "qid": "qid", "doc_id": "url"},
            "'rank' holds a finite",
        ),
    ],
)
def test_wrong_columns_are_refused_by_name(changes, names, message):
    with pytest.raises(InputError, match=message):
        Dataset.from_frame(pl.DataFrame({**COLUMNS, **changes}), **names)


def test_what_is_no_frame_is_refused():
    with pytest.raises(InputError, match="expected a data frame, found dict"):
        Dataset.from_frame(COLUMNS, label="label", qid="qid")


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.tsv"])
def test_files_hold_what_was_written(tmp_path, name):
    frame, path = pl.DataFrame(COLUMNS), tmp_path / name
    if name.endswith("parquet"):
        frame.write_parquet(path)
    else:
        frame.with_columns(pl.col("clicked").cast(int)).write_csv(
            path, separator="\t" if name.endswith("tsv") else ","
        )
    data = read_table(path, doc_id="url")
    assert data.X.tolist() == [[3, 1], [1, 0], [2, 1]]
    assert list(data.doc_ids) == ["u1", "u2", "u3"]


def test_a_column_may_turn_fractional_late_and_say_null_in_words(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("label,qid,x\n" + "0,1,5\n" * 2000 + "1,1,0.5\n1,1,NULL\n")
    data = read_table(path)
    assert data.X[-2, 0] == 0.5
    assert np.isnan(data.X[-1, 0])


def test_names_with_quotes_commas_and_signs(tmp_path):
    names = ["bm25 title", 'say "hi"', "prix €", "a,b", "x\\y", '"']
    frame = pl.DataFrame(np.eye(6), schema=names).with_columns(label=1, qid=7)
    frame.write_csv(tmp_path / "t.csv")
    assert read_table(tmp_path / "t.csv").feature_names == tuple(names)


def test_a_feature_that_is_always_missing_is_undefined(tmp_path):
    (tmp_path / "a.csv").write_text("label,qid,x,y\n0,1,,5\n1,1,NULL,6\n")
    assert np.array_equal(read_table(tmp_path / "a.csv").X, [[np.nan, 5], [np.nan, 6]], equal_nan=True)


def test_a_copy_spares_parsing(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    parsed = []
    frame = table.read_frame
    monkeypatch.setattr(table, "read_frame", lambda *arguments: parsed.append(arguments) or frame(*arguments))
    (tmp_path / "a.csv").write_text("label,qid,x,y\n0,b,1,5\n1,a,2,6\n2,b,3,7\n")
    first, second = (read_table(tmp_path / "a.csv", cache=True) for _ in range(2))
    assert len(parsed) == 1
    assert second.X.tolist() == first.X.tolist() == [[1, 5], [2, 6], [3, 7]]
    assert second.feature_names == first.feature_names == ("x", "y")
    assert second.qids.tolist() == ["b", "a"]
    assert read_table(tmp_path / "a.csv", label="y", cache=True).y.tolist() == [5, 6, 7]
    assert len(parsed) == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "grade,qid,x\n0,1,2\n", r"a\.csv: no column 'label'.*; the option label names it"),
        (
            "a.csv",
            "label,qid,x\n0,1,2\n1,1,two\n",
            r"a\.csv: column 'x' .*\(row 2: 'two'\), expected numbers",
        ),
        ("a.csv", "label,qid,x\n", r"a\.csv: found no document"),
        ("a.txt", "0 qid:1 1:2", "expected a name that ends in"),
        ("a.parquet", "not parquet", "cannot be read as a table"),
        ("absent.csv", None, "no such file"),
    ],
)
def test_files_that_cannot_be_read_are_named(tmp_path, name, text, message):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_table(path)


def test_columns_that_have_numbers_for_names():
    X, names = features_of_frame(pd.DataFrame([[1.0, 2.0], [3.0, 4.0]]))
    assert (X.tolist(), names) == ([[1, 2], [3, 4]], ["0", "1"])


def test_what_a_frame_s_library_refuses_is_one_line():
    frame = pd.DataFrame([[1, 2, 3, 4]], columns=["y", "q", "a", "a"])
    for make in (lambda: Dataset.from_frame(frame, label="y", qid="q"), lambda: Dataset(frame, [1], [1])):
        with pytest.raises(InputError, match=r"the data frame cannot be used: .*'a' 2 times") as caught:
            make()
        assert "\n" not in str(caught.value)
    assert Dataset.from_frame(pd.DataFrame([[1, 2, 3]]), label=0, qid=1).X.tolist() == [[3]]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".jsonl"])
def test_query_ids_of_texts_stay_as_they_are_written(tmp_path, suffix):
    def qids(*written):
        if suffix == ".jsonl":
            lines = [f'{{"label": 0, "qid": "{text}", "x": 1}}' for text in written]
        else:
            lines = ["label,qid,x", *(f"0,{text},1" for text in written)]
        text = "\n".join(lines).replace(",", "\t" if suffix == ".tsv" else ",").encode()
        (tmp_path / f"a{suffix}").write_bytes(gzip.compress(text) if suffix.endswith("gz") else text)
        return read_table(tmp_path / f"a{suffix}").qids.tolist()

    assert qids("01", "1") == ["01", "1"]
    assert qids("9007199254740992", "9007199254740993", "x")[:2] == ["9007199254740992", "9007199254740993"]
    assert qids("9223372036854775808", "9223372036854775809") == [
        "9223372036854775808",
        "9223372036854775809",
    ]
    assert qids("1.0", "1") == ["1.0", "1"]
    assert qids("1e3", "1000") == ["1e3", "1000"]
    assert qids("-0", "0") == ["-0", "0"]
    if suffix != ".jsonl":
        assert qids("9007199254740992", "-9007199254740993", "0") == [2**53, -(2**53) - 1, 0]


def test_numbers_in_json_that_would_become_others_are_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text(
        '{"label": 0, "qid": 9007199254740993, "x": 1}\n{"label": 0, "qid": 1.0, "x": 1}'
    )
    with pytest.raises(InputError, match="float64 beyond"):
        read_table(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text('{"label": 0, "qid": 18446744073709551617, "x": 1}\n' * 2)
    assert read_table(tmp_path / "a.jsonl").qids.tolist() == ["18446744073709551617"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".jsonl", ".csv.xz"])
def test_a_byte_order_mark_is_left_out(tmp_path, suffix):
    text = '{"label": 2, "qid": 7, "x": 1}' if suffix == ".jsonl" else "label,qid,x\n2,7,1\n"
    text = "\ufeff" + text.replace(",", "\t" if suffix == ".tsv" else ",")
    compress = {"gz": gzip.compress, "xz": lzma.compress}.get(suffix[-2:], bytes)
    (tmp_path / f"a{suffix}").write_bytes(compress(text.encode()))
    data = read_table(tmp_path / f"a{suffix}")
    assert (data.qids.tolist(), data.y.tolist(), data.X.tolist()) == ([7], [2], [[1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,qid,x\n0,1,1e39\n", "'x' holds a finite value beyond float32"),
        ("label,qid,x\n0,1,inf\n0,1,-1e400\n", "'x' holds a finite value beyond float32 in row 2"),
        ("label,qid,x\n16777217,1,1\n", "label 16777217 of document 0 is beyond"),
        ("label,qid,x\n9007199254740993,1,1\n", "label 9007199254740993 of document 0 is beyond"),
        (",label,qid,x\n0,1,1,3\n1,0,1,4\n", r":1: column 1 has no name: .*index=False"),
        ("label,qid,x,\n1,1,2,\n0,1,3,\n", r":1: column 4 has no name"),
        ("label,qid,x\n0,1\n", r":2: found 2 cells, expected 3 as in the head"),
        ("label,qid,x,x\n0,1,2,3\n", r":1: two columns are called 'x'"),
        ("label,qid,x,qid\n0,1,2,3\n", r":1: two columns are called 'qid'"),
        ('label,qid,x\n0,"1,2\n0,1",3\n', "'qid' holds a line break or control character in row 1"),
        ("label,qid,x\n0,,3\n", "'qid' is null in 1 rows"),
        ('label,qid,,"x\n0,1,"x,y\n0,1,2,3\n', r":1: the name of column .* holds a line break"),
    ],
)
def test_what_would_change_a_number_in_silence_is_refused(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_table(tmp_path / "a.csv")
    assert str(caught.value).startswith(str(tmp_path / "a.csv"))
    (tmp_path / "a.csv").write_text("label,qid,x\n0,1,inf\n0,1,-inf\n0,1,1e38\n")
    assert np.isinf(read_table(tmp_path / "a.csv").X[:2]).all()


def test_damage_that_shows_late_is_refused_too(tmp_path, monkeypatch):
    def look(*_, **__):
        raise pl.exceptions.PanicException("offset out of range\nmore")

    (tmp_path / "a.csv").write_text("label,qid,x\n0,1,1\n")
    monkeypatch.setattr("pomona.data.table._dataset_of", look)
    with pytest.raises(InputError, match=r"a\.csv: cannot be read as a table: offset out of range$"):
        read_table(tmp_path / "a.csv")


def test_documents_that_are_to_be_scored(tmp_path):
    (tmp_path / "a.csv").write_text("url,x,y,label,market\nu1,1,5,,de\nu2,2,6,1,fr\n")
    data = read_to_score(tmp_path / "a.csv", doc_id="url", features=["y", "x"])
    assert data.X.tolist() == [[5, 1], [6, 2]]
    assert np.array_equal(data.y, [np.nan, 1], equal_nan=True)
    assert list(data.doc_ids) == ["u1", "u2"]
    assert data.n_queries == 1
    assert read_to_score(tmp_path / "a.csv", doc_id="url").categories == {2: ("de", "fr")}
    with pytest.raises(InputError, match="no column 'grade'"):
        read_to_score(tmp_path / "a.csv", label="grade")
    (tmp_path / "b.csv").write_text("qid,x,label\n7,1,2\n7,2,0\n")
    labelled = read_to_score(tmp_path / "b.csv")
    assert (labelled.y.tolist(), labelled.qids.tolist()) == ([2, 0], [7])


def read_text(tmp_path, text, name="a.csv", **columns):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return read_table(tmp_path / name, **columns)


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_na_is_missing_among_numbers_and_a_name_elsewhere(tmp_path, suffix):
    text = (
        "label,qid,doc_id,country,clicks,rank,empty\n"
        "1,NA,NA,NA,NA,null,NA\nNULL,null,null,de,3,2,null\n0,x,y,,NULL,0.5,\n"
    )
    data = read_text(tmp_path, text.replace(",", "\t" if suffix == "tsv" else ","), f"a.{suffix}")
    assert data.qids.tolist() == ["NA", "null", "x"]
    assert list(data.doc_ids) == ["NA", "null", "y"]
    assert np.array_equal(data.y, [1, np.nan, 0], equal_nan=True)
    assert data.categories == {0: ("NA", "de")}
    expected = [[0, np.nan, np.nan, np.nan], [1, 3, 2, np.nan], [np.nan, np.nan, 0.5, np.nan]]
    assert np.array_equal(data.X, expected, equal_nan=True)


def test_blanks_behind_commas(tmp_path):
    data = read_text(tmp_path, "label, qid, x, c\n1, 1, 2.5, de\n0,2 , NA,de\n0, 1, 3e1 ,fr\n")
    assert (data.qids.tolist(), data.y.tolist(), data.feature_names) == ([1, 2], [1, 0, 0], ("x", "c"))
    assert np.array_equal(data.X[:, 0], [2.5, np.nan, 30], equal_nan=True)
    data = read_text(tmp_path, "label,qid,doc_id,x\n1,a b, d 1,2\n0,a b,d2 ,2\n")
    assert (data.qids.tolist(), list(data.doc_ids)) == (["a b"], ["d 1", "d2"])
    with pytest.raises(InputError, match=r"a\.csv:4: column 'doc_id' holds 'd1' and 'd1 ', .* blanks"):
        read_text(tmp_path, "label,qid,doc_id,x\n1,a,d1,2\n0,a,d2,2\n0,a,d1 ,2\n")
    with pytest.raises(InputError, match=r"a\.csv:1: two columns are called 'x'"):
        read_text(tmp_path, "label,qid,x, x\n1,a,1,2\n")


def test_one_column_of_ids_with_and_without_blanks_is_one_query(tmp_path):
    """As people write them by hand."""
    with pytest.raises(InputError, match=r"a\.csv:3: column 'qid' holds '1' and ' 1', .* blanks"):
        read_text(tmp_path, "label,qid,x\n1,1,1\n0, 1,2\n")


def test_large_numbers_beside_missing_ones_are_exact(tmp_path):
    with pytest.warns(UserWarning, match="float32 rounds whole numbers .* column 'x'"):
        data = read_text(tmp_path, "label,qid,x\nNA,1,9007199254740993\n2,1,NA\n")
    assert data.X[0, 0] == 2.0**53
    with pytest.raises(InputError, match="label 16777217"):
        read_text(tmp_path, "label,qid,x\n16777217,1,1\n2,1,NA\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("label,qid,x\n0,1,a\0\n1,1,a\n", "'x' holds a line break or control character in row 1"),
        ("label,qid,x\n0,1\0,1\n1,1,2\n", "'qid' holds a line break or control character in row 1"),
        ('label,qid,x\n0,1,"1,5"\n1,1,"2,5"\n', r"'x' holds texts, many of them numbers .*'1,5'"),
        ("label,qid,x\n0,1,1_000\n1,1,2_000\n", "'x' holds texts, many of them numbers"),
        ("label,qid,x\n0,1,0x10\n1,1,0x11\n", "'x' holds texts, many of them numbers"),
        ("label,qid,x\n0,1,12%\n1,1,13%\n", "'x' holds texts, many of them numbers"),
        ("label,qid,x\ntrue,1,1\nyes,1,2\n", "'label' .label. holds String, expected numbers"),
    ],
)
def test_numbers_written_otherwise_do_not_become_categories(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_text(tmp_path, text)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([{"qid": 1}, {"qid": "1"}], r":2: column 'qid' is a text here and a number in line 1"),
        ([{"qid": "a", "doc_id": "x"}, {"qid": "a", "doc_id": 7}], r":2: column 'doc_id' is a number here"),
        (['{"label": 0, "qid": 1, "x": 1, "x": 2}'], r":1: the key 'x' stands twice"),
        (['{"label": 0, "qid": 1, "y": 2}', '{"label": 0, "qid": 1, "x": 1, "x": 2}'], ":2: the key 'x'"),
        (['{"label": 0, "label": 0, "qid": 1, "x": 1}'], "the key 'label' stands twice"),
        (['{"label": 0, "qid": 1, "x": 1, "\\u0078": 2}'], "the key 'x' stands twice"),
    ],
)
def test_lines_of_json_that_say_two_things(tmp_path, lines, message):
    texts = [one if isinstance(one, str) else json.dumps({"label": 0, "x": 1, **one}) for one in lines]
    with pytest.raises(InputError, match=message):
        read_text(tmp_path, "\n".join(texts) + "\n", "a.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"label": 0, "qid": 1, "x": NaN}', r":3: found no JSON \(NaN is no number of JSON: write null"),
        ('{"label": 0, "qid": 1, "x": -Infinity}', r":3: found no JSON \(-Infinity is no number of JSON"),
        ('{"label": 0, "qid": 1, "x": 1e400}', r":3: found no JSON \(1e400 is beyond float64"),
        ('{"label": 0, "qid": 1, "x": 1.}', r":3: found no JSON at character 30 \(Expecting ',' delimiter"),
        ('{"label": 0, "qid": 1, "x": 1} {}', r":3: found no JSON at character 32 \(Extra data\)"),
        ("[1]", r":3: found JSON that is no object"),
    ],
)
def test_a_line_that_is_no_json_is_told_by_its_number(tmp_path, line, message):
    before = '{"label": 0, "qid": 1, "x": 1}\n\n'
    with pytest.raises(InputError, match=message):
        read_text(tmp_path, f"{before}{line}\n{before}", "a.jsonl")


def test_what_looks_like_a_key_in_a_text_is_none(tmp_path):
    lines = [{"label": k, "qid": "a", "x": 1, "c": text} for k, text in enumerate(['"x": 2, "qid": 3', "k"])]
    data = read_text(tmp_path, "".join(json.dumps(line) + "\n\n" for line in lines), "a.jsonl")
    assert (data.n_docs, data.categories[1]) == (2, ('"x": 2, "qid": 3', "k"))


def test_a_label_that_is_missing_is_not_judged(tmp_path):
    expected = [1, np.nan, 0]
    rows = [{"label": label, "qid": 1, "x": 1.0} for label in (1, None, 0)]
    assert np.array_equal(read_text(tmp_path, "label,qid,x\n1,1,1\n,1,1\n0,1,1\n").y, expected, True)
    assert np.array_equal(read_text(tmp_path, "label,qid,x\n1,1,1\nNaN,1,1\n0,1,1\n").y, expected, True)
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    assert np.array_equal(read_text(tmp_path, lines, "a.jsonl").y, expected, True)
    for frame in (pl.DataFrame(rows), pd.DataFrame(rows), pl.LazyFrame(rows)):
        assert np.array_equal(Dataset.from_frame(frame, label="label", qid="qid").y, expected, True)
    pl.DataFrame(rows).write_parquet(tmp_path / "a.parquet")
    assert np.array_equal(read_table(tmp_path / "a.parquet").y, expected, True)


def test_labels_below_0_are_warned_of_with_file_and_column(tmp_path):
    with pytest.warns(UserWarning, match=r"a\.csv, column 'label': 1 label is below 0") as told:
        read_text(tmp_path, "label,qid,x\n1,1,1\n-1,1,2\n")
    assert len(told) == 1
    frame = pl.DataFrame({"grade": [1, -1], "q": [1, 1], "x": [1, 2]})
    with pytest.warns(UserWarning, match="column 'grade': 1 label is below 0") as told:
        Dataset.from_frame(frame, label="grade", qid="q")
    assert len(told) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes on Linux")
@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "jsonl", "parquet", "arrow"])
def test_a_file_whose_name_is_no_utf8(tmp_path, suffix):
    rows = [{"label": 0, "qid": 1, "x": 1.5}, {"label": 1, "qid": 1, "x": 2.5}]
    frame, path = pl.DataFrame(rows), tmp_path / os.fsdecode(b"\xff." + suffix.encode())
    writers = {"csv": frame.write_csv, "csv.gz": frame.write_csv, "jsonl": frame.write_ndjson}
    writers |= {"parquet": frame.write_parquet, "arrow": frame.write_ipc}
    out = io.BytesIO()
    writers[suffix](out)
    path.write_bytes(gzip.compress(out.getvalue()) if suffix.endswith("gz") else out.getvalue())
    assert read_table(path).X.tolist() == [[1.5], [2.5]]
    pm.convert(path, path.with_name(os.fsdecode(b"\xfe.") + suffix))
    assert read_table(path.with_name(os.fsdecode(b"\xfe.") + suffix)).y.tolist() == [0, 1]


def test_document_ids_are_the_same_in_frames_and_files(tmp_path):
    """Pandas makes floats of whole numbers among which one is missing."""
    frame = pd.DataFrame({"label": [0, 1, 2], "qid": [1, 1, 1], "doc_id": [7, None, 9], "x": [1.0, 2.0, 3.0]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.astype({"doc_id": "Int64"}).to_csv(tmp_path / "b.csv", index=False)
    of_frame = Dataset.from_frame(frame, label="label", qid="qid", doc_id="doc_id")
    assert list(of_frame.doc_ids) == list(read_table(tmp_path / "b.csv").doc_ids) == ["7", "", "9"]
    assert list(read_table(tmp_path / "a.csv").doc_ids) == ["7.0", "", "9.0"]  # as they are written
    with pytest.raises(InputError, match=r"document ids must be strings or integers, found 7.5"):
        Dataset.from_frame(frame.assign(doc_id=7.5), label="label", qid="qid", doc_id="doc_id")


def test_scores_of_a_frame_with_another_index_are_refused():
    frame = pd.DataFrame({"label": [2, 1, 0], "qid": [1, 1, 1], "a": [3.0, 2.0, 1.0]})
    shuffled = frame.iloc[[2, 0, 1]]
    data = Dataset.from_frame(shuffled, label="label", qid="qid")
    assert pm.evaluate(data, shuffled["a"], "ndcg") == {"ndcg": 1.0}
    with pytest.raises(InputError, match="the index of scores is not that of the data"):
        pm.evaluate(data, frame["a"], "ndcg")
