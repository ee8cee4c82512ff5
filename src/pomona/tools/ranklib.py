"""RankLib's test mode (`-test F -score S -metric2T M`): the same mean lines and per-list files.

Its oddities are kept, because its numbers are compared with published ones: labels cut to integers in
NDCG and ERR but not in MAP and P, lists are runs of adjacent lines, an ideal DCG is remembered by query
id, reciprocal ranks are single-precision, and a measure without `@k` means @10 (RR: always 0).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pomona._types import Values
from pomona.data.text import offsets
from pomona.errors import InputError, UnknownNameError
from pomona.measures.judge import judge, mean_in_order
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure
from pomona.tools.files import head, java_number, label_of, lines_of, scores_of

_NAMES = {"NDCG": "ndcg", "DCG": "dcg", "ERR": "err", "MAP": "ap", "P": "p", "RR": "rr", "BEST": "best"}


def ranklib(
    features: Path | str,
    scores: Path | str,
    measures: Sequence[str] = ("ERR@10",),
    *,
    per_query: bool = False,
    max_grade: int = 4,
    qrels: Path | str | None = None,
) -> Iterator[str]:
    """The line `M on test data: x` of each measure, or with `per_query` the lines of its `-idv` file.

    `max_grade` is RankLib's `-gmax`; `qrels` its `-qrel`, a file of further judgments.
    """
    parsed = [_metric(text) for text in measures]
    lists = _read(features, scores)
    judgments = None if qrels is None else _read_qrels(qrels)
    for name, k in parsed:
        title = "MAP" if name == "MAP" else f"{'Best' if name == 'BEST' else name}@{k}"
        values = _values(lists, name, k, max_grade, judgments)
        mean = mean_in_order(values)
        if per_query:
            yield from (
                f"{title}   {qid}   {java_text(v)}" for qid, v in zip(lists.qids, values, strict=True)
            )
            yield f"{title}   all   {java_text(mean)}"
        else:
            yield f"{title} on test data: {java_text(math.floor(mean * 10000 + 0.5) / 10000)}"


def _metric(text: str) -> tuple[str, int]:
    """RankLib's name and cut-off of a measure, e.g. ('NDCG', 10)."""
    match = re.fullmatch(r"\s*(?:ranklib:)?([A-Za-z]+)\s*(?:@\s*(-?\d+))?\s*", text, re.IGNORECASE)
    name = match[1].upper() if match else text
    name = {"AP": "MAP", "MRR": "RR"}.get(name, name)
    if match is None or name not in _NAMES:
        raise UnknownNameError("RankLib measure", text, _NAMES)
    return name, int(match[2]) if match[2] else 0 if name == "RR" else 10


@dataclass(frozen=True)
class _Lists:
    judged: ScoredQueries
    qids: list[str]


def _read(features: Path | str, scores_path: Path | str) -> _Lists:
    labels: list[float] = []
    qids: list[str] = []
    starts: list[int] = []
    for place, line in enumerate(lines_of(features), 1):
        text = line.strip()
        if not text or text.startswith(b"#"):
            continue
        label_text, qid_text = head(text, features, place)
        label = label_of(label_text, java_number, features, place)
        if not 0 <= label < 32:
            raise InputError(f"found label {label:g}: RankLib takes labels from 0 to 31", features, place)
        qid = qid_text.decode(errors="replace")
        if not qids or qid != qids[-1]:
            qids.append(qid)
            starts.append(len(labels))
        labels.append(float(np.float32(label)))
    if not labels:
        raise InputError("there is no document in the file", features)
    scores = scores_of(scores_path, len(labels), java_number, skip_blank=True)
    return _Lists(ScoredQueries(np.array(labels), scores, np.array([*starts, len(labels)], np.int64)), qids)


def _values(lists: _Lists, name: str, k: int, max_grade: int, qrels: dict[str, Values] | None) -> Values:
    if name == "RR" and k <= 0:
        return np.zeros(len(lists.qids))
    cut = f"@{k}" if k > 0 else ""  # k ≤ 0 means the whole list
    arguments = f"(max_grade={max_grade})" if name == "ERR" else ""
    wanted = measure(f"ranklib:{_NAMES[name]}{arguments}{cut}")
    judged = lists.judged
    if name == "NDCG":
        judged = _with_pool(lists, [_ideal(lists, q, qrels) for q in range(len(lists.qids))])
    elif name == "MAP" and qrels is not None:
        judged = _with_pool(lists, [qrels.get(qid, np.empty(0)) for qid in lists.qids])
    return judge(judged, [wanted])[0].values


def _ideal(lists: _Lists, q: int, qrels: dict[str, Values] | None) -> Values:
    """The labels behind list q's ideal DCG: of the judgments, or of the first list with its query id."""
    qid = lists.qids[q]
    if qrels is not None and qid in qrels:
        return qrels[qid]
    begin, end = lists.judged.query_ptr[lists.qids.index(qid) :][:2]
    return lists.judged.labels[begin:end].astype(np.float64)


def _with_pool(lists: _Lists, pools: list[Values]) -> ScoredQueries:
    return replace(
        lists.judged,
        pool_labels=np.concatenate(pools),
        pool_ptr=offsets([len(pool) for pool in pools]),
    )


def _read_qrels(path: Path | str) -> dict[str, Values]:
    judgments: dict[str, list[float]] = {}
    for place, line in enumerate(lines_of(path), 1):
        parts = line.split()
        if not parts:
            continue
        try:
            judgments.setdefault(parts[0].decode(), []).append(float(int(float(parts[3]))))
        except (IndexError, ValueError):
            raise InputError("expected 'QUERY 0 DOCUMENT LABEL'", path, place) from None
    return {qid: np.array(labels) for qid, labels in judgments.items()}


def java_text(value: float) -> str:
    """A double as Java prints it.

    >>> java_text(0.36), java_text(5e-4), java_text(2147483648.5), java_text(1.0)
    ('0.36', '5.0E-4', '2.1474836485E9', '1.0')
    """
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return np.format_float_positional(value, unique=True, trim="0")
    mantissa, _, exponent = np.format_float_scientific(value, unique=True, trim="0").partition("e")
    return f"{mantissa}E{int(exponent)}"
