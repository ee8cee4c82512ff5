"""Busa-Fekete, Szarvas, Éltető & Kégl 2012: whose NDCG?"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
from common import Comparison, Parts, published, shown, table

import pomona as pm
from pomona._parameters import show_value
from pomona.experiments.analysis.quality import Cutoffs, fold_error
from pomona.experiments.findings import Findings
from pomona.report.digits import fixed, p_value, signed
from pomona.report.sections.conventions import convention_curves, trained_judged
from pomona.stats.paired import compare_pair

TOOLS = ("ranklib", "yahoo", "letor4")
"""Those that are also trained with."""
DRIVEN = ("AdaRank", "Coordinate Ascent", "LambdaMART", "RankNet")
"""What Busa-Fekete et al. train with the measure of each tool, and draw in their Figure 1."""
LEADERS = ("RankBoost", "RankSVM", "LambdaMART")
"""The three that they find close together."""
STOPS = ("multiplied", "repeats", "tolerance", "early_stopping")
"""The parameters of AdaRank that say how its rounds go on and end."""
LINEAR = "trec_eval, gain = label"
"""How trec_eval's NDCG is called as the tool has it, without the paper's exponential gain."""


def judged_by(tool: str, k: int = 10) -> str:
    """A tool's NDCG as the paper has it: of trec_eval, too, with exponential gain."""
    if tool == LINEAR:
        return str(pm.measure(f"ndcg@{k}", "trec_eval"))
    return str(pm.measure(f"{tool}:ndcg{'(gain=exp2)' if tool == 'trec_eval' else ''}@{k}"))


def tool_table(of: Comparison, folder: Path) -> str:
    """NDCG@10 of every method, trained with one tool's measure and judged by another's."""
    rows, tools = [], [*of.results.spec.conventions, LINEAR]
    for data in of.results.spec.datasets:
        for label in (row.label for row in of.results.spec.rankers):
            means = [of.mean(data.name, label, judged_by(tool)) for tool in tools]
            rows.append([data.name, label, *map(fixed, means)])
    return table(["dataset", "trained (with ranklib's NDCG@10, if not said)", *tools], rows, n_texts=2)


def tool_claims(of: Comparison, folder: Path) -> str:
    """What the paper found, and what we find."""
    data, measure = "mq2008", "ranklib:ndcg@10"
    labels = [row.label for row in of.results.spec.rankers]
    six = of.only(lambda label: "(" not in label)

    def gap(tool: str, k: int) -> float:
        return float(
            np.mean([of.cutoff(data, r, tool, k) - of.cutoff(data, r, "ranklib", k) for r in labels])
        )

    lifts = [gap("yahoo", k) for k in range(1, 11)]
    rows = [
        ("`yahoo` lifts all by about 0.25", f"{signed(min(lifts))} to {signed(max(lifts))}"),
        (
            "`letor4` falls at k = 8 … 10, by 0.25 and more",
            ", ".join(f"@{k}: {signed(gap('letor4', k))}" for k in (6, 7, 8, 9, 10)),
        ),
    ]
    for method in DRIVEN:
        found = of.told(data, measure, f"{method} (letor4)", method)
        rows.append(
            (f"training with `letor4` hurts {method}" if method != "RankNet" else f"… {method}", found)
        )
    rows += [
        (f"`yahoo` trains as well or better: {method}", of.told(data, measure, f"{method} (yahoo)", method))
        for method in DRIVEN
    ]
    for tool in TOOLS:
        judged = judged_by(tool)
        means = {row.label: six.mean(data, row.label, judged) or 0.0 for row in six.results.spec.rankers}
        order = sorted(means, key=lambda label: -means[label])
        best = next(label for label in order if label != "Coordinate Ascent")
        rows.append(
            (
                f"Coordinate Ascent slightly ahead, judged by `{tool}`",
                f"place {order.index('Coordinate Ascent') + 1}; to {best} "
                + six.told(data, judged, "Coordinate Ascent", best),
            )
        )
    for dataset in (found.name for found in of.results.spec.datasets):
        changes = six.findings.order_changes.filter(dataset=dataset, measure="ndcg@10")
        both = changes.filter(convention_1="ranklib", convention_2="yahoo").height
        rows.append(
            (
                f"the order of the six changes between tools, {dataset}",
                f"{changes.select('better', 'worse').unique().height} of 15 pairs; "
                f"{both} between `ranklib` and `yahoo`",
            )
        )
    return table(["the paper", "here, NDCG@10 judged by `ranklib` if not said"], rows, n_texts=2)


def figure_1(of: Comparison, folder: Path) -> str:
    """Trained with × judged by, the three tools that are trained with."""
    return shown(trained_judged(of.judged_by(TOOLS).findings, "mq2008"), folder, "busa-fekete-1")


