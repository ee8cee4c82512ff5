import contextlib
import io

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pomona import _machine
from pomona.data.table_size import check_delimited, parquet_bytes, require_cells
from pomona.errors import InputError


@pytest.mark.parametrize("codec", ["none", "snappy", "gzip", "zstd"])
def test_the_bytes_of_a_parquet_file_are_those_its_footer_tells(tmp_path, codec):
    table = pa.table(
        {
            "a": np.arange(5000) % 7,
            "b": [f"text {i}" for i in range(5000)],
            "c": [[i, i + 1] for i in range(5000)],
            "d": [True, None] * 2500,
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression=codec, row_group_size=1000)
    groups = pq.read_metadata(path)
    expected = sum(groups.row_group(i).total_byte_size for i in range(groups.num_row_groups))
    assert parquet_bytes(path) == parquet_bytes(io.BytesIO(path.read_bytes())) == expected
    pl.DataFrame({"a": ["x" * 100_000] * 2 + ["y"]}).write_parquet(path)
    assert parquet_bytes(path) == pq.read_metadata(path).row_group(0).total_byte_size


def test_a_damaged_footer_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pl.DataFrame({"a": range(10)}).write_parquet(path)
    whole = path.read_bytes()
    random = np.random.default_rng(1)
    for text in (b"", b"PAR1", b"\xff\xff\xff\xffPAR1", b"\x19\xff\xff\xff\xff\x0f\x06\x00\x00\x00PAR1"):
        with pytest.raises(InputError, match="its footer is damaged"):
            parquet_bytes(io.BytesIO(text))
    for _ in range(300):
        text = bytearray(whole)
        for place in random.integers(len(whole) // 2, len(whole), 3):
            text[place] = random.integers(256)
        with contextlib.suppress(InputError):
            assert isinstance(parquet_bytes(io.BytesIO(text)), int)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"a,b\n1,2\n3\n", 3),
        (b"a,b\n1,2,3\n", 2),
        (b"a,b\n1,2\n\n\n3,4,5", 5),
        (b"a,b\r\n1\r\n", 2),
    ],
)
def test_rows_that_are_cut_short_or_too_long(tmp_path, text, line):
    for source in (tmp_path / "a.csv", io.BytesIO(text)):
        (tmp_path / "a.csv").write_bytes(text)
        with pytest.raises(InputError, match=rf"a\.csv:{line}: found \d cells, expected 2 as in the head"):
            check_delimited(tmp_path / "a.csv", source, b",")


@pytest.mark.parametrize("text", [b"", b"a,b", b"a,b\n1,2\n\n3,4\n", b'a,b\n"1,2",3\n4\n', b"a\n1\n2"])
def test_what_is_for_the_reader_to_judge(tmp_path, text):
    (tmp_path / "a.csv").write_bytes(text)
    check_delimited(tmp_path / "a.csv", tmp_path / "a.csv", b",")


def test_a_table_that_does_not_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(_machine, "memory_room", lambda: 1 << 20)
    require_cells(tmp_path, 1000, 10)
    with pytest.raises(InputError, match="a table of 1000 rows × 100 columns takes about"):
        require_cells(tmp_path, 1000, 100)
    (tmp_path / "a.csv").write_text(",".join("abcdefghij") + "\n" * 10_000)
    with pytest.raises(InputError, match="a table of 10000 rows × 10 columns takes about"):
        check_delimited(tmp_path / "a.csv", tmp_path / "a.csv", b",")
