from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fuzz.letor import bits, check_against_reference
from pomona import Dataset, PomonaError, read_letor, write_letor
from pomona._jit import threads
from pomona.data import letor
from pomona.data._letor_kernels import LARGEST_FEATURE_ID

# Texts of chance hold such labels, and values of many digits.
pytestmark = pytest.mark.filterwarnings("ignore:.*below 0", "ignore:.*float32")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("letor") / "a.txt"


def read(path: Path, text: bytes | str, **options: Any) -> Dataset:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_letor(path, **options)


# By hand


def test_one_line(path: Path) -> None:
    data = read(path, "2 qid:10 1:0.5 2:-3 3:1e2 #docid = GX000-00-0000000 inc = 1 prob = 0.086622\n")
    assert data.X.tolist() == [[0.5, -3.0, 100.0]]
    assert data.y.tolist() == [2.0]
    assert data.qids.tolist() == [10]
    assert data.query_ptr.tolist() == [0, 1]
    assert list(data.doc_ids or ()) == ["GX000-00-0000000"]
    assert list(data.comments or ()) == ["docid = GX000-00-0000000 inc = 1 prob = 0.086622"]
    assert data.input_order is None
    assert data.n_undefined == 0
    assert (data.X.dtype, data.y.dtype, data.query_ptr.dtype, data.qids.dtype) == ("f4", "f4", "i8", "i8")
    assert data.X.flags.c_contiguous


def test_blank_lines_comment_lines_blanks_tabs_and_line_ends(path: Path) -> None:
    lines = ["", "# head", " \t1  qid:1\t1:1 \t", "\t# more", "   ", "0 qid:1 1:2 ", "3 qid:2"]
    for end in ("\n", "\r\n"):
        data = read(path, end.join(lines))
        assert data.y.tolist() == [1, 0, 3]
        assert data.X.tolist() == [[1], [2], [0]]
        assert data.comments is None
        assert data.doc_ids is None


def test_a_byte_order_mark_is_no_part_of_the_text(path: Path) -> None:
    assert read(path, b"\xef\xbb\xbf1 qid:1 1:1").y.tolist() == [1]


def test_scattered_queries_are_gathered(path: Path) -> None:
    data = read(path, "0 qid:7 1:1 #a\n1 qid:5 1:2 #b\n2 qid:7 1:3 #c\n3 qid:9 1:4\n4 qid:5 1:5 #e\n")
    assert data.qids.tolist() == [7, 5, 9]
    assert data.X[:, 0].tolist() == [1, 2, 3, 4, 5]
    assert list(data.doc_ids or ()) == ["a", "b", "c", "", "e"]
    rows = data.gathered()
    assert rows.query_ptr.tolist() == [0, 2, 4, 5]
    assert rows.X[:, 0].tolist() == [1, 3, 2, 5, 4]
    assert rows.y.tolist() == [0, 2, 1, 4, 3]
    assert list(rows.doc_ids or ()) == ["a", "c", "b", "e", ""]


def test_missing_null_and_nan_are_undefined(path: Path) -> None:
    text = "1 qid:1 1:5 4:NULL\n1 qid:1 2:nan 3:0\n1 qid:1\n"
    assert read(path, text).X.tolist()[0] == [5, 0, 0, 0]
    data = read(path, text, undefined=np.nan)
    assert np.isnan(data.X).tolist() == [[False, True, True, True], [True, True, False, True], [True] * 4]
    assert data.n_undefined == 3 + 3 + 4
    assert read(path, text, undefined=-1.5, n_features=6).n_undefined == 3 * 6 - 2
    assert read(path, text, undefined=-1.5, n_features=6).X[2].tolist() == [-1.5] * 6


def test_features_in_any_order(path: Path) -> None:
    data = read(path, "1 qid:1 3:3 1:1\n1 qid:1 2:2 9:9 4:NULL 1:1\n")
    assert data.X.tolist() == [[1, 0, 3, 0, 0, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0, 0, 0, 9]]
    assert data.n_undefined == 7 + 6


