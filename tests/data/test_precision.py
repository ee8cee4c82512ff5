"""What float32 loses of the features is told by the name of the column, whatever the features come in."""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from pomona import Dataset, LinearRegression, read
from pomona.data import letor, table
from pomona.data.precision import Rounding

pytestmark = pytest.mark.filterwarnings("error")

TIME = 1_700_000_000
LOST: dict[str, tuple[list[Any], str]] = {
    "times in seconds": ([TIME, TIME + 60, TIME + 120, 0], "whole numbers beyond 2.24"),
    "one more than 2^24": ([1, 2, 2**24 + 1, 4], "whole numbers"),
    "ids": ([2**40 + 1, 2**40 + 2, 7, 8], "whole numbers"),
    "ids beyond 2^53": ([2**60 + 1, 2**60 + 2, 2**61 - 1, 3], "whole numbers"),
    "negative": ([-(2**24) - 1, -5, 0, 3], "whole numbers"),
    "fractions of seconds": ([TIME + 0.25, TIME + 0.5, TIME + 9.75, TIME + 3.5], "fewer than 65536 steps"),
    "prices close together": ([1000.0001, 1000.0002, 1000.0007, 1000.0009], "fewer than 65536 steps"),
    "alike in seven digits": ([0.12345678, 0.12345679, 0.1234568, 0.12345681], "fewer than 65536 steps"),
}
KEPT: dict[str, list[Any]] = {
    "fractions": [0.1, 0.2, 0.7, 1e-9],
    "all the same": [0.1, 0.1, 0.1, 0.1],
    "small whole numbers": [1, 2, 2**24, 7],
    "large and exact": [2**30, 2**31, 2**32, 0],
    "of many sizes": [1e-30, 1e20, 3.3, 123456789.123],
    "huge": [1.2345e29, 3.3e30, 7.7e31, 1e32],
    "a range far from 0": [1000.1, 1999.9, 1500.3, 1750.7],
    "undefined and infinite": [np.nan, 0.1, np.inf, -np.inf],
    "close but exact": [1000.5, 1000.25, 1000.75, 1000.0],
    "nothing": [np.nan, np.nan, np.nan, np.nan],
    "zeros": [0.0, 0.0, -0.0, 0.0],
}


def rows_of(values: list[Any]) -> list[dict[str, Any]]:
    undefined = [None if isinstance(value, float) and np.isnan(value) else value for value in values]
    return [{"label": k % 2, "qid": 1, "other": k / 2, "x": value} for k, value in enumerate(undefined)]


def text_of(value: Any) -> str:
    return "NULL" if value is None else repr(value)


def letor_text(values: list[Any]) -> str:
    return "".join(f"{r['label']} qid:1 1:{r['other']} 2:{text_of(r['x'])}\n" for r in rows_of(values))


def csv_text(values: list[Any], separator: str = ",") -> str:
    lines = [separator.join(["label", "qid", "other", "x"])]
    lines += [separator.join("" if v is None else repr(v) for v in row.values()) for row in rows_of(values)]
    return "\n".join(lines) + "\n"


def written(name: str) -> Callable[[list[Any], Path], Dataset]:
    def made(values: list[Any], folder: Path) -> Dataset:
        path = folder / name
        frame = pl.DataFrame(rows_of(values), infer_schema_length=None)
        match path.suffix:
            case ".csv":
                path.write_text(csv_text(values))
            case ".tsv":
                path.write_text(csv_text(values, "\t"))
            case ".gz":
                path.write_bytes(gzip.compress(csv_text(values).encode()))
            case ".jsonl":
                if any(isinstance(value, float) and np.isinf(value) for value in values):
                    pytest.skip("JSON has no infinity")
                path.write_text("".join(json.dumps(row) + "\n" for row in rows_of(values)))
            case ".parquet":
                frame.write_parquet(path)
            case ".arrow":
                frame.write_ipc(path)
            case _:
                path.write_text(letor_text(values))
        return read(path)

    return made


def array_of(values: list[Any]) -> np.ndarray:
    is_whole = all(isinstance(value, int) for value in values)
    other = np.arange(len(values)) if is_whole else np.arange(len(values)) / 2
    return np.stack([other, np.array(values)], axis=1)


def of_array(make: Callable[[np.ndarray], Any]) -> Callable[[list[Any], Path], Dataset]:
    def made(values: list[Any], folder: Path) -> Dataset:
        X, n = make(array_of(values)), len(values)
        return Dataset(X, np.arange(n) % 2, np.ones(n, int), feature_names=["other", "x"])

    return made


