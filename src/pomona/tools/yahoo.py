"""The Yahoo challenge's evaluate.py: mean ERR and NDCG@k, to the last bit.

It returns doubles and prints nothing; we write them as a table, one row a cut-off. Labels and
ranks come as the challenge had them (one line a query), or as a feature file with scores.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from pomona._types import Values
from pomona.data.text import offsets
from pomona.errors import InputError
from pomona.measures.judge import judge, mean_in_order, sum_in_order
from pomona.measures.lists import ScoredQueries
from pomona.measures.parse import measure
from pomona.tools.files import (
    head,
    java_number,
    judged_by_query,
    label_of,
    lines_of,
    scores_of,
)


def yahoo(
    labels: Path | str,
    ranks: Path | str,
    *,
    per_query: bool = False,
    cutoffs: Sequence[int] = (10, 5, 1, 1000),
    empty: float = 1.0,
) -> Iterator[str]:
    """ERR and NDCG at each cut-off; `empty` is what a query without a relevant document counts.

    Copies of the script with 1.0 and with 0.5 are on record.
    """
    lines = lines_of(labels)
    with_features = any(b"qid:" in line for line in lines[:1])
    judged, names = (_read_letor if with_features else _read_ranks)(lines, labels, ranks)
    wanted = [measure(f"yahoo:ndcg(empty={empty})@{k}") for k in cutoffs]
    ndcg = [judgement.values for judgement in judge(judged, [*wanted, measure("yahoo:err")])]
    err = ndcg.pop()
    if per_query:
        yield "\t".join(["query", "ERR", *(f"NDCG@{k}" for k in cutoffs)])
        for q, name in enumerate(names):
            yield "\t".join([name, repr(float(err[q])), *(repr(float(column[q])) for column in ndcg)])
        return
    # The copies with 0.5 add up queries, those with 1.0 the terms of all queries.
    mean_err = (sum_in_order(err) if empty == 0.5 else _err_total(judged)) / len(err)
    yield "k\tERR\tNDCG"
    for k, column in zip(cutoffs, ndcg, strict=True):
        yield f"{k}\t{mean_err!r}\t{mean_in_order(column)!r}"


def _err_total(judged: ScoredQueries) -> float:
    """One running sum over the terms of all queries: a sum of per-query values has other last digits."""
    lists = judged.ranked()
    chances = measure("yahoo:err").satisfies(lists.levels)  # type: ignore[attr-defined]
    terms: list[Values] = []
    for q in range(lists.n_queries):
        chance = chances[lists.single(q)]
        reading = np.cumprod(np.append(1.0, 1.0 - chance[:-1]))
        terms.append(reading * chance / np.arange(1, len(chance) + 1))
    return sum_in_order(np.concatenate(terms))


def _read_letor(
    lines: list[bytes], features: Path | str, scores: Path | str
) -> tuple[ScoredQueries, list[str]]:
    labels, qids = [], []
    for place, line in enumerate(lines, 1):
        label, qid = head(line, features, place)
        labels.append(label_of(label, _python_number, features, place))
        qids.append(qid)
    judged, distinct = judged_by_query(np.array(labels), scores_of(scores, len(lines), java_number), qids)
    return judged, [qid.decode(errors="replace") for qid in distinct]


def _read_ranks(lines: list[bytes], labels: Path | str, ranks: Path | str) -> tuple[ScoredQueries, list[str]]:
    rank_lines = lines_of(ranks)
    if len(rank_lines) != len(lines):
        raise InputError(f"found {len(rank_lines)} lines of ranks for {len(lines)} lines of labels", ranks)
    if not lines:
        raise InputError("the file is empty, expected one line a query", labels)
    all_labels, all_scores, lengths = [], [], []
    for place, (label_line, rank_line) in enumerate(zip(lines, rank_lines, strict=True), 1):
        graded = [label_of(text, _python_number, labels, place) for text in label_line.split()]
        try:
            given = [int(text) for text in rank_line.split()]
        except ValueError:
            raise InputError("found a rank that is not an integer", ranks, place) from None
        if sorted(given) != list(range(1, len(graded) + 1)):
            raise InputError(f"expected each of the ranks 1 to {len(graded)} once", ranks, place)
        all_labels += graded
        all_scores += [-float(rank) for rank in given]
        lengths.append(len(graded))
    judged = ScoredQueries(np.array(all_labels), np.array(all_scores), offsets(lengths))
    return judged, [str(q) for q in range(1, len(lines) + 1)]


def _python_number(text: bytes) -> float:
    return float(int(float(text)))
