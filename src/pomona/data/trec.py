"""TREC judgments (qrels) and runs: `qid iteration docno judgment` and `qid Q0 docno rank score tag`.

Numbers are read as C's `atof` and `atol` read them, because that is what trec_eval does: `0x10` is 16,
`1_000` is 1, a judgment `1.7` is 1. Two things are refused that the tool lets pass in silence: a score
that is not a number, which has no place in any order, and a NUL byte, behind which the tool sees nothing.
A byte order mark is left out, as in every text: to the tool it is part of the first query id, which then is
in no other file.
"""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._machine import require_memory
from pomona._types import Labels, Offsets, Scores
from pomona.data.columns import checked_labels
from pomona.data.compression import read_bytes
from pomona.data.dataset import Dataset
from pomona.data.fields import Column, Layout, columns, group, told_integers, told_reals
from pomona.data.text import TextColumn, offsets, text_array
from pomona.errors import InputError

Path = str | os.PathLike[str]

_QRELS = Layout("qid iteration docno judgment", (0, 2, 3), more_allowed=False, blank_allowed=False)
_RUN = Layout("qid Q0 docno rank score tag", (0, 2, 4, 5), more_allowed=True, blank_allowed=True)

_BYTES_A_DOCUMENT = 448  # while a run is judged, at the most: a test measures

UNJUDGED = -1
"""The label of a retrieved document that has no judgment."""


@dataclass(frozen=True, slots=True)
class ByQuery:
    """Rows of a file gathered by query, queries in byte order of their ids, rows in file order."""

    file: str
    qids: tuple[bytes, ...]
    query_ptr: Offsets
    docnos: Column

    def documents(self, query: int) -> list[bytes]:
        """The document ids of the query, in file order."""
        return self.docnos.texts(int(self.query_ptr[query]), int(self.query_ptr[query + 1]))

    def refuse_repeated(self, query: int, documents: Sequence[bytes], rows: Sequence[int]) -> None:
        """Raise for the first of `documents` (at these rows of the query) that occurs twice."""
        seen: set[bytes] = set()
        for document, row in zip(documents, rows, strict=True):
            if document in seen:
                qid = _shown(self.qids[query])
                raise InputError(
                    f"document {_shown(document)} occurs twice for query {qid}: keep one",
                    self.file,
                    self.docnos.line(int(self.query_ptr[query]) + row),
                )
            seen.add(document)


@dataclass(frozen=True, slots=True)
class CutShort:
    """A field that is no number as a whole, of which trec_eval reads how it begins, or 0."""

    line: int
    text: str
    value: float


@dataclass(frozen=True, slots=True)
class Qrels(ByQuery):
    """Judgments: one integer label a document; a negative one means that the document was not judged."""

    labels: NDArray[np.int64]
    cut_short: CutShort | None = None

    def judgments(self, query: int) -> dict[bytes, int]:
        """The label of every document in the query's pool."""
        documents = self.documents(query)
        labels = self.labels[self.query_ptr[query] : self.query_ptr[query + 1]]
        judged = dict(zip(documents, labels.tolist(), strict=True))
        if len(judged) != len(documents):
            self.refuse_repeated(query, documents, range(len(documents)))
        return judged


