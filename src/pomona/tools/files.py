"""The text files that the published tools share: labelled lines, and one score a line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pomona._machine import require_memory
from pomona._types import Values
from pomona.data.compression import read_bytes
from pomona.data.rows import gather
from pomona.errors import InputError
from pomona.measures.lists import ScoredQueries

_BYTES_A_LINE = 400  # the line, its parts and its numbers as Python's objects
_PERL_NUMBER = re.compile(
    rb"\s*([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf(?:inity)?|nan))", re.IGNORECASE
)
_JAVA_NUMBER = re.compile(rb"\s*([+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN))[fFdD]?\s*")


def lines_of(path: Path | str) -> list[bytes]:
    """The lines of a file, plain or compressed, without their newlines (a last line need not have one)."""
    text = read_bytes(Path(path))
    require_memory(len(text) + _BYTES_A_LINE * text.count(b"\n"), path)
    lines = text.split(b"\n")
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


def head(line: bytes, path: Path | str, place: int) -> tuple[bytes, bytes]:
    """The label and the query id that begin a line."""
    parts = line.split(None, 2)
    if len(parts) < 2 or not parts[1].startswith(b"qid:"):
        raise InputError("expected 'LABEL qid:QUERY features'", path, place)
    return parts[0], parts[1][4:]


def label_of(text: bytes, number: Callable[[bytes], float], path: Path | str, place: int) -> float:
    """The label that a text stands for."""
    try:
        return number(text)
    except (ValueError, OverflowError):
        shown = repr(text.decode(errors="replace"))
        raise InputError(f"found label {shown}, expected a number", path, place) from None


def scores_of(
    path: Path | str, n_docs: int, number: Callable[[bytes], float], *, skip_blank: bool = False
) -> Values:
    """The first `n_docs` scores of a file; too few, or a text that is no number, is refused."""
    numbered = enumerate(lines_of(path), 1)
    wanted = [(place, line) for place, line in numbered if not skip_blank or line.strip()][:n_docs]
    scores = np.empty(len(wanted))
    for i, (place, line) in enumerate(wanted):
        try:
            scores[i] = number(line)
        except ValueError:
            text = line.decode(errors="replace")
            shown = repr(text if len(text) <= 40 else text[:40] + "…")
            raise InputError(f"found {shown}, expected a number", path, place) from None
        if scores[i] != scores[i]:
            raise InputError("found NaN as a score, which has no place in a ranking", path, place)
    if len(scores) < n_docs:
        raise InputError(f"found {len(scores)} scores for {n_docs} documents", path)
    return scores


def judged_by_query(labels: Values, scores: Values, qids: list[bytes]) -> tuple[ScoredQueries, list[bytes]]:
    """Gather rows by query: (judged documents, query ids in order of appearance)."""
    order, query_ptr, distinct = gather(np.array(qids, np.bytes_))
    if order is not None:
        labels, scores = labels[order], scores[order]
    return ScoredQueries(labels, scores, query_ptr), distinct.tolist()
