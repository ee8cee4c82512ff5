import pytest

from pomona.data.letor_source import BYTES_A_LINE, LetorSource
from pomona.errors import InputError


@pytest.fixture
def source(tmp_path):
    (tmp_path / "a").write_bytes(b"1 qid:1 1:1 # x\n0 qid:1 \xc3\xa4:2\r")
    (tmp_path / "b").write_bytes(b"\n2 qid:2 7:1")
    return LetorSource.read([tmp_path / "a", tmp_path / "b"])


def test_what_stands_where(source):
    text = source.text.tobytes()
    at = text.index(b"qid:1")
    assert source.token(at) == b"qid:1"
    assert source.content(at) == b"qid:1 1:1 "
    assert source.content(text.index(b"0 qid")) == b"0 qid:1 \xc3\xa4:2"  # without the end of the line
    assert [source.file_at(text.index(piece)) for piece in (b"1 qid", b"0 qid", b"2 qid")] == [0, 0, 1]


@pytest.mark.parametrize(
    ("piece", "more", "message"),
    [
        (b":2", 0, "a:2:10: found ':2', expected x"),  # a character of two bytes is one column
        (b"# x", 0, "a:1:13: found a comment, expected x"),
        (b" # x", 0, "a:1:12: found a blank, expected x"),
        (b"7:1", 0, "b:2:9: found '7:1', expected x"),
        (b"7:1", 3, "b:2:12: found the end of the line, expected x"),
    ],
)
def test_places_in_words(source, piece, more, message):
    error = source.refuse(source.text.tobytes().index(piece) + more, "x")
    assert isinstance(error, InputError)
    assert str(error).endswith(message)


def test_no_more_lines_than_there_is_room_for(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"0 qid:1\n" * 1000)
    source = LetorSource.read([tmp_path / "a"])
    for room, fits in ((1200 * BYTES_A_LINE, True), (900 * BYTES_A_LINE, False)):
        monkeypatch.setattr("pomona.data.letor_source.memory_room", lambda room=room: room)
        monkeypatch.setattr("pomona._machine.memory_room", lambda room=room: room)
        if fits:
            source.require_memory_of_lines(shortest=8)
        else:
            with pytest.raises(InputError, match=r"a: an index of its 10\d\d lines takes about"):
                source.require_memory_of_lines(shortest=8)
