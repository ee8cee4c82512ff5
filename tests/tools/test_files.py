import bz2
import gzip
import lzma

import numpy as np
import pytest

from pomona.errors import InputError
from pomona.tools.files import java_number, judged_by_query, lines_of, perl_number, scores_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x10", 0),
        ("1_000", 1),
        ("  -2.5 ", -2.5),
        (".75", 0.75),
        ("5.", 5),
        ("+0.25", 0.25),
        ("1E0", 1),
        ("", 0),
    ],
)
def test_numbers_as_perl_reads_them(text, value):
    assert perl_number(text.encode()) == value


@pytest.mark.parametrize("text", ["0x10", "1_000", "", "abc", "1e", "inf"])
def test_numbers_that_java_refuses(text):
    with pytest.raises(ValueError):
        java_number(text.encode())


def test_scores(tmp_path):
    path = tmp_path / "s"
    path.write_text("1\n\n2\n3\n")
    assert scores_of(path, 2, java_number, skip_blank=True).tolist() == [1, 2]
    with pytest.raises(InputError, match=r"s:2: found '', expected a number"):
        scores_of(path, 2, java_number)
    with pytest.raises(InputError, match="found 4 scores for 5 documents"):
        scores_of(path, 5, perl_number)
    path.write_text("nan\n")
    with pytest.raises(InputError, match="s:1: found NaN"):
        scores_of(path, 1, perl_number)


def test_lines_need_no_last_newline(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"a\nb")
    assert lines_of(path) == [b"a", b"b"]
    with pytest.raises(InputError, match="found a directory, expected a file"):
        lines_of(tmp_path)


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_may_be_compressed_and_marked(tmp_path, compress, mark):
    path = tmp_path / "f"
    path.write_bytes(compress(mark + b"1\n2\n"))
    assert lines_of(path) == [b"1", b"2"]
    assert scores_of(path, 2, java_number).tolist() == [1, 2]


def test_rows_are_gathered_by_query():
    judged, qids = judged_by_query(np.array([1.0, 2.0, 3.0]), np.zeros(3), [b"b", b"a", b"b"])
    assert qids == [b"b", b"a"]
    assert judged.labels.tolist() == [1, 3, 2]
    assert judged.query_ptr.tolist() == [0, 2, 3]
