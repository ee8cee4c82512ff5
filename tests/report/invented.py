"""Real findings of invented numbers: what the report's tests draw.

The values of queries are invented, as a store would give them; the statistics are the real ones. `invented()`
has everything a reader may meet: several conventions, one method trained under two of them, the bounds, a
ranker that failed, warnings.
"""

import dataclasses
import json
import math
from functools import cache

import numpy as np
import polars as pl

from experiments.invented_results import InventedResults, InventedSpec
from pomona.data.dataset import Dataset
from pomona.experiments.findings import Findings, find
from pomona.experiments.results import _IMPORTANCE_COLUMNS, _QUERY_COLUMNS
from pomona.measures.parse import measure as parse_measure

# Label, kind, skill, seconds to train, microseconds to score a document.
METHODS = (
    ("LambdaMART", "lambdamart", 0.090, 21.0, 1.4),
    ("LambdaMART yahoo", "lambdamart", 0.058, 23.5, 1.5),
    ("MART", "mart", 0.050, 14.2, 1.3),
    ("Random forest", "randomforest", 0.046, 33.0, 6.1),
    ("Coordinate ascent", "coordinateascent", 0.040, 88.0, 0.05),
    ("Linear regression", "linearregression", 0.020, 0.11, 0.04),
    ("RankSVM", "ranksvm", 0.044, 9.2, 0.045),
    ("RankBoost", "rankboost", 0.041, 41.0, 0.4),
    ("AdaRank", "adarank", 0.004, 7.9, 0.05),
    ("RankNet", "ranknet", 0.017, 120.0, 2.2),
    ("ListNet", "listnet", 0.025, 77.0, 2.1),
    ("ListMLE", "listmle", 0.027, 79.0, 2.1),
    ("McRank", "mcrank", 0.048, 61.0, 4.8),
    ("RC-Rank", "rcrank", 0.054, 12.0, 0.9),
    ("SmoothRank", "smoothrank", 0.043, 19.0, 0.05),
    ("SoftRank", "softrank", 0.031, 93.0, 2.3),
    ("LambdaRank", "lambdarank", 0.036, 97.0, 2.3),
    ("PRank", "prank", 0.001, 0.9, 0.04),
    ("Best feature", "bestfeature", -0.030, 0.02, 0.01),
    ("Random order", "randomranker", -0.140, 0.001, 0.01),
)
ITERATIVE = {"lambdamart", "mart", "randomforest", "rankboost", "ranknet", "listnet", "mcrank", "rcrank"}
OFFSETS = {"definition": 0.0, "letor4": -0.11, "lightgbm": 0.24, "ranklib": 0.0}
FEATURES = ("BM25.body", "LMIR.JM.title", "PageRank")
SEEDS = (0, 1)
N_TEST_DOCS = 4560


@dataclasses.dataclass(frozen=True)
class Labelled:
    label: str


@dataclasses.dataclass
class Results(InventedResults):
    """Results with documents."""

    def test_data(self, dataset, fold):
        qids = self._qids(dataset, fold)
        n = len(qids) * self.docs_per_query
        random = np.random.default_rng([9, fold])
        X = random.random((n, len(FEATURES))) * (1, 1, 1e-5)
        ids = [f"GX{i // self.docs_per_query:03d}-{i % self.docs_per_query:02d}" for i in range(n)]
        labels = random.integers(0, 3, n)
        return Dataset(X, labels, np.repeat(qids, self.docs_per_query), doc_ids=ids, feature_names=FEATURES)


def invented(*args, names=None, **settings):
    """Findings of `n_rankers` on `n_queries` test queries a fold; `names` renames rankers."""
    return _invented(*args, names=tuple((names or {}).items()), **settings)


