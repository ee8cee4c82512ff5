"""LETOR texts, from well-formed to noise: read as the plain reader does, or refused at the same place."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fuzz.target import damaged
from pomona import read_letor
from pomona.data._letor_kernels import LARGEST_FEATURE_ID
from pomona.errors import InputError, PomonaError
from reference import letor as reference

N_SMALL = 300
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")
_VALUES = (
    "0",
    "1",
    "-0",
    "NULL",
    "NaN",
    "+inf",
    "-Infinity",
    "0.000000",
    "1.",
    ".5",
    "1E+05",
    "1e39",
    "x",
    "",
)
_COMMENTS = ("", "# docid = a b", "# d 1:1", "#", "#docid=ä 99:1")


def bits(values: object) -> np.ndarray:
    """What makes -0.0 differ from 0.0 and NaN equal NaN."""
    return np.asarray(values, np.float32).view(np.uint32)


def check_against_reference(path: Path, text: bytes, undefined: float) -> str:
    """Read a text as the reference does; whether it was `read` or `refused`."""
    path.write_bytes(text)
    try:
        expected, place = reference.parse(text, LARGEST_FEATURE_ID), None
    except reference.RefusedError as refused:
        expected, place = reference.Parsed(), (refused.line, refused.column)
    table, order = expected.table(undefined), expected.order()
    if table.shape[1] > 10_000:  # right, but slow
        return "too wide"
    try:
        data = read_letor(path, undefined=undefined)
    except PomonaError as error:
        return _refused(error, text, place, expected)
    assert place is None, f"read, but the reference refuses it at {place}"
    assert data.X.shape == table.shape
    assert np.array_equal(bits(data.X), bits(table))
    assert np.array_equal(bits(data.y), bits(expected.labels))
    data, came = data.gathered(), data.input_order
    assert np.array_equal(bits(data.X), bits(table[order]))
    assert np.array_equal(bits(data.y), bits(expected.labels)[order])
    assert data.qids.tolist() == expected.query_ids()
    assert np.diff(data.query_ptr).tolist() == [len(rows) for rows in expected.rows_by_query().values()]
    assert (list(range(len(order))) if came is None else came.tolist()) == order
    assert data.n_undefined == expected.n_undefined()
    for found, texts in ((data.comments, expected.comments), (data.doc_ids, expected.doc_ids)):
        assert (None if found is None else found.to_bytes()) == (
            [texts[i] for i in order] if any(texts) else None
        )
    return "read"


def _refused(
    error: PomonaError, text: bytes, place: tuple[int, int] | None, expected: reference.Parsed
) -> str:
    if text.startswith(COMPRESSED):  # taken for another kind of file, of which this is no whole one
        assert "cannot be read" in str(error)
    elif place is not None:
        assert isinstance(error, InputError)
        assert (error.line, error.column) == place
    else:
        assert not expected.labels, f"refused, but the reference reads it: {error}"
        assert "found no document" in str(error)
    return "refused"


class Target:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "a.txt"

    def case(self, random: np.random.Generator) -> str:
        end = random.choice(["\n", "\r\n", "\n\n"])
        text = end.join(_line(random) for _ in range(random.integers(0, 12))).encode()
        if random.random() < 0.5:
            text = damaged(text, random, b"0123 \t\n\r#:.-+eqid_N\xff\x00\x0b")
        return check_against_reference(self._path, text, random.choice([0.0, np.nan, -1.5]))


def _value(random: np.random.Generator) -> str:
    kind = random.integers(12)
    if kind == 0 and random.random() < 0.3:
        return str(random.choice(_VALUES))
    if kind == 1:
        return repr(float(np.frombuffer(random.bytes(8), np.float64)[0]))
    if kind == 2:
        return f"{random.integers(10**9)}{random.integers(10**18)}e{random.integers(-70, 70)}"
    return f"{random.standard_normal():.{random.integers(0, 20)}f}"


def _line(random: np.random.Generator) -> str:
    ids = (
        random.integers(1, 13, random.integers(7)) if random.random() < 0.1 else random.permutation(9)[:4] + 1
    )
    if random.random() < 0.7:
        ids = np.unique(ids)
    label = str(random.integers(5)) if random.random() < 0.97 else _value(random)
    query = random.choice(["1", "2", "-3", "a", "007", "größe", "9223372036854775808"])
    words = [label, f"qid:{query}", *(f"{i}:{_value(random)}" for i in ids), str(random.choice(_COMMENTS))]
    return str(random.choice([" ", "\t", "  "])).join(words)
