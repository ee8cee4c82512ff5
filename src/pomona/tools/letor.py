"""The three Perl scripts of LETOR 3.0, LETOR 4.0 and MSLR: the same input, the same text out.

Each reads a feature file and a prediction file line by line together and prints precision, MAP and NDCG.
What they accept and print was found by running them (docs/conventions.md); where a script stops with
an error, ours is a `PomonaError` that names the line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pomona._types import Values
from pomona.errors import InputError
from pomona.measures.base import Measure
from pomona.measures.judge import judge, mean_in_order
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure
from pomona.tools.files import judged_by_query, lines_of, perl_number, scores_of

_HEAD = re.compile(rb"(\d+) qid:(\S+)")
_DOCID_3 = re.compile(rb"#docid = (\S+)")
_DOCID_4 = re.compile(rb"#docid = (\S+) inc = \S+ prob = \S+")


@dataclass(frozen=True, slots=True)
class _Script:
    convention: str
    positions: int
    docid: re.Pattern[bytes] | None
    expected: str


_SCRIPTS = {
    "letor3": _Script("letor3", 16, _DOCID_3, "'LABEL qid:QUERY features #docid = ID'"),
    "letor4": _Script("letor4", 10, _DOCID_4, "'LABEL qid:QUERY features #docid = ID inc = X prob = Y'"),
    "mslr": _Script("mslr", 10, None, "'LABEL qid:QUERY features'"),
}


def letor(script: str, features: Path | str, predictions: Path | str, *, per_query: bool) -> Iterator[str]:
    """The lines that the script `letor3`, `letor4` or `mslr` writes (its flag 1 is `per_query`)."""
    rules = _SCRIPTS[script]
    judged, qids = _read(rules, features, predictions)
    # The scripts sort queries by the numeric value of their ids.
    order = sorted(range(len(qids)), key=lambda q: perl_number(qids[q]))
    names = [qids[q].decode(errors="replace") for q in order]
    lengths = np.diff(judged.query_ptr)[order]
    wanted = [_measure(script, name, k) for name in ("p", "ndcg") for k in range(1, rules.positions + 1)]
    wanted.append(_measure(script, "ap"))
    if script != "letor3":
        wanted.append(_measure(script, "meanndcg"))
    values = [judgement.values[order] for judgement in judge(judged, wanted)]
    precision, ndcg = values[: rules.positions], values[rules.positions : 2 * rules.positions]
    if script == "letor3":
        return _print_letor3(precision, values[-1], ndcg, lengths, per_query)
    return _print_letor4(names, precision, values[-2], ndcg, values[-1], per_query)


def _measure(convention: str, name: str, k: int | None = None) -> Measure:
    return measure(f"{convention}:{name}{f'@{k}' if k else ''}")


def _read(rules: _Script, features: Path | str, predictions: Path | str) -> tuple[ScoredQueries, list[bytes]]:
    lines = lines_of(features)
    if not lines:
        raise InputError("the file is empty, expected one line a document", features)
    labels, qids = np.empty(len(lines)), []
    keys: list[tuple[bytes, bytes]] = []
    for place, line in enumerate(lines, 1):
        head = _HEAD.match(line)
        docid = _docid(rules, line)
        if head is None or docid is None:
            raise InputError(
                f"{rules.convention}'s script refuses this line, expected {rules.expected}", features, place
            )
        labels[place - 1] = int(head[1])
        qids.append(head[2])
        keys.append((head[2], docid))
    scores = scores_of(predictions, len(lines), perl_number)
    if rules.docid is not None:
        # A repeated document replaces the earlier one: label, score and position.
        kept = np.array(sorted({key: row for row, key in enumerate(keys)}.values()))
        labels, scores, qids = labels[kept], scores[kept], [qids[row] for row in kept]
    return judged_by_query(labels, scores, qids)


def _docid(rules: _Script, line: bytes) -> bytes | None:
    """The document id that must end the line; b"" where the script wants none."""
    if rules.docid is None:
        return b""
    at = line.rfind(b"#docid = ")
    match = rules.docid.fullmatch(line, at) if at >= 0 else None
    return match[1] if match else None


def _print_letor3(
    precision: list[Values], ap: Values, ndcg: list[Values], lengths: Values, per_query: bool
) -> Iterator[str]:
    columns = min(int(lengths.max()), len(precision))

    def table(title: str, values: list[Values]) -> Iterator[str]:
        if per_query:
            for q, n in enumerate(lengths):
                row = "".join(f"{column[q]:.15g}\t" for column in values[: int(n)])
                yield f"{title} of query{q}:\t{row}"
        yield f"{title}:\t" + "".join(f"{mean_in_order(column):.15g}\t" for column in values[:columns])
        yield ""

    yield from table("precision", precision)
    if per_query:
        yield from (f"Map of query{q}:\t{value:.15g}" for q, value in enumerate(ap))
    yield f"MAP:\t{mean_in_order(ap):.15g}"
    yield ""
    yield from table("NDCG", ndcg)


def _print_letor4(
    names: list[str],
    precision: list[Values],
    ap: Values,
    ndcg: list[Values],
    mean_ndcg: Values,
    per_query: bool,
) -> Iterator[str]:
    for title, last_title, columns in (
        ("P", "MAP", [*precision, ap]),
        ("NDCG", "MeanNDCG", [*ndcg, mean_ndcg]),
    ):
        heads = [f"{title}@{k}" for k in range(1, len(columns))]
        yield "\t".join(["qid", *heads, last_title])
        if per_query:
            for q, name in enumerate(names):
                yield "\t".join([name, *(f"{column[q]:.4f}" for column in columns)])
        yield "\t".join(["Average", *(f"{mean_in_order(column):.4f}" for column in columns)])
        yield ""
