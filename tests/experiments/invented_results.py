"""Results as a store would give them, of invented numbers: what the tests of the analyses read."""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from pomona.data.dataset import Dataset
from pomona.errors import InputError
from pomona.experiments.results import _IMPORTANCE_COLUMNS, _QUERY_COLUMNS, _STAGE_COLUMNS, _TRIAL_COLUMNS
from pomona.measures.parse import measure


@dataclass(frozen=True)
class Ranker:
    """`skill` moves all values of a ranker, `noise` its single queries, `seed_noise` its trainings."""

    label: str
    skill: float = 0.0
    noise: float = 0.05
    seed_noise: float = 0.0
    kind: str = ""
    trained_for: str | None = "ndcg@10"
    is_bound: bool = False
    valid_skill: float | None = None
    n_iterations: int = 0
    varied: tuple = ()
    parameters: dict = field(default_factory=dict)

    @property
    def ranker(self):
        return self.kind


@dataclass(frozen=True)
class InventedSpec:
    rankers: tuple
    measures: tuple = ("ndcg@10", "ap")
    conventions: tuple = ("definition",)
    baseline: str | None = None
    name: str = "invented"
    seeds: tuple = (0, 1)
    datasets: tuple = ()
    norm_performance: bool = False

    def to_toml(self):
        lines = {"name": self.name, "measures": self.measures, "conventions": self.conventions}
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in lines.items())


@dataclass
class InventedResults:
    spec: InventedSpec
    runs: pl.DataFrame
    values: pl.DataFrame
    curves: pl.DataFrame
    warnings: pl.DataFrame
    datasets: pl.DataFrame = field(default_factory=pl.DataFrame)
    facts: dict = field(default_factory=dict)
    docs_per_query: int = 8
    lengths: dict = field(default_factory=dict)
    directory: Path | None = None
    stages: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_STAGE_COLUMNS))
    trials: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_TRIAL_COLUMNS))
    queries: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_QUERY_COLUMNS))
    importance: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_IMPORTANCE_COLUMNS))

    @property
    def columns(self):
        pairs = [(text, convention) for convention in self.spec.conventions for text in self.spec.measures]
        return {pair: str(measure(*pair)) for pair in pairs}

    def test_data(self, dataset, fold):
        """Documents whose label is the rounded first feature; `gone` is a dataset that cannot be read."""
        if dataset == "gone":
            raise InputError("no such file", "gone/test.txt")
        qids = self._qids(dataset, fold)
        random = np.random.default_rng([len(dataset), fold])
        X = random.normal(size=(len(qids) * self.docs_per_query, 7))
        X[:, 6] = 1.0
        labels = np.clip(np.round(X[:, 0] + 1), 0, 2)
        return Dataset(X, labels, np.repeat(qids, self.docs_per_query))

    def scores(self, dataset, fold, ranker, seed):
        data = self.test_data(dataset, fold)
        return data.X[:, 0] + np.random.default_rng([len(ranker), fold, seed]).normal(size=data.n_docs)

    def _qids(self, dataset, fold):
        own = self.values.filter(pl.col("part") == "test", dataset=dataset, fold=fold)
        return [int(qid) for qid in own["qid"].unique(maintain_order=True)]


RANKERS = (
    Ranker("LambdaMART", 0.10, kind="lambdamart", seed_noise=0.02, n_iterations=30),
    Ranker("MART", 0.05, kind="mart", n_iterations=20),
    Ranker("Linear", 0.0, kind="linearregression", trained_for=None),
    Ranker("IdealRanker", 1.0, 0.0, kind="ideal", trained_for=None, is_bound=True),
    Ranker("WorstRanker", -1.0, 0.0, kind="worst", trained_for=None, is_bound=True),
)


