"""Judgment lists, as people keep them beside a search engine: a label for a query and a document.

Quepid      CSV with the columns query, docid and rating (other common names are known), empty = not rated
TREC qrels  `qid iteration docno judgment`, negative = not judged
plugin      `4 qid:1 # 7555 rambo`: label, query, and the document first in the comment
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pomona._machine import require_memory
from pomona.data.compression import read_bytes
from pomona.data.text import is_number
from pomona.data.trec import parse_qrels
from pomona.errors import InputError

QUERY_COLUMNS = ("query", "querytext", "qid", "queryid")
DOCUMENT_COLUMNS = ("docid", "documentid", "docno", "doc", "id")
LABEL_COLUMNS = ("rating", "grade", "label", "relevance", "judgment", "judgement")
_PLUGIN_LINE = re.compile(r"(\S+)\s+qid:(\S+)\s*#\s*(\S+)")
_BYTES_A_BYTE = 12  # of text, in memory as Python's objects


@dataclass(frozen=True, slots=True)
class Judgments:
    """Labels by (query, document), and how many pairs were listed without one."""

    file: str
    labels: dict[tuple[str, str], float]
    n_unrated: int


def read_judgments(path: str | os.PathLike[str]) -> Judgments:
    """Read a judgment list of any of these kinds, known by its first line, plain or compressed."""
    content = read_bytes(Path(path))
    require_memory(_BYTES_A_BYTE * len(content), path)
    return parse_judgments(content, os.fspath(path))


def parse_judgments(content: bytes, file: str = "judgments") -> Judgments:
    """Take a judgment list from bytes.

    >>> parse_judgments(b"query,docid,rating\\nstar wars,11,3\\nstar wars,12,\\n")
    Judgments(file='judgments', labels={('star wars', '11'): 3.0}, n_unrated=1)
    >>> parse_judgments(b"# grade, query, document\\n4 qid:1 # 7555 rambo\\n").labels
    {('1', '7555'): 4.0}
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot be read as text: {error}", file) from None
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    first = next(lines, None)
    if first is None:
        raise InputError("found no judgment", file)
    if _PLUGIN_LINE.match(first):
        rows = _of_plugin(text, file)
    elif len(first.split()) == 4 and _is_finite(first.split()[3]):
        rows = _of_qrels(content, file)
    else:
        rows = _of_table(text, file)
    labels: dict[tuple[str, str], float] = {}
    n_unrated = 0
    for line, query, document, label in rows:
        if label is None:
            n_unrated += 1
        elif labels.setdefault((query, document), label) != label:
            both = f"{labels[query, document]:g} and {label:g}"
            raise InputError(f"document {document!r} of query {query!r} is judged {both}", file, line)
    return Judgments(file, labels, n_unrated)


Rows = Iterator[tuple[int, str, str, float | None]]


def _of_plugin(text: str, file: str) -> Rows:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if (match := _PLUGIN_LINE.match(line)) is None:
            raise InputError(f"found {line[:60]!r}, expected `label qid:query # document`", file, number)
        yield number, match[2], match[3], _label(match[1], file, number)


def _of_qrels(content: bytes, file: str) -> Rows:
    qrels = parse_qrels(content, file)
    if (found := qrels.cut_short) is not None:
        raise InputError(
            f"found the judgment {found.text}, expected a whole number in qrels", file, found.line
        )
    for query, qid in enumerate(qrels.qids):
        for document, label in qrels.judgments(query).items():
            yield 0, _text(qid), _text(document), None if label < 0 else float(label)


def _text(identity: bytes) -> str:
    return identity.decode(errors="surrogateescape")


def _of_table(text: str, file: str) -> Rows:
    head = text.partition("\n")[0]
    delimiter = "\t" if "\t" in head else ";" if ";" in head and "," not in head else ","
    reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter)
    names = [plain_column(name) for name in next(reader)]
    wanted = (QUERY_COLUMNS, DOCUMENT_COLUMNS, LABEL_COLUMNS)
    places = [next((names.index(name) for name in known if name in names), None) for known in wanted]
    if None in places:
        missing = wanted[places.index(None)]
        raise InputError(
            f"found the columns {head.strip()[:80]!r}, expected one called {' or '.join(missing)}: name the "
            "columns query, docid, rating, or give TREC qrels",
            file,
            1,
        )
    query, document, label = (place for place in places if place is not None)
    for row in reader:
        if not row:
            continue
        if len(row) <= max(query, document, label):
            raise InputError(f"found {len(row)} cells, expected {len(names)}", file, reader.line_num)
        given = row[label].strip()
        value = _label(given, file, reader.line_num) if given else None
        pair = row[query].strip(), row[document].strip()
        if not all(pair):
            absent = "document" if pair[0] else "query"
            raise InputError(f"found no {absent}, expected a label for both", file, reader.line_num)
        yield reader.line_num, *pair, value


def plain_column(name: str) -> str:
    """A column's name without case, blanks and marks: `Doc ID` and `doc_id` are one."""
    return re.sub(r"[\W_]", "", name.lower())


def _label(text: str, file: str, line: int) -> float:
    if not _is_finite(text):
        raise InputError(f"found the judgment {text[:40]!r}, expected a number", file, line)
    return float(text)


def _is_finite(text: str) -> bool:
    return is_number(text) and math.isfinite(float(text))
