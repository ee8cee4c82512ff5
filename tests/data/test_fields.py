"""Fields of text files: the same cuts and numbers as a loop over lines would give."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pomona.data import fields
from pomona.data.fields import Layout, atof, atol, columns, group, integers, reals
from pomona.errors import InputError

PAIR = Layout("name number", (0, 1), more_allowed=True, blank_allowed=True)


def cut(text, layout=PAIR, *, comments=False):
    return [column.texts(0, len(column)) for column in columns(text, "f.txt", layout, comments=comments)]


# Every kind of white space that C knows, next to bytes that it does not count as such.
tokens = st.text(alphabet="ab1.-\x01\x1c\x85é", min_size=1, max_size=9).map(str.encode)
spaces = st.text(alphabet=" \t\v\f\r", min_size=1, max_size=3).map(str.encode)
lines = st.lists(
    st.tuples(tokens, spaces, tokens, spaces, st.lists(tokens, max_size=2)), min_size=1, max_size=20
)


@given(lines, st.booleans(), st.integers(1, 40))
def test_cuts_as_line_by_line(lines, newline_at_end, chunk):
    text = b"\n".join(a + space + b + tail + b" ".join(more) for a, space, b, tail, more in lines)
    text += b"\n" if newline_at_end else b""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fields, "_CHUNK", chunk)
        names, values = cut(text)
    assert names == [line[0] for line in lines]
    assert values == [line[2] for line in lines]


def test_blank_lines_and_comments():
    text = b"\n  \r\na 1\n # b 2\n#c\nd 3 rest of it\n"
    assert cut(text.replace(b"#c\n", b""), comments=False)[0] == [b"a", b"#", b"d"]
    assert cut(text, comments=True) == [[b"a", b"d"], [b"1", b"3"]]


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        (b"a 1\nb\n", PAIR, "f.txt:2: found 1 fields, expected 2: name number"),
        (
            b"a 1\n\n",
            Layout("name number", (0,), True, False),
            "f.txt:2: found a blank line, expected 2: name number",
        ),
        (
            b"a 1 x",
            Layout("name number", (0,), False, True),
            "f.txt:1: found 3 fields, expected 2: name number",
        ),
        (b"a 1\nb\0 2\n", PAIR, "f.txt:2: found a NUL byte, expected text"),
        (b"", PAIR, "f.txt: the file holds no line of the form: name number"),
        (b"\n\n", PAIR, "f.txt: the file holds no line of the form: name number"),
    ],
)
def test_refusals(text, layout, message):
    with pytest.raises(InputError) as error:
        columns(text, "f.txt", layout, comments=False)
    assert str(error.value) == message


def test_the_line_of_a_wrong_one_in_a_later_chunk(monkeypatch):
    monkeypatch.setattr(fields, "_CHUNK", 4)
    with pytest.raises(InputError, match=r"^f.txt:7: "):
        columns(b"a 1\n" * 6 + b"b\n", "f.txt", PAIR, comments=False)


def test_columns_know_their_lines():
    (names, _) = columns(b"a 1\n\nb 2\nc 3", "f.txt", PAIR, comments=False)
    assert [names.line(row) for row in range(3)] == [1, 3, 4]
    assert names.take(np.array([2, 0])).texts(0, 2) == [b"c", b"a"]


@given(st.lists(st.sampled_from([b"1", b"10", b"9", b"q" * 40, b"q" * 40 + b"a"]), min_size=1, max_size=30))
def test_groups_in_byte_order_keep_the_file_order_within(qids):
    column = columns(b"\n".join(qid + b" x" for qid in qids), "f", PAIR, comments=False)[0]
    ids, ptr, order = group(column)
    rows = np.arange(len(qids)) if order is None else order
    assert list(ids) == sorted(set(qids))
    for query, qid in enumerate(ids):
        expected = [row for row, other in enumerate(qids) if other == qid]
        assert rows[ptr[query] : ptr[query + 1]].tolist() == expected


NUMBERS = {
    b"0": 0.0,
    b"-2.5": -2.5,
    b"00012.50": 12.5,
    b"+0.25": 0.25,
    b".75": 0.75,
    b"5.": 5.0,
    b"1E0": 1.0,
    b"1e": 1.0,
    b"1e+": 1.0,
    b"1e400": float("inf"),
    b"-": 0.0,
    b"abc": 0.0,
    b"1_000": 1.0,
    b"1,5": 1.0,
    b"0x10": 16.0,
    b"-0x1.8p1": -3.0,
    b"0x": 0.0,
    b"0x1p9999": float("inf"),
    b"-0x1p9999": float("-inf"),
    b"Infinity": float("inf"),
    b"-inf": float("-inf"),
    b"0." + b"1" * 60: 0.1111111111111111,
}


def test_numbers_as_atof():
    assert {text: atof(text) for text in NUMBERS} == NUMBERS
    column = columns(b"\n".join(b"a " + text for text in NUMBERS), "f", PAIR, comments=False)[1]
    assert reals(column).tolist() == list(NUMBERS.values())


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_plain_numbers_to_the_last_bit(values):
    column = columns("\n".join(f"a {value!r}" for value in values).encode(), "f", PAIR, comments=False)[1]
    assert reals(column).tolist() == values


def test_numbers_as_atol():
    spellings = {
        b"1": 1,
        b"-1": -1,
        b"+2": 2,
        b"1.7": 1,
        b"0x10": 0,
        b"x": 0,
        b"9" * 30: 2**63 - 1,
        b"-" + b"9" * 30: -(2**63),
    }
    assert {text: atol(text) for text in spellings} == spellings
    column = columns(b"\n".join(b"a " + text for text in spellings), "f", PAIR, comments=False)[1]
    assert integers(column).tolist() == list(spellings.values())