WAYS: dict[str, Callable[[list[Any], Path], Dataset]] = {
    "array": of_array(lambda X: X),
    "Fortran array": of_array(np.asfortranarray),
    "objects": of_array(lambda X: X.astype(object)),
    "list": of_array(lambda X: X.tolist()),
    "sparse rows": of_array(scipy.sparse.csr_matrix),
    "sparse columns": of_array(scipy.sparse.csc_array),
    "pandas": of_array(lambda X: pd.DataFrame(X, columns=["other", "x"])),
    "polars": of_array(lambda X: pl.DataFrame(X, schema=["other", "x"])),
    "pandas with texts": lambda values, _: Dataset.from_frame(
        pd.DataFrame(rows_of(values)).assign(genre="news"), label="label", qid="qid"
    ),
    **{
        name: written(name)
        for name in ("a.csv", "a.tsv", "a.csv.gz", "a.jsonl", "a.parquet", "a.arrow", "a.txt")
    },
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", LOST)
def test_what_is_lost_is_told_with_the_column(way: str, case: str, tmp_path: Path) -> None:
    values, message = LOST[case]
    with pytest.warns(UserWarning, match=f"float32 .*{message}.* column '(x|f2)'") as told:
        data = WAYS[way](values, tmp_path)
    assert len(told) == 1
    assert "subtract" in str(told[0].message) or "leave out" in str(told[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert data.take([0]).replace(y=data.y).n_docs == len(values)  # and it is told once


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", KEPT)
def test_ordinary_columns_are_not_told_of(way: str, case: str, tmp_path: Path) -> None:
    if "sparse" in way and case in ("all the same",):
        pytest.skip("a matrix of zeros and others")
    WAYS[way](KEPT[case], tmp_path)


def test_ordinary_tables_of_float64_are_not_told_of() -> None:
    random = np.random.default_rng(0)
    n = 3000
    columns = [
        random.normal(size=n),
        random.lognormal(3, 4, n),
        random.random(n) * 1e9,
        random.integers(0, 1000, n),
        np.floor(random.lognormal(2, 2, n)),
        random.normal(300, 5, n),
        random.random(n) * 1e-30,
        np.exp(random.normal(40, 10, n)),
        np.where(random.random(n) < 0.5, 0, random.random(n)),
        np.full(n, 0.1),
        np.append(random.integers(0, 10**6, n - 2), [65_909_673, 226_244_661]),  # counts, two of them large
    ]
    Dataset(np.column_stack(columns), np.zeros(n), np.zeros(n, int))


def test_scoring_rows_says_nothing() -> None:
    X = np.array([[float(TIME)], [TIME + 60.0], [TIME + 120.0]])
    with pytest.warns(UserWarning, match="column 'f1'"):
        data = Dataset(X, [0, 1, 2], [1, 1, 1])
    model = LinearRegression().fit(data)
    for rows in (X, X[:1], pd.DataFrame(X, columns=["f1"]), [{"f1": TIME}]):
        model.predict(rows, qid=None if isinstance(rows, list) else 0)


def test_a_copy_in_the_cache_says_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    for name, text in (("a.txt", letor_text([TIME, TIME + 1])), ("a.csv", csv_text([TIME, TIME + 1]))):
        (tmp_path / name).write_text(text)
        for _ in range(2):
            with pytest.warns(UserWarning, match=rf"{name}: float32 rounds .* column '(x|f2)'"):
                read(tmp_path / name, cache=True)


def test_pieces_of_a_table_are_told_of_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sorted times stand close together in each piece, and may still be far apart in all."""
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(table, "_LARGE", 1 << 14)
    monkeypatch.setattr(table, "memory_room", lambda: 0)
    n = 4000
    columns = {"label": np.zeros(n), "qid": np.arange(n), "wide": np.linspace(1000.1, 1900.3, n)}
    columns |= {"narrow": np.linspace(1000.1, 1000.2, n), "late": np.arange(n) + 2.0**24 - 2000}
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match="float32") as told:
        read(tmp_path / "a.parquet")
    (text,) = {str(warning.message) for warning in told}
    assert "whole numbers beyond 2^24 (16777216) in column 'late'" in text
    assert "of column 'narrow'" in text
    assert "'wide'" not in text


def test_pieces_of_a_text_are_told_of_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POMONA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(letor, "_are_beyond_memory", lambda files: True)
    monkeypatch.setattr(letor, "BYTES_A_PIECE", 1 << 12)
    monkeypatch.setattr(letor, "memory_room", lambda: 1 << 16)
    wide, narrow = np.linspace(1000.1, 1900.3, 900), np.linspace(1000.1, 1000.2, 900)
    values = enumerate(zip(wide.tolist(), narrow.tolist(), strict=True))
    lines = (f"0 qid:{k} 1:{a!r} 2:{b!r}\n" for k, (a, b) in values)
    (tmp_path / "a.txt").write_text("".join(lines))
    with pytest.warns(UserWarning, match="of column 'f2', so") as told:
        read(tmp_path / "a.txt")
    assert len(told) == 1


def test_many_columns_are_told_of_in_few_words() -> None:
    rounding = Rounding()
    times = np.tile(TIME + np.arange(4.0)[:, None], (1, 7))
    rounding.add(times, times.astype(np.float32))
    assert "in columns 'a', 'b', 'c' and 4 more:" in rounding.note(list("abcdefg"))