@dataclass(frozen=True, slots=True)
class Run(ByQuery):
    """A system's answer: one score a document, and the tag of the last line."""

    scores: Scores
    tag: bytes
    cut_short: CutShort | None = None


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run as a dataset, with the labels of every query's whole pool.

    `pool_labels[pool_ptr[q]:pool_ptr[q + 1]]` are the labels of all judged documents of query `q`,
    retrieved or not: the best possible ranking is made of those, not of what the run happens to hold.
    """

    data: Dataset
    scores: Scores
    pool_labels: Labels
    pool_ptr: Offsets
    n_without_scores: int = 0
    n_without_labels: int = 0
    """Queries of a table that are left out, as they have nothing of the one or of the other."""


def read_qrels(path: Path, *, comments: bool = True) -> Qrels:
    """Read judgments, plain or compressed; lines that start with `#` are comments unless told otherwise."""
    return parse_qrels(read_bytes(pathlib.Path(path)), os.fspath(path), comments=comments)


def read_run(path: Path, *, comments: bool = True) -> Run:
    """Read a run, plain or compressed; lines that start with `#` are comments unless told otherwise."""
    return parse_run(read_bytes(pathlib.Path(path)), os.fspath(path), comments=comments)


def parse_qrels(text: bytes, file: str = "qrels", *, comments: bool = True) -> Qrels:
    """Take judgments from bytes; a blank line is an error, as it is for trec_eval.

    >>> qrels = parse_qrels(b"2 0 d1 1\\n10 0 d1 0\\n10 0 d2 1.7\\n")
    >>> qrels.qids, qrels.query_ptr.tolist(), qrels.labels.tolist()
    ((b'10', b'2'), [0, 2, 3], [0, 1, 1])
    """
    qid, docno, label = columns(text, file, _QRELS, comments=comments)
    labels, row = told_integers(label)
    cut_short = _cut_short(label, labels, row)
    qids, query_ptr, order = group(qid)
    docno, labels = (docno, labels) if order is None else (docno.take(order), labels[order])
    return Qrels(file, qids, query_ptr, docno, labels, cut_short)


def parse_run(text: bytes, file: str = "run", *, comments: bool = True) -> Run:
    """Take a run from bytes; blank lines are skipped and the rank field is ignored, as trec_eval does.

    >>> run = parse_run(b"1 Q0 d1 1 0.5 t\\n1 Q0 d2 2 0x10 t\\n")
    >>> run.documents(0), run.scores.tolist(), run.tag
    ([b'd1', b'd2'], [0.5, 16.0], b't')
    """
    qid, docno, score, tag = columns(text, file, _RUN, comments=comments)
    scores, row = told_reals(score)
    cut_short = _cut_short(score, scores, row)
    if np.isnan(scores).any():
        row = int(np.flatnonzero(np.isnan(scores))[0])
        shown = _shown(score.texts(row, row + 1)[0])
        raise InputError(f"found the score {shown}, expected a number", file, score.line(row))
    last_tag = tag.texts(len(tag) - 1, len(tag))[0]
    qids, query_ptr, order = group(qid)
    docno, scores = (docno, scores) if order is None else (docno.take(order), scores[order])
    return Run(file, qids, query_ptr, docno, scores, last_tag, cut_short)


def _cut_short(column: Column, values: NDArray[Any], row: int | None) -> CutShort | None:
    if row is None:
        return None
    return CutShort(column.line(row), _shown(column.texts(row, row + 1)[0]), float(values[row]))


def _warn_of_cut_short(qrels: Qrels, run: Run) -> None:
    for read, what, kind in ((qrels, "judgment", "whole number"), (run, "score", "number")):
        if (found := read.cut_short) is not None:
            warnings.warn(
                f"{read.file}:{found.line}: the {what} {found.text} is no {kind} and counts as "
                f"{found.value:g}, as for trec_eval",
                stacklevel=3,
            )


def dataset_of_trec(qrels: Qrels, run: Run) -> JudgedRun:
    """The queries that both hold, in byte order: the run's score is the one feature, `score`.

    A document without a judgment, or with a negative one, has the label -1. The scores are also given as
    read (float64): the feature is float32, which can tie documents that the file tells apart.

    >>> qrels = parse_qrels(b"1 0 d1 2\\n1 0 d9 1\\n")
    >>> judged = dataset_of_trec(qrels, parse_run(b"1 Q0 d1 1 0.5 t\\n1 Q0 d2 2 0.25 t\\n"))
    >>> judged.data.y.tolist(), list(judged.data.doc_ids), judged.pool_labels.tolist()
    ([2.0, -1.0], ['d1', 'd2'], [2.0, 1.0])
    """
    where = {qid: query for query, qid in enumerate(qrels.qids)}
    shared = [query for query, qid in enumerate(run.qids) if qid in where]
    if not shared:
        raise InputError(f"no query of {run.file} is in {qrels.file}: check that they belong together")
    require_memory(_BYTES_A_DOCUMENT * len(run.scores) + 3 * len(run.docnos.text), run.file, "judging it")
    _warn_of_cut_short(qrels, run)
    labels: list[int] = []
    pools: list[list[int]] = []
    for query in shared:
        documents = run.documents(query)
        run.refuse_repeated(query, documents, range(len(documents)))
        judged = qrels.judgments(where[run.qids[query]])
        labels.extend(max(judged.get(document, UNJUDGED), UNJUDGED) for document in documents)
        pools.append([label for label in judged.values() if label >= 0])
    rows = np.concatenate([np.arange(run.query_ptr[query], run.query_ptr[query + 1]) for query in shared])
    scores = run.scores[rows]
    with np.errstate(over="ignore"):
        feature = scores.astype(np.float32)[:, None]
    data = Dataset.from_parts(
        feature,
        checked_labels(labels, len(labels)),
        offsets([int(run.query_ptr[query + 1] - run.query_ptr[query]) for query in shared]),
        text_array([run.qids[query].decode(errors="surrogateescape") for query in shared]),
        doc_ids=_packed(run.docnos.take(rows)),
        feature_names=["score"],
    )
    judged_labels = [label for pool in pools for label in pool]
    pool_labels = checked_labels(judged_labels, len(judged_labels))
    return JudgedRun(data, scores, pool_labels, offsets([len(pool) for pool in pools]))


def pooled_run(qrels: Qrels, run: Run) -> tuple[Dataset, Scores]:
    """A run with the whole pool of every query, and the scores: NaN where a document was not retrieved.

    Queries stand in byte order, also those that only one of both holds; in each the documents of the run, and
    then the others that have a judgment. A label is that of the judgment, NaN where there is none.

    >>> qrels = parse_qrels(b"1 0 d1 2\\n1 0 d9 1\\n")
    >>> data, scores = pooled_run(qrels, parse_run(b"1 Q0 d1 1 0.5 t\\n1 Q0 d2 2 0.25 t\\n"))
    >>> list(data.doc_ids), data.y.tolist(), scores.tolist()
    (['d1', 'd2', 'd9'], [2.0, nan, 1.0], [0.5, 0.25, nan])
    """
    n_rows = len(run.scores) + len(qrels.labels)
    require_memory(
        _BYTES_A_DOCUMENT * n_rows + 3 * len(run.docnos.text), run.file, "joining it with judgments"
    )
    in_run = {qid: query for query, qid in enumerate(run.qids)}
    in_qrels = {qid: query for query, qid in enumerate(qrels.qids)}
    if not in_run.keys() & in_qrels.keys():
        raise InputError(f"no query of {run.file} is in {qrels.file}: check that they belong together")
    _warn_of_cut_short(qrels, run)
    qids, lengths = sorted({*run.qids, *qrels.qids}), []
    ids: list[bytes] = []
    labels: list[float] = []
    scores: list[float] = []
    for qid in qids:
        documents: list[bytes] = []
        if qid in in_run:
            query = in_run[qid]
            documents = run.documents(query)
            run.refuse_repeated(query, documents, range(len(documents)))
            scores.extend(run.scores[run.query_ptr[query] : run.query_ptr[query + 1]].tolist())
        judged = qrels.judgments(in_qrels[qid]) if qid in in_qrels else {}
        retrieved = set(documents)
        documents = [*documents, *(document for document in judged if document not in retrieved)]
        scores.extend([np.nan] * (len(documents) - len(retrieved)))
        labels.extend(judged.get(document, np.nan) for document in documents)
        ids.extend(documents)
        lengths.append(len(documents))
    values = np.array(scores, np.float64)
    with np.errstate(over="ignore"):
        feature = values.astype(np.float32)[:, None]
    data = Dataset.from_parts(
        feature,
        checked_labels(labels, len(labels)),
        offsets(lengths),
        text_array([qid.decode(errors="surrogateescape") for qid in qids]),
        doc_ids=TextColumn(np.frombuffer(b"".join(ids), np.uint8), offsets([len(one) for one in ids])),
        feature_names=["score"],
    )
    return data, values


def judged_run(data: Dataset, scores: Scores) -> JudgedRun:
    """The documents that have a score (not NaN), with the pools of all: what `pooled_run` has put together.

    Left out are queries without a retrieved document, and those without any label, as no judgments have them.

    >>> data = Dataset([[0.0]] * 3, [2, np.nan, 1], [7, 7, 7])
    >>> judged = judged_run(data, np.array([0.5, 0.25, np.nan]))
    >>> judged.data.y.tolist(), judged.pool_labels.tolist()
    ([2.0, -1.0], [2.0, 1.0])
    """
    scores, data = data.from_input_order(scores), data.gathered()
    starts, is_retrieved, is_listed = data.query_ptr[:-1], ~np.isnan(scores), ~np.isnan(data.y)
    has_scores, has_labels = (np.logical_or.reduceat(given, starts) for given in (is_retrieved, is_listed))
    is_kept = has_scores & has_labels
    if not is_kept.any():
        raise InputError("no query has both a score and a label")
    of_row = np.repeat(np.arange(data.n_queries), data.query_lengths)
    ranked = np.flatnonzero(is_retrieved & is_kept[of_row])
    pool = np.flatnonzero((data.y >= 0) & is_kept[of_row])
    lengths, pool_lengths = (
        np.bincount(of_row[rows], minlength=data.n_queries)[is_kept] for rows in (ranked, pool)
    )
    part = data.take_rows(ranked, offsets(lengths), data.qids[is_kept])
    part.y = np.where(part.y >= 0, part.y, np.float32(UNJUDGED))
    left_out = int((~has_scores & has_labels).sum()), int((has_scores & ~has_labels).sum())
    return JudgedRun(part, scores[ranked], data.y[pool], offsets(pool_lengths), *left_out)


def _packed(column: Column) -> TextColumn:
    texts = column.texts(0, len(column))
    return TextColumn(np.frombuffer(b"".join(texts), np.uint8), offsets([len(text) for text in texts]))


def _shown(text: bytes) -> str:
    return repr(text.decode(errors="replace"))