def test_the_widest_line_may_not_end_in_its_largest_feature(path: Path) -> None:
    lines = ["1 qid:1 1:1"] * 5000 + ["1 qid:1 7:7 2:2"] + ["1 qid:1 1:1"] * 5000
    data = read(path, "\n".join(lines))
    assert data.X.shape == (10001, 7)
    assert data.X[5000].tolist() == [0, 2, 0, 0, 0, 0, 7]


@pytest.mark.parametrize("comment", ["99:1", "a # 99:1 # b", "9999999:1 #", "# 99999999999:1"])
def test_a_comment_that_looks_like_features_is_a_comment(path: Path, comment: str) -> None:
    data = read(path, f"1 qid:1 1:1 # {comment}\n")
    assert data.X.tolist() == [[1]]
    assert list(data.comments or ()) == [comment]
    assert data.n_undefined == 0


@pytest.mark.parametrize(
    ("comment", "doc_id"),
    [
        ("docid = GX1 inc = 1", "GX1"),
        ("docid=GX1", "GX1"),
        ("docid\t=\tGX1\tx", "GX1"),
        ("docid =", ""),
        ("docid", "docid"),
        ("docids = 3", "docids"),
        ("doc1", "doc1"),
        ("doc1 docid = 7", "doc1"),
        ("größe x", "größe"),
        ("a#b c", "a#b"),
        ("1:5", "1:5"),
    ],
)
def test_document_ids_in_comments(path: Path, comment: str, doc_id: str) -> None:
    for space in ("", " ", " \t "):
        data = read(path, f"1 qid:1 1:1 #{space}{comment}{space}\r\n0 qid:1 1:1 #x\n0 qid:1 1:1\n0 qid:1 #\n")
        assert list(data.comments or ()) == [comment, "x", "", ""]
        assert list(data.doc_ids or ()) == [doc_id, "x", "", ""]


def test_comments_may_hold_any_bytes(path: Path) -> None:
    data = read(path, b"1 qid:1 1:1 # \xff\x00\xfe\x01 x\n")
    assert data.comments is not None
    assert data.comments.bytes_at(0) == b"\xff\x00\xfe\x01 x"
    assert list(data.doc_ids or ()) == ["\ufffd\x00\ufffd\x01"]


@pytest.mark.parametrize("query", ["0", "5", "-5", "9223372036854775807", "-9223372036854775808"])
def test_integer_query_ids(path: Path, query: str) -> None:
    data = read(path, f"1 qid:{query} 1:1\n1 qid:3 1:1")
    assert data.qids.dtype == np.int64
    assert data.qids.tolist() == [int(query), 3]


@pytest.mark.parametrize(
    "query",
    [
        "a",
        "05",
        "+5",
        "-0",
        "-",
        "5a",
        "1.0",
        "größe",
        "a:b",
        "!",
        "x" * 255,
        str(2**63),
        str(-(2**63) - 1),
        "9" * 20,
    ],
)
def test_string_query_ids(path: Path, query: str) -> None:
    data = read(path, f"1 qid:{query} 1:1\n2 qid:5 1:1\n3 qid:{query} 1:1")
    assert data.qids.dtype.kind == "U"
    assert data.qids.tolist() == [query, "5"]
    assert data.gathered().y.tolist() == [1, 3, 2]


