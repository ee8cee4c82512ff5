from pomona.trees.formats.protobuf import content, integer, integers, varint


def test_by_hand():
    """The examples of the protocol buffers' own documentation."""
    assert integer(1, 150) == bytes([0x08, 0x96, 0x01])
    assert content(2, "testing") == b"\x12\x07testing"
    assert integers(6, [3, 270, 86942]) == bytes([0x32, 0x06, 0x03, 0x8E, 0x02, 0x9E, 0xA7, 0x05])
    assert varint(-1) == b"\xff" * 9 + b"\x01"
