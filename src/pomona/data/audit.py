"""What is odd in a dataset, why it matters, and where: run it before believing any number.

Every check is a pass over arrays. Rows are compared by 64-bit hashes of their feature values (0 and −0
are one value, and so are all NaN); in a million rows the chance of any false match is about 10⁻⁷.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._jit import kernel, over_chunks
from pomona._types import Features, Offsets
from pomona.data.dataset import Dataset, read_only
from pomona.data.text import TextColumn
from pomona.errors import InputError

Severity = Literal["error", "warning", "note"]
Hashes = NDArray[np.uint64]
N_EXAMPLES = 3
# A share of label-sorted queries that no chance explains.
SORTED_SHARE = 0.5


@kernel
def _hash_rows(first: int, last: int, X: Features, bits: NDArray[np.uint32], out: Hashes) -> None:
    # X, bits: (n_docs, n_features), the values and their bit patterns; out: (n_docs,)
    for i in range(first, last):
        h = np.uint64(0x9E3779B97F4A7C15)
        for j in range(X.shape[1]):
            x = X[i, j]
            code = np.uint64(bits[i, j])
            if x == 0:
                code = np.uint64(0)
            elif x != x:
                code = np.uint64(0x7FC00000)
            h = (h ^ code) * np.uint64(0xD6E8FEB86659FD93)
            h ^= h >> np.uint64(32)
        out[i] = h


@kernel
def _scan_features(
    first: int,
    last: int,
    X: Features,
    bits: NDArray[np.uint32],
    query_ptr: Offsets,
    out_facts: NDArray[np.int64],
    out_hash: Hashes,
) -> None:
    # out_facts: (4, n_features) for this range: NaN, infinite, rows unlike the first of all, queries with
    # two values; out_hash: (n_features,) a sum over rows, so that ranges can be added in any order
    n_features = X.shape[1]
    varies = np.zeros(n_features, np.bool_)
    for q in range(first, last):
        start = query_ptr[q]
        varies[:] = False
        for i in range(start, query_ptr[q + 1]):
            place = np.uint64(i + 1) * np.uint64(0x9E3779B97F4A7C15)
            for j in range(n_features):
                x = X[i, j]
                code = np.uint64(bits[i, j])
                if x == 0:
                    code = np.uint64(0)
                elif x != x:
                    code = np.uint64(0x7FC00000)
                    out_facts[0, j] += 1
                elif np.isinf(x):
                    out_facts[1, j] += 1
                if x != X[0, j] and not (x != x and X[0, j] != X[0, j]):
                    out_facts[2, j] += 1
                if x != X[start, j] and not (x != x and X[start, j] != X[start, j]):
                    varies[j] = True
                h = (code ^ place) * np.uint64(0xD6E8FEB86659FD93)
                h ^= h >> np.uint64(32)
                out_hash[j] += h * np.uint64(0xD6E8FEB86659FD93)
        for j in range(n_features):
            out_facts[3, j] += varies[j]


@kernel
def _hash_texts(first: int, last: int, buffer: NDArray[np.uint8], offsets: Offsets, out: Hashes) -> None:
    for i in range(first, last):
        h = np.uint64(0x9E3779B97F4A7C15)
        for place in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(buffer[place])) * np.uint64(0xD6E8FEB86659FD93)
            h ^= h >> np.uint64(32)
        out[i] = h


@dataclass(frozen=True, slots=True)
class Example:
    """One place where a finding can be seen; `row` counts the rows of the input from 1."""

    query: str | None = None
    row: int | None = None
    detail: str = ""

    def __str__(self) -> str:
        place = [f"query {self.query}"] if self.query is not None else []
        place += [f"row {self.row}"] if self.row is not None else []
        return ": ".join(part for part in (", ".join(place), self.detail) if part)


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of oddity in one part of the data (or between two)."""

    check: str
    severity: Severity
    part: str
    count: int
    unit: str
    why: str
    examples: tuple[Example, ...] = ()

    @property
    def amount(self) -> str:
        """The count with its unit: `1 query`, `3 queries`."""
        singular = self.unit.removesuffix("ies") + "y" if self.unit.endswith("ies") else self.unit[:-1]
        return f"{self.count} {singular if self.count == 1 else self.unit}"

    def to_json(self) -> dict[str, Any]:
        """The finding as plain values."""
        return asdict(self)


