"""Findings as a comparison would leave them, of invented numbers: what the report's tests draw.

`invented()` has everything a reader may meet: several conventions, one method trained under two of them, the
bounds, a ranker that failed, warnings. The statistics are rough (normal approximations): their shape counts.
"""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

METHODS = (
    ("LambdaMART", "lambdamart", 0.062, 21.0, 1.4),
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
BOUNDS = (("Ideal", 1.0), ("Worst", 0.0))
ITERATIVE = {"lambdamart", "mart", "randomforest", "rankboost", "ranknet", "listnet", "mcrank", "rcrank"}
OFFSETS = {"definition": 0.0, "letor4": -0.11, "yahoo": 0.24, "ranklib": 0.0}


@dataclass(frozen=True)
class InventedSpec:
    name: str
    datasets: tuple[str, ...]
    measures: tuple[str, ...]
    conventions: tuple[str, ...]
    seeds: tuple[int, ...]
    baseline: str

    def to_toml(self) -> str:
        lines = [f"name = {json.dumps(self.name)}", f"measures = {json.dumps(self.measures)}"]
        lines += [f"conventions = {json.dumps(self.conventions)}", f"seeds = {json.dumps(self.seeds)}"]
        lines += [f"\n[[dataset]]\nsource = {json.dumps(name)}" for name in self.datasets]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class InventedResults:
    spec: InventedSpec
    runs: pl.DataFrame
    datasets: pl.DataFrame
    warnings: pl.DataFrame
    facts: dict[str, Any]


@dataclass(frozen=True)
class InventedFindings:
    results: InventedResults
    main: str
    baseline: str
    measures: list[str]
    table: pl.DataFrame
    costs: pl.DataFrame
    pairs: pl.DataFrame
    cutoffs: pl.DataFrame
    conventions: pl.DataFrame
    order_changes: pl.DataFrame
    fronts: pl.DataFrame
    learning: pl.DataFrame
    variance: pl.DataFrame
    winning: pl.DataFrame
    queries: pl.DataFrame
    documents: pl.DataFrame
    headline: Any
    warnings: list[str] = field(default_factory=list)
    alpha: float = 0.05


def invented(
    n_rankers: int = 6,
    n_queries: int = 120,
    n_folds: int = 2,
    *,
    datasets: tuple[str, ...] = ("mq2008",),
    measures: tuple[str, ...] = ("ndcg@10", "ap"),
    conventions: tuple[str, ...] = ("definition", "letor4", "yahoo"),
    failed: bool = True,
    n_iterations: int = 60,
    n_documents: int = 12,
    n_opened: int = 8,
    names: dict[str, str] | None = None,
) -> InventedFindings:
    """Findings of `n_rankers` on `n_queries` test queries a fold; `names` renames rankers."""
    called = names or {}
    methods = [(called.get(label, label), *rest) for label, *rest in METHODS[:n_rankers]]
    labels = [label for label, *_ in methods]
    spec = InventedSpec("invented", datasets, measures, conventions, (0, 1), labels[min(2, len(labels) - 1)])
    shown = [m if c == "definition" else f"{c}:{m}" for c in conventions for m in measures]
    frames = [
        _of_dataset(name, i, methods, spec, shown, n_queries, n_folds, n_iterations, n_documents, n_opened)
        for i, name in enumerate(datasets)
    ]
    together = {key: pl.concat([frame[key] for frame in frames], how="diagonal_relaxed") for key in frames[0]}
    runs, about = together.pop("runs"), together.pop("datasets")
    warnings = []
    if failed:
        reason = "over the time limit of 600 s"
        together["costs"] = together["costs"].vstack(
            pl.DataFrame(
                [_cost(name, "SVMmap", None, None, 0, n_folds * 2, reason) for name in datasets],
                schema=together["costs"].schema,
            )
        )
        warnings = [f"SVMmap: all {2 * n_folds} runs failed on {datasets[0]} ({reason})"]
    odd = "17 of 784 queries are empty: no document has a label above 0"
    return InventedFindings(
        results=InventedResults(
            spec=spec,
            runs=runs,
            datasets=about,
            warnings=pl.DataFrame({"dataset": [datasets[0]], "check": ["empty query"], "text": [odd]}),
            facts={
                "command": "pomona compare invented.toml --out invented",
                "pomona": "0.1.0",
                "python": "3.11.7",
                "numpy": "2.4.6",
                "machine": "x86_64, 2 cores, 24 GB",
                "started": "2025-11-15 06:44",
                "total_seconds": 812.4,
            },
        ),
        main=shown[0],
        baseline=spec.baseline,
        measures=shown,
        winning=_winning(together["table"]),
        warnings=warnings,
        **together,
    )


def changed(findings: InventedFindings, **frames: Any) -> InventedFindings:
    """The same findings with some parts replaced."""
    return replace(findings, **frames)


def _of_dataset(
    dataset: str,
    number: int,
    methods: list[Any],
    spec: InventedSpec,
    shown: list[str],
    n_queries: int,
    n_folds: int,
    n_iterations: int,
    n_documents: int,
    n_opened: int,
) -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng([7, number])
    labels = [label for label, *_ in methods]
    n = n_queries * n_folds
    difficulty = rng.beta(2.2, 2.6, n) * (rng.random(n) > 0.12)
    skill = {
        label: quality * (1 - 0.3 * number * (i % 3)) for i, (label, _, quality, *_) in enumerate(methods)
    }
    values = {
        label: np.clip(difficulty * (1 + skill[label] + rng.normal(0, 0.12, n)), 0, 1).round(6)
        for label in labels
    }
    means = {label: float(values[label].mean()) for label in labels}
    shift = {m: 0.0 if ":" not in m else OFFSETS[m.split(":")[0]] for m in shown}

    rows = []
    for measure in shown:
        for label in labels:
            half = 1.96 * float(values[label].std()) / math.sqrt(n)
            mean = means[label] * (0.92 if measure.endswith("ap") else 1) + shift[measure]
            above = means[label] - means[spec.baseline]
            mark = "▲" if above > 0.004 else "▼" if above < -0.004 else ""
            rows.append((dataset, label, measure, mean, mean - half, mean + half, n, mark, mean, False))
        for label, value in BOUNDS:
            mean = value * 0.88 + (shift[measure] if 0 < value + shift[measure] < 1 else 0)
            rows.append((dataset, label, measure, mean, mean - 0.01, mean + 0.01, n, "", value, True))
    table = pl.DataFrame(
        rows,
        schema=[
            "dataset",
            "ranker",
            "measure",
            "mean",
            "low",
            "high",
            "n_queries",
            "mark",
            "norm",
            "is_bound",
        ],
        orient="row",
    )

    pairs = []
    for measure in shown:
        for a, b in itertools.combinations(labels, 2):
            d = values[a] - values[b]
            mean, sd = float(d.mean()), float(d.std()) + 1e-9
            z = abs(mean) / sd * math.sqrt(n)
            p = math.erfc(z / math.sqrt(2))
            half = 1.96 * sd / math.sqrt(n)
            holm = min(1.0, p * len(labels))
            pairs.append(
                {
                    "dataset": dataset, "measure": measure, "a": a, "b": b, "n_queries": n,
                    "difference": mean, "low": mean - half, "high": mean + half, "effect": mean / sd,
                    "t_p": p, "wilcoxon_p": p, "sign_p": min(1.0, 2 * p), "randomization_p": p,
                    "holm_p": holm, "bh_p": min(1.0, 1.5 * p),
                    "wins": int((d > 0).sum()), "ties": int((d == 0).sum()), "losses": int((d < 0).sum()),
                    "agree": 2 * p < 0.05, "detectable": 2.8 * sd / math.sqrt(n),
                }
            )  # fmt: skip

    cutoffs, judged = [], []
    for convention in spec.conventions:
        order = sorted(labels, key=lambda r: -means[r] - _bend(r, convention))
        for label in labels:
            for k in range(1, 11):
                drop = -0.02 * max(0, k - 6) if convention == "letor4" else 0.0
                mean = means[label] - 0.03 + 0.004 * k + 0.6 * OFFSETS[convention] + drop
                tilt = 0.0015 * (len(label) % 4 - 1.5) * (k - 10)
                cutoffs.append((dataset, label, convention, k, mean + tilt + _bend(label, convention)))
            judged.append(
                {
                    "dataset": dataset, "ranker": label,
                    "trained_with": "yahoo" if "yahoo" in label else "definition",
                    "judged_with": convention, "measure": spec.measures[0],
                    "mean": means[label] + OFFSETS[convention] + _bend(label, convention),
                    "rank": order.index(label) + 1,
                }
            )  # fmt: skip
    ranks = {(row["ranker"], row["judged_with"]): row for row in judged}
    changes = [
        {
            "dataset": dataset, "measure": spec.measures[0], "convention_1": one, "convention_2": two,
            "better": a, "worse": b,
            "difference_1": ranks[a, one]["mean"] - ranks[b, one]["mean"],
            "difference_2": ranks[a, two]["mean"] - ranks[b, two]["mean"],
        }
        for one, two in itertools.combinations(spec.conventions, 2)
        for a, b in itertools.permutations(labels, 2)
        if ranks[a, one]["mean"] > ranks[b, one]["mean"] and ranks[a, two]["mean"] < ranks[b, two]["mean"]
    ]  # fmt: skip

    costs = [
        _cost(dataset, label, train, score, 2 * n_folds, 0, None) for label, _, _, train, score in methods
    ]
    fronts = [
        {
            "dataset": dataset, "ranker": label, "mean": means[label],
            "train_seconds": train, "score_microseconds": score,
            "on_train_front": all(means[o] <= means[label] or t > train for o, _, _, t, _ in methods),
            "on_score_front": all(means[o] <= means[label] or s > score for o, _, _, _, s in methods),
        }
        for label, _, _, train, score in methods
    ]  # fmt: skip

    learning = []
    for label, kind, *_ in methods:
        if kind in ITERATIVE:
            for part, best, rate in (("train", means[label] + 0.08, 0.05), ("valid", means[label], 0.09)):
                for i in range(1, n_iterations + 1):
                    mean = best - 0.1 * math.exp(-rate * i)
                    learning.append((dataset, label, part, i, mean, mean - 0.012, mean + 0.012))

    variance = [
        {
            "dataset": dataset, "measure": measure, "ranker": label, "queries": 0.9 - 0.01 * i,
            "folds": 0.05 + 0.005 * i, "seeds": 0.02, "residual": 0.03 + 0.005 * i,
        }
        for measure in shown
        for i, label in enumerate(labels)
    ]  # fmt: skip

    folds = np.repeat(np.arange(1, n_folds + 1), n_queries)
    qids = [f"{18219 + 7 * i}" for i in range(n)]
    queries = pl.DataFrame({"dataset": dataset, "fold": folds, "qid": qids, **values})
    spread = np.ptp(np.stack([values[label] for label in labels]), axis=0)
    documents = []
    for q in np.argsort(-spread, kind="stable")[:n_opened]:
        truth = rng.integers(0, 3, n_documents)
        scores = {label: truth * 0.4 + rng.normal(0, 0.8, n_documents) for label in labels}
        ranks_of = {label: np.argsort(np.argsort(-scores[label])) + 1 for label in labels}
        for i in range(n_documents):
            features = {
                "BM25.body": rng.random(),
                "LMIR.JM.title": rng.random(),
                "PageRank": rng.random() * 1e-5,
            }
            documents.append(
                {
                    "dataset": dataset, "fold": int(folds[q]), "qid": qids[q], "doc": f"GX{q:03d}-{i:02d}",
                    "label": float(truth[i]),
                    **{f"score:{label}": float(scores[label][i]) for label in labels},
                    **{f"rank:{label}": int(ranks_of[label][i]) for label in labels},
                    "features": json.dumps({k: round(float(v), 7) for k, v in features.items()}),
                }
            )  # fmt: skip

    headline = _headline(dataset, shown[0], sorted(labels, key=lambda r: -means[r]), pairs)
    runs = [
        {
            "run": f"{dataset}-{fold}-{label}-{seed}", "dataset": dataset, "fold": fold, "ranker": label,
            "seed": seed, "state": "done", "reason": None, "kind": kind, "family": "list-wise",
            "is_bound": False, "trained_for": "yahoo:ndcg@10" if "yahoo" in label else "ndcg@10",
            "parameters": json.dumps({"n_trees": 300}), "train_seconds": train, "score_seconds": score / 1e3,
        }
        for label, kind, _, train, score in methods
        for fold in range(1, n_folds + 1)
        for seed in spec.seeds
    ]  # fmt: skip
    about = {
        "dataset": dataset, "queries": n, "documents": n * 19, "features": 46, "mean_docs": 19.4,
        "min_docs": 5, "max_docs": 121, "mean_label": 0.132, "max_label": 2.0, "empty_queries": 17,
        "undefined": 0, "digest": "9f2c" * 8,
    }  # fmt: skip
    return {
        "table": table,
        "pairs": pl.DataFrame(pairs, schema=PAIRS),
        "cutoffs": pl.DataFrame(
            cutoffs, schema=["dataset", "ranker", "convention", "k", "mean"], orient="row"
        ),
        "conventions": pl.DataFrame(judged),
        "order_changes": pl.DataFrame(changes, schema=CHANGES),
        "costs": pl.DataFrame(costs, schema=COSTS),
        "fronts": pl.DataFrame(fronts),
        "learning": pl.DataFrame(learning, schema=LEARNING, orient="row"),
        "variance": pl.DataFrame(variance),
        "queries": queries,
        "documents": pl.DataFrame(documents),
        "headline": pl.DataFrame([headline], schema=HEADLINE),
        "runs": pl.DataFrame(runs, schema_overrides={"reason": pl.String}),
        "datasets": pl.DataFrame([about]),
    }


def _headline(dataset: str, measure: str, best: list[str], pairs: list[dict[str, Any]]) -> dict[str, Any]:
    """The best two, seen from the first."""
    told = dict.fromkeys(HEADLINE) | {"winner": best[0], "measure": measure, "dataset": dataset}
    if len(best) == 1:
        return told
    pair = next(p for p in pairs if p["measure"] == measure and {p["a"], p["b"]} == set(best[:2]))
    sign = 1 if pair["a"] == best[0] else -1
    low, high = sorted((sign * pair["low"], sign * pair["high"]))
    is_significant = bool(pair["holm_p"] <= 0.05 and pair["agree"])
    numbers = {"difference": sign * pair["difference"], "low": low, "high": high, "p": pair["holm_p"]}
    return {**told, **numbers, "runner_up": best[1], "is_significant": is_significant}


HEADLINE = {
    **dict.fromkeys(("winner", "runner_up", "measure", "dataset"), pl.String),
    **dict.fromkeys(("difference", "low", "high", "p"), pl.Float64),
    "is_significant": pl.Boolean,
}
PAIRS = {
    **dict.fromkeys(("dataset", "measure", "a", "b"), pl.String),
    "n_queries": pl.Int64,
    **dict.fromkeys(("difference", "low", "high", "effect"), pl.Float64),
    **dict.fromkeys(("t_p", "wilcoxon_p", "sign_p", "randomization_p", "holm_p", "bh_p"), pl.Float64),
    **dict.fromkeys(("wins", "ties", "losses"), pl.Int64),
    "agree": pl.Boolean,
    "detectable": pl.Float64,
}
COSTS = {
    "dataset": pl.String, "ranker": pl.String, "train_seconds": pl.Float64, "score_microseconds": pl.Float64,
    "peak_memory": pl.Int64, "model_bytes": pl.Int64, "best_iteration": pl.Float64, "n_done": pl.Int64,
    "n_failed": pl.Int64, "reason": pl.String,
}  # fmt: skip
CHANGES = {
    "dataset": pl.String, "measure": pl.String, "convention_1": pl.String, "convention_2": pl.String,
    "better": pl.String, "worse": pl.String, "difference_1": pl.Float64, "difference_2": pl.Float64,
}  # fmt: skip
LEARNING = {
    "dataset": pl.String, "ranker": pl.String, "part": pl.String, "iteration": pl.Int64, "mean": pl.Float64,
    "low": pl.Float64, "high": pl.Float64,
}  # fmt: skip


def _bend(label: str, convention: str) -> float:
    """What moves a ranker under another tool's rules."""
    return 0.0 if convention == "definition" else 0.004 * ((len(label) * 7 + len(convention)) % 5 - 2) / 2


def _cost(
    dataset: str,
    label: str,
    train: float | None,
    score: float | None,
    n_done: int,
    n_failed: int,
    reason: str | None,
) -> dict[str, Any]:
    done = train is not None
    return {
        "dataset": dataset, "ranker": label, "train_seconds": train, "score_microseconds": score,
        "peak_memory": 214_000_000 if done else None, "model_bytes": 481_000 if done else None,
        "best_iteration": 143.0 if done else None, "n_done": n_done, "n_failed": n_failed, "reason": reason,
    }  # fmt: skip


def _winning(table: pl.DataFrame) -> pl.DataFrame:
    real = table.filter(~pl.col("is_bound"))
    labels = real["ranker"].unique(maintain_order=True).to_list()
    n_tables = real.select("dataset", "measure").unique().height
    rows = []
    for i, label in enumerate(labels):
        ideal = (len(labels) - 1) * (n_tables - i % 2)
        won = max(0, ideal - i * n_tables)
        front = i < 2
        rows.append((label, won, ideal, won / max(1, ideal), front, not front and i < 4))
    return pl.DataFrame(
        rows, schema=["ranker", "winning", "ideal", "normalized", "is_pareto", "is_rank2"], orient="row"
    )
