"""What things are called in print: measures, rankers in their order, files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from pomona.report.digits import fixed

if TYPE_CHECKING:
    from pomona.experiments.findings import Findings

_CAPITALS = {"ap", "dcg", "err", "gap", "ndcg", "nerr", "p", "rbp", "rr", "sr", "wta"}


def measure_title(measure: str) -> str:
    """A measure as papers print it, the convention after it.

    >>> measure_title("ndcg@10"), measure_title("letor4:rbp(p=0.8)"), measure_title("seznam_rank")
    ('NDCG@10', 'RBP(p=0.8) (letor4)', 'seznam_rank')
    """
    convention, _, plain = measure.rpartition(":")
    name, rest = re.fullmatch(r"([a-z_]*)(.*)", plain, re.DOTALL | re.IGNORECASE).groups()  # type: ignore[union-attr]
    title = (name.upper() if name.lower() in _CAPITALS else name) + rest
    return f"{title} ({convention})" if convention else title


def significance_rule(alpha: float, family: str = "all pairs") -> str:
    """What *significant* means, in words; `experiments.analysis.pairs` decides it."""
    return (
        f"the randomization test rejects at {alpha:g} after Holm’s correction for {family}, and the t, "
        "Wilcoxon and sign tests agree"
    )


def datasets_of(findings: Findings) -> list[str]:
    """The datasets, in the order of the spec; also one on which every run failed."""
    names: list[str] = findings.costs["dataset"].unique(maintain_order=True).to_list()
    return names


def rankers_of(findings: Findings, dataset: str | None = None) -> list[str]:
    """The rankers that were judged on a dataset (on any, when left out), the best first, without the bounds.

    Those whose means cannot be ranked among the others' stand last.
    """
    if dataset is None:
        every = (rankers_of(findings, name) for name in datasets_of(findings))
        return list(dict.fromkeys(ranker for rankers in every for ranker in rankers))
    real = findings.quality.filter(dataset=dataset, measure=findings.main, is_bound=False)
    order = ("is_comparable", "n_queries", "mean")
    return [str(ranker) for ranker in real.sort(*order, descending=True, maintain_order=True)["ranker"]]


def close_of(findings: Findings, dataset: str) -> tuple[list[str], str]:
    """The rankers worth comparing by eye, the best first, and a note on the others.

    Rankers so far below (random order, say) that they would press the others together are left out of plots:
    those below a gap that is twice the spread of the better half or more, and whose intervals end below all
    others'.
    """
    rankers = rankers_of(findings, dataset)
    rows = findings.quality.filter(dataset=dataset, measure=findings.main, is_bound=False)
    order = rows.sort("mean", descending=True, maintain_order=True).to_dicts()
    for n in range(max(3, (len(order) + 1) // 2), len(order)):
        near, far = order[:n], order[n:]
        is_far = near[-1]["mean"] - far[0]["mean"] > 2 * (near[0]["mean"] - near[-1]["mean"])
        lows, highs = [row["low"] for row in near], [row["high"] for row in far]
        if is_far and None not in lows + highs and max(highs) < min(lows):
            note = ", ".join(f"{row['ranker']} ({fixed(row['mean'], 3)})" for row in far)
            left_out = {row["ranker"] for row in far}
            return [ranker for ranker in rankers if ranker not in left_out], f"not shown, far below: {note}"
    return rankers, ""


def file_names(titles: Iterable[str]) -> dict[str, str]:
    """A name for files and anchors for each title: letters, digits and dashes, no two the same.

    >>> file_names(["MQ 2008", "mq/2008", "…"])
    {'MQ 2008': 'mq-2008', 'mq/2008': 'mq-2008-2', '…': 'data'}
    """
    taken: dict[str, str] = {}
    for title in titles:
        stem = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "data"
        name, number = stem, 1
        while name in taken.values():
            number += 1
            name = f"{stem}-{number}"
        taken[title] = name
    return taken
