"""The ranked lists of systems, from whatever tells them: a comparison, scores, features, or TREC runs.

A tie is broken by chance, from a fixed seed: input order would tell the label, since many files are sorted by
it. A run's ties stand as trec_eval has them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pomona._types import Codes, Offsets, Scores
from pomona.data.dataset import Dataset
from pomona.data.trec import JudgedRun, dataset_of_trec, read_qrels, read_run
from pomona.errors import InputError
from pomona.experiments.results import Results
from pomona.measures.judge import scored_queries
from pomona.measures.lists import RankedLists, ScoredQueries

Lists = dict[str, RankedLists]


def systems_of_scores(data: Dataset, scores: Mapping[str, Scores]) -> Lists:
    """The lists of a dataset by each system's scores, which stand in the order in which its rows came."""
    return {name: _ranked([scored_queries(data, given)]) for name, given in scores.items()}


def systems_of_features(parts: Sequence[Dataset]) -> Lists:
    """The lists of datasets by each feature, its largest value first; what is undefined comes last.

    Features are known by their names. One that a part does not have is undefined there, so that all systems
    rank the same queries.
    """
    parts = [part.gathered() for part in parts]
    systems = {}
    for name in dict.fromkeys(name for part in parts for name in part.feature_names):
        columns = [
            part.X[:, part.feature_names.index(name)].astype(np.float64)
            if name in part.feature_names
            else np.full(part.n_docs, np.nan)
            for part in parts
        ]
        scores = [np.where(np.isnan(column), -np.inf, column) for column in columns]
        if all((one == one[:1]).all() for one in scores):
            continue  # a feature without two values is no system
        scored = [ScoredQueries(part.y, one, part.query_ptr) for part, one in zip(parts, scores, strict=True)]
        systems[name] = _ranked(scored)
    if not systems:
        raise InputError("every feature has one value only: there is no system to look at")
    return systems


def systems_of_results(results: Results) -> dict[str, Lists]:
    """The lists that every ranker of a comparison made of the test queries, by dataset, without bounds."""
    done = results.runs.filter(state="done", is_bound=False)
    systems: dict[str, Lists] = {}
    for dataset in done["dataset"].unique(maintain_order=True):
        own = done.filter(dataset=dataset)
        tests = {fold: results.test_data(dataset, fold) for fold in own["fold"].unique(maintain_order=True)}
        systems[dataset] = {
            ranker: _ranked(
                [
                    scored_queries(tests[fold], results.scores(dataset, fold, ranker, seed))
                    for fold, seed in own.filter(ranker=ranker).select("fold", "seed").iter_rows()
                ]
            )
            for ranker in own["ranker"].unique(maintain_order=True)
        }
    if not systems:
        raise InputError("no run of this comparison is finished, so there are no lists to look at")
    return systems


def systems_of_runs(qrels: Path, runs: Mapping[str, Path]) -> Lists:
    """The lists of TREC runs by name, the judged documents of each query as pools; others are irrelevant.

    Queries that not every run has are left out, with a warning: means over other queries do not compare.
    """
    judgments = read_qrels(qrels)
    judged = {name: dataset_of_trec(judgments, read_run(path)) for name, path in runs.items()}
    of_run = [set(one.data.qids.tolist()) for one in judged.values()]
    shared = set.intersection(*of_run)
    if not shared:
        raise InputError("no query is in the judgments and in every run: check that they belong together")
    n_judged = len(judgments.qids)
    if len(shared) < n_judged:
        warnings.warn(
            f"{n_judged - len(shared)} of {n_judged} judged queries are left out: not every run has them",
            stacklevel=2,
        )
    return {name: _of_run(one, shared) for name, one in judged.items()}


def _of_run(one: JudgedRun, wanted: Set[Any]) -> RankedLists:
    """The lists of a run's wanted queries, its scores and ties as trec_eval has them."""
    documents = one.data.y, one.scores, one.data.query_ptr, one.data.doc_ids
    lists = ScoredQueries(*documents, one.pool_labels, one.pool_ptr).ranked("docid", np.float32)
    return taken(lists, np.flatnonzero([qid in wanted for qid in one.data.qids.tolist()]))


def taken(lists: RankedLists, wanted: NDArray[np.int64]) -> RankedLists:
    """The lists of the wanted queries, each with its pool."""
    codes, query_ptr = _rows(lists.codes, lists.query_ptr, wanted)
    pool_codes, pool_ptr = _rows(lists.pool_codes, lists.pool_ptr, wanted)
    return RankedLists(codes, query_ptr, lists.levels, pool_codes, pool_ptr)


def _rows(codes: Codes, ptr: Offsets, wanted: NDArray[np.int64]) -> tuple[Codes, Offsets]:
    lengths = np.diff(ptr)
    new_ptr = np.concatenate(([0], np.cumsum(lengths[wanted]))).astype(np.int64)
    is_wanted = np.zeros(len(lengths), np.bool_)
    is_wanted[wanted] = True
    return codes[np.repeat(is_wanted, lengths)], new_ptr


def _ranked(scored: Sequence[ScoredQueries]) -> RankedLists:
    """All queries of several datasets in the order of their scores, ties in an order of chance."""
    random = np.random.default_rng(0)
    labels, lengths = [], []
    for one in scored:
        own = np.diff(one.query_ptr)
        query = np.repeat(np.arange(len(own)), own)
        order = np.lexsort((random.random(len(query)), -one.scores, query))
        labels.append(np.asarray(one.labels, np.float64)[order])
        lengths.append(own)
    query_ptr = np.concatenate(([0], np.cumsum(np.concatenate(lengths)))).astype(np.int64)
    return RankedLists.of_documents(np.concatenate(labels), query_ptr)