def figure_2(of: Comparison, folder: Path) -> str:
    """The six methods, trained with RankLib's NDCG, judged by every tool; trec_eval's own gain is extra."""
    findings = of.only(lambda label: "(" not in label).findings
    with_gains = replace(findings, tables={**findings.tables, "cutoffs": _cutoffs(findings)})
    return shown(convention_curves(with_gains, "mq2008"), folder, "busa-fekete-2")


def _cutoffs(findings: Findings) -> pl.DataFrame:
    """NDCG by cut-off, of trec_eval with exponential gain, and after all tools with its own."""
    name = pl.col("convention")
    own = findings.cutoffs.with_columns(name.replace("trec_eval", LINEAR))
    exponential = Cutoffs.table(
        (data.dataset, ranker, "trec_eval", k, data.mean(ranker, column), fold_error(data, ranker, column))
        for data in findings.pooled
        for ranker in data.real
        for k in range(1, 11)
        if (column := judged_by("trec_eval", k)) in data.measures
    )
    tools = own.filter(name != LINEAR)
    return pl.concat([tools, exponential, own.filter(name == LINEAR)])


def stopping_table(of: Comparison, folder: Path) -> str:
    """Which of AdaRank's stopping rules the validation queries chose, and in how many of its runs."""
    runs, rows = of.results.runs.filter(state="done", kind="AdaRank"), []
    for (dataset, ranker), part in runs.group_by("dataset", "ranker", maintain_order=True):
        parameters = map(json.loads, part["parameters"])
        taken = Counter(tuple(show_value(one[name]) for name in STOPS) for one in parameters)
        for rules, count in taken.most_common():
            rows.append([str(dataset), str(ranker), *rules, f"{count} of {len(part)}"])
    return table(["dataset", "method", *STOPS, "runs"], rows, n_texts=2)


def leader_claims(of: Comparison, folder: Path) -> str:
    """RankBoost, RankSVM and LambdaMART under each tool, and on queries of few and of many documents."""
    data, rows = "mq2008", []
    three = of.only(lambda label: label in LEADERS)
    for tool in of.results.spec.conventions:
        judged = judged_by(tool)
        means = {label: of.mean(data, label, judged) or 0.0 for label in LEADERS}
        best, *others = sorted(means, key=lambda label: -means[label])
        found = "; ".join(f"{best} − {other} {three.told(data, judged, best, other)}" for other in others)
        rows.append([f"judged by `{tool}`", found])
    for tool in ("ranklib", "letor4"):
        for other in LEADERS[1:]:
            for is_short, what in ((True, "fewer than 10 documents"), (False, "10 documents and more")):
                found = _by_length(of, data, f"{tool}:ndcg@10", "RankBoost", other, is_short)
                rows.append([f"RankBoost − {other}, queries of {what}, `{tool}`", found])
    official = {
        row["method"]: row["value"]
        for row in published("letor_baselines")
        if row["method"].startswith("AdaRank") and row["measure"] == "NDCG@10"
    }
    ours = ", ".join(
        f"{label} {fixed(of.mean(data, label, 'letor4:ndcg@10'))}"
        for label in ("AdaRank", "AdaRank (yahoo)", "AdaRank (letor4)")
    )
    theirs = ", ".join(f"{method} {value}" for method, value in official.items())
    rows.append(["AdaRank, NDCG@10 by the LETOR 4.0 script: official, and ours", f"{theirs}; {ours}"])
    return table(["", "here, NDCG@10"], rows, n_texts=2)


def _by_length(of: Comparison, data: str, measure: str, a: str, b: str, is_short: bool) -> str:
    """The difference a − b over the queries below, or from, ten documents."""
    values = (
        of.results.values.filter(pl.col("ranker").is_in([a, b]), dataset=data, part="test")
        .group_by("fold", "qid", "ranker")
        .agg(pl.col(measure).mean())
        .pivot("ranker", index=["fold", "qid"], values=measure)
        .sort("fold", "qid")
    )
    lengths = [_lengths(fold)[qid] for fold, qid in values.select("fold", "qid").iter_rows()]
    chosen = values.filter((np.array(lengths) < 10) == is_short)
    if chosen.height < 2:
        return "too few queries"
    tests = compare_pair(chosen[a].to_numpy(), chosen[b].to_numpy())
    interval = f"{signed(tests.low)} to {signed(tests.high)}"
    p = f"p {p_value(tests.randomization_p)}"
    return f"{signed(tests.difference)} ({interval}; {p}), {chosen.height} queries"


@cache
def _lengths(fold: int) -> dict[str, int]:
    test = pm.load("mq2008", fold).test
    return dict(zip(map(str, test.qids), np.diff(test.query_ptr).tolist(), strict=True))


PARTS: Parts = {
    "busa-fekete figure 1": ("busa_fekete", figure_1),
    "busa-fekete figure 2": ("busa_fekete", figure_2),
    "busa-fekete table": ("busa_fekete", tool_table),
    "busa-fekete claims": ("busa_fekete", tool_claims),
    "busa-fekete leaders": ("busa_fekete", leader_claims),
    "busa-fekete stopping": ("busa_fekete", stopping_table),
}
