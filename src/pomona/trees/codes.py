"""Codes: the bins of documents, one byte each, as growing trees reads them.

Features of few values share a byte, 2 × 2 × 9 × 7 values say: its histogram is one of the values together,
which costs one addition a document, and sums over it are the histograms of each. Constant features have none.

Bytes are stored in blocks of up to 64, row after row inside a block: a row is one cache line, eight bytes
come with one load, and the histogram of a block stays in the cache while the rows stream by.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel
from pomona._scratch import large_zeros
from pomona.trees.lanes import N_CUTS, n_below

BLOCK_WIDTH = 64
"""Bytes of a row in a block, a cache line: 0.51 ns an update on all rows and 0.57 on a tenth of them, where
rows of 32 bytes took 0.61, and 0.76 when they were not aligned to cache lines."""

BLOCK = np.dtype(
    [
        ("word", np.int64),
        ("stride", np.int64),
        ("n_words", np.int64),
        ("first_byte", np.int32),
        ("last_byte", np.int32),
    ],
    align=True,
)
"""Where a block's rows are: document i's are the `n_words` 64-bit words from `word + i * stride` on."""

BYTE = np.dtype([("first_seat", np.int32), ("last_seat", np.int32), ("n_codes", np.int32)])
"""A byte of every row: the seats of its features, and how many values it can take."""

SEAT = np.dtype([("feature", np.int32), ("byte", np.int32), ("radix", np.int32), ("n_bins", np.int32)])
"""A feature's share of a byte, `code · radix`: a product of the bins of those before it."""

_TILE = 64  # rows whose codes are found together: their features are read once from memory


@kernel
def encode(first, last, X, row, places, ladder, seats, blocks, out_columns, out_blocks):
    """X has the documents from `row` on, or those that belong to `places`, unless that is empty.

    ladder (n_features, 256) cut points, +inf behind the last · out_columns (n_features, n_docs).
    """
    at, pivots = np.empty(_TILE, np.uint64), np.empty(N_CUTS, np.float32)
    for top in range(first, last, _TILE):
        n = min(_TILE, last - top)
        for k in range(n):
            at[k] = places[top + k] if places.size else row + top + k
        for s in range(seats.size):
            seat = seats[s]
            f, last_code, radix = seat["feature"], seat["n_bins"] - 1, np.uint8(seat["radix"])
            cuts, block = ladder[f], blocks[seat["byte"] // BLOCK_WIDTH]
            start = np.uint64(block["word"] * 8 + seat["byte"] % BLOCK_WIDTH)
            stride = np.uint64(block["stride"] * 8)
            for group in range(N_CUTS):
                pivots[group] = cuts[(group + 1) * N_CUTS - 1]
            for k in range(n):
                x = X[top + k, f]
                # Sixteen cut points at a time, first the last of each sixteen: the last of all is infinity.
                code = n_below(pivots, np.uint64(0), x) * np.uint64(N_CUTS)
                code += n_below(cuts, code, x)
                stored = np.uint8(last_code if x != x else code)
                out_columns[f, at[k]] = stored
                out_blocks[start + at[k] * stride] += stored * radix


@dataclass(frozen=True)
class Codes:
    """The bins of documents, one byte each: by feature to divide nodes, in blocks to add up histograms.

    Both, because dividing a node reads one feature: from a column, which stays in the cache, that is several
    times faster than from rows that lie 32 bytes apart.
    """

    columns: NDArray[np.uint8]
    """(n_features, n_docs)"""
    words: NDArray[np.uint64]
    """All blocks end to end, eight codes to a word."""
    block_table: NDArray[np.void]
    """(n_blocks,) BLOCK"""
    byte_table: NDArray[np.void]
    """(n_bytes,) BYTE"""
    seats: NDArray[np.void]
    """(features that are not constant,) SEAT, byte after byte"""

    @classmethod
    def zeros(cls, n_docs: int, n_bins: NDArray[np.int32]) -> Codes:
        """Zero codes for so many documents: the padding behind the last bytes stays zero."""
        byte_table, seats = _seated(n_bins)
        n_bytes = len(byte_table)
        table = np.zeros(-(-n_bytes // BLOCK_WIDTH), BLOCK)
        table["first_byte"] = np.arange(len(table)) * BLOCK_WIDTH
        table["last_byte"] = np.minimum(table["first_byte"] + BLOCK_WIDTH, n_bytes)
        table["n_words"] = -(-(table["last_byte"] - table["first_byte"]) // 8)
        # A power of two: no row lies across two cache lines.
        table["stride"] = [1 << (int(n) - 1).bit_length() for n in table["n_words"]]
        # Behind a block, up to the next cache line.
        sizes = -(-table["stride"] * n_docs // 8) * 8
        table["word"] = np.cumsum(sizes) - sizes
        n_words = int(sizes.sum()) + 8
        both = 8 * n_words + len(n_bins) * n_docs
        room = large_zeros(n_words, np.uint64, both)
        aligned = room[-room.ctypes.data % 64 // 8 :][: len(room) - 8]
        return cls(large_zeros((len(n_bins), n_docs), np.uint8, both), aligned, table, byte_table, seats)

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        return len(self.columns[0]) if len(self.columns) else 0

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.columns)

    @property
    def blocks(self) -> list[NDArray[np.uint8]]:
        """The bytes as one (n_docs, width) array a block."""
        n = self.n_docs
        parts = [(int(block["word"]), int(block["stride"])) for block in self.block_table]
        return [self.words[at : at + n * w].view(np.uint8).reshape(n, w * 8) for at, w in parts]


def _seated(n_bins: NDArray[np.int32]) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Bytes and seats of features with so many bins: each goes to the first byte that still has room for it.

    >>> byte_table, seats = _seated(np.array([2, 255, 1, 9, 31], np.int32))
    >>> byte_table["n_codes"].tolist(), seats["feature"].tolist(), seats["radix"].tolist()
    ([255, 62, 9], [1, 4, 0, 3], [1, 1, 31, 1])
    """
    features = [f for f in np.argsort(-n_bins, kind="stable").tolist() if n_bins[f] > 1]
    sizes: list[int] = []
    byte_of, radix = [], []
    # Bytes by how often their values still fit into 256, where that is more than once; each list is a heap.
    with_room: dict[int, list[int]] = {}
    for n in n_bins[features].tolist():
        byte = min((bytes_[0] for room, bytes_ in with_room.items() if room >= n), default=len(sizes))
        if byte == len(sizes):
            sizes.append(1)
        else:
            room = 256 // sizes[byte]
            heapq.heappop(with_room[room])
            if not with_room[room]:
                del with_room[room]
        byte_of.append(byte)
        radix.append(sizes[byte])
        sizes[byte] *= n
        if (room := 256 // sizes[byte]) > 1:
            heapq.heappush(with_room.setdefault(room, []), byte)
    order = np.argsort(np.array(byte_of, np.int64), kind="stable")
    byte_table = np.zeros(len(sizes), BYTE)
    byte_table["n_codes"] = sizes
    byte_table["last_seat"] = np.cumsum(np.bincount(np.array(byte_of, np.int64), minlength=len(sizes)))
    byte_table["first_seat"][1:] = byte_table["last_seat"][:-1]
    seats = np.zeros(len(features), SEAT)
    seats["feature"] = np.array(features, np.int64)[order]
    seats["byte"] = np.array(byte_of, np.int64)[order]
    seats["radix"] = np.array(radix, np.int64)[order]
    seats["n_bins"] = n_bins[seats["feature"]]
    return byte_table, seats