def audit(parts: Dataset | Mapping[str, Dataset]) -> list[Finding]:
    """All findings about a dataset, or about the parts (train, valid, test …) of one, the worst first.

    Findings of one kind in several parts stand together.

    >>> data = Dataset([[1.0], [1.0], [2.0]], [0, 1, 0], [7, 7, 9])
    >>> [(finding.check, finding.count) for finding in audit(data) if finding.severity == "warning"]
    [('empty query', 1), ('one-document query', 1), ('conflicting labels', 1)]
    """
    named = {"data": parts} if isinstance(parts, Dataset) else dict(parts)
    findings: list[Finding] = []
    scans = {name: _Scan(name, data) for name, data in named.items() if data.n_docs}
    if not scans:
        raise InputError("there is no document to audit")
    for scan in scans.values():
        findings += _label_findings(scan)
        findings += _query_findings(scan)
        findings += _row_findings(scan)
        findings += _value_findings(scan)
    findings += _feature_findings(list(scans.values()))
    for one, other in combinations(scans.values(), 2):
        findings += _overlap_findings(one, other)
    rank = {"error": 0, "warning": 1, "note": 2}
    checks = list(dict.fromkeys(finding.check for finding in findings))
    return sorted(findings, key=lambda finding: (rank[finding.severity], checks.index(finding.check)))