def invent(
    rankers=RANKERS,
    *,
    datasets=("one",),
    n_folds=2,
    n_queries=60,
    seeds=(0, 1),
    measures=("ndcg@10", "ap"),
    conventions=("definition",),
    baseline=None,
    failed=(),
    with_valid=True,
    random_seed=0,
):
    """Results of every ranker; `failed` are (dataset, fold, ranker, seed) whose runs have no values.

    A value is the query's difficulty plus skill and noise, in tenths, so that there are ties.
    """
    columns = {str(measure(text, c)): None for c in conventions for text in measures}
    columns |= {str(measure(f"ndcg@{k}", c)): None for c in conventions for k in range(1, 11)}
    random = np.random.default_rng(random_seed)
    runs, frames, curves, shares, queries = [], [], [], [], []
    for dataset in datasets:
        for fold in range(1, n_folds + 1):
            difficulty = random.random(n_queries)
            queries += [(dataset, fold, str(1000 * fold + q), 4 + q % 9, q % 5) for q in range(n_queries)]
            for ranker in rankers:
                deviation = random.normal(0, 1, n_queries) * ranker.noise
                for seed in seeds if ranker.seed_noise else seeds[:1]:
                    key = {"dataset": dataset, "fold": fold, "ranker": ranker.label, "seed": seed}
                    is_failed = (dataset, fold, ranker.label, seed) in failed
                    runs.append(_run(key, ranker, is_failed, n_queries))
                    if is_failed:
                        continue
                    training = deviation + random.normal(0, 1) * ranker.seed_noise
                    for part, skill in (("test", ranker.skill), ("valid", ranker.valid_skill)):
                        if part == "valid" and not with_valid:
                            continue
                        skill = ranker.skill if skill is None else skill
                        value = np.clip(difficulty + skill + training, 0, 1).round(1)
                        qids = [str(1000 * fold + q + 500 * (part == "valid")) for q in range(n_queries)]
                        frames.append(_values(key, part, qids, value, columns))
                    curves += _curves(key, ranker)
                    shares += [{**key, "feature": f, "share": s} for f, s in (("bm25", 0.7), ("age", 0.3))]
    spec = InventedSpec(tuple(r for r in rankers if not r.is_bound), measures, conventions, baseline)
    schema = dict.fromkeys(("dataset", "check", "text"), pl.String)
    return InventedResults(
        spec,
        pl.DataFrame(runs, infer_schema_length=None, schema_overrides={"reason": pl.String}),
        pl.concat(frames),
        pl.DataFrame(curves, schema=_CURVES, orient="row"),
        pl.DataFrame([("one", "empty query", "3 of 120")], schema=schema, orient="row"),
        queries=pl.DataFrame(queries, schema=_QUERY_COLUMNS, orient="row"),
        importance=pl.DataFrame(shares, schema=_IMPORTANCE_COLUMNS, orient="row"),
    )


_CURVES = {"dataset": pl.String, "fold": pl.Int64, "ranker": pl.String, "seed": pl.Int64, "part": pl.String}
_CURVES |= {"measure": pl.String, "iteration": pl.Int64, "value": pl.Float64}


def _run(key, ranker, is_failed, n_queries):
    return {
        "run": "-".join(map(str, key.values())),
        **key,
        "of": key["dataset"],
        "state": "failed" if is_failed else "done",
        "reason": "out of memory" if is_failed else None,
        "kind": ranker.kind or ranker.label,
        "is_bound": ranker.is_bound,
        "trained_for": ranker.trained_for,
        "parameters": json.dumps({}),
        "train_seconds": None if is_failed else 2.0 + key["fold"] + 10 * ranker.skill,
        "score_seconds": None if is_failed else 0.001 * n_queries,
        "n_test_docs": None if is_failed else 8 * n_queries,
        "peak_memory": None if is_failed else 1000 * key["fold"],
        "best_iteration": ranker.n_iterations or None,
        "model_bytes": None if is_failed else 500,
    }


def _values(key, part, qids, value, columns):
    # Every column is a little different, as measures are; conventions shift all values alike.
    shifted = {name: np.round(value * (0.9 if "ap" in name else 1.0), 3) for name in columns}
    kinds = {"fold": pl.Int64, "seed": pl.Int64}
    return pl.DataFrame({**key, "part": part, "qid": qids, **shifted}, schema_overrides=kinds)


def _curves(key, ranker):
    rows = []
    for part, best in (("train", 0.9), ("valid", 0.7)):
        stop = ranker.n_iterations - 5 * (key["fold"] - 1)
        rows += [(*key.values(), part, "ndcg@10", i, best - 0.5 / i) for i in range(1, stop + 1)]
    return rows


def but(results, **changes):
    """The same results with something replaced."""
    return replace(results, **changes)
