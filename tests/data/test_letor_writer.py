from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pomona import Dataset, PomonaError, read_letor, write_letor
from pomona.data.text import TextColumn

pytestmark = pytest.mark.filterwarnings("ignore:.*below 0", "ignore:.*float32")


def bits(values: Any) -> np.ndarray:
    """What makes -0.0 differ from 0.0 and NaN equal NaN."""
    return np.asarray(values, np.float32).view(np.uint32)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("letor") / "a.txt"


@given(
    X=hnp.arrays(np.float32, st.tuples(st.integers(1, 8), st.integers(0, 5)), elements=st.floats(width=32)),
    seed=st.integers(0, 99),
    texts=st.sampled_from(["none", "doc_ids", "comments"]),
    suffix=st.sampled_from(["", ".gz", ".bz2", ".xz", ".zst"]),
    names=st.booleans(),
)
def test_what_is_written_reads_back_the_same(
    path: Path, X: np.ndarray, seed: int, texts: str, suffix: str, names: bool
) -> None:
    random = np.random.default_rng(seed)
    queries = random.integers(0, 4, len(X))
    labels = random.choice(np.array([0, 1, 4, 0.1, -2.5e-9], np.float32), len(X))
    ids = [f"é{i}" if i % 3 else "" for i in random.integers(0, 9, len(X))]
    data = Dataset(X, labels, [f"q{q}" for q in queries] if names else queries, doc_ids=ids)
    if texts != "doc_ids":
        data.doc_ids = None
    if texts == "comments":
        data.comments = TextColumn.of([f"{i} x # y" for i in ids])
    target = path.with_suffix(suffix or ".txt")
    write_letor(data, target)
    back = read_letor(target)
    assert np.array_equal(bits(back.X)[~np.isnan(back.X)], bits(data.X)[~np.isnan(data.X)])
    assert np.array_equal(np.isnan(back.X), np.isnan(data.X))
    assert np.array_equal(bits(back.y), bits(data.y))
    assert np.array_equal(back.query_lengths, data.query_lengths)
    assert np.array_equal(back.qids, data.qids)
    assert back.qids.dtype.kind == data.qids.dtype.kind
    assert (back.input_order is None) == (data.input_order is None)
    assert back.input_order is None or np.array_equal(back.input_order, data.input_order)
    if texts == "doc_ids" and any(ids):
        assert back.doc_ids == data.doc_ids
    if texts == "comments":
        assert list(back.comments or ()) == [text.strip() for text in data.comments or ()]


def test_numbers_are_written_short(path: Path) -> None:
    values = [
        0,
        -0.0,
        1,
        -3,
        0.1,
        0.25,
        123456.5,
        16777216,
        999999936,
        1e9,
        3.4028235e38,
        1e-5,
        1.5e-6,
        1e-45,
        1 / 3,
    ]
    write_letor(Dataset([values], [0.5], [1]), path)
    assert [token.split(":")[1] for token in path.read_text().split()[2:]] == (
        "0 -0 1 -3 0.1 0.25 123456.5 16777216 999999936 1e9 3.4028235e38 0.00001 1.5e-6 1e-45 0.33333334"
    ).split()
    assert path.read_text().startswith("0.5 qid:1 1:0 2:-0 ")


@pytest.mark.parametrize(
    ("qid", "doc_id", "message"),
    [
        ("a b", "x", "query id 'a b' cannot be written: it holds b' '"),
        ("a#b", "x", "query id 'a#b' cannot be written: it holds b'#'"),
        ("a\x01", "x", r"query id 'a\\x01' cannot be written"),
        ("", "x", "a query id is empty or longer than 255 bytes"),
        ("x" * 256, "x", "a query id is empty or longer than 255 bytes"),
        ("a", "d\n1", r"document id 'd\\n1' cannot be written"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, qid: str, doc_id: str, message: str) -> None:
    data = Dataset([[1], [2]], [0, 1], ["1", qid], doc_ids=["a", doc_id])
    with pytest.raises(PomonaError, match=message):
        write_letor(data, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_comments_of_several_lines_and_labels_that_are_no_numbers_are_refused(tmp_path: Path) -> None:
    data = Dataset([[1]], [0], [1])
    data.comments = TextColumn.of(["a\nb"])
    with pytest.raises(PomonaError, match="comment 'a\\\\nb' cannot be written"):
        write_letor(data, tmp_path / "a")
    data = Dataset([[1]], [0], [1])
    data.y[0] = np.inf
    with pytest.raises(PomonaError, match="a label is not finite"):
        write_letor(data, tmp_path / "a")


@pytest.mark.parametrize("value", ["a.txt", [[1.0]], None])
def test_what_is_no_dataset_is_refused(value, tmp_path):
    with pytest.raises(PomonaError, match=r"write_letor\(data, path\) expects a Dataset first, found"):
        write_letor(value, tmp_path / "a.txt")