class _Scan:
    """A part of the data with the hashes and counts that several checks need."""

    def __init__(self, name: str, data: Dataset) -> None:
        self.name, self.data = name, data
        X = read_only(data.X)
        bits = X.view(np.uint32)
        self.row_hash: Hashes = np.empty(data.n_docs, np.uint64)
        over_chunks(_hash_rows, data.n_docs, X, bits, self.row_hash, smallest=1024)
        self.starts, self.lengths = data.query_ptr[:-1], np.diff(data.query_ptr)
        self.query_of_row = np.repeat(np.arange(data.n_queries), self.lengths)
        self.facts, self.feature_hash = _feature_scan(X, bits, read_only(data.query_ptr))
        self.lowest = np.minimum.reduceat(data.y, self.starts)
        self.highest = np.maximum.reduceat(data.y, self.starts)
        # One number a query for its rows in any order; rows that are all equal tell queries apart badly.
        mixed = (self.row_hash ^ (self.row_hash >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        self.query_hash: Hashes = np.add.reduceat(mixed, self.starts)
        self.is_telling = np.minimum.reduceat(self.row_hash, self.starts) != np.maximum.reduceat(
            self.row_hash, self.starts
        )

    def finding(
        self,
        check: str,
        severity: Severity,
        count: int,
        unit: str,
        why: str,
        examples: Sequence[Example] = (),
    ) -> Iterator[Finding]:
        """The finding, unless it counts nothing."""
        if count:
            yield Finding(check, severity, self.name, count, unit, why, tuple(examples))

    def of_queries(
        self, check: str, severity: Severity, mask: NDArray[np.bool_], why: str
    ) -> Iterator[Finding]:
        """A finding about the queries of a mask."""
        chosen = np.flatnonzero(mask)
        examples = [
            Example(
                self.query(q),
                self.row(self.starts[q]),
                f"{self.lengths[q]} document{'s' if self.lengths[q] > 1 else ''}",
            )
            for q in chosen[:N_EXAMPLES]
        ]
        return self.finding(check, severity, len(chosen), "queries", why, examples)

    def row(self, index: int) -> int:
        """The number, from 1, that the row had in the input."""
        order = self.data.input_order
        return int(index if order is None else order[index]) + 1

    def example(self, index: int, detail: str) -> Example:
        """The row as an example."""
        return Example(self.query(self.query_of_row[index]), self.row(index), detail)

    def query(self, q: int) -> str:
        """The id of query `q`, as text."""
        return str(self.data.qids[q])


def _feature_scan(
    X: Features, bits: NDArray[np.uint32], query_ptr: Offsets
) -> tuple[NDArray[np.int64], Hashes]:
    """NaN, infinities, rows unlike the first, queries with two values, and a hash, of every feature."""

    def scan(first: int, last: int) -> tuple[NDArray[np.int64], Hashes]:
        facts = np.zeros((4, X.shape[1]), np.int64)
        hashes = np.zeros(X.shape[1], np.uint64)
        _scan_features(first, last, X, bits, query_ptr, facts, hashes)
        return facts, hashes

    ranges = over_chunks(scan, len(query_ptr) - 1, smallest=16)
    facts, hashes = zip(*ranges, strict=True)
    return np.sum(facts, axis=0), np.sum(hashes, axis=0, dtype=np.uint64)


def _label_findings(scan: _Scan) -> Iterator[Finding]:
    y = scan.data.y
    levels, counts = np.unique(y, return_counts=True)
    shown = [f"label {level:g}: {count} documents" for level, count in zip(levels, counts, strict=True)]
    if len(levels) == 1:
        yield from scan.finding(
            "one label level",
            "error",
            len(y),
            "documents",
            "all documents carry the same label, so there is nothing to learn and nothing to measure.",
            [Example(detail=shown[0])],
        )
    else:
        text = ", ".join(shown[:10]) + (" …" if len(shown) > 10 else "")
        yield Finding(
            "label levels",
            "note",
            scan.name,
            len(levels),
            "levels",
            "measures with exponential gain weigh each level twice as high as the one below.",
            (Example(detail=text),),
        )
    negative = np.flatnonzero(y < 0)
    yield from scan.finding(
        "negative label",
        "error",
        len(negative),
        "documents",
        "a negative label often means 'not judged': gains of it are negative, and no two tools agree.",
        [scan.example(i, f"label {y[i]:g}") for i in negative[:N_EXAMPLES]],
    )
    fractional = np.flatnonzero(y != np.floor(y))
    yield from scan.finding(
        "fractional label",
        "warning",
        len(fractional),
        "documents",
        "most tools read labels as integers and would cut these down.",
        [scan.example(i, f"label {y[i]:g}") for i in fractional[:N_EXAMPLES]],
    )


def _query_findings(scan: _Scan) -> Iterator[Finding]:
    empty = scan.highest <= 0
    single = scan.lengths == 1
    yield from scan.of_queries(
        "empty query",
        "warning",
        empty,
        "no document is relevant: tools count such a query as 0, as 1 or not at all, which moves every mean.",
    )
    yield from scan.of_queries(
        "one-document query",
        "warning",
        single,
        "there is only one ranking: the query adds a constant to every ranker's mean.",
    )
    yield from scan.of_queries(
        "one label in a query",
        "warning",
        (scan.lowest == scan.highest) & ~empty & ~single,
        "all documents are equally relevant: no pair to learn from, and every ranking is perfect.",
    )
    yield from _sorted_findings(scan)
    if scan.data.doc_ids is not None:
        yield from _doc_id_findings(scan, scan.data.doc_ids)
    first, later = _duplicates(scan.query_hash)
    twins = [(a, b) for a, b in zip(first, later, strict=True) if scan.is_telling[b]]
    yield from scan.finding(
        "same query twice",
        "warning",
        len(twins),
        "queries",
        "two query ids hold the same documents: the query counts twice.",
        [
            Example(scan.query(b), scan.row(scan.starts[b]), f"same documents as query {scan.query(a)}")
            for a, b in twins[:N_EXAMPLES]
        ],
    )


def _sorted_findings(scan: _Scan) -> Iterator[Finding]:
    y = scan.data.y
    mixed = (scan.highest > scan.lowest) & (scan.lengths > 2)
    rises = np.zeros(scan.data.n_docs, np.int64)
    rises[1:] = y[1:] > y[:-1]
    rises[scan.starts] = 0  # the step from one query to the next
    in_order = mixed & (np.add.reduceat(rises, scan.starts) == 0)
    if mixed.any() and in_order.sum() > SORTED_SHARE * mixed.sum():
        yield from scan.of_queries(
            "sorted by label",
            "warning",
            in_order,
            "documents stand from best to worst: a tool that breaks ties by input order scores too high.",
        )


def _doc_id_findings(scan: _Scan, doc_ids: TextColumn) -> Iterator[Finding]:
    hashes: Hashes = np.empty(len(doc_ids), np.uint64)
    texts = read_only(doc_ids.buffer), read_only(doc_ids.offsets)
    over_chunks(_hash_texts, len(doc_ids), *texts, hashes, smallest=4096)
    first, later = _duplicates(hashes, scan.query_of_row)
    named = np.diff(doc_ids.offsets)[later] > 0  # no id is not the same id
    first, later = first[named], later[named]
    yield from scan.finding(
        "document id twice in a query",
        "warning",
        len(later),
        "documents",
        "TREC tools keep only one of them, and ties broken by document id stay open.",
        [
            scan.example(b, f"id {doc_ids[b]}, also in row {scan.row(a)}")
            for a, b in zip(first[:N_EXAMPLES], later[:N_EXAMPLES], strict=True)
        ],
    )


def _row_findings(scan: _Scan) -> Iterator[Finding]:
    y = scan.data.y
    first, later = _duplicates(scan.row_hash, scan.query_of_row)
    differ = y[first] != y[later]
    yield from scan.finding(
        "conflicting labels",
        "warning",
        int(differ.sum()),
        "documents",
        "the same feature values in one query carry different labels: no ranker can tell them apart.",
        [
            scan.example(b, f"label {y[b]:g}, but {y[a]:g} in row {scan.row(a)}")
            for a, b in zip(first[differ][:N_EXAMPLES], later[differ][:N_EXAMPLES], strict=True)
        ],
    )
    yield from scan.finding(
        "identical rows",
        "note",
        int((~differ).sum()),
        "documents",
        "features and label repeat within a query: their order rests on the tie rule alone.",
        [
            scan.example(b, f"same as row {scan.row(a)}")
            for a, b in zip(first[~differ][:N_EXAMPLES], later[~differ][:N_EXAMPLES], strict=True)
        ],
    )


def _value_findings(scan: _Scan) -> Iterator[Finding]:
    undefined, infinite = scan.facts[0], scan.facts[1]
    yield from _values_finding(
        scan,
        "infinite value",
        "error",
        infinite,
        "linear and neural methods, and every normalization, turn it into NaN.",
        np.isinf,
    )
    yield from _values_finding(
        scan,
        "undefined value",
        "note",
        undefined,
        "trees send it to a side of its own; other methods need it filled in.",
        np.isnan,
    )


def _values_finding(
    scan: _Scan, check: str, severity: Severity, counts: NDArray[np.int64], why: str, test: Any
) -> Iterator[Finding]:
    X, names = scan.data.X, scan.data.feature_names
    examples = []
    for j in np.argsort(-counts, kind="stable")[:N_EXAMPLES]:
        if counts[j]:
            row = int(np.argmax(test(X[:, j])))
            examples.append(scan.example(row, f"feature {names[j]}, {counts[j]} such values"))
    return scan.finding(check, severity, int(counts.sum()), "values", why, examples)


def _feature_findings(scans: Sequence[_Scan]) -> Iterator[Finding]:
    """Findings about columns, which must hold in all parts: a feature that is constant in one only is not."""
    names = scans[0].data.feature_names
    if any(scan.data.n_features != len(names) for scan in scans):
        widths = ", ".join(f"{scan.name}: {scan.data.n_features}" for scan in scans)
        yield Finding(
            "different numbers of features",
            "warning",
            "all",
            len(scans),
            "parts",
            "either a sparse file lacks the last ones by chance, or no model of one part can score another.",
            (Example(detail=widths),),
        )
        return
    part = scans[0].name if len(scans) == 1 else "all"
    first_rows = np.stack([scan.data.X[0] for scan in scans])
    same_start = (first_rows == first_rows[0]) | (np.isnan(first_rows) & np.isnan(first_rows[0]))
    constant = same_start.all(axis=0) & ~np.any([scan.facts[2] for scan in scans], axis=0)
    yield from _columns_finding(
        "constant feature",
        part,
        [f"feature {names[j]} is {_shown(first_rows[0, j])} everywhere" for j in np.flatnonzero(constant)],
        "it tells nothing, and cannot be scaled.",
    )
    by_query = ~constant & ~np.any([scan.facts[3] for scan in scans], axis=0)
    yield from _columns_finding(
        "feature constant in each query",
        part,
        [f"feature {names[j]}" for j in np.flatnonzero(by_query)],
        "it describes the query, not the document: alone it orders nothing, only together with others.",
    )
    hashes = np.zeros(len(names), np.uint64)
    for scan in scans:
        hashes = hashes * np.uint64(0xD6E8FEB86659FD93) + scan.feature_hash
    first, later = _duplicates(hashes)
    twins = [(a, b) for a, b in zip(first, later, strict=True) if not constant[b]]
    yield from _columns_finding(
        "duplicated feature",
        part,
        [f"feature {names[b]} equals {names[a]}" for a, b in twins],
        "equal columns share their importance, and make linear models ambiguous.",
    )


def _shown(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:g}"


def _columns_finding(check: str, part: str, details: Sequence[str], why: str) -> Iterator[Finding]:
    if details:
        examples = tuple(Example(detail=detail) for detail in details[:N_EXAMPLES])
        yield Finding(check, "note", part, len(details), "features", why, examples)


def _overlap_findings(one: _Scan, other: _Scan) -> Iterator[Finding]:
    """Queries that two parts share: by their documents (a leak), or by their ids only."""
    part = f"{one.name} and {other.name}"
    same_id = np.isin(other.data.qids.astype(np.str_), one.data.qids.astype(np.str_))
    order = np.argsort(one.query_hash, kind="stable")
    place = np.searchsorted(one.query_hash[order], other.query_hash).clip(max=len(order) - 1)
    twin = order[place]
    same_documents = (one.query_hash[twin] == other.query_hash) & (other.is_telling | same_id)
    leaks = np.flatnonzero(same_documents)
    if len(leaks):
        yield Finding(
            "same query in two parts",
            "error",
            part,
            len(leaks),
            "queries",
            "what is tested (or tuned on) was trained on, so the numbers are too good.",
            tuple(
                Example(
                    other.query(q),
                    other.row(other.starts[q]),
                    f"in {other.name}, its documents are those of query {one.query(twin[q])} in {one.name}",
                )
                for q in leaks[:N_EXAMPLES]
            ),
        )
    reused = np.flatnonzero(same_id & ~same_documents)
    if len(reused):
        yield Finding(
            "same query id in two parts",
            "warning",
            part,
            len(reused),
            "queries",
            "the documents differ: either one query was cut in two, or the ids start anew in each file.",
            tuple(
                Example(other.query(q), other.row(other.starts[q]), f"in {other.name}")
                for q in reused[:N_EXAMPLES]
            ),
        )


def _duplicates(hashes: Hashes, groups: Offsets | None = None) -> tuple[Offsets, Offsets]:
    """Places (first, later) of equal hashes, within a group where groups are given, in the later's order."""
    keys = hashes if groups is None else hashes + groups.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    first_of_run = np.repeat(order[starts], np.diff(np.append(starts, len(keys))))
    first = np.empty(len(keys), np.int64)
    first[order] = first_of_run
    later = np.flatnonzero(first != np.arange(len(keys)))
    return first[later], later
