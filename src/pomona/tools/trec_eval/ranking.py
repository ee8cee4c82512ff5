"""What trec_eval knows of one query: the judgments in rank order, and how many documents of each label.

Documents are ranked by score, then by document id in descending byte order; the rank in the file is
ignored. Version 9 holds scores as float32, version 10 as float64, so version 9 sees more ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pomona.data.trec import Qrels, Run
from pomona.errors import InputError

NOT_IN_POOL, UNJUDGED = -1, -2
"""A retrieved document that the judgments do not name, or that they name with a negative label."""

_GREATEST_LABEL = 10_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """The switches that change numbers: -l, -M, -J, -c, and the version of the tool."""

    level: int = 1
    max_docs: int | None = None
    judged_only: bool = False
    complete: bool = False
    version: int = 9


class Ranking:
    """The judged ranking of one query."""

    def __init__(
        self, labels: NDArray[np.int64], levels: NDArray[np.int64], n_rel: int, options: Options
    ) -> None:
        self.labels = labels  # in rank order, negative where there is no judgment
        self.levels = levels  # levels[label] documents have that label, retrieved or not
        self.n_rel = n_rel
        self.level = options.level
        self.version = options.version

    @property
    def n_ret(self) -> int:
        """How many documents were retrieved."""
        return len(self.labels)

    @property
    def n_rel_ret(self) -> int:
        """How many of them are relevant."""
        return len(self.hits)

    @cached_property
    def hits(self) -> NDArray[np.int64]:
        """The ranks, from 1, of the relevant documents."""
        return np.flatnonzero(self.labels >= self.level) + 1

    def n_hits(self, k: int) -> int:
        """How many of the first k documents are relevant."""
        return int(np.searchsorted(self.hits, k, "right"))


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A query and its ranking; `missing` when the run does not hold it."""

    qid: bytes
    ranking: Ranking
    missing: bool = False


def rankings(qrels: Qrels, run: Run, options: Options) -> Iterator[Evaluated]:
    """The queries that the tool evaluates, in byte order of their ids.

    Version 9 leaves out a query that is in one file only. Version 10 evaluates all queries of the
    judgments: with `complete` a missing one gets a run of one unknown document, without it the tool stops.
    """
    in_run = {qid: query for query, qid in enumerate(run.qids)}
    levels: NDArray[np.int64] | None = None
    for query, qid in enumerate(qrels.qids):
        missing, shown = qid not in in_run, repr(qid.decode(errors="replace"))
        if missing and options.version == 9:
            continue
        if missing and not options.complete:
            raise InputError(
                f"query {shown} of {qrels.file} is missing, where trec_eval 10 stops: "
                "with -c it counts as 0, and version 9 leaves it out",
                run.file,
            )
        judged = qrels.judgments(query)
        top = max(judged.values())
        if top > _GREATEST_LABEL:
            expected = f"expected at most {_GREATEST_LABEL}: renumber the grades"
            raise InputError(f"query {shown} has the judgment {top}, {expected}", qrels.file)
        if top >= 0:
            levels = np.bincount([label for label in judged.values() if label >= 0])
        elif levels is None or top < -1:
            raise InputError(
                f"query {shown} has negative judgments only, where trec_eval stops: leave that query out",
                qrels.file,
            )
        # With -1 only, the tool goes on with the label counts of the query before, but nothing relevant.
        n_rel = int(levels[options.level :].sum()) if top >= 0 else 0
        labels = np.array([NOT_IN_POOL]) if missing else _labels(judged, run, in_run[qid], options)
        labels = labels[: options.max_docs]
        labels = labels[labels >= 0] if options.judged_only else labels
        yield Evaluated(qid, Ranking(labels, levels, n_rel, options), missing)


def _labels(judged: dict[bytes, int], run: Run, query: int, options: Options) -> NDArray[np.int64]:
    """The labels of the query's documents in rank order."""
    documents = run.documents(query)
    scores = run.scores[run.query_ptr[query] : run.query_ptr[query + 1]]
    if options.version == 9:
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32)
    order = _order(documents, scores)[: options.max_docs]
    row_of = dict(zip(documents, range(len(documents)), strict=True))
    if len(row_of) != len(documents):
        rows = order.tolist()
        run.refuse_repeated(query, [documents[row] for row in rows], rows)
        row_of = {documents[row]: row for row in rows}
    labels = np.full(len(documents), NOT_IN_POOL, np.int64)
    for document, label in judged.items():
        if (place := row_of.get(document)) is not None:
            labels[place] = label if label >= 0 else UNJUDGED
    return labels[order]


def _order(documents: Sequence[bytes], scores: NDArray[np.floating]) -> NDArray[np.intp]:
    """Rows by score descending, ties by document id descending."""
    order = np.argsort(-scores, kind="stable")
    ranked = scores[order]
    if (ranked[1:] == ranked[:-1]).any():
        by_name = np.array(sorted(range(len(documents)), key=documents.__getitem__, reverse=True))
        order = by_name[np.argsort(-scores[by_name], kind="stable")]
    return order