def test_many_files_are_one_dataset(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0 qid:1 1:1\n1 qid:2 1:2")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"2 qid:1 2:3"))
    with pytest.warns(UserWarning, match=r"query 1 stands in .*a and in .*b\.gz, and is taken as one query"):
        data = read_letor([tmp_path / "a", str(tmp_path / "b.gz")])
    assert data.qids.tolist() == [1, 2]
    assert data.X.tolist() == [[1, 0], [2, 0], [0, 3]]
    (tmp_path / "c").write_text("0 qid:x 1:1")
    assert read_letor([tmp_path / "a", tmp_path / "c"]).qids.tolist() == ["1", "2", "x"]


def test_queries_by_size_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0 1:1\n1 1:2\n# between\n2 2:3")
    (tmp_path / "a.query").write_text("2\r\n\n 1")
    data = read_letor(tmp_path / "a", query_file=tmp_path / "a.query")
    assert data.qids.tolist() == [1, 2]
    assert data.query_ptr.tolist() == [0, 2, 3]
    assert data.X.tolist() == [[1, 0], [2, 0], [0, 3]]
    both = read_letor([tmp_path / "a"] * 2, query_file=[tmp_path / "a.query"] * 2)
    assert both.qids.tolist() == [1, 2, 3, 4]
    assert both.query_ptr.tolist() == [0, 2, 3, 5, 6]


# Refused


@pytest.mark.parametrize(
    ("text", "place", "found", "expected"),
    [
        ("x", "1:1", "'x'", "a label: a finite number"),
        ("\n\n  one qid:1", "3:3", "'one'", "a label"),
        ("NULL qid:1", "1:1", "'NULL'", "a label"),
        ("-inf qid:1", "1:1", "'-inf'", "a label"),
        ("1e39 qid:1", "1:1", "'1e39'", "a label"),
        ("0 qid:1\n16777217 qid:1", "2:1", "'16777217'", "a label that float32"),
        ("-9007199254740993 qid:1", "1:1", "'-9007199254740993'", "a label that float32"),
        ("1e30 qid:1", "1:1", "'1e30'", "a label that float32"),
        ("16777216.5 qid:1", "1:1", "'16777216.5'", "a label that float32"),
        ("340282356779733661637539395458142568448 qid:1", "1:1", "'340282356", "a label"),
        ("1,5 qid:1", "1:1", "'1,5'", "a label"),
        ("0x1 qid:1", "1:1", "'0x1'", "a label"),
        ("1_0 qid:1", "1:1", "'1_0'", "a label"),
        ("1\x00 qid:1", "1:1", r"'1\x00'", "a label"),
        ("1\r qid:1", "1:1", r"'1\r'", "a label"),
        ("qid:1 1:1", "1:1", "'qid:1'", "a label"),
        ("1", "1:2", "the end of the line", "qid: and the query id"),
        ("1 ", "1:3", "the end of the line", "qid: and the query id"),
        ("1 # qid:1", "1:3", "a comment", "qid: and the query id"),
        ("1 1:0.5", "1:3", "'1:0.5'", "query_file='a.txt.query'"),
        ("1 QID:1", "1:3", "'QID:1'", "qid: and the query id"),
        ("1 qid:", "1:7", "the end of the line", "a query id"),
        ("1 qid: 1:1", "1:7", "a blank", "a query id"),
        ("1 qid:a\x01b", "1:7", r"'a\x01b'", "a query id"),
        ("1 qid:" + "x" * 256, "1:7", "'" + "x" * 39 + "…'", "a query id of 1 to 255 bytes"),
        ("1 qid:1 a", "1:9", "'a'", "feature:value"),
        ("1 qid:1 1", "1:9", "'1'", "feature:value"),
        ("1 qid:1 1 :2", "1:9", "'1'", "feature:value"),
        ("1 qid:1 :2", "1:9", "':2'", "feature:value"),
        ("1 qid:1 -1:2", "1:9", "'-1:2'", "feature:value"),
        ("1 qid:1 +1:2", "1:9", "'+1:2'", "feature:value"),
        ("1 qid:1 1:1\r2:2", "1:11", r"'1\r2:2'", "a number"),
        ("1 qid:1 \x0b1:1", "1:9", r"'\x0b1:1'", "feature:value"),
        ("1 qid:1 qid:2 1:1", "1:9", "'qid:2'", "feature:value"),
        ("1 qid:1 0:2", "1:9", "'0:2'", "feature ids from 1"),
        ("1 qid:1 00:2", "1:9", "'00:2'", "feature ids from 1"),
        ("1 qid:1 1:", "1:11", "the end of the line", "a number"),
        ("1 qid:1 1:\t2", "1:11", "a blank", "a number"),
        ("1 qid:1 1:#", "1:11", "a comment", "a number"),
        ("1 qid:1 1:x 2:2", "1:11", "'x'", "a number, nan, inf or NULL"),
        ("1 qid:1 1:1e39 2:2", "1:11", "'1e39'", "a value that float32 can hold"),
        ("1 qid:1 1:inf 2:-1e400", "1:17", "'-1e400'", "a value that float32 can hold"),
        ("1 qid:1 2:1 1:1e39", "1:15", "'1e39'", "a value that float32 can hold"),
        ("1 qid:1 1:1e39x 2:2", "1:11", "'1e39x'", "a number, nan, inf or NULL"),
        ("1 qid:1 3:3.4028235677973366e38", "1:11", "'3.4028235677973366e38'", "a value that float32"),
        ("1 qid:1 2:1 1:3.4028235677973366e38", "1:15", "'3.4028235677973366e38'", "a value that float32"),
        ("1 qid:1 1:2:3", "1:11", "'2:3'", "a number"),
        ("1 qid:1 1:1 1:2", "1:13", "'1:2'", "each feature once a line"),
        ("1 qid:1 3:1 1:2 2:5 3:1", "1:21", "'3:1'", "each feature once a line"),
        ("1 qid:1 99999999999999999999:1", "1:9", "'99999999999999999999:1'", "feature ids up to 10000000"),
        ("1 qid:1 1:1\n1 qid:größe x", "2:13", "'x'", "feature:value"),
        ("1 qid:1 1:1 # größe\r\n1 qid:1 1:é", "2:11", "'é'", "a number"),
        ("1 qid:1 1:" + "9" * 100 + "x", "1:11", "'" + "9" * 39 + "…'", "a number"),
    ],
)
def test_what_is_not_in_the_format_is_refused_with_its_place(
    path: Path, text: str, place: str, found: str, expected: str
) -> None:
    with pytest.raises(PomonaError) as error:
        read(path, text)
    message = str(error.value)
    assert message.startswith(f"{path}:{place}: found {found}")
    assert f", expected {expected}" in message or expected in message
    assert len(message) < len(str(path)) + 260


@pytest.mark.parametrize(
    "value", ["", "-", "+", ".", "-.", "e5", "1e", "1e+", "1e-", "0x10", "1_000", "1,5", "--1"]
)
@pytest.mark.parametrize("more", ["", "5"])
def test_what_is_no_number_is_refused(path: Path, value: str, more: str) -> None:
    if value + more in ("5", "-5", "+5", ".5", "-.5", "1e5", "1e+5", "1e-5"):
        assert read(path, f"1 qid:1 1:{value}{more}").X[0, 0] == np.float32(float(value + more))
        return
    with pytest.raises(PomonaError, match=rf"{path.name}:1:11: found .*, expected a number"):
        read(path, f"1 qid:1 1:{value}{more} 2:1")


@pytest.mark.parametrize(
    "value", ["na", "nano", "in", "infi", "infinit", "infinityy", "NUL", "NULLL", "null"]
)
@pytest.mark.parametrize("sign", ["", "-"])
def test_words_that_are_almost_numbers_are_refused(path: Path, value: str, sign: str) -> None:
    with pytest.raises(PomonaError, match=f"1:11: found '{sign}{value}', expected a number"):
        read(path, f"1 qid:1 1:{sign}{value}")


def test_a_signed_null_is_refused(path: Path) -> None:
    with pytest.raises(PomonaError, match="1:11: found '-NULL'"):
        read(path, "1 qid:1 1:-NULL")


def test_query_ids_are_utf_8(path: Path) -> None:
    with pytest.raises(PomonaError, match="2:7: found '\ufffdx', expected a query id in UTF-8"):
        read(path, b"1 qid:1\n1 qid:\xffx 1:x\nx")
    with pytest.raises(PomonaError, match="1:9: found 'x', expected feature:value"):
        read(path, b"1 qid:1 x\n1 qid:\xffx 1:x\nx")


def test_the_first_mistake_is_reported_whatever_its_kind_and_thread(path: Path) -> None:
    fine = "1 qid:1 1:1 2:2"
    lines = [fine] * 30_000
    lines[29_000] = "x"
    lines[20_000] = "1 qid:1 1:1 2:y"
    for n in (1, 2, 4):
        with threads(n), pytest.raises(PomonaError, match=r":20001:15: found 'y'"):
            read(path, "\n".join(lines))
    lines[10] = "1 noqid"
    with pytest.raises(PomonaError, match=r":11:3: found 'noqid'"):
        read(path, "\n".join(lines))
    lines[5] = "1 qid:1 900:1 901:1 900:2"
    with pytest.raises(PomonaError, match=r":6:21: found '900:2', expected each feature once"):
        read(path, "\n".join(lines))


def test_features_beyond_those_asked_for_are_refused(path: Path) -> None:
    assert read(path, "1 qid:1 1:1", n_features=3).X.tolist() == [[1, 0, 0]]
    with pytest.raises(PomonaError, match=":1:13: found '4:1', expected feature ids up to 3"):
        read(path, "1 qid:1 1:1 4:1", n_features=3)
    for n_features in (0, -1, LARGEST_FEATURE_ID + 1):
        with pytest.raises(PomonaError, match="n_features must be in 1"):
            read(path, "1 qid:1 1:1", n_features=n_features)


def test_a_table_that_does_not_fit_the_memory_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(letor, "memory_room", lambda: 1000)
    text = "1 qid:1 1:1 # 5:5 # 9999:9\n1 qid:1 5:5 200:1 4:1\n1 qid:1 1:1"
    with pytest.raises(
        PomonaError, match=":2:13: found '200:1', expected feature ids that let 3 documents fit"
    ):
        read(path, text)
    with pytest.raises(PomonaError, match=":1:9: found 'x', expected feature:value"):
        read(path, "1 qid:1 x\n" + text)
    with pytest.raises(PomonaError, match="a table of 3 documents × 200 features takes about"):
        read(path, text, n_features=200)
    assert read(path, text.replace("200:1", "20:1")).X.shape == (3, 20)


@pytest.mark.parametrize("text", [b"", b"\n", b"\r\n \n", b"# nothing\n#", b"\xef\xbb\xbf"])
def test_a_file_without_documents_is_refused(path: Path, text: bytes) -> None:
    with pytest.raises(PomonaError, match=r"a\.txt: found no document"):
        read(path, text)


@pytest.mark.parametrize("byte", range(256))
def test_files_of_one_byte_are_refused(path: Path, byte: int) -> None:
    with pytest.raises(PomonaError):
        read(path, bytes([byte]))


def test_no_file_a_directory_no_paths(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing: no such file"):
        read_letor(tmp_path / "missing")
    with pytest.raises(PomonaError, match="found a directory, expected a file"):
        read_letor(tmp_path)
    with pytest.raises(PomonaError, match="found no file to read"):
        read_letor([])


def test_mistakes_in_the_second_of_two_files(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1 qid:1 1:1\n\n")
    (tmp_path / "b").write_text("1 qid:1 1:1\n1 qid:1 1:1_0")
    with pytest.raises(PomonaError) as error:
        read_letor([tmp_path / "a", tmp_path / "b"])
    assert str(error.value).startswith(f"{tmp_path / 'b'}:2:11: found '1_0', expected a number")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ("2", "a.query: its queries have 2 rows, but .* has 3"),
        ("2\n2", "its queries have 4 rows"),
        ("3\n0", "a.query:2:1: found '0', expected the rows of a query"),
        ("-3", "found '-3'"),
        ("1.5", "found '1.5'"),
        ("1 2", "found '1 2'"),
        ("9" * 30, "found '9"),
    ],
)
def test_query_files_that_do_not_fit_are_refused(tmp_path: Path, sizes: str, message: str) -> None:
    (tmp_path / "a").write_text("0 1:1\n1 1:2\n2 2:3")
    (tmp_path / "a.query").write_text(sizes)
    with pytest.raises(PomonaError, match=message):
        read_letor(tmp_path / "a", query_file=tmp_path / "a.query")


def test_one_query_file_a_file_and_no_qid_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("0 qid:1 1:1")
    (tmp_path / "a.query").write_text("1")
    with pytest.raises(PomonaError, match="found 1 query files for 2 files"):
        read_letor([tmp_path / "a"] * 2, query_file=tmp_path / "a.query")
    with pytest.raises(PomonaError, match="a:1:3: found 'qid:1', expected feature:value"):
        read_letor(tmp_path / "a", query_file=tmp_path / "a.query")


# Against the reference

VALUES = st.one_of(
    st.floats().map(repr),
    st.floats(width=32).map(lambda x: repr(np.float32(x).item())),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.integers(-(10**25), 10**25).map(str),
    st.sampled_from(["0", "1", "-0", "NULL", "NaN", "+inf", "-Infinity", "0.000000", "1.", ".5", "1E+05"]),
    st.from_regex(r"[+-]?[0-9]{0,30}\.?[0-9]{0,30}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
)
QUERIES = st.one_of(st.integers(-3, 30).map(str), st.sampled_from(["a", "b", "007", "größe"]))
COMMENTS = st.one_of(
    st.just(""), st.text(max_size=9).map("#".__add__), st.sampled_from(["#docid = a b", "# d 1:1"])
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    ids = draw(st.lists(st.integers(1, 12), max_size=6, unique=draw(st.integers(0, 9)) > 0))
    if draw(st.booleans()):
        ids.sort()
    blank = draw(st.sampled_from([" ", "\t", "  "]))
    features = [f"{i}:{draw(VALUES)}" for i in ids]
    label = draw(st.one_of(st.sampled_from(["0", "1", "2", "0.5"]), VALUES))
    return blank.join([label, f"qid:{draw(QUERIES)}", *features, draw(COMMENTS)])


@given(
    st.lists(lines(), max_size=6),
    st.sampled_from(["\n", "\r\n", "\n\n"]),
    st.sampled_from([0.0, np.nan, -1.5]),
)
def test_lines_read_as_the_reference_reads_them(
    path: Path, rows: list[str], end: str, undefined: float
) -> None:
    check_against_reference(path, end.join(rows).encode(), undefined)


WHOLE = [b"1 qid:1 1:1", b"0 qid:2", b" 2:0.5", b" 3:-1e-3", b"docid = ", b"nan", b"inf", b"NULL", b"qid:"]
SIGNS = [
    b"qid",
    b":",
    b" ",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b"#",
    b"0",
    b"1",
    b"20",
    b"-",
    b"+",
    b".",
    b"e",
    b"_",
]
PIECES = st.sampled_from([*WHOLE, *SIGNS, b"\xff", b"\x00", b"a"])


@given(st.lists(PIECES | st.binary(max_size=3), max_size=40).map(b"".join))
@example(b"1 qid:1 1:1\r")
@example(b"BZh")
@example(b"1 qid:1 2:1 1:1 # a\r\r\n")
@example(b"1 qid:1 8:1\n1 qid:1 9:1 9:2\n1 x")
def test_any_bytes_are_read_or_refused_as_the_reference_does(path: Path, text: bytes) -> None:
    check_against_reference(path, text, 0.0)


@given(st.binary(max_size=200))
def test_noise_is_refused(path: Path, text: bytes) -> None:
    check_against_reference(path, text, 0.0)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_large_scattered_files_read_as_the_reference_reads_them(path: Path, n_threads: int) -> None:
    random = np.random.default_rng(3)
    rows = []
    for _ in range(6000):
        ids = np.flatnonzero(random.random(30) < 0.5) + 1
        if random.random() < 0.1:
            random.shuffle(ids)
        features = " ".join(f"{i}:{random.standard_normal():.{random.integers(0, 18)}f}" for i in ids)
        comment = (
            f" # doc{random.integers(10**6)} {'x' * random.integers(50)}" if random.random() < 0.5 else ""
        )
        rows.append(f"{random.integers(5)} qid:{random.integers(900)} {features}{comment}")
        if random.random() < 0.02:
            rows.append("# between")
    with threads(n_threads):
        check_against_reference(path, "\n".join(rows).encode(), np.nan)


# Real data

needs_data = pytest.mark.skipif(
    "POMONA_DATA" not in os.environ, reason="needs the collections under POMONA_DATA"
)


def collection(name: str) -> Path:
    found = Path(os.environ["POMONA_DATA"], name)
    if not found.exists():
        pytest.skip(f"{name} is not under POMONA_DATA")
    return found


@needs_data
@pytest.mark.parametrize(
    ("name", "n_queries", "n_docs", "n_features", "n_undefined"),
    [
        ("MQ2008/S1.txt.xz", 157, 2933, 46, 0),
        ("OHSUMED-letor3/null/S1.txt.xz", 21, 2570, 45, None),
        ("MSLR-subset/vali.extra.txt.xz", 22, 2319, 136, 0),
        ("trec-news-2018/trec_news_2018.train", 45, 782, 5, None),
    ],
)
def test_real_files(
    tmp_path: Path, name: str, n_queries: int, n_docs: int, n_features: int, n_undefined: int | None
) -> None:
    source = collection(name)
    data = read_letor(source, undefined=np.nan)
    assert (data.n_queries, *data.X.shape) == (n_queries, n_docs, n_features)
    if n_undefined is None:
        assert data.n_undefined == np.isnan(data.X).sum() > 0
    else:
        assert data.n_undefined == n_undefined
    write_letor(data, tmp_path / "back.txt")
    back = read_letor(tmp_path / "back.txt", undefined=np.nan)
    assert np.array_equal(bits(back.X), bits(data.X))
    assert back.comments == data.comments
    assert back.doc_ids == data.doc_ids


@needs_data
@pytest.mark.parametrize("name", ["MQ2008/S4.txt.xz", "OHSUMED-letor3/null/S1.txt.xz"])
def test_real_files_read_as_the_reference_reads_them(path: Path, name: str) -> None:
    import lzma

    check_against_reference(path, lzma.decompress(collection(name).read_bytes())[:400_000], np.nan)


@needs_data
def test_document_ids_of_mq2008() -> None:
    data = read_letor(collection("MQ2008/S1.txt.xz"))
    assert data.doc_ids is not None
    assert data.doc_ids[0] == "GX008-86-4444840"
    assert data.comments is not None
    assert data.comments[0] == "docid = GX008-86-4444840 inc = 1 prob = 0.086622"


@needs_data
def test_the_group_file_layout_of_lightgbm() -> None:
    folder = collection("lightgbm-lambdarank")
    for part, n_queries, n_docs in (("train", 201, 3005), ("test", 50, 768)):
        data = read_letor(
            folder / f"rank.{part}.xz", query_file=folder / f"rank.{part}.query", n_features=300
        )
        assert (data.n_queries, *data.X.shape) == (n_queries, n_docs, 300)
    with pytest.raises(
        PomonaError, match=r"rank\.train\.xz:1:3: found '10:0\.89'.*query_file='rank\.train\.query'"
    ):
        read_letor(folder / "rank.train.xz")


def test_lines_that_end_with_cr_alone_are_not_one_comment(tmp_path):
    path = tmp_path / "mac.txt"
    path.write_bytes(b"1 qid:1 1:2 #docid = a\r0 qid:1 1:3 #docid = b\r")
    with pytest.raises(PomonaError, match=r"mac\.txt: has lines that end with CR alone"):
        read_letor(path)
    path.write_bytes(b"1 qid:1 1:2 #docid = a\r\n")
    assert read_letor(path).n_docs == 1
