"""Model files that nobody wrote: parts of a real one changed, under checksums that are right again."""

from __future__ import annotations

import copy
import json
import math
import struct
import zlib

import numpy as np

_HEAD = struct.Struct("<8sQI")
_DTYPES = ("<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "|u1", "<u4", "<u8", "|b1", "<U1", "<U8", "<U0")
_PLAIN = (
    *(None, True, False, -1, 0, 1, 2, 3, 64, -(2**31), 2**31 - 1, 2**31, 2**32, 2**63, 10**18, 10**400),
    *(0.5, -0.0, 1e-320, 1e20, float("nan"), float("inf"), float("-inf"), "", "x", "ndcg@10", "random"),
    *("minmax", "binary", "multinomial", "ideal", "\n", [], {}, [0], [[]], [1, "x"], {"x": 1}, ["a"] * 3),
)


def unpack(content: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """The description of a model file and its arrays."""
    _, length, _ = _HEAD.unpack(content[: _HEAD.size])
    description = json.loads(content[_HEAD.size : _HEAD.size + length])
    start = -(-(_HEAD.size + length) // 64) * 64
    arrays = {}
    for entry in description["arrays"]:
        count, dtype = math.prod(entry["shape"]), np.dtype(entry["dtype"])
        at = start + entry["offset"]
        arrays[entry["name"]] = np.frombuffer(content, dtype, count, at).reshape(entry["shape"])
    return description, arrays


def pack(
    description: dict, arrays: dict[str, np.ndarray], random: np.random.Generator | None = None
) -> bytes:
    """The file of these parts, every checksum right; with `random`, an entry says something else than is."""
    entries, blocks, offset = [], [], 0
    for name, array in arrays.items():
        block = array.tobytes()
        entry = {"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "offset": offset}
        entries.append({**entry, "checksum": zlib.crc32(block)})
        blocks.append(block + bytes(-len(block) % 64))
        offset += len(blocks[-1])
    body = b"".join(blocks)
    if random is not None and entries:
        entry = entries[random.integers(len(entries))]
        part = ("shape", "dtype", "offset", "name")[random.integers(4)]
        if part == "shape":
            entry[part] = _changed_json(entry[part], random)
        elif part == "dtype":
            entry[part] = str(random.choice([*_DTYPES, "|O", "<c16", "<M8[s]", "<U999999999", "|V8"]))
        elif part == "offset":
            entry[part] = int(random.choice([-64, 0, 64, 1, len(body), 2**40]))
        else:
            entry[part] = str(random.choice([one["name"] for one in entries]))
        try:  # the checksum of what the entry now says
            size = math.prod(entry["shape"]) * np.dtype(entry["dtype"]).itemsize
            entry["checksum"] = zlib.crc32(body[entry["offset"] : entry["offset"] + size])
        except (TypeError, ValueError, OverflowError):
            pass
    text = json.dumps({**description, "arrays": entries, "size": len(body)}).encode()
    head = _HEAD.pack(b"POMONA\x00\x01", len(text), zlib.crc32(text)) + text
    return head + bytes(-len(head) % 64) + body


def mutant(content: bytes, random: np.random.Generator) -> bytes:
    """The file with a few things changed: facts of its header, its arrays, or what it says of them."""
    description, arrays = unpack(content)
    arrays = dict(arrays)
    lies = False
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        kind = random.random()
        if kind < 0.45 or not arrays:
            description["header"]["parameters"] = _changed_json(description["header"]["parameters"], random)
        elif kind < 0.9:
            _change_arrays(arrays, random)
        else:
            lies = True
    return pack(description, arrays, random if lies else None)


def _change_arrays(arrays: dict[str, np.ndarray], random: np.random.Generator) -> None:
    name = list(arrays)[random.integers(len(arrays))]
    array, kind = arrays[name], random.integers(10)
    if kind <= 4 and array.size:
        changed = array.copy()
        at = random.integers(array.size, size=random.choice([1, 1, 2, array.size]))
        with np.errstate(all="ignore"):
            changed.reshape(-1)[at] = _values(array, len(at), random)
        arrays[name] = changed
    elif kind == 5:
        with np.errstate(all="ignore"):
            arrays[name] = array.astype(_DTYPES[random.integers(len(_DTYPES) - 1)])
    elif kind == 6:
        flat = array.reshape(-1)
        shapes = [flat[:-1], flat[:0], flat[:1], np.repeat(flat, 2), np.append(flat, flat[:1])]
        shapes += [flat[:, None], flat[None], flat[:0].reshape(0, 10**9), np.zeros((), array.dtype)]
        arrays[name] = shapes[random.integers(len(shapes))]
    elif kind == 7:
        del arrays[name]
    elif kind == 8:
        other = list(arrays)[random.integers(len(arrays))]
        arrays[name], arrays[other] = arrays[other], arrays[name]
    else:
        arrays[name] = array[random.permutation(len(array))] if array.ndim else array


def _values(array: np.ndarray, n: int, random: np.random.Generator) -> np.ndarray:
    if array.dtype.kind == "f":
        pool = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e30, 1e-30, 1e300, random.normal()]
    else:
        n_items = len(array) if array.ndim else 1
        pool = [-1, 0, 1, 2, 5, 6, n_items, -n_items, ~n_items, 127, -128, 2**31 - 1, -(2**31), 2**40]
    drawn = np.array(pool)[random.integers(len(pool), size=n)]
    return drawn.astype(array.dtype)


def _changed_json(value, random: np.random.Generator):
    """The value with one part of it, however deep, replaced, removed, repeated, nested or moved by one."""
    places = list(_places(value))
    if not places:
        return _PLAIN[random.integers(len(_PLAIN))]
    parent, key = places[random.integers(len(places))]
    kind = random.integers(8)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif kind == 2 and isinstance(parent[key], int | float):
        parent[key] += int(random.choice([-1, 1]))
    elif kind == 3 and isinstance(parent[key], list):
        parent[key] = parent[key] * int(random.choice([0, 2]))
    elif kind == 4:
        for _ in range(int(random.choice([1, 5, 250]))):
            parent[key] = [parent[key]]
    else:
        parent[key] = copy.deepcopy(_PLAIN[random.integers(len(_PLAIN))])
    return value


def _places(value):
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places(value[key])
