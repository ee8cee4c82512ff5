"""The ranked lists of systems, from whatever tells them: a comparison, scores, features, or TREC runs.

A tie is broken by chance, from a fixed seed: input order would tell the label, since many files are sorted by
it. A run's ties stand as trec_eval has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pomona._types import Scores
from pomona.data.dataset import Dataset
from pomona.data.trec import dataset_of_trec, read_qrels, read_run
from pomona.errors import InputError
from pomona.experiments.results import Results
from pomona.measures.judge import scored_queries
from pomona.measures.lists import RankedLists, ScoredQueries

Lists = dict[str, RankedLists]


def systems_of_scores(data: Dataset, scores: Mapping[str, Scores]) -> Lists:
    """The lists of a dataset by each system's scores, which stand in the order in which its rows came."""
    return {name: _ranked([scored_queries(data, given)]) for name, given in scores.items()}


def systems_of_features(parts: Sequence[Dataset]) -> Lists:
    """The lists of datasets by each feature, its largest value first; what is undefined comes last."""
    names, parts = parts[0].feature_names, [part.gathered() for part in parts]
    systems = {}
    for number in range(max(part.n_features for part in parts)):
        columns = [part.X[:, number].astype(np.float64) for part in parts if number < part.n_features]
        if all(column.size == 0 or np.ptp(np.nan_to_num(column)) == 0 for column in columns):
            continue  # a feature without two values is no system
        scored = [
            ScoredQueries(part.y, np.where(np.isnan(column), -np.inf, column), part.query_ptr)
            for part, column in zip(parts, columns, strict=False)
        ]
        systems[names[number] if number < len(names) else f"f{number + 1}"] = _ranked(scored)
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


def systems_of_runs(qrels: Path, runs: Sequence[Path]) -> Lists:
    """The lists of TREC runs, the judged documents of each query as pools; unjudged ones are irrelevant."""
    judgments = read_qrels(qrels)
    systems: Lists = {}
    for path in runs:
        trec = dataset_of_trec(judgments, read_run(path))
        documents = trec.data.y, trec.scores, trec.data.query_ptr, trec.data.doc_ids
        lists = ScoredQueries(*documents, trec.pool_labels, trec.pool_ptr).ranked("docid")
        name = path.name if path.stem in systems else path.stem
        if name in systems:
            raise InputError(f"two runs are called {name}: give each file its own name", path)
        systems[name] = lists
    return systems


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
