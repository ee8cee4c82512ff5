"""A model file of another trainer, known by its content whatever it is called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pomona import _registry
from pomona._machine import require_memory
from pomona.data.compression import read_bytes
from pomona.errors import InputError, PomonaError
from pomona.trees.readers.reader import ReadModel
from pomona.trees.readers.ubjson import looks_like_ubjson, read_ubjson

_BYTES_A_BYTE = 30  # what JSON becomes in Python's lists, at the most: a test measures
_KNOWN = "Pomona's own file, or a model of LightGBM, XGBoost, CatBoost or RankLib"
# Files that hold models, but not in a form that is read.
_SIGNATURES = {
    b"CBM1": 'CatBoost\'s binary model: save it again with save_model(path, format="json")',
    b"binf": "XGBoost's old binary model: load it in XGBoost and save it as .json or .ubj",
    b"\x80": "a pickle, which could run anything: save the model in its trainer's own format",
    b"PK\x03\x04": "a zip archive: give the model file in it",
}
_BAD = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def read_model_file(path: Path) -> ReadModel:
    """The model in a file; one line tells why it cannot be read."""
    content = read_bytes(path)
    for signature, what in _SIGNATURES.items():
        if content.startswith(signature):
            raise InputError(f"is {what}", path)
    require_memory(_BYTES_A_BYTE * len(content), path, "the model in it")
    try:
        return read_content(content)
    except PomonaError as error:
        raise InputError(str(error), path) from None
    except _BAD as error:
        reason = " ".join(f"{type(error).__name__} {error}".split())[:160]
        raise InputError(f"the model in it is damaged ({reason})", path) from None


def read_content(content: bytes) -> ReadModel:
    """The model in the bytes of a file."""
    parsed = _parsed(content)
    for entry in _registry.entries("trees/readers").values():
        reader = entry.load()()
        if reader.recognizes(parsed):
            read: ReadModel = reader.read(parsed)
            return read
    shown = content[:20].decode(errors="replace")
    raise InputError(f"found a file that begins with {shown!r}, expected {_KNOWN}")


def _parsed(content: bytes) -> Any:
    """What JSON of either form holds, or the text."""
    if looks_like_ubjson(content):
        return read_ubjson(content)
    start = content[:200].lstrip()
    if start[:1] in (b"{", b"["):
        try:
            return json.loads(content)
        except json.JSONDecodeError as error:
            raise InputError(f"is no JSON: line {error.lineno}: {error.msg}") from None
    return content.decode("utf-8", errors="replace")
