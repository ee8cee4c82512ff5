"""The text files that the published tools share: labelled lines, and one score a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pomona._types import Offsets, Values
from pomona.data.dataset import gather
from pomona.errors import InputError
from pomona.measures.lists import ScoredQueries

_PERL_NUMBER = re.compile(
    rb"\s*([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan))", re.IGNORECASE
)
_JAVA_NUMBER = re.compile(rb"\s*([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN))[fFdD]?\s*")


def lines_of(path: Path | str) -> list[bytes]:
    """The lines of a file without their newlines (a last line need not have one)."""
    try:
        lines = Path(path).read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    return lines[:-1] if lines and not lines[-1] else lines


def perl_number(text: bytes) -> float:
    """What Perl makes of a text: its longest numeric prefix, or 0.

    >>> perl_number(b" 1_000"), perl_number(b"0x10"), perl_number(b".75xyz"), perl_number(b"abc")
    (1.0, 0.0, 0.75, 0.0)
    """
    match = _PERL_NUMBER.match(text)
    return float(match[1]) if match else 0.0


def java_number(text: bytes) -> float:
    """What Java's Double.parseDouble reads; ValueError where it throws.

    >>> java_number(b" -2.5 "), java_number(b"5.")
    (-2.5, 5.0)
    """
    match = _JAVA_NUMBER.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(match[1])


def scores_of(
    path: Path | str, n_docs: int, number: Callable[[bytes], float], *, skip_blank: bool = False
) -> Values:
    """The first `n_docs` scores of a file; too few, or a text that is no number, is refused."""
    lines = lines_of(path)
    scores = np.empty(n_docs)
    found = 0
    for place, line in enumerate(lines, 1):
        if found == n_docs:
            break
        if skip_blank and not line.strip():
            continue
        try:
            scores[found] = number(line)
        except ValueError:
            raise InputError(f"found {_shown(line)}, expected a number", path, place) from None
        if scores[found] != scores[found]:
            raise InputError("found NaN as a score, which has no place in a ranking", path, place)
        found += 1
    if found < n_docs:
        raise InputError(f"found {found} scores for {n_docs} documents", path)
    return scores


def _shown(line: bytes) -> str:
    text = line.decode(errors="replace")
    return repr(text if len(text) <= 40 else text[:40] + "…")


def judged_by_query(
    labels: Values, scores: Values, qids: list[bytes]
) -> tuple[ScoredQueries, list[bytes], Offsets | None]:
    """Gather rows by query: (judged documents, query ids in order of appearance, the row order)."""
    order, query_ptr, distinct = gather(np.array(qids, np.bytes_))
    if order is not None:
        labels, scores = labels[order], scores[order]
    return ScoredQueries(labels, scores, query_ptr), distinct.tolist(), order
