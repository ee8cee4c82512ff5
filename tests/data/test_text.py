import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pomona.data.text import TextColumn, offsets

texts = st.lists(st.text(max_size=6), max_size=8)


@given(texts)
def test_packing_keeps_every_text(words):
    column = TextColumn.of(words)
    assert list(column) == words
    assert [column[i - len(words)] for i in range(len(words))] == words
    assert column.to_bytes() == [word.encode() for word in words]


@given(texts.filter(bool), st.data())
def test_taking_rows_is_taking_from_the_list(words, data):
    rows = data.draw(st.lists(st.integers(0, len(words) - 1), max_size=8))
    assert list(TextColumn.of(words).take(np.array(rows, np.int64))) == [words[i] for i in rows]


def test_equality_looks_at_the_texts_not_at_where_they_are_stored():
    whole = TextColumn.of(["a", "bc", "d"])
    tail = TextColumn(whole.buffer, whole.offsets[1:])
    assert tail == TextColumn.of(["bc", "d"])
    assert tail != TextColumn.of(["b", "cd"])
    assert whole[1:] == tail
    assert whole != ["a", "bc", "d"]


def test_packing_a_column_again_copies_nothing():
    column = TextColumn.of(["a"])
    assert TextColumn.of(column) is column


def test_it_survives_a_trip_to_another_process():
    column = TextColumn.of(["GX01", "ünï"])
    assert pickle.loads(pickle.dumps(column)) == column


def test_it_prints_its_first_texts():
    assert repr(TextColumn.of(["a", "b", "c", "d"])) == "TextColumn(['a', 'b', 'c', …], 4 texts)"


def test_offsets():
    assert offsets([2, 0, 3]).tolist() == [0, 2, 2, 5]
    assert offsets([]).tolist() == [0]


def test_columns_are_joined_and_one_without_texts_has_empty_ones():
    one, two = TextColumn.of(["a", "bc"]), TextColumn.of(["x", "yz", "d"])[1:]
    joined = TextColumn.joined([one, None, two], [2, 2, 2])
    assert list(joined) == ["a", "bc", "", "", "yz", "d"]
    assert TextColumn.joined([None, None], [1, 2]) is None
