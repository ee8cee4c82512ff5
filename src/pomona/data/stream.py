"""A dataset that comes in pieces, some of its rows each: written to a file piece by piece, then mapped.

Features go to the disk as they come; what there is one of a document (labels, query ids, texts) stays in
memory. If the queries turn out to be scattered, or a later piece is wider than the first, the features are
copied once more, to where they belong.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._arrays import array_file, read_arrays
from pomona._machine import require_memory
from pomona._types import Features, Labels, Offsets
from pomona.data.dataset import Dataset, numbered
from pomona.data.precision import Rounding
from pomona.data.rows import gather
from pomona.data.text import TextColumn

_COLUMNS = ("doc_ids", "comments")
_NAMES = (
    *("X", "y", "query_ptr", "qids", "input_order"),
    *(f"{name}.{part}" for name in _COLUMNS for part in ("buffer", "offsets")),
)
_ROWS_A_BLOCK = 1 << 14
_ROOM_FOR_NOTE = 4000
_BYTES_A_ROW = 96  # while queries are gathered, at the most


@dataclass
class _Rows:
    """What came so far, all but the features, in the order in which it came."""

    labels: list[Labels] = field(default_factory=list)
    queries: list[Offsets] = field(default_factory=list)
    qids: list[NDArray[Any]] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    """Where the id of each query first stands in `qids`."""
    texts: dict[str, list[TextColumn | None]] = field(default_factory=lambda: {name: [] for name in _COLUMNS})
    lengths: list[int] = field(default_factory=list)
    widths: list[int] = field(default_factory=list)
    n_undefined: int | None = 0
    _numbers: dict[str, int] = field(default_factory=dict)

    def features(self, pieces: Iterable[Dataset]) -> Iterator[Features]:
        """The features of every piece, end to end, once all else of it is kept."""
        n_qids = n_docs = 0
        for piece in pieces:
            n_docs += piece.n_docs
            require_memory(
                _BYTES_A_ROW * n_docs, what=f"all but the features of more than {n_docs} documents"
            )
            numbers = np.empty(piece.n_queries, np.int64)
            for place, qid in enumerate(piece.qids.tolist()):
                numbers[place] = number = self._numbers.setdefault(str(qid), len(self._numbers))
                if number == len(self.firsts):
                    self.firsts.append(n_qids + place)
            n_qids += piece.n_queries
            self.qids.append(piece.qids)
            self.queries.append(piece.to_input_order(np.repeat(numbers, piece.query_lengths)))
            self.labels.append(piece.y)
            for name, columns in self.texts.items():
                columns.append(getattr(piece, name))
            self.lengths.append(piece.n_docs)
            self.widths.append(piece.n_features)
            known = self.n_undefined is not None and piece.n_undefined is not None
            self.n_undefined = (self.n_undefined or 0) + (piece.n_undefined or 0) if known else None
            yield piece.X.reshape(-1)

    def gathered(self) -> tuple[Offsets | None, dict[str, NDArray[Any]]]:
        """The order of the rows, None if queries stand together, and all arrays but X in it."""
        order, query_ptr, numbers = gather(np.concatenate(self.queries))
        self.queries.clear()
        are_texts = len({ids.dtype.kind for ids in self.qids}) > 1
        qids = np.concatenate([ids.astype(np.str_) if are_texts else ids for ids in self.qids])
        rows = slice(None) if order is None else order
        labels = np.concatenate(self.labels)[rows]
        arrays: dict[str, NDArray[Any]] = {"y": labels, "query_ptr": query_ptr}
        arrays["qids"] = qids[np.array(self.firsts)[numbers]]
        if order is not None:
            arrays["input_order"] = order
        for name, columns in self.texts.items():
            column = TextColumn.joined(columns, self.lengths)
            if column is not None:
                column = column if order is None else column.take(order)
                arrays[f"{name}.buffer"], arrays[f"{name}.offsets"] = column.buffer, column.offsets
        return order, arrays


def write_stream(
    path: Path,
    kind: str,
    facts: dict[str, Any],
    pieces: Iterable[Dataset],
    undefined: float,
    rounding: Rounding,
) -> None:
    """Write the pieces as one file of `kind`, as if their rows had been read at once.

    facts : the header of the file, to which the number of undefined values is added.
    rounding : has been told by the pieces, once they are written, what float32 changes.
    undefined : the value of features that a piece has no column for.
    """
    came = path.with_name(f"{path.stem}.{secrets.token_hex(4)}.came")
    rows = _Rows()
    header = {**facts, "n_undefined": None, "categories": {}, "rounding": " " * _ROOM_FOR_NOTE}
    try:
        with array_file(came, kind, header, _NAMES) as file:
            file.write("X", rows.features(pieces))
            order, arrays = rows.gathered()
            width, is_whole = max(rows.widths), order is None and len(set(rows.widths)) == 1
            if rows.n_undefined is not None:
                missing = sum(n * (width - w) for n, w in zip(rows.lengths, rows.widths, strict=True))
                header["n_undefined"] = rows.n_undefined + missing
            note = rounding.note(facts["feature_names"] or numbered(width))
            header["rounding"] = (
                note if len(json.dumps(note)) <= _ROOM_FOR_NOTE else note[: _ROOM_FOR_NOTE // 8]
            )
            if is_whole:
                file.entries[0]["shape"] = [sum(rows.lengths), width]
                for name, array in arrays.items():
                    file.write(name, [array])
        if is_whole:
            came.replace(path)
            return
        values = read_arrays(came, kind, mapped=True)[1]["X"]
        with array_file(path, kind, header, _NAMES, follows_links=False) as file:
            file.write("X", _blocks(values, rows.lengths, rows.widths, order, np.float32(undefined)))
            for name, array in arrays.items():
                file.write(name, [array])
    finally:
        came.unlink(missing_ok=True)


def _blocks(
    values: Features,
    lengths: Sequence[int],
    widths: Sequence[int],
    order: Offsets | None,
    undefined: np.float32,
) -> Iterator[Features]:
    """The rows of pieces of these lengths and widths, whose values lie end to end, in this order."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    ends = np.cumsum([n * width for n, width in zip(lengths, widths, strict=True)])
    parts = [
        part.reshape(n, width)
        for part, n, width in zip(np.split(values, ends[:-1]), lengths, widths, strict=True)
    ]
    n_rows = int(starts[-1])
    for first in range(0, n_rows, _ROWS_A_BLOCK):
        last = min(first + _ROWS_A_BLOCK, n_rows)
        wanted = np.arange(first, last) if order is None else order[first:last]
        block = np.full((last - first, max(widths)), undefined, np.float32)
        piece = np.searchsorted(starts, wanted, side="right") - 1
        for p in np.unique(piece).tolist():
            here = piece == p
            block[here, : widths[p]] = parts[p][wanted[here] - starts[p]]
        yield block
