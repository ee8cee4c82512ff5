import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pomona.data import table
from pomona.data.dataset import Dataset
from pomona.data.table import read_table
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
    assert data.X.tolist() == [[3, 1], [2, 1], [1, 0]]
    assert data.y.tolist() == [2, 1, 0]
    assert data.qids.tolist() == ["a", "b"]
    assert list(data.doc_ids) == ["u1", "u3", "u2"]


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
        ({}, {"label": "label", "qid": "qid"}, "column 'url' .feature. holds String, expected numbers"),
        ({}, {"label": "url", "qid": "qid"}, "expected numbers"),
        ({}, {"label": "qid", "qid": "qid"}, "must be different columns"),
        (
            {"label": [2, None, 1]},
            {"label": "label", "qid": "qid"},
            "'label' is null in 1 rows .first: row 2",
        ),
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
    assert data.X.tolist() == [[3, 1], [2, 1], [1, 0]]
    assert list(data.doc_ids) == ["u1", "u3", "u2"]


def test_a_column_may_turn_fractional_late_and_say_null_in_words(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("label,qid,x\n" + "0,1,5\n" * 2000 + "1,1,0.5\n1,1,NULL\n")
    data = read_table(path)
    assert data.X[-2, 0] == 0.5
    assert np.isnan(data.X[-1, 0])


def test_a_feature_that_is_always_missing_is_undefined(tmp_path):
    (tmp_path / "a.csv").write_text("label,qid,x,y\n0,1,,5\n1,1,NULL,6\n")
    assert np.array_equal(read_table(tmp_path / "a.csv").X, [[np.nan, 5], [np.nan, 6]], equal_nan=True)


def test_a_copy_spares_parsing(tmp_path, monkeypatch):
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    parsed = []
    frame = table._frame
    monkeypatch.setattr(table, "_frame", lambda *arguments: parsed.append(arguments) or frame(*arguments))
    (tmp_path / "a.csv").write_text("label,qid,x,y\n0,b,1,5\n1,a,2,6\n2,b,3,7\n")
    first, second = (read_table(tmp_path / "a.csv", cache=True) for _ in range(2))
    assert len(parsed) == 1
    assert second.X.tolist() == first.X.tolist() == [[1, 5], [3, 7], [2, 6]]
    assert second.feature_names == first.feature_names == ("x", "y")
    assert second.qids.tolist() == ["b", "a"]
    assert read_table(tmp_path / "a.csv", label="y", cache=True).y.tolist() == [5, 7, 6]
    assert len(parsed) == 2


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "grade,qid,x\n0,1,2\n", r"a\.csv: no column 'label'.*; the option label names it"),
        ("a.csv", "label,qid,x\n0,1,2\n1,1,two\n", r"a\.csv: column 'x' .*expected numbers \(row 2: 'two'\)"),
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
