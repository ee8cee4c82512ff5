"""Protocol buffers, written: enough of the wire format for ONNX, whose messages are numbered fields."""

from __future__ import annotations

from collections.abc import Iterable


def varint(number: int) -> bytes:
    """A whole number, seven bits a byte; negative ones as 64 bits.

    >>> varint(300).hex()
    'ac02'
    """
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def integer(field: int, number: int) -> bytes:
    """A field that holds a whole number."""
    return varint(field << 3) + varint(number)


def content(field: int, value: bytes | str) -> bytes:
    """A field that holds bytes, a text or another message."""
    raw = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(raw)) + raw


def integers(field: int, numbers: Iterable[int]) -> bytes:
    """A field that holds many whole numbers in one piece."""
    return content(field, b"".join(map(varint, numbers)))