@cache
def _invented(
    n_rankers=6,
    n_queries=120,
    n_folds=2,
    *,
    datasets=("mq2008",),
    measures=("ndcg@10", "ap"),
    conventions=("definition", "letor4", "lightgbm"),
    failed=True,
    n_iterations=60,
    n_documents=12,
    names=(),
):
    called = dict(names)
    methods = METHODS[:n_rankers]
    spec = InventedSpec(
        tuple(Labelled(called.get(label, label)) for label, *_ in methods),
        measures,
        conventions,
        called.get(methods[min(2, n_rankers - 1)][0], methods[min(2, n_rankers - 1)][0]),
    )
    runs, values, curves, queries, importance = [], [], [], [], []
    for number, dataset in enumerate(datasets):
        for fold in range(1, n_folds + 1):
            random = np.random.default_rng([7, number, fold])
            difficulty = random.beta(2.2, 2.6, n_queries) * (random.random(n_queries) > 0.12)
            qids = [f"{18219 + 7 * (i + n_queries * fold)}" for i in range(n_queries)]
            queries += [(dataset, fold, qid, 5 + i % 40, i % 4) for i, qid in enumerate(qids)]
            for i, method in enumerate(methods):
                label, kind, skill, *_ = method
                noise = 1 + skill * (1 - 0.3 * number * (i % 3)) + random.normal(0, 0.05, n_queries)
                for seed in SEEDS:
                    key = {"dataset": dataset, "fold": fold, "ranker": called.get(label, label), "seed": seed}
                    runs.append(_run(key, method, "done"))
                    quality = difficulty * (noise + random.normal(0, 0.01, n_queries))
                    values.append(_values(key, qids, quality, label, spec))
                    if i < 3:
                        shares = zip(FEATURES, (0.7 - 0.1 * i, 0.15, 0.15 + 0.1 * i), strict=True)
                        importance += [(*key.values(), feature, share) for feature, share in shares]
                    if kind in ITERATIVE:
                        curves += _curves(key, n_iterations, 0.45 + skill)
            if failed:
                key = {"dataset": dataset, "fold": fold, "ranker": called.get("SVMmap", "SVMmap")}
                method = ("SVMmap", "svmmap", 0.0, 0.0, 0.0)
                runs += [_run({**key, "seed": seed}, method, "failed") for seed in SEEDS]
            for label, value in (("Ideal", 1.0), ("Worst", 0.0)):
                key = {"dataset": dataset, "fold": fold, "ranker": label, "seed": 0}
                runs.append(_run(key, (label, label.lower(), 0.0, 0.0, 0.0), "done"))
                values.append(_values(key, qids, np.full(n_queries, value), label, spec))
    results = Results(
        spec=spec,
        runs=pl.DataFrame(runs, infer_schema_length=None, schema_overrides={"reason": pl.String}),
        values=pl.concat(values),
        curves=pl.concat([pl.DataFrame(schema=CURVES), *curves]),
        warnings=pl.DataFrame(
            {
                "dataset": [datasets[0]],
                "check": ["empty query"],
                "text": ["17 of 784 queries are empty: no document has a label above 0"],
            }
        ),
        datasets=pl.DataFrame([_about(dataset, n_queries * n_folds) for dataset in datasets]),
        facts={
            "command": "pomona compare invented.toml --out invented",
            "pomona": "0.1.0",
            "python": "3.11.7",
            "numpy": "2.4.6",
            "machine": "x86_64, 2 cores, 24 GB",
            "started": "2025-11-15 06:44",
            "total_seconds": 812.4,
        },
        docs_per_query=n_documents,
        queries=pl.DataFrame(queries, schema=_QUERY_COLUMNS, orient="row"),
        importance=pl.DataFrame(importance, schema=_IMPORTANCE_COLUMNS, orient="row"),
    )
    return find(results, n_resamples=300)


def changed(what, **parts):
    """The same findings (or results) with some tables, or other parts, replaced."""
    if not isinstance(what, Findings):
        return dataclasses.replace(what, **parts)
    tables = {name: parts.pop(name) for name in list(parts) if name in what.tables}
    return dataclasses.replace(what, tables={**what.tables, **tables}, **parts)


def _run(key, method, state):
    label, kind, _, train, score = method
    is_done = state == "done"
    return {
        "run": "-".join(map(str, key.values())),
        **key,
        "of": key["dataset"],
        "state": state,
        "reason": None if is_done else "over the time limit of 600 s",
        "kind": kind,
        "family": "list-wise",
        "is_bound": kind in ("ideal", "worst"),
        "trained_for": "lightgbm:ndcg@10" if label == "LambdaMART yahoo" else "ndcg@10",
        "parameters": json.dumps({"n_trees": 300}),
        "train_seconds": train if is_done else None,
        "score_seconds": score * N_TEST_DOCS / 1e6 if is_done else None,
        "n_test_docs": N_TEST_DOCS if is_done else None,
        "peak_memory": 214_000_000 if is_done else None,
        "best_iteration": 143 if is_done and kind in ITERATIVE else None,
        "model_bytes": 481_000 if is_done else None,
    }


def _values(key, qids, quality, label, spec):
    """Every measure of every query; other conventions move all values, and some rankers more than others."""
    columns = {}
    for convention in spec.conventions:
        texts = [*spec.measures, *(f"ndcg@{k}" for k in range(1, 11))]
        for text in texts:
            k = int(text.partition("@")[2] or 10)
            factor = 0.92 if text.startswith("ap") else 0.9 + 0.01 * k
            value = factor * quality + OFFSETS[convention] - _bend(label, convention)
            columns[str(parse_measure(text, convention))] = value
    kinds = {"fold": pl.Int64, "seed": pl.Int64}
    return pl.DataFrame({**key, "part": "test", "qid": qids, **columns}, schema_overrides=kinds)


def _bend(label, convention):
    """What a ranker loses under another tool's rules; the best of all loses nothing."""
    if convention == "definition" or label in ("LambdaMART", "Ideal", "Worst"):
        return 0.0
    return 0.004 * ((len(label) * 7 + len(convention)) % 5) / 2


CURVES = {"dataset": pl.String, "fold": pl.Int64, "ranker": pl.String, "seed": pl.Int64, "part": pl.String}
CURVES |= {"measure": pl.String, "iteration": pl.Int64, "value": pl.Float64}


def _curves(key, n_iterations, quality):
    iterations = np.arange(1, n_iterations + 1)
    for part, best, rate in (("train", quality + 0.08, 0.05), ("valid", quality, 0.09)):
        value = best - 0.1 * np.exp(-rate * iterations) + 0.01 * math.sin(10 * key["fold"] + key["seed"])
        curve = {"part": part, "measure": "ndcg@10", "iteration": iterations, "value": value}
        yield pl.DataFrame({**key, **curve}, schema=CURVES)


def _about(dataset, n_queries):
    return {
        "dataset": dataset, "queries": n_queries, "documents": n_queries * 19, "features": 46,
        "mean_docs": 19.4, "min_docs": 5, "max_docs": 121, "mean_label": 0.132, "max_label": 2.0,
        "empty_queries": 17, "undefined": 0, "digest": "9f2c" * 8,
    }  # fmt: skip
