"""What is odd in a dataset, why it matters, and where: run it before believing any number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pomona._types import Offsets
from pomona.data.dataset import Dataset
from pomona.data.scan import Scan, duplicates, text_hashes
from pomona.errors import InputError

Severity = Literal["error", "warning", "note"]
N_EXAMPLES = 3
# A share of label-sorted queries that no chance explains.
SORTED_SHARE = 0.5
# Documents of a query that no list of results has: ten times those of the longest in the public collections.
LONGEST_QUERY = 10_000

_WHY: dict[Severity, dict[str, str]] = {
    "error": {
        "one label level": "all documents carry the same label, so there is nothing to learn and nothing to "
        "measure.",
        "no label": "no document is judged, so there is nothing to learn and nothing to measure.",
        "negative label": "a negative label often means 'not judged': measures take it so, rankers learn a "
        "grade below 0, and no two tools agree. NaN says that a document is not judged.",
        "infinite value": "linear and neural methods, and every normalization, turn it into NaN.",
        "same query in two parts": "what is tested (or tuned on) was trained on, so the numbers are too "
        "good.",
    },
    "warning": {
        "fractional label": "most tools read labels as integers and would cut these down.",
        "empty query": "no document is relevant: tools count such a query as 0, as 1 or not at all, which "
        "moves every mean.",
        "query without a label": "none of its documents is judged: nothing can be learned from it, and its "
        "value is mere convention.",
        "one-document query": "there is only one ranking: the query adds a constant to every ranker's mean.",
        "very long query": "no list of results is so long: documents of several queries, or of none, may "
        "have got one id.",
        "one label in a query": "all documents are equally relevant: no pair to learn from, and every "
        "ranking is perfect.",
        "sorted by label": "documents stand from best to worst: a tool that breaks ties by input order "
        "scores too high.",
        "document id twice in a query": "TREC tools keep only one of them, and ties broken by document id "
        "stay open.",
        "same query twice": "two query ids hold the same documents: the query counts twice.",
        "conflicting labels": "the same feature values in one query carry different labels: no ranker can "
        "tell them apart.",
        "different numbers of features": "either a sparse file lacks the last ones by chance, or no model of "
        "one part can score another.",
        "same query id in two parts": "the documents differ: either one query was cut in two, or the ids "
        "start anew in each file.",
    },
    "note": {
        "label levels": "measures with exponential gain weigh each level twice as high as the one below.",
        "not judged": "training gives such a document weight 0, and measures count it as not relevant; "
        "measures such as bpref leave it out.",
        "identical rows": "features and label repeat within a query: their order rests on the tie rule "
        "alone.",
        "undefined value": "trees send it to a side of its own; other methods need it filled in.",
        "value left out": "a line leaves it out, or says NULL: it is read as 0, as in every verb that is not "
        "told otherwise.",
        "constant feature": "it tells nothing, and cannot be scaled.",
        "feature constant in each query": "it describes the query, not the document: alone it orders "
        "nothing, only together with others.",
        "duplicated feature": "equal columns share their importance, and make linear models ambiguous.",
    },
}
"""By how bad it is, every check and why it matters, in the order in which they are told."""


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
    part: str
    count: int
    unit: str
    examples: tuple[Example, ...] = ()

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return next(severity for severity, checks in _WHY.items() if self.check in checks)

    @property
    def why(self) -> str:
        """Why it matters."""
        return _WHY[self.severity][self.check]

    @property
    def amount(self) -> str:
        """The count with its unit: `1 query`, `3 queries`."""
        singular = self.unit.removesuffix("ies") + "y" if self.unit.endswith("ies") else self.unit[:-1]
        return f"{self.count} {singular if self.count == 1 else self.unit}"

    def to_json(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {**asdict(self), "severity": self.severity, "why": self.why}


def audit(parts: Dataset | Mapping[str, Dataset]) -> list[Finding]:
    """All findings about a dataset, or about the parts (train, valid, test …) of one, the worst first.

    Findings of one kind in several parts stand together.

    >>> data = Dataset([[1.0], [1.0], [2.0]], [0, 1, 0], [7, 7, 9])
    >>> [(finding.check, finding.count) for finding in audit(data) if finding.severity == "warning"]
    [('empty query', 1), ('one-document query', 1), ('conflicting labels', 1)]
    """
    named = {"data": parts} if isinstance(parts, Dataset) else dict(parts)
    scans = [Scan(name, data) for name, data in named.items() if data.n_docs]
    if not scans:
        raise InputError("there is no document to audit")
    findings: list[Finding] = []
    for scan in scans:
        for check in (_label_findings, _query_findings, _row_findings, _value_findings):
            findings += check(scan)
    findings += _feature_findings(scans)
    for one, other in combinations(scans, 2):
        findings += _overlap_findings(one, other)
    checks = [check for group in _WHY.values() for check in group]
    return sorted((one for one in findings if one.count), key=lambda one: checks.index(one.check))


Detail = Callable[[int], str]
"""What to say of the n-th of the documents or queries of a finding."""


def _of_documents(scan: Scan, check: str, rows: Offsets, detail: Detail) -> Finding:
    examples = tuple(
        Example(scan.query(scan.query_of_row[row]), scan.row(row), detail(n))
        for n, row in enumerate(rows[:N_EXAMPLES])
    )
    return Finding(check, scan.name, len(rows), "documents", examples)


def _of_queries(
    scan: Scan, check: str, queries: Offsets, detail: Detail | None = None, part: str | None = None
) -> Finding:
    def n_documents(n: int) -> str:
        length = scan.lengths[queries[n]]
        return f"{length} document{'s' if length > 1 else ''}"

    examples = tuple(
        Example(scan.query(q), scan.row(scan.starts[q]), (detail or n_documents)(n))
        for n, q in enumerate(queries[:N_EXAMPLES])
    )
    return Finding(check, part or scan.name, len(queries), "queries", examples)


def _of_details(check: str, part: str, unit: str, count: int, details: Sequence[str]) -> Finding:
    return Finding(check, part, count, unit, tuple(Example(detail=text) for text in details[:N_EXAMPLES]))


def _label_findings(scan: Scan) -> Iterator[Finding]:
    y = scan.data.y
    is_judged = ~np.isnan(y)
    levels, counts = np.unique(y[is_judged], return_counts=True)
    shown = [f"label {level:g}: {count} documents" for level, count in zip(levels, counts, strict=True)]
    unjudged = np.flatnonzero(~is_judged)
    yield _of_documents(scan, "not judged" if len(levels) else "no label", unjudged, lambda _: "")
    if len(levels) == 1:
        yield _of_details("one label level", scan.name, "documents", int(counts[0]), shown)
    elif len(levels):
        text = ", ".join(shown[:10]) + (" …" if len(shown) > 10 else "")
        yield _of_details("label levels", scan.name, "levels", len(levels), [text])
    for check, is_odd in (("negative label", y < 0), ("fractional label", is_judged & (y != np.floor(y)))):
        rows = np.flatnonzero(is_odd)
        shown = [f"label {y[row]:g}" for row in rows[:N_EXAMPLES]]
        yield _of_documents(scan, check, rows, shown.__getitem__)


def _query_findings(scan: Scan) -> Iterator[Finding]:
    empty, single = scan.highest <= 0, scan.lengths == 1
    yield _of_queries(scan, "empty query", np.flatnonzero(empty))
    if not np.isnan(scan.highest).all():
        yield _of_queries(scan, "query without a label", np.flatnonzero(np.isnan(scan.highest)))
    yield _of_queries(scan, "one-document query", np.flatnonzero(single))
    yield _of_queries(scan, "very long query", np.flatnonzero(scan.lengths > LONGEST_QUERY))
    alike = (scan.lowest == scan.highest) & ~empty & ~single
    yield _of_queries(scan, "one label in a query", np.flatnonzero(alike))
    yield from _sorted_findings(scan)
    yield from _doc_id_findings(scan)
    first, later = duplicates(scan.query_hash)
    first, later = first[scan.is_telling[later]], later[scan.is_telling[later]]
    yield _of_queries(
        scan, "same query twice", later, lambda n: f"same documents as query {scan.query(first[n])}"
    )


def _sorted_findings(scan: Scan) -> Iterator[Finding]:
    y = scan.data.y
    mixed = (scan.highest > scan.lowest) & (scan.lengths > 2)
    rises = np.zeros(scan.data.n_docs, np.int64)
    rises[1:] = y[1:] > y[:-1]
    rises[scan.starts] = 0  # the step from one query to the next
    in_order = mixed & (np.add.reduceat(rises, scan.starts) == 0)
    if in_order.sum() > SORTED_SHARE * mixed.sum():
        yield _of_queries(scan, "sorted by label", np.flatnonzero(in_order))


def _doc_id_findings(scan: Scan) -> Iterator[Finding]:
    ids = scan.data.doc_ids
    if ids is None:
        return
    first, later = duplicates(text_hashes(ids), scan.query_of_row)
    named = np.diff(ids.offsets)[later] > 0  # no id is not the same id
    first, later = first[named], later[named]
    yield _of_documents(
        scan,
        "document id twice in a query",
        later,
        lambda n: f"id {ids[later[n]]}, also in row {scan.row(first[n])}",
    )


def _row_findings(scan: Scan) -> Iterator[Finding]:
    y = scan.data.y
    first, later = duplicates(scan.row_hash, scan.query_of_row)
    unjudged = np.isnan(y)
    differ = (y[first] != y[later]) & ~unjudged[first] & ~unjudged[later]
    a, b = first[differ], later[differ]
    yield _of_documents(
        scan,
        "conflicting labels",
        b,
        lambda n: f"label {y[b[n]]:g}, but {y[a[n]]:g} in row {scan.row(a[n])}",
    )
    alike = ~differ & (unjudged[first] == unjudged[later])
    twins = first[alike]
    yield _of_documents(scan, "identical rows", later[alike], lambda n: f"same as row {scan.row(twins[n])}")


def _value_findings(scan: Scan) -> Iterator[Finding]:
    yield _of_values(scan, "infinite value", scan.facts[1], np.isinf)
    yield _of_values(scan, "undefined value", scan.facts[0], np.isnan)
    n_left_out = max((scan.data.n_undefined or 0) - int(scan.facts[0].sum()), 0)
    yield Finding("value left out", scan.name, n_left_out, "values")


def _of_values(scan: Scan, check: str, counts: NDArray[np.int64], is_odd: Callable[..., Any]) -> Finding:
    features = [j for j in np.argsort(-counts, kind="stable")[:N_EXAMPLES] if counts[j]]
    rows = np.array([np.argmax(is_odd(scan.data.X[:, j])) for j in features], np.int64)
    names = scan.data.feature_names

    def detail(n: int) -> str:
        return f"feature {names[features[n]]}, {counts[features[n]]} such values"

    examples = _of_documents(scan, check, rows, detail).examples
    return Finding(check, scan.name, int(counts.sum()), "values", examples)


def _feature_findings(scans: Sequence[Scan]) -> Iterator[Finding]:
    """Findings about columns, which must hold in all parts: a feature that is constant in one only is not."""
    names = scans[0].data.feature_names
    if any(scan.data.n_features != len(names) for scan in scans):
        widths = ", ".join(f"{scan.name}: {scan.data.n_features}" for scan in scans)
        yield _of_details("different numbers of features", "all", "parts", len(scans), [widths])
        return
    first_rows = np.stack([scan.data.X[0] for scan in scans])
    same_start = (first_rows == first_rows[0]) | (np.isnan(first_rows) & np.isnan(first_rows[0]))
    constant = same_start.all(axis=0) & ~np.any([scan.facts[2] for scan in scans], axis=0)
    by_query = ~constant & ~np.any([scan.facts[3] for scan in scans], axis=0)
    hashes = np.zeros(len(names), np.uint64)
    for scan in scans:
        hashes = hashes * np.uint64(0xD6E8FEB86659FD93) + scan.feature_hash
    twins = [pair for pair in zip(*duplicates(hashes), strict=True) if not constant[pair[1]]]
    details = {
        "constant feature": [
            f"{names[j]} is {_shown(first_rows[0, j])} everywhere" for j in np.flatnonzero(constant)
        ],
        "feature constant in each query": [f"{names[j]}" for j in np.flatnonzero(by_query)],
        "duplicated feature": [f"{names[b]} equals {names[a]}" for a, b in twins],
    }
    part = scans[0].name if len(scans) == 1 else "all"
    for check, texts in details.items():
        yield _of_details(check, part, "features", len(texts), [f"feature {text}" for text in texts])


def _shown(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:g}"


def _overlap_findings(one: Scan, other: Scan) -> Iterator[Finding]:
    """Queries that two parts share: by their documents (a leak), or by their ids only."""
    part = f"{one.name} and {other.name}"
    same_id = np.isin(other.data.qids.astype(np.str_), one.data.qids.astype(np.str_))
    order = np.argsort(one.query_hash, kind="stable")
    place = np.searchsorted(one.query_hash[order], other.query_hash).clip(max=len(order) - 1)
    twin = order[place]
    same_documents = (one.query_hash[twin] == other.query_hash) & (other.is_telling | same_id)
    leaks = np.flatnonzero(same_documents)

    def whose(n: int) -> str:
        return f"in {other.name}, its documents are those of query {one.query(twin[leaks[n]])} in {one.name}"

    yield _of_queries(other, "same query in two parts", leaks, whose, part)
    reused = np.flatnonzero(same_id & ~same_documents)
    yield _of_queries(other, "same query id in two parts", reused, lambda n: f"in {other.name}", part)
