"""UBJSON, the binary JSON that XGBoost writes: big-endian, arrays of one type in one piece."""

from __future__ import annotations

from typing import Any

import numpy as np

from pomona.errors import InputError

_NUMBERS = {b"i": ">i1", b"U": ">u1", b"I": ">i2", b"l": ">i4", b"L": ">i8", b"d": ">f4", b"D": ">f8"}
_WORDS = {b"T": True, b"F": False, b"Z": None, b"N": None}
_DEEPEST = 100


def looks_like_ubjson(content: bytes) -> bool:
    """Whether an object begins here whose first key has its length in binary."""
    return content[:1] == b"{" and content[1:2] in (b"L", b"l", b"i", b"U", b"I") and b"\0" in content[:10]


def read_ubjson(content: bytes) -> Any:
    """What the bytes hold, arrays of numbers as NumPy's; never more than is there.

    >>> read_ubjson(b"{i\\x01a[$U#i\\x02\\x07\\x08}")
    {'a': array([7, 8], dtype=uint8)}
    """
    return _Cursor(content).value(0)


class _Cursor:
    def __init__(self, content: bytes) -> None:
        self._content, self._at = content, 0

    def _take(self, size: int) -> bytes:
        if size < 0 or size > len(self._content) - self._at:
            raise InputError(f"the file is cut short, or damaged at byte {self._at}")
        self._at += size
        return self._content[self._at - size : self._at]

    def _peek(self) -> bytes:
        return self._content[self._at : self._at + 1]

    def _length(self) -> int:
        kind = self._take(1)
        if kind not in _NUMBERS or kind in b"dD":
            raise InputError(f"found {kind!r} at byte {self._at}, expected a length")
        return int(self._number(kind))

    def _number(self, kind: bytes) -> Any:
        dtype = np.dtype(_NUMBERS[kind])
        return np.frombuffer(self._take(dtype.itemsize), dtype)[0].item()

    def value(self, depth: int, kind: bytes | None = None) -> Any:
        """The next value; `kind` where it is known already."""
        kind = self._take(1) if kind is None else kind
        if depth > _DEEPEST:
            raise InputError("the file is nested too deeply")
        if kind in _NUMBERS:
            return self._number(kind)
        if kind in _WORDS:
            return _WORDS[kind]
        if kind in (b"S", b"H", b"C"):
            return self._take(1 if kind == b"C" else self._length()).decode()
        if kind == b"[":
            return self._array(depth)
        if kind == b"{":
            return self._object(depth)
        raise InputError(f"found {kind!r} at byte {self._at}, expected a value")

    def _container(self) -> tuple[bytes | None, int | None]:
        """The type and number of all that follows, where they are told first."""
        kind = None
        if self._peek() == b"$":
            self._take(1)
            kind = self._take(1)
        if self._peek() != b"#":
            if kind is not None:
                raise InputError(f"a typed list without a length at byte {self._at}")
            return None, None
        self._take(1)
        count = self._length()
        # Whatever an item is, it takes a byte, unless its type says all.
        if count < 0 or count > len(self._content) - self._at:
            raise InputError(f"found a list of {count} at byte {self._at}, more than the file holds")
        return kind, count

    def _array(self, depth: int) -> Any:
        kind, count = self._container()
        if kind in _NUMBERS and kind is not None and count is not None:
            dtype = np.dtype(_NUMBERS[kind])
            return np.frombuffer(self._take(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
        items: list[Any] = []
        while len(items) != count:
            if count is None and self._peek() == b"]":
                self._take(1)
                break
            items.append(self.value(depth + 1, kind))
        return items

    def _object(self, depth: int) -> dict[str, Any]:
        kind, count = self._container()
        items: dict[str, Any] = {}
        n_read = 0
        while n_read != count:
            if count is None and self._peek() == b"}":
                self._take(1)
                break
            key = self._take(self._length()).decode()
            items[key] = self.value(depth + 1, kind)
            n_read += 1
        return items
